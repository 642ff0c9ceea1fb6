// xterm.js with its addons, as this page uses it. Loaded only when a terminal is opened.
//
// What is printed is strangers' data: links lead to the web only and show where, the clipboard is
// never read and written only if the user allowed it. Not here: where bytes come from (`pane`).

import './policy';
import '@xterm/xterm/css/xterm.css';
import { ClipboardAddon, type IClipboardProvider } from '@xterm/addon-clipboard';
import { FitAddon } from '@xterm/addon-fit';
import { ImageAddon } from '@xterm/addon-image';
import { SearchAddon } from '@xterm/addon-search';
import { UnicodeGraphemesAddon } from '@xterm/addon-unicode-graphemes';
import { WebLinksAddon } from '@xterm/addon-web-links';
import { WebglAddon } from '@xterm/addon-webgl';
import { Terminal, type ITheme } from '@xterm/xterm';
import { isWebLink } from '../dom';
import { isBoolean, remembered } from '../settings';
import { isDark, onTheme, palette } from '../theme';

/** Lines one can scroll back here; the daemon has more, and the search view finds them. */
const SCROLLBACK = 10_000;

/** What waits to be drawn, in bytes. More is left out and drawn anew: nobody could have read it. */
const MAX_BEHIND = 4 << 20;

/** The largest text a program may put on the clipboard. */
const MAX_CLIPBOARD = 100_000;

/** Megabytes of pictures a terminal keeps. */
const IMAGE_MB = 32;

export interface ScreenEvents {
  typed(text: string): void;
  /** All that came has been drawn. */
  drawn(): void;
  /** Bytes were left out because too much came; the screen has to be drawn anew. */
  fellBehind(): void;
  /** A link is pointed at, or none. */
  pointed(address: string | undefined): void;
  /** A key that is the page's: true if it was taken. */
  key(event: KeyboardEvent): boolean;
}

export class Screen {
  readonly terminal: Terminal;
  readonly search = new SearchAddon();
  private readonly fitting = new FitAddon();
  private behind = 0;
  private skipping = false;
  private readonly stops: (() => void)[] = [];

  constructor(
    private readonly element: HTMLElement,
    fontSize: number,
    private readonly events: ScreenEvents,
  ) {
    const open = (event: MouseEvent, address: string) => this.follow(event, address);
    const leave = () => events.pointed(undefined);
    this.terminal = new Terminal({
      allowProposedApi: true,
      cursorBlink: false,
      fontFamily: '"JetBrains Mono", ui-monospace, "SF Mono", Menlo, Consolas, monospace',
      fontSize,
      lineHeight: 1.15,
      scrollback: SCROLLBACK,
      minimumContrastRatio: 4.5,
      screenReaderMode: remembered('reader', false, isBoolean),
      theme: theme(),
      linkHandler: { activate: open, hover: (_, address) => events.pointed(address), leave },
    });
    const { terminal } = this;
    terminal.loadAddon(this.fitting);
    terminal.loadAddon(this.search);
    terminal.loadAddon(new UnicodeGraphemesAddon());
    terminal.loadAddon(new WebLinksAddon(open, { hover: (_, address) => events.pointed(address), leave }));
    terminal.loadAddon(new ClipboardAddon(undefined, new Clipboard()));
    terminal.loadAddon(new ImageAddon({ storageLimit: IMAGE_MB }));
    terminal.open(element);
    this.drawFast();
    terminal.onData((text) => events.typed(text));
    terminal.attachCustomKeyEventHandler((event) => !(event.type === 'keydown' && events.key(event)));
    this.stops.push(onTheme(() => (terminal.options.theme = theme())));
  }

  /** By the graphics card if it can be had; a lost one is done without. */
  private drawFast(): void {
    if (remembered('plain-drawing', false, isBoolean)) return;
    try {
      const webgl = new WebglAddon();
      webgl.onContextLoss(() => webgl.dispose());
      this.terminal.loadAddon(webgl);
    } catch {
      // No WebGL here: the slower way draws the same.
    }
  }

