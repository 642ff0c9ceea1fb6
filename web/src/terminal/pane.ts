// One session in the terminal view: its head, its screen or its readable text.
//
// Size follows focus: while this window has the focus, what it shows has the size it is shown at;
// else the session keeps the size somebody else gave it and the daemon draws it for ours.

import type { App } from '../app';
import { toast } from '../dialogs';
import { button, h, icon } from '../dom';
import { endingInWords, text, type Ending, type RpcError, type Session } from '../native/wire';
import type { Stream, StreamSink } from '../native/stream';
import { nameOf } from '../sessions';
import { FindBar } from './find';
import { Readable } from './readable';
import type { Screen } from './screen';

/** Lines above the screen that come along when a terminal is opened. */
const HISTORY = 5_000;

/** The largest paste. It is typed through a terminal a few kilobytes at a time. */
const MAX_PASTE = 4 << 20;

export interface PaneEvents {
  focused(): void;
  close(): void;
  split(way: 'row' | 'column'): void;
  turn(step: number): void;
  palette(): void;
  fontSize(): number;
}

export class Pane implements StreamSink {
  readonly element: HTMLElement;
  readonly find: FindBar;
  private readonly holder = h('div', { class: 'pane-screen' });
  private readonly lamp = h('span', { class: 'lamp' });
  private readonly name = h('span', { class: 'pane-name' });
  private readonly title = h('span', { class: 'pane-title' });
  private readonly link = h('div', { class: 'pane-link', 'aria-hidden': 'true' });
  private readonly lock: HTMLButtonElement;
  private readonly book: HTMLButtonElement;
  private screen: Screen | undefined;
  private stream: Stream | undefined;
  private readable: Readable | undefined;
  private session: Session | undefined;
  private readOnly = false;
  private ending: Ending | undefined;
  private opening = false;
  private isDrawn = false;
  private sought: string | undefined;
  private gone = false;
  private readonly stops: (() => void)[] = [];

  constructor(
    private readonly app: App,
    readonly target: string,
    private readonly events: PaneEvents,
    private wantsReadable: boolean,
  ) {
    this.find = new FindBar((words, back) => this.screen?.find(words, back), () => {
      this.screen?.search.clearDecorations();
      this.focus();
    });
    this.lock = button('Only watch', { class: 'bare', 'aria-pressed': 'false', 'data-act': 'lock', onclick: () => this.toggleReadOnly() }, icon('eye'));
    this.book = button('Readable view', { class: 'bare', 'aria-pressed': 'false', 'data-act': 'readable', onclick: () => this.toggleReadable() }, icon('book'));
    const head = h(
      'header',
      { class: 'pane-head' },
      this.lamp, this.name, this.title,
      h(
        'div',
        { class: 'pane-tools', role: 'toolbar', 'aria-label': 'This terminal' },
        button('Find (Ctrl+Shift+F)', { class: 'bare', 'data-act': 'find', onclick: () => this.find.open() }, icon('search')),
        this.lock, this.book,
        button('Split to the right', { class: 'bare wide-only', 'data-act': 'split-row', onclick: () => events.split('row') }, icon('columns')),
        button('Split below', { class: 'bare wide-only', 'data-act': 'split-column', onclick: () => events.split('column') }, icon('rows')),
        button('Close this view', { class: 'bare', 'data-act': 'close', onclick: () => events.close() }, icon('close')),
      ),
    );
    this.element = h('section', { class: 'pane', 'data-session': target }, head, this.find.element, this.holder, this.link);
    this.element.addEventListener('focusin', () => events.focused());
    this.holder.addEventListener('paste', (event) => this.paste(event), { capture: true });
    const sizes = new ResizeObserver(() => this.fit());
    sizes.observe(this.holder);
    const refocus = () => this.fit();
    window.addEventListener('focus', refocus);
    this.stops.push(() => sizes.disconnect(), () => window.removeEventListener('focus', refocus));
    this.stops.push(app.sessions.onChange(() => this.refresh()), app.line.onNote((note) => {
      if (note.method === 'session.resized' && text(note.params['sessionId']) === this.session?.id) this.follow(note.params);
    }));
    this.refresh();
  }

  /** The list of sessions is there or has changed. */
  private refresh(): void {
    const session = this.app.sessions.find(this.target);
    if (session !== undefined) this.describe(session);
    else if (this.app.sessions.known && this.session === undefined) this.absent();
    if (session !== undefined && this.screen === undefined && this.readable === undefined) void this.open();
  }

