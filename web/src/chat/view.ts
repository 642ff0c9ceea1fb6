// Talking with an agent: what it says, what it does, and what it may do.

import '../style/chat.css';
import type { App } from '../app';
import { toast } from '../dialogs';
import { age, button, h, icon } from '../dom';
import { isObject } from '../native/wire';
import { showPalette, type Command } from '../palette/palette';
import { go, hashOf } from '../router';
import type { View } from '../views';
import { card, type Answers } from './cards';
import { conversations, entriesOf, forgetConversation, keepConversation, keepEntries, type Kept } from './kept';
import { ChatLine } from './line';
import { Story, type Entry } from './story';

const MODES: readonly [string, string][] = [['ask', 'Ask first'], ['act', 'Edit freely'], ['plan', 'Only plan']];
const MODELS: readonly string[] = ['sonnet', 'opus', 'haiku'];

/** What the program calls the page's modes. */
const PROGRAM_MODES: Record<string, string> = { ask: 'default', act: 'acceptEdits', plan: 'plan' };

/** How long after the last change a conversation is written down. */
const KEEP_MS = 500;

/** How near to the end one must be to be taken along. */
const NEAR_PX = 80;

export class ChatView implements View, Answers {
  readonly element: HTMLElement;
  private readonly log = h('div', { class: 'chat-log', role: 'log', 'aria-label': 'Conversation', tabindex: '0' });
  private readonly list = h('ul', { class: 'chat-list' });
  private readonly status = h('span', { class: 'chat-status', role: 'status' });
  private readonly input: HTMLTextAreaElement;
  private readonly mode: HTMLSelectElement;
  private readonly model: HTMLSelectElement;
  private readonly stop: HTMLButtonElement;
  private readonly drawn = new Map<string, { element: HTMLElement; print: string }>();
  private story = new Story();
  private line: ChatLine | undefined;
  private kept: Kept | undefined;
  private state = 'ended';
  /** What is said once the agent is there. */
  private unsaid: string | undefined;
  private frame = 0;
  private keeping: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly app: App) {
    this.mode = h('select', { 'aria-label': 'What it may do', onchange: () => this.setMode() }, ...MODES.map(([value, label]) => h('option', { value }, label)));
    this.model = h('select', { 'aria-label': 'Model', onchange: () => this.setModel() }, ...MODELS.map((it) => h('option', { value: it }, it)));
    this.input = h('textarea', { class: 'chat-input', rows: '2', 'aria-label': 'Message', placeholder: 'Ask for something. Enter sends, Shift+Enter breaks the line.', onkeydown: (event) => this.key(event) });
    this.stop = button('Interrupt', { class: 'danger', 'data-act': 'interrupt', hidden: true, onclick: () => this.interrupt() }, icon('stop'), h('span', {}, 'Interrupt'));
    const form = h(
      'form',
      { class: 'chat-form', onsubmit: (event) => (event.preventDefault(), this.say()) },
      this.input,
      h('div', { class: 'chat-actions' }, this.mode, this.model, this.status, this.stop, h('button', { type: 'submit', class: 'primary', 'data-act': 'send' }, icon('send'), h('span', {}, 'Send'))),
    );
    const side = h(
      'aside',
      { class: 'chat-side', 'aria-label': 'Conversations' },
      h('div', { class: 'chat-side-head' }, h('h1', {}, 'Chat'), button('New conversation', { class: 'bare', 'data-act': 'new', onclick: () => this.begin() }, icon('plus'))),
      this.list,
    );
    this.element = h('div', { class: 'chat' }, side, h('div', { class: 'chat-main' }, this.log, form));
    window.addEventListener('pagehide', () => this.keep());
    // The daemon is back: so may the agent be.
    app.line.onState((state) => {
      if (state === 'online' && this.state === 'ended' && this.kept !== undefined && this.element.isConnected) this.connect(this.kept);
    });
  }

  shown(args: string[]): void {
    const [id] = args;
    const known = conversations();
    const wanted = id === undefined ? known[0] : known.find((it) => it.id === id);
    if (wanted !== undefined && wanted.id !== this.kept?.id) this.open(wanted);
    this.drawList();
    this.draw();
    this.input.focus();
  }

  commands(): Command[] {
    const hint = 'chat';
    const open = this.story.entries.find((it) => it.kind === 'permission' && it.state === 'open');
    const list: Command[] = [];
    if (open?.kind === 'permission') {
      list.push({ title: `Allow ${open.tool}`, hint, run: () => this.permit(open, 'allow') });
      list.push({ title: `Deny ${open.tool}`, hint, run: () => this.permit(open, 'deny') });
    }
    if (this.story.busy) list.push({ title: 'Interrupt the agent', hint, run: () => this.interrupt() });
    list.push({ title: 'New conversation', hint, run: () => this.begin() });
    if (this.kept !== undefined) {
      list.push({ title: 'Start the agent anew', hint, run: () => void this.line?.send({ type: 'restart' }) });
      list.push({ title: 'Forget this conversation', hint, run: () => this.forget() });
      list.push({ title: 'Commands of the agent', hint, run: () => this.slash() });
    }
    for (const it of conversations()) list.push({ title: `Conversation: ${it.title}`, hint: `${age(it.at)} ago`, run: () => go('chat', it.id) });
    return list;
  }

  permit(entry: Entry & { kind: 'permission' }, how: 'allow' | 'always' | 'deny'): void {
    const answer: Record<string, unknown> =
      how === 'deny'
        ? { behavior: 'deny', message: 'The user said no.' }
        : { behavior: 'allow', updatedInput: entry.input };
    if (how === 'always') answer['permission_suggestions'] = entry.suggestions;
    if (!this.send({ type: 'control_response', request_id: entry.key, ...answer })) return;
    this.story.settle(entry.key, how === 'deny' ? 'denied' : 'allowed');
    this.draw();
    this.input.focus();
  }

  answer(entry: Entry & { kind: 'question' }, answers: Record<string, string>): void {
    const message =
      entry.input === undefined
        ? { type: 'control_response', request_id: entry.key, answers }
        : { type: 'control_response', request_id: entry.key, behavior: 'allow', updatedInput: { ...entry.input, answers } };
    if (!this.send(message)) return;
    this.story.settle(entry.key, 'answered');
    this.draw();
    this.input.focus();
  }

  private send(message: Record<string, unknown>): boolean {
    if (this.line?.send(message) === true) return true;
    toast('Not connected to the agent.', 'error');
    return false;
  }

  private begin(): void {
    this.keep();
    this.line?.close();
    this.line = undefined;
    this.kept = undefined;
    this.story = new Story();
    this.drawn.clear();
    this.log.replaceChildren();
    history.replaceState(null, '', hashOf('chat'));
    this.stateIs('ended');
    this.drawList();
    this.input.focus();
  }

  private open(one: Kept): void {
    this.keep();
    this.story = new Story();
    this.story.entries = entriesOf(one.id);
    this.drawn.clear();
    this.log.replaceChildren();
    this.mode.value = one.mode;
    this.model.value = one.model || 'sonnet';
    this.connect(one);
  }

  private connect(one: Kept): void {
    this.line?.close();
    this.kept = one;
    this.story.mode = one.mode;
    this.line = new ChatLine(one, {
      message: (message) => this.take(message),
      state: (state) => this.stateIs(state),
    });
  }

  private take(message: unknown): void {
    const waited = this.story.waiting;
    const changed = this.story.take(message);
    if (this.unsaid !== undefined && isObject(message) && message['subtype'] === 'connected') {
      this.send(this.turn(this.unsaid));
      this.unsaid = undefined;
    }
    if (!changed) return this.showStatus();
    if (this.story.waiting && !waited && this.kept !== undefined) {
      const { id, title } = this.kept;
      this.app.announce(`chat ${id}`, 'An agent waits for you', title, () => go('chat', id));
    }
    this.soon();
  }

  private stateIs(state: string): void {
    this.state = state;
    this.showStatus();
  }

  private showStatus(): void {
    const { story, kept } = this;
    // What was not said yet cannot be interrupted: the interrupt would come first.
    this.stop.hidden = !story.busy || this.state !== 'online' || this.unsaid !== undefined;
    const words =
      kept === undefined ? 'A new conversation'
      : this.state === 'connecting' ? 'Connecting…'
      : this.state === 'offline' ? 'Lost, trying again…'
      : this.state === 'ended' ? 'The agent is not there; a message calls it'
      : story.waiting ? 'Waits for you'
      : story.busy ? 'At work…'
      : 'Ready';
    if (this.status.textContent !== words) this.status.textContent = words;
    if (document.activeElement !== this.mode) this.mode.value = story.mode;
  }

  private say(): void {
    const words = this.input.value.trim();
    if (words === '') return;
    const fresh = this.kept === undefined;
    if (fresh || this.state === 'ended') {
      const one: Kept = this.kept ?? { id: crypto.randomUUID(), title: words.split('\n')[0]?.slice(0, 60) ?? '', mode: this.mode.value, model: this.model.value, at: Date.now() };
      this.connect(one);
      if (fresh) history.replaceState(null, '', hashOf('chat', one.id));
      this.unsaid = words;
    } else if (!this.send(this.turn(words))) {
      return;
    }
    this.input.value = '';
    this.story.said(words);
    if (this.kept !== undefined) {
      this.kept = { ...this.kept, at: Date.now() };
      keepConversation(this.kept);
    }
    this.drawList();
    this.draw(true);
  }

  private turn(words: string): Record<string, unknown> {
    return words.startsWith('/') ? { type: 'command', command: words } : { type: 'user', message: words };
  }

  private interrupt(): void {
    this.send({ type: 'interrupt' });
  }

  private setMode(): void {
    const mode = this.mode.value;
    this.story.mode = mode;
    if (this.kept === undefined) return;
    this.kept = { ...this.kept, mode };
    keepConversation(this.kept);
    if (this.state === 'online') this.send({ type: 'control', subtype: 'set_permission_mode', mode: PROGRAM_MODES[mode] ?? 'default' });
  }

  private setModel(): void {
    if (this.kept === undefined) return;
    this.kept = { ...this.kept, model: this.model.value };
    keepConversation(this.kept);
    if (this.state === 'online') this.send({ type: 'control', subtype: 'set_model', model: this.model.value });
  }

  private forget(): void {
    const id = this.kept?.id;
    this.begin();
    if (id !== undefined) forgetConversation(id);
    this.drawList();
  }

  private slash(): void {
    showPalette(this.story.commands.map((it) => ({ title: `/${it}`, run: () => {
      this.input.value = `/${it} `;
      this.input.focus();
    } })), 'Commands of the agent');
  }

  private key(event: KeyboardEvent): void {
    if (event.key === 'Escape' && !this.stop.hidden) this.interrupt();
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.say();
  }

  private soon(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private draw(toEnd = false): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { scrollTop, scrollHeight, clientHeight } = this.log;
    const atEnd = toEnd || scrollHeight - scrollTop - clientHeight < NEAR_PX;
    this.drawEntries();
    this.showStatus();
    if (atEnd) this.log.scrollTop = this.log.scrollHeight;
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.keep(), KEEP_MS);
  }

  private keep(): void {
    clearTimeout(this.keeping);
    if (this.kept !== undefined) keepEntries(this.kept.id, this.story.entries);
  }

  /** Only entries that changed are made anew: a question half answered stays as it is. */
  private drawEntries(): void {
    const wanted = new Set<string>();
    let before: Element | null = this.log.firstElementChild;
    for (const entry of this.story.entries) {
      const key = `${entry.kind} ${entry.key}`;
      wanted.add(key);
      const print = JSON.stringify(entry);
      let drawn = this.drawn.get(key);
      if (drawn === undefined || drawn.print !== print) {
        const element = card(entry, this);
        if (drawn !== undefined) drawn.element.replaceWith(element);
        if (drawn?.element === before) before = element;
        drawn = { element, print };
        this.drawn.set(key, drawn);
      }
      if (drawn.element === before) before = drawn.element.nextElementSibling;
      else this.log.insertBefore(drawn.element, before);
    }
    for (const [key, { element }] of this.drawn) {
      if (wanted.has(key)) continue;
      element.remove();
      this.drawn.delete(key);
    }
    if (this.story.entries.length === 0 && this.log.childElementCount === 0) {
      this.log.append(h('p', { class: 'chat-empty' }, 'Whom would you like to talk to? Say what is to be done.'));
    } else if (this.story.entries.length > 0) {
      this.log.querySelector('.chat-empty')?.remove();
    }
  }

  private drawList(): void {
    const items = conversations().map((it) => {
      const here = it.id === this.kept?.id;
      return h('li', {}, h('a', { href: hashOf('chat', it.id), class: 'chat-link', 'aria-current': here ? 'true' : undefined }, h('span', {}, it.title), h('small', {}, `${age(it.at)} ago`)));
    });
    this.list.replaceChildren(...items);
  }
}