  private follow(event: MouseEvent, address: string): void {
    event.preventDefault();
    if (isWebLink(address)) window.open(address, '_blank', 'noopener,noreferrer');
  }

  /** Draws output, unless too much is waiting already. */
  write(bytes: Uint8Array): void {
    if (this.skipping) return;
    if (this.behind > MAX_BEHIND) {
      this.skipping = true;
      return;
    }
    this.put(bytes);
  }

  /** Draws a screen. `anew` forgets the history, too: it comes along. */
  redraw(bytes: Uint8Array, anew: boolean): void {
    this.skipping = false;
    // In one write, so that no empty screen is ever seen.
    this.put(anew ? joined(RESET, bytes) : bytes);
  }

  private put(bytes: Uint8Array): void {
    this.behind += bytes.length;
    this.terminal.write(bytes, () => {
      this.behind -= bytes.length;
      if (this.behind === 0) this.events.drawn();
      if (this.skipping && this.behind === 0) {
        this.skipping = false;
        this.events.fellBehind();
      }
    });
  }

  /** The size that fits, if there is room for one. */
  fitSize(): { cols: number; rows: number } | undefined {
    const size = this.fitting.proposeDimensions();
    if (size === undefined || !(size.cols > 1) || !(size.rows > 0)) return undefined;
    return { cols: Math.min(1000, size.cols), rows: Math.min(1000, size.rows) };
  }

  resize(cols: number, rows: number): void {
    if (cols !== this.terminal.cols || rows !== this.terminal.rows) this.terminal.resize(cols, rows);
  }

  /** Makes letters as large as a screen of that many columns and rows allows. */
  scaleTo(cols: number, rows: number, largest: number): void {
    this.resize(cols, rows);
    const { clientWidth, clientHeight } = this.element;
    const wide = clientWidth / (cols * 0.61);
    const high = clientHeight / (rows * 1.15 * 1.3);
    this.setFont(Math.max(5, Math.min(largest, Math.floor(Math.min(wide, high)))));
  }

  setFont(size: number): void {
    this.terminal.options.fontSize = size;
  }

  find(text: string, back = false): void {
    const colours = palette();
    const options = {
      decorations: {
        matchBackground: isDark() ? '#5a4a1a' : '#f3df9f',
        activeMatchBackground: isDark() ? '#8a6d1f' : '#f0c040',
        matchOverviewRuler: colours.cursor,
        activeMatchColorOverviewRuler: colours.cursor,
      },
    };
    if (back) this.search.findPrevious(text, options);
    else this.search.findNext(text, options);
  }

  dispose(): void {
    for (const stop of this.stops) stop();
    this.terminal.dispose();
  }
}

/** RIS: everything as at the beginning. */
const RESET = new Uint8Array([0x1b, 0x63]);

function joined(one: Uint8Array, two: Uint8Array): Uint8Array {
  const all = new Uint8Array(one.length + two.length);
  all.set(one);
  all.set(two, one.length);
  return all;
}

function theme(): ITheme {
  const { background, foreground, cursor, selection, ansi } = palette();
  const [black, red, green, yellow, blue, magenta, cyan, white, ...bright] = ansi as [string, string, string, string, string, string, string, string, ...string[]];
  const [b0, b1, b2, b3, b4, b5, b6, b7] = bright as [string, string, string, string, string, string, string, string];
  return {
    background, foreground, cursor, cursorAccent: background, selectionBackground: selection,
    black, red, green, yellow, blue, magenta, cyan, white,
    brightBlack: b0, brightRed: b1, brightGreen: b2, brightYellow: b3,
    brightBlue: b4, brightMagenta: b5, brightCyan: b6, brightWhite: b7,
  };
}

/** OSC 52. Reading would hand the user's clipboard to whoever prints; it is always empty. */
class Clipboard implements IClipboardProvider {
  readText(): string {
    return '';
  }

  async writeText(_: unknown, text: string): Promise<void> {
    if (!remembered('clipboard', false, isBoolean) || text.length > MAX_CLIPBOARD) return;
    await navigator.clipboard.writeText(text).catch(() => undefined);
  }
}
