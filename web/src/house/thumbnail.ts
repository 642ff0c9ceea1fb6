// A session's screen, small: drawn on a canvas from styled text.
//
// It is drawn anew only if the session printed something since and the card can be seen.

import { parseStyled, type Colour, type Run } from '../ansi';
import type { Connection } from '../native/connection';
import { readFromWire, type ReadAnswer, type Session } from '../native/wire';
import { indexed, onTheme, palette, type Palette } from '../theme';

/** The size letters are measured and drawn at before they are made to fit. */
const FONT_PX = 12;
const FONT = '"JetBrains Mono", ui-monospace, Menlo, Consolas, monospace';
const LINE_HEIGHT = 1.2;

/** How many rows and columns a thumbnail shows at most: more would be dust. */
const MAX_COLS = 120;
const MAX_ROWS = 36;

/** How many columns it shows at least, however short the lines are. */
const LEAST_COLS = 52;

/** Canvases do not wait for a font: it is asked for once, before the first is drawn. */
let font: Promise<unknown> | undefined;

export class Thumbnail {
  readonly element = document.createElement('canvas');
  private drawn = -1;
  private asking = false;
  private last: ReadAnswer | undefined;
  private visible = false;
  private session: Session | undefined;
  private readonly stopTheme: () => void;

  constructor(
    private readonly line: Connection,
    observer: IntersectionObserver,
  ) {
    this.element.className = 'thumbnail';
    this.element.setAttribute('aria-hidden', 'true');
    seers.set(this.element, (visible) => {
      this.visible = visible;
      void this.refresh();
    });
    observer.observe(this.element);
    this.stopTheme = onTheme(() => this.draw());
  }

  update(session: Session): void {
    this.session = session;
    void this.refresh();
  }

  dispose(observer: IntersectionObserver): void {
    observer.unobserve(this.element);
    this.stopTheme();
  }

  private async refresh(): Promise<void> {
    const session = this.session;
    if (session === undefined || !this.visible || this.asking || session.offset === this.drawn) return;
    this.asking = true;
    try {
      const answer = await this.line.call('session.read', { sessionId: session.id, styled: true });
      this.last = readFromWire(answer);
      font ??= Promise.all([document.fonts.load(`${FONT_PX}px ${FONT}`), document.fonts.load(`700 ${FONT_PX}px ${FONT}`)]).catch(() => undefined);
      await font;
      this.drawn = session.state === 'running' ? this.last.offset : session.offset;
      this.draw();
    } catch {
      // It may be gone by now; the list will say so.
    } finally {
      this.asking = false;
    }
  }

  private draw(): void {
    const { last, element } = this;
    const context = element.getContext('2d');
    if (last === undefined || context === null) return;
    const colours = palette();
    const lines = parseStyled(last.text).slice(0, Math.min(last.rows, MAX_ROWS));
    while (lines.length > 0 && lines.at(-1)?.every((run) => run.text.trim() === '') === true) lines.pop();
    // Letters as large as what is written allows.
    const longest = Math.max(LEAST_COLS, ...lines.map((line) => line.reduce((sum, run) => sum + cellsIn(run.text), 0)));
    const cols = Math.min(last.cols, MAX_COLS, longest);
    context.font = `${FONT_PX}px ${FONT}`;
    const cell = context.measureText('0').width;
    const height = FONT_PX * LINE_HEIGHT;
    const scale = Math.min(2, window.devicePixelRatio || 1);
    const width = element.clientWidth || 320;
    element.width = Math.round(width * scale);
    element.height = Math.round((element.clientHeight || 180) * scale);
    const zoom = element.width / ((cols + 2) * cell);
    context.fillStyle = colours.background;
    context.fillRect(0, 0, element.width, element.height);
    context.setTransform(zoom, 0, 0, zoom, cell * zoom, height * 0.5 * zoom);
    context.textBaseline = 'top';
    const fit = Math.max(1, Math.floor(element.height / zoom / height - 0.5));
    // A screen taller than the card shows its end: that is where things happen.
    const skip = Math.max(0, lines.length - fit);
    lines.slice(skip).forEach((line, row) => drawLine(context, line, row * height, cell, height, colours));
    if (last.cursor.visible && this.session?.state === 'running') {
      context.fillStyle = colours.cursor;
      context.fillRect(last.cursor.col * cell, (last.cursor.row - skip) * height, cell, height);
    }
  }
}

/** Which thumbnail an observed canvas belongs to. */
const seers = new WeakMap<Element, (visible: boolean) => void>();

/** One observer for all thumbnails of a view. */
export function thumbnailObserver(): IntersectionObserver {
  return new IntersectionObserver(
    (entries) => {
      for (const entry of entries) seers.get(entry.target)?.(entry.isIntersecting);
    },
    { rootMargin: '100px' },
  );
}

function drawLine(
  context: CanvasRenderingContext2D,
  line: Run[],
  top: number,
  cell: number,
  height: number,
  colours: Palette,
): void {
  let col = 0;
  for (const { text, style } of line) {
    const fg = colourOf(style.fg, colours.foreground, colours, style.bold);
    const bg = colourOf(style.bg, colours.background, colours, false);
    const width = cellsIn(text);
    if (style.bg !== undefined || style.inverse) {
      context.fillStyle = style.inverse ? fg : bg;
      context.fillRect(col * cell, top, width * cell, height);
    }
    if (!style.hidden && text.trim() !== '') {
      context.globalAlpha = style.dim ? 0.6 : 1;
      context.fillStyle = style.inverse ? bg : fg;
      context.font = `${style.italic ? 'italic ' : ''}${style.bold ? '700 ' : ''}${FONT_PX}px ${FONT}`;
      context.fillText(text, col * cell, top);
      context.globalAlpha = 1;
    }
    col += width;
  }
}

function cellsIn(text: string): number {
  return [...text].reduce((sum, letter) => sum + cellsOf(letter), 0);
}

/** A guess, good enough for a thumbnail: East Asian letters and pictures take two cells. */
function cellsOf(letter: string): number {
  const code = letter.codePointAt(0) ?? 0;
  const wide =
    (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) || (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0x1f300 && code <= 0x1faff) || (code >= 0x20000 && code <= 0x3fffd);
  return wide ? 2 : 1;
}

export function colourOf(colour: Colour, otherwise: string, colours: Palette, bold: boolean): string {
  if (colour === undefined) return otherwise;
  if (typeof colour === 'string') return colour;
  // Bold in one of the first eight is drawn bright, as terminals do.
  return indexed(bold && colour < 8 ? colour + 8 : colour, colours);
}
