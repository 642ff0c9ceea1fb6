// The readable view: a session's screen and last lines as text that wraps, made for phones.
//
// It never sizes the session: it reads. What is typed goes through the line below, or the keys.

import { parseStyled, type Run } from '../ansi';
import type { App } from '../app';
import { button, h, icon } from '../dom';
import { colourOf } from '../house/thumbnail';
import { readFromWire, type Session } from '../native/wire';
import type { Stream } from '../native/stream';
import { isString, remember, remembered } from '../settings';
import { onTheme, palette } from '../theme';
import { KeyBar } from './keybar';

/** How many of the last lines are shown. */
const LINES = 400;

/** The shortest time between two reads: faster than that nobody reads. */
const PAUSE_MS = 150;

/** How near to the end one must be to be taken along. */
const NEAR_PX = 48;

export class Readable {
  readonly element: HTMLElement;
  private readonly text = h('div', { class: 'readable-text', tabindex: '0', role: 'log', 'aria-label': 'What the session shows' });
  private readonly input: HTMLInputElement;
  private readonly keys: KeyBar;
  private readonly modes: HTMLButtonElement;
  private stream: Stream | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asking = false;
  private again = false;
  private mode = remembered('readable', 'wrap', isString);
  private cols = 80;
  private readonly stops: (() => void)[] = [];

  constructor(
    private readonly app: App,
    private readonly session: Session,
    mayType: boolean,
  ) {
    this.keys = new KeyBar((key) => void this.press(key));
    this.input = h('input', {
      class: 'readable-input', 'aria-label': 'Type here', placeholder: 'Type here', autocomplete: 'off',
      autocapitalize: 'off', spellcheck: 'false', enterkeyhint: 'send', oninput: () => this.held(),
    });
    const form = h(
      'form',
      { class: 'readable-form', onsubmit: (event) => this.submit(event) },
      this.input,
      h('button', { type: 'submit', class: 'primary', 'aria-label': 'Send' }, icon('send')),
    );
    this.modes = button('Scale', { class: 'key readable-mode', onclick: () => this.toggle() });
    const typing = mayType && session.state === 'running';
    if (typing) this.keys.element.append(this.modes);
    this.element = h('div', { class: 'readable' }, this.text, typing ? this.keys.element : this.modes, typing && form);
    this.stops.push(onTheme(() => this.ask()));
    const follow = new ResizeObserver(() => this.scale());
    follow.observe(this.text);
    this.stops.push(() => follow.disconnect());
    if (session.state === 'running') {
      const changed = () => this.ask();
      this.stream = app.line.attach(session.id, { readOnly: true }, { output: changed, redraw: changed, ended: changed });
    }
    this.ask();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.stream?.close();
    for (const stop of this.stops) stop();
  }

  /** Reads soon; many changes are one read. */
  private ask(): void {
    if (this.asking) this.again = true;
    else if (this.timer === undefined) this.timer = setTimeout(() => void this.read(), PAUSE_MS);
  }

  private async read(): Promise<void> {
    this.timer = undefined;
    this.asking = true;
    try {
      const wrap = this.mode === 'wrap' ? 'join' : 'rows';
      const params = { sessionId: this.session.id, what: 'all', lines: LINES, styled: true, wrap };
      const answer = readFromWire(await this.app.line.call('session.read', params));
      this.cols = answer.cols;
      this.draw(answer.text);
    } catch {
      // The next change reads again.
    } finally {
      this.asking = false;
      if (this.again) {
        this.again = false;
        this.ask();
      }
    }
  }

  private draw(text: string): void {
    const { scrollTop, scrollHeight, clientHeight } = this.text;
    const atEnd = scrollHeight - scrollTop - clientHeight < NEAR_PX;
    const lines = parseStyled(text);
    while (lines.length > 0 && lines.at(-1)?.every((run) => run.text.trim() === '') === true) lines.pop();
    this.text.replaceChildren(...lines.map((runs) => h('div', { class: 'readable-line' }, ...runs.map(span))));
    this.element.dataset['mode'] = this.mode;
    this.modes.textContent = this.mode === 'wrap' ? 'Scale' : 'Wrap';
    this.scale();
    if (atEnd) this.text.scrollTop = this.text.scrollHeight;
  }

  private scale(): void {
    const size = this.mode === 'wrap' ? '' : `${Math.max(4, this.text.clientWidth / (this.cols * 0.62))}px`;
    this.text.style.fontSize = size;
  }

  private toggle(): void {
    this.mode = this.mode === 'wrap' ? 'scale' : 'wrap';
    remember('readable', this.mode);
    this.ask();
  }

  /** With Ctrl or Alt held, a letter is pressed at once instead of written. */
  private held(): void {
    const what = this.keys.combine(this.input.value);
    if (!('key' in what)) return;
    this.input.value = '';
    void this.press(what.key);
  }

  private submit(event: Event): void {
    event.preventDefault();
    const text = this.input.value;
    this.input.value = '';
    const params = { sessionId: this.session.id, text, enter: true };
    void this.app.attempt(() => this.app.line.call('session.send', params));
  }

  private press(key: string): Promise<unknown> {
    return this.app.attempt(() => this.app.line.call('session.key', { sessionId: this.session.id, keys: [key] }));
  }
}

function span({ text, style }: Run): HTMLElement | string {
  const plain = Object.values(style).every((value) => value === undefined || value === false);
  if (plain) return text;
  const colours = palette();
  const element = h('span', {}, style.hidden ? ' '.repeat(text.length) : text);
  const fg = colourOf(style.fg, colours.foreground, colours, style.bold);
  const bg = colourOf(style.bg, colours.background, colours, false);
  if (style.fg !== undefined || style.inverse) element.style.color = style.inverse ? bg : fg;
  if (style.bg !== undefined || style.inverse) element.style.backgroundColor = style.inverse ? fg : bg;
  if (style.bold) element.style.fontWeight = '700';
  if (style.dim) element.style.opacity = '0.75';
  if (style.italic) element.style.fontStyle = 'italic';
  const lines = [style.underline ? 'underline' : '', style.strike ? 'line-through' : ''].join(' ').trim();
  if (lines !== '') element.style.textDecoration = lines;
  return element;
}