  private describe(session: Session): void {
    this.session = session;
    this.name.textContent = nameOf(session);
    const over = this.ending ?? (session.state === 'running' ? undefined : session);
    this.title.textContent = over === undefined ? session.title || session.command : endingInWords(over);
    this.lamp.dataset['state'] = over === undefined ? 'running' : 'ended';
    this.element.dataset['state'] = over === undefined ? 'running' : 'ended';
    this.element.setAttribute('aria-label', nameOf(session));
    if (this.element.contains(document.activeElement)) this.app.sessions.seen(session.id);
  }

  private absent(): void {
    this.name.textContent = 'This session is not in the house';
    this.element.dataset['state'] = 'absent';
  }

  private async open(): Promise<void> {
    if (this.opening || this.session === undefined) return;
    this.opening = true;
    try {
      if (this.wantsReadable) this.openReadable(this.session);
      else await this.openScreen(this.session);
    } finally {
      this.opening = false;
    }
  }

  private openReadable(session: Session): void {
    const mayType = !this.readOnly && this.app.share?.write !== false;
    this.readable = new Readable(this.app, session, mayType);
    this.book.setAttribute('aria-pressed', 'true');
    this.holder.replaceChildren(this.readable.element);
  }

  private async openScreen(session: Session): Promise<void> {
    const { Screen } = await import('./screen');
    // Letters are measured once: the font has to be there.
    await document.fonts.load('13px "JetBrains Mono"').catch(() => undefined);
    if (this.gone || this.wantsReadable) return;
    this.book.setAttribute('aria-pressed', 'false');
    this.holder.replaceChildren();
    this.screen = new Screen(this.holder, this.events.fontSize(), {
      typed: (keys) => this.typed(keys),
      drawn: () => this.lookNow(),
      fellBehind: () => this.stream?.redraw(),
      pointed: (address) => this.point(address),
      key: (event) => this.key(event),
    });
    this.screen.search.onDidChangeResults(({ resultIndex, resultCount }) => this.find.found(resultIndex, resultCount));
    if (session.state === 'running') this.attach(session);
    else await this.replay(session);
    if (this.element.classList.contains('focused')) this.focus();
  }

  private attach(session: Session): void {
    const onlyWatch = this.readOnly || this.app.share?.write === false;
    if (onlyWatch) this.screen?.scaleTo(session.cols, session.rows, this.events.fontSize());
    const size = onlyWatch ? session : (this.screen?.fitSize() ?? session);
    this.screen?.resize(size.cols, size.rows);
    const options = { cols: size.cols, rows: size.rows, readOnly: onlyWatch, history: HISTORY };
    this.stream = this.app.line.attach(session.id, options, this);
  }

  /** A session that has ended: its last screen and history, to be read. */
  private async replay(session: Session): Promise<void> {
    this.screen?.resize(session.cols, session.rows);
    const answer = await this.app.attempt(() => this.app.line.call('session.scrollback', { sessionId: session.id }));
    if (typeof answer === 'string') this.screen?.redraw(new TextEncoder().encode(answer), true);
  }

  output(bytes: Uint8Array): void {
    this.screen?.write(bytes);
  }

  redraw(bytes: Uint8Array, reason: number): void {
    this.screen?.redraw(bytes, reason === 0);
  }

  ended(ending: Ending): void {
    this.ending = ending;
    if (this.session !== undefined) this.describe(this.session);
  }

  failed(error: RpcError): void {
    this.stream = undefined;
    if (this.session !== undefined && error.kind === 'ended') void this.replay(this.session);
    else toast(error.message, 'error');
  }

  attached(): void {
    this.fit();
  }

  sizeWanted(): void {
    if (document.hasFocus()) this.sayAgain();
  }

  private sayAgain(): void {
    const size = this.screen?.fitSize();
    if (size !== undefined && !this.readOnly) this.stream?.resize(size.cols, size.rows);
  }

