// The house at a glance: a card for each session, living ones first.

import '../style/house.css';
import type { App } from '../app';
import { age, button, h, icon } from '../dom';
import { endingInWords, type Session } from '../native/wire';
import { showPalette, type Command } from '../palette/palette';
import { go, hashOf } from '../router';
import { nameOf } from '../sessions';
import type { View } from '../views';
import { Thumbnail, thumbnailObserver } from './thumbnail';

/** Ages go on even if nothing happens, once a minute is enough. */
const AGE_BEAT_MS = 30_000;

export class HouseView implements View {
  readonly element: HTMLElement;
  private readonly living = h('ul', { class: 'cards', 'aria-label': 'Living sessions' });
  private readonly ended = h('ul', { class: 'cards', 'aria-label': 'Ended sessions' });
  private readonly endedPart: HTMLDetailsElement;
  private readonly summary = h('p', { class: 'house-summary' });
  private readonly empty: HTMLElement;
  private readonly filter: HTMLInputElement;
  private readonly observer = thumbnailObserver();
  private readonly cards = new Map<string, Card>();
  private stop: (() => void)[] = [];

  constructor(private readonly app: App) {
    this.filter = h('input', { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter sessions', class: 'house-filter', oninput: () => this.render() });
    const head = h(
      'header',
      { class: 'house-head' },
      h('div', {}, h('h1', {}, 'The house'), this.summary),
      h('div', { class: 'house-tools' }, this.filter, button('New session', { class: 'primary', 'data-act': 'create', onclick: () => void app.create() }, icon('plus'), h('span', {}, 'New session'))),
    );
    this.empty = h('div', { class: 'house-empty' }, h('p', {}, 'Nobody is in the house yet.'), button('Begin with a shell', { class: 'primary', onclick: () => void app.create() }));
    this.endedPart = h('details', { class: 'house-ended' }, h('summary', {}, 'Ended'), this.ended);
    this.element = h('div', { class: 'house' }, head, this.empty, this.living, this.endedPart);
    this.element.addEventListener('keydown', (event) => this.arrows(event));
    this.endedPart.open = true;
  }

  shown(): void {
    this.hidden();
    this.stop = [this.app.sessions.onChange(() => this.render()), this.app.sessions.watch()];
    const beat = setInterval(() => this.render(), AGE_BEAT_MS);
    this.stop.push(() => clearInterval(beat));
    this.render();
  }

  hidden(): void {
    for (const stop of this.stop) stop();
    this.stop = [];
  }

  commands(): Command[] {
    return [{ title: 'Filter sessions', hint: 'house', run: () => this.filter.focus() }];
  }

  private render(): void {
    const { sessions } = this.app;
    const wanted = this.filter.value.toLowerCase();
    const shown = sessions.all.filter((it) => `${nameOf(it)} ${it.title} ${it.cwd} ${it.command}`.toLowerCase().includes(wanted));
    const living = shown.filter((it) => it.state === 'running').sort((one, two) => one.created - two.created);
    const ended = shown.filter((it) => it.state !== 'running').sort((one, two) => (two.ended ?? 0) - (one.ended ?? 0));
    this.place(this.living, living);
    this.place(this.ended, ended);
    for (const [id, card] of this.cards) {
      if (shown.some((it) => it.id === id)) continue;
      card.dispose(this.observer);
      this.cards.delete(id);
    }
    this.endedPart.hidden = ended.length === 0;
    const summaryLine = this.endedPart.querySelector('summary');
    if (summaryLine !== null) summaryLine.textContent = `Ended (${ended.length})`;
    this.empty.hidden = !sessions.known || sessions.all.length > 0;
    const words = [`${living.length} living`, ended.length > 0 ? `${ended.length} ended` : ''].filter((it) => it !== '');
    this.summary.textContent = sessions.known ? words.join(', ') : 'Looking…';
  }

  /** Puts cards in order without touching those that are where they belong: focus stays. */
  private place(list: HTMLElement, sessions: Session[]): void {
    sessions.forEach((session, index) => {
      let card = this.cards.get(session.id);
      if (card === undefined) {
        card = new Card(this.app, session, this.observer);
        this.cards.set(session.id, card);
      }
      card.update(session, this.app.sessions.rang.has(session.id));
      if (list.children[index] !== card.element) list.insertBefore(card.element, list.children[index] ?? null);
    });
    while (list.children.length > sessions.length) list.lastElementChild?.remove();
  }

  /** Arrow keys go from card to card. */
  private arrows(event: KeyboardEvent): void {
    const links = [...this.element.querySelectorAll<HTMLElement>('.card-open')];
    const at = links.indexOf(document.activeElement as HTMLElement);
    if (at < 0) return;
    const top = links[at]?.getBoundingClientRect().top;
    const columns = Math.max(1, links.filter((it) => it.getBoundingClientRect().top === top).length);
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
    const step = steps[event.key];
    const next = step === undefined ? undefined : links[at + step];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  }
}

class Card {
  readonly element: HTMLLIElement;
  private readonly thumbnail: Thumbnail;
  private readonly name = h('span', { class: 'card-name' });
  private readonly title = h('span', { class: 'card-title' });
  private readonly place = h('span', { class: 'card-place' });
  private readonly facts = h('span', { class: 'card-facts' });
  private readonly lamp = h('span', { class: 'lamp' });
  private readonly link: HTMLAnchorElement;
  private session: Session;

  constructor(app: App, session: Session, observer: IntersectionObserver) {
    this.session = session;
    this.thumbnail = new Thumbnail(app.line, observer);
    this.link = h('a', { class: 'card-open', href: hashOf('terminal', session.uuid) }, this.lamp, this.name);
    const more = button('What can be done with it', { class: 'card-more', onclick: () => showPalette(app.sessionCommands(this.session), nameOf(this.session)) }, icon('more'));
    this.element = h(
      'li',
      { class: 'card' },
      h('div', { class: 'card-stage', onclick: () => go('terminal', this.session.uuid) }, this.thumbnail.element),
      h('div', { class: 'card-head' }, this.link, more),
      h('div', { class: 'card-text' }, this.title, this.place, this.facts),
    );
  }

  update(session: Session, rang: boolean): void {
    this.session = session;
    this.element.dataset['state'] = rang ? 'rang' : session.state;
    const living = session.state === 'running';
    const state = rang ? 'rings' : living ? 'living' : endingInWords(session);
    set(this.name, nameOf(session));
    this.lamp.title = state;
    const title = session.title || session.command;
    set(this.title, title);
    set(this.place, session.title !== '' && session.command !== '' ? `${session.command} · ${session.cwd}` : session.cwd);
    const clients = session.attachedClients === 1 ? '1 looks on' : `${session.attachedClients} look on`;
    const facts = living
      ? [state, `for ${age(session.created)}`, session.attachedClients > 0 ? clients : 'nobody looks on']
      : [state, session.ended === undefined ? '' : `${age(session.ended)} ago`];
    set(this.facts, facts.filter((it) => it !== '').join(' · '));
    this.link.setAttribute('aria-label', `${nameOf(session)}, ${state}`);
    this.thumbnail.update(session);
  }

  dispose(observer: IntersectionObserver): void {
    this.thumbnail.dispose(observer);
    this.element.remove();
  }
}

function set(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
