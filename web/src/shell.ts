// The frame around the rooms: the rail, the connection's lamp, the keys that work everywhere.

import type { App } from './app';
import { toast } from './dialogs';
import { button, h, icon } from './dom';
import type { LineState } from './native/connection';
import type { Notifier } from './notify';
import { showPalette, type Command } from './palette/palette';
import { go, hashOf, placeOf } from './router';
import { nameOf } from './sessions';
import { chooseTheme, toggleTheme } from './theme';
import { ROOMS, type Room, type View } from './views';

const LINE_TEXT: Record<LineState, string> = {
  online: 'Connected',
  connecting: 'Connecting…',
  offline: 'The daemon is away. Trying again…',
  denied: 'Not logged in',
  closed: 'Not connected',
};

/** The events of a view that the shell hears. */
declare global {
  interface HTMLElementEventMap {
    'open-palette': CustomEvent;
  }
}

export class Shell {
  readonly element: HTMLElement;
  readonly notifier: Notifier;
  private readonly main = h('main', { id: 'main', tabindex: '-1' });
  private readonly links = new Map<string, HTMLAnchorElement>();
  private readonly lamp = h('span', { class: 'line-lamp', role: 'status' });
  private readonly views = new Map<string, Promise<View>>();
  private current: { room: Room; view: View } | undefined;

  constructor(
    private readonly app: App,
    notifier: Notifier,
  ) {
    this.notifier = notifier;
    this.element = h('div', { class: 'shell' }, h('a', { class: 'skip', href: '#main', onclick: (event) => this.skip(event) }, 'Skip to content'), this.rail(), this.main);
    window.addEventListener('hashchange', () => void this.follow());
    window.addEventListener('keydown', (event) => this.key(event));
    this.element.addEventListener('open-palette', () => this.palette());
    app.line.onState((state) => this.line(state));
    app.sessions.onChange(() => this.title());
    this.line(app.line.state);
    void this.follow();
  }

  private rail(): HTMLElement {
    const items = ROOMS.map((room) => {
      const link = h('a', { href: hashOf(room.name), class: 'rail-link', 'data-room': room.name }, icon(room.icon), h('span', {}, room.title));
      this.links.set(room.name, link);
      return h('li', {}, link);
    });
    return h(
      'nav',
      { class: 'rail', 'aria-label': 'Rooms' },
      h('a', { href: hashOf('house'), class: 'rail-mark', 'aria-label': 'greenroom, the house' }, h('span', { class: 'mark-lamp' })),
      h('ul', {}, ...items),
      h(
        'div',
        { class: 'rail-foot' },
        this.lamp,
        button('Commands (Ctrl+K)', { class: 'rail-button', 'data-act': 'palette', onclick: () => this.palette() }, icon('key')),
        button('Light or dark', { class: 'rail-button', 'data-act': 'theme', onclick: toggleTheme }, icon('sun')),
        button('Notifications', { class: 'rail-button', 'data-act': 'notify', onclick: () => void this.toggleNotifications() }, icon('bell')),
      ),
    );
  }

  private skip(event: Event): void {
    event.preventDefault();
    this.main.focus();
  }

  /** Goes where the address says. */
  private async follow(): Promise<void> {
    const place = placeOf(location.hash);
    const room = ROOMS.find((it) => it.name === place.room) ?? ROOMS[0];
    if (room === undefined) return;
    const view = await this.view(room);
    // Somebody may have gone on while the room was loaded.
    if (view === undefined || placeOf(location.hash).room !== place.room) return;
    if (this.current?.view !== view) {
      this.current?.view.hidden?.();
      this.main.replaceChildren(view.element);
      this.current = { room, view };
    }
    for (const [name, link] of this.links) {
      if (name === room.name) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    view.shown?.(place.args);
    this.title();
  }

  private async view(room: Room): Promise<View | undefined> {
    const known = this.views.get(room.name) ?? room.load(this.app);
    this.views.set(room.name, known);
    try {
      return await known;
    } catch {
      // A new version may have other files; the next try loads them.
      this.views.delete(room.name);
      toast('This part of the page could not be loaded. Reload it.', 'error');
      return undefined;
    }
  }

  private line(state: LineState): void {
    this.lamp.dataset['state'] = state;
    this.lamp.replaceChildren(h('span', { class: 'line-text' }, LINE_TEXT[state]));
    this.lamp.title = LINE_TEXT[state];
    this.element.dataset['line'] = state;
    const share = this.app.share;
    for (const room of ROOMS) {
      const link = this.links.get(room.name);
      if (link?.parentElement) link.parentElement.hidden = share !== undefined && room.shared !== true;
    }
  }

  private title(): void {
    const waiting = this.app.sessions.rang.size;
    const room = this.current?.room.title ?? '';
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${room} · greenroom`;
  }

  private async toggleNotifications(): Promise<void> {
    const on = await this.notifier.toggle();
    toast(on ? 'You will be told of bells, ends, and agents that wait.' : 'Notifications are off.');
  }

  /**
   * Ctrl+K, or Cmd+K. A terminal keeps Ctrl+K, which shells know as "delete to the end of the line";
   * there it is Ctrl+Shift+K.
   */
  private key(event: KeyboardEvent): void {
    if (event.key.toLowerCase() !== 'k' || event.altKey || !(event.ctrlKey || event.metaKey)) return;
    const inTerminal = event.target instanceof Element && event.target.closest('.pane-screen') !== null;
    if (inTerminal && event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    this.palette();
  }

  palette(): void {
    showPalette(this.commands());
  }

  private commands(): Command[] {
    const { app } = this;
    const rooms = ROOMS.filter((it) => app.share === undefined || it.shared === true);
    const sessions = app.sessions.all.flatMap((it) => app.sessionCommands(it));
    const opens = sessions.filter((it) => it.title.startsWith('Open '));
    const others = sessions.filter((it) => !it.title.startsWith('Open '));
    const mine = app.share === undefined ? [{ title: 'New session', hint: 'house', run: () => app.create() }] : [];
    return [
      ...mine,
      ...opens,
      ...(this.current?.view.commands?.() ?? []),
      ...rooms.map((room) => ({ title: `Go to ${room.title}`, hint: 'room', run: () => go(room.name) })),
      ...app.sessions.all.filter((it) => it.state === 'running').slice(0, 50).map((it) => ({
        title: `Read ${nameOf(it)}`, hint: 'readable view', run: () => go('terminal', it.uuid, 'readable'),
      })),
      ...others,
      { title: 'Light or dark', hint: 'page', run: toggleTheme },
      { title: 'Colours as the system has them', hint: 'page', run: () => chooseTheme('system') },
      { title: 'Notifications on or off', hint: 'page', run: () => this.toggleNotifications() },
    ];
  }
}