  /** Gives the screen the size of its place, and the session that of the screen if we have the say. */
  fit(): void {
    const { screen, session, stream } = this;
    if (screen === undefined || session === undefined || !this.element.isConnected || this.holder.clientWidth === 0) return;
    if (this.readOnly || this.app.share?.write === false) {
      screen.scaleTo(session.cols, session.rows, this.events.fontSize());
      return;
    }
    screen.setFont(this.events.fontSize());
    const size = screen.fitSize();
    if (size === undefined || !document.hasFocus()) return;
    const fits = size.cols === screen.terminal.cols && size.rows === screen.terminal.rows;
    screen.resize(size.cols, size.rows);
    if (stream?.id !== undefined && (!fits || size.cols !== session.cols || size.rows !== session.rows)) {
      stream.resize(size.cols, size.rows);
    }
  }

  /** Somebody gave the session another size. Who only watches goes along. */
  private follow(size: Record<string, unknown>): void {
    if (this.session === undefined) return;
    this.session.cols = Number(size['cols']) || this.session.cols;
    this.session.rows = Number(size['rows']) || this.session.rows;
    if (!this.readOnly && this.app.share?.write !== false) return;
    this.screen?.scaleTo(this.session.cols, this.session.rows, this.events.fontSize());
    this.stream?.resize(this.session.cols, this.session.rows);
  }

  private typed(keys: string): void {
    if (this.readOnly || this.stream === undefined) return;
    // What xterm hands over is text, but for mouse reports, which are bytes.
    if (!this.stream.type(new TextEncoder().encode(keys))) toast('Not connected: that was not typed.', 'error');
  }

  /** A paste goes to the daemon as one: it brackets it and takes out what could end the bracket. */
  private paste(event: ClipboardEvent): void {
    const words = event.clipboardData?.getData('text/plain') ?? '';
    event.preventDefault();
    event.stopPropagation();
    if (words === '' || this.session === undefined || this.readOnly) return;
    if (words.length > MAX_PASTE) return toast('That is too much to paste.', 'error');
    const params = { sessionId: this.session.id, text: words, paste: true };
    void this.app.attempt(() => this.app.line.call('session.send', params));
  }

  private key(event: KeyboardEvent): boolean {
    if (!event.ctrlKey || !event.shiftKey || event.altKey) return false;
    const key = event.key.toLowerCase();
    if (key === 'f') this.find.open();
    else if (key === 'c') this.copy();
    else if (key === 'k') this.events.palette();
    else if (key === 'arrowright' || key === 'arrowdown') this.events.turn(1);
    else if (key === 'arrowleft' || key === 'arrowup') this.events.turn(-1);
    // The browser makes a paste event of it.
    else return key === 'v';
    event.preventDefault();
    // The shell must not see it a second time.
    event.stopPropagation();
    return true;
  }

  /** Finds words as soon as there is something to find them in. */
  lookFor(words: string): void {
    this.sought = words;
    if (this.isDrawn) this.lookNow();
  }

  private lookNow(): void {
    this.isDrawn = true;
    const words = this.sought;
    this.sought = undefined;
    if (words !== undefined) this.find.open(words);
  }

  copy(): void {
    const words = this.screen?.terminal.getSelection() ?? '';
    if (words !== '') void navigator.clipboard?.writeText(words);
  }

  private point(address: string | undefined): void {
    this.link.textContent = address ?? '';
    this.link.hidden = address === undefined;
  }

  toggleReadOnly(): void {
    this.readOnly = !this.readOnly;
    this.lock.setAttribute('aria-pressed', String(this.readOnly));
    this.element.dataset['watching'] = String(this.readOnly);
    this.reopen();
  }

  toggleReadable(): void {
    this.wantsReadable = !this.wantsReadable;
    this.reopen();
  }

  readableOnly(wanted: boolean): void {
    if (this.wantsReadable !== wanted) this.toggleReadable();
  }

  private reopen(): void {
    this.shut();
    void this.open();
  }

  private shut(): void {
    this.stream?.close();
    this.screen?.dispose();
    this.readable?.dispose();
    this.stream = this.screen = this.readable = undefined;
    this.isDrawn = false;
    this.holder.replaceChildren();
  }

  focus(): void {
    if (this.screen !== undefined) this.screen.terminal.focus();
    else if (this.readable === undefined) this.element.querySelector<HTMLElement>('button')?.focus();
    if (this.session !== undefined) this.app.sessions.seen(this.session.id);
  }

  dispose(): void {
    this.gone = true;
    this.shut();
    for (const stop of this.stops) stop();
    this.element.remove();
  }
}
