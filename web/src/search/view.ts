// Searching the history of every session, living and ended.
//
// Each session is searched by the daemon; a few at a time, so that terminals are not kept waiting.

import '../style/search.css';
import type { App } from '../app';
import { h } from '../dom';
import { matchesFromWire, RpcError, type Match, type Session } from '../native/wire';
import { hashOf } from '../router';
import { nameOf } from '../sessions';
import type { View } from '../views';

/** Matches shown per session, the newest. */
const PER_SESSION = 50;

/** Sessions searched at the same time. */
const AT_ONCE = 4;

/** How long typing must rest before it is searched. */
const REST_MS = 250;

/** The longest line shown; what is around the match counts. */
const MAX_LINE = 240;

export class SearchView implements View {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly regex = h('input', { type: 'checkbox', id: 'search-regex', onchange: () => void this.run() });
  private readonly exact = h('input', { type: 'checkbox', id: 'search-case', onchange: () => void this.run() });
  private readonly status = h('p', { class: 'search-status', role: 'status' });
  private readonly results = h('div', { class: 'search-results' });
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts searches, so that answers to an old one are left out. */
  private round = 0;

  constructor(private readonly app: App) {
    this.input = h('input', {
      type: 'search', class: 'search-input', 'aria-label': 'Search all sessions', placeholder: 'What was printed, anywhere, ever',
      spellcheck: 'false', autocapitalize: 'off', oninput: () => this.soon(),
    });
    const form = h(
      'form',
      { class: 'search-form', role: 'search', onsubmit: (event) => (event.preventDefault(), void this.run()) },
      this.input,
      h('div', { class: 'search-options' }, this.regex, h('label', { for: 'search-regex' }, 'Pattern'), this.exact, h('label', { for: 'search-case' }, 'Match case')),
    );
    this.element = h('div', { class: 'search' }, h('h1', {}, 'Search'), form, this.status, this.results);
  }

  shown(args: string[]): void {
    if (args[0] !== undefined) this.input.value = args[0];
    this.input.focus();
    if (this.input.value !== '') void this.run();
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.run(), REST_MS);
  }

  private async run(): Promise<void> {
    clearTimeout(this.timer);
    const round = ++this.round;
    const words = this.input.value;
    this.results.replaceChildren();
    this.status.textContent = '';
    if (words === '') return;
    await this.app.sessions.refresh();
    const waiting = [...this.app.sessions.all].sort((one, two) => (two.ended ?? Infinity) - (one.ended ?? Infinity));
    let found = 0;
    let searched = 0;
    const total = waiting.length;
    const worker = async () => {
      for (let session = waiting.shift(); session !== undefined; session = waiting.shift()) {
        const matches = await this.search(session, words);
        if (round !== this.round) return;
        searched += 1;
        found += matches.length;
        if (matches.length > 0) this.results.append(this.group(session, matches, words));
        this.status.textContent = `${found} ${found === 1 ? 'match' : 'matches'} in ${searched} of ${total} sessions`;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }

  private async search(session: Session, words: string): Promise<Match[]> {
    const what = this.regex.checked ? { regex: words } : { text: words };
    const params = { sessionId: session.id, ...what, ignoreCase: !this.exact.checked, limit: PER_SESSION };
    try {
      return matchesFromWire(await this.app.line.call('session.search', params));
    } catch (error) {
      if (error instanceof RpcError && error.kind === 'invalid') this.status.textContent = error.message;
      return [];
    }
  }

  private group(session: Session, matches: Match[], words: string): HTMLElement {
    const rows = [...matches].reverse().map((match) => h('li', {}, h('a', { class: 'search-hit', href: hashOf('terminal', session.uuid, 'find', words) }, h('span', { class: 'search-row' }, String(match.row + 1)), hit(match))));
    return h(
      'section',
      { class: 'search-group' },
      h('h2', {}, h('span', { class: 'lamp', 'data-state': session.state }), h('a', { href: hashOf('terminal', session.uuid) }, nameOf(session)), h('span', { class: 'search-count' }, String(matches.length))),
      h('ol', {}, ...rows),
    );
  }
}

/** The line with its match marked; a long one is cut around it. Columns are cells, close enough. */
function hit(match: Match): HTMLElement {
  const letters = [...match.line];
  const from = Math.max(0, match.col - Math.floor(MAX_LINE / 3));
  const to = Math.min(letters.length, from + MAX_LINE);
  const end = Math.min(to, match.col + match.length);
  const part = (begin: number, stop: number) => letters.slice(begin, stop).join('');
  return h('span', { class: 'search-line' }, from > 0 ? '…' : '', part(from, match.col), h('mark', {}, part(match.col, end)), part(end, to), to < letters.length ? '…' : '');
}
