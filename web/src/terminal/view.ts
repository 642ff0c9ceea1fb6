// Terminals in tabs and splits, as they were left.

import '../style/terminal.css';
import type { App } from '../app';
import { button, h, icon } from '../dom';
import { showPalette, type Command } from '../palette/palette';
import { go, hashOf } from '../router';
import { nameOf } from '../sessions';
import { isBoolean, isNumber, remember, remembered } from '../settings';
import type { View } from '../views';
import { Divider } from './divider';
import * as layouts from './layout';
import type { Layout, Part } from './layout';
import { Pane } from './pane';

const FONT_DEFAULT = 13;
const FONT_LEAST = 8;
const FONT_MOST = 28;

/** Screens on which a terminal of 80 columns cannot be read. */
const SMALL = '(max-width: 720px)';

export class TerminalView implements View {
  readonly element: HTMLElement;
  private layout: Layout = remembered<Layout>('layout', layouts.EMPTY, layouts.isLayout);
  private readonly panes = new Map<string, Pane>();
  private readonly tabs = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Open terminals' });
  private readonly body = h('div', { class: 'terminal-body' });
  private font = remembered('font', FONT_DEFAULT, isNumber);

  constructor(private readonly app: App) {
    const add = button('Open or create', { class: 'bare', 'data-act': 'add', onclick: () => this.choose('Open', (it) => go('terminal', it)) }, icon('plus'));
    this.element = h('div', { class: 'terminal-view' }, h('h1', { class: 'visually-hidden' }, 'Terminals'), h('div', { class: 'tab-row' }, this.tabs, add), this.body);
    app.sessions.onChange(() => {
      this.drawTabs();
      this.openShared();
    });
  }

  shown(args: string[]): void {
    const [target, how, words] = args;
    if (target !== undefined) {
      const session = this.app.sessions.find(target);
      this.layout = layouts.open(this.layout, session?.uuid ?? target);
    }
    this.draw();
    const focus = layouts.current(this.layout)?.focus;
    const pane = focus === undefined ? undefined : this.panes.get(focus);
    if (how === 'readable') pane?.readableOnly(true);
    pane?.focus();
    if (how === 'find' && words !== undefined) pane?.lookFor(words);
    this.openShared();
  }

  /** A share link is for one session: it is opened. */
  private openShared(): void {
    const [only] = this.app.sessions.all;
    if (this.app.share === undefined || only === undefined || layouts.allSessions(this.layout).includes(only.uuid)) return;
    this.change(layouts.open(layouts.EMPTY, only.uuid));
  }

  commands(): Command[] {
    const focus = this.focused();
    const hint = 'terminal';
    const list: Command[] = [
      { title: 'Larger letters', hint, run: () => this.setFont(this.font + 1) },
      { title: 'Smaller letters', hint, run: () => this.setFont(this.font - 1) },
      { title: 'Letters as they were', hint, run: () => this.setFont(FONT_DEFAULT) },
      { title: 'Programs may copy to the clipboard: on or off', hint, run: () => flip('clipboard') },
      { title: 'Read the terminal to a screen reader: on or off', hint, run: () => flip('reader') },
      { title: 'Draw terminals without WebGL: on or off', hint, run: () => flip('plain-drawing') },
    ];
    this.layout.tabs.forEach((_, index) => list.push({ title: `Go to tab ${index + 1}`, hint, run: () => this.change({ ...this.layout, at: index }) }));
    if (focus === undefined) return list;
    return [
      { title: 'Split to the right', hint, run: () => this.split('row') },
      { title: 'Split below', hint, run: () => this.split('column') },
      { title: 'Next pane', hint: 'Ctrl+Shift+→', run: () => this.change(layouts.turnFocus(this.layout, 1)) },
      { title: 'Find in this terminal', hint: 'Ctrl+Shift+F', run: () => focus.find.open() },
      { title: 'Copy what is selected', hint: 'Ctrl+Shift+C', run: () => focus.copy() },
      { title: 'Only watch: on or off', hint, run: () => focus.toggleReadOnly() },
      { title: 'Readable view: on or off', hint, run: () => focus.toggleReadable() },
      { title: 'Close this view', hint, run: () => this.close(focus.target) },
      ...list,
    ];
  }

  private focused(): Pane | undefined {
    const focus = layouts.current(this.layout)?.focus;
    return focus === undefined ? undefined : this.panes.get(focus);
  }

  /** Shows another layout, and remembers it. */
  private change(layout: Layout): void {
    this.layout = layout;
    this.draw();
    this.focused()?.focus();
    const focus = layouts.current(layout)?.focus;
    history.replaceState(null, '', focus === undefined ? hashOf('terminal') : hashOf('terminal', focus));
  }

  private draw(): void {
    remember('layout', this.layout);
    const wanted = new Set(layouts.allSessions(this.layout));
    for (const [target, pane] of this.panes) {
      if (wanted.has(target)) continue;
      pane.dispose();
      this.panes.delete(target);
    }
    const tab = layouts.current(this.layout);
    this.body.replaceChildren(tab === undefined ? this.nothing() : this.part(tab.root, []));
    if (tab !== undefined) this.body.setAttribute('aria-labelledby', `tab-${this.layout.at}`);
    this.markFocus();
    this.drawTabs();
  }

  private nothing(): HTMLElement {
    return h(
      'div',
      { class: 'terminal-none' },
      h('p', {}, 'No terminal is open.'),
      button('Open one', { class: 'primary', onclick: () => this.choose('Open', (it) => go('terminal', it)) }),
    );
  }

  private part(part: Part, path: ('first' | 'second')[]): HTMLElement {
    if (part.kind === 'pane') return this.pane(part.session).element;
    const first = h('div', { class: 'split-part' }, this.part(part.first, [...path, 'first']));
    const second = h('div', { class: 'split-part' }, this.part(part.second, [...path, 'second']));
    const divider = new Divider(part.way, part.share, (share) => {
      // Only remembered: drawing anew would take the divider from under the hand.
      this.layout = layouts.setShare(this.layout, path, share);
      remember('layout', this.layout);
    });
    divider.between(first, second);
    return h('div', { class: `split ${part.way}` }, first, divider.element, second);
  }

  private pane(target: string): Pane {
    const known = this.panes.get(target);
    if (known !== undefined) return known;
    const pane = new Pane(
      this.app,
      target,
      {
        focused: () => this.focusMoved(target),
        close: () => this.close(target),
        split: (way) => this.split(way, target),
        turn: (step) => this.change(layouts.turnFocus(this.layout, step)),
        palette: () => this.element.dispatchEvent(new CustomEvent('open-palette', { bubbles: true })),
        fontSize: () => this.font,
      },
      remembered('small-readable', true, isBoolean) && matchMedia(SMALL).matches,
    );
    this.panes.set(target, pane);
    return pane;
  }

  private focusMoved(target: string): void {
    this.layout = layouts.focusOn(this.layout, target);
    remember('layout', this.layout);
    this.markFocus();
    const session = this.app.sessions.find(target);
    if (session !== undefined) this.app.sessions.seen(session.id);
  }

  private markFocus(): void {
    const focus = layouts.current(this.layout)?.focus;
    for (const [target, pane] of this.panes) pane.element.classList.toggle('focused', target === focus);
  }

  private drawTabs(): void {
    const had = document.activeElement?.parentElement?.parentElement === this.tabs;
    this.tabs.replaceChildren(
      ...this.layout.tabs.map((tab, index) => {
        const session = this.app.sessions.find(tab.focus);
        const others = layouts.sessionsOf(tab.root).length - 1;
        const name = (session === undefined ? '…' : nameOf(session)) + (others > 0 ? ` +${others}` : '');
        const here = index === this.layout.at;
        const rang = layouts.sessionsOf(tab.root).some((it) => this.app.sessions.rang.has(this.app.sessions.find(it)?.id ?? ''));
        const state = rang ? 'rang' : (session?.state ?? 'lost');
        const label = h(
          'button',
          { type: 'button', role: 'tab', id: `tab-${index}`, class: 'tab', 'aria-selected': String(here), tabindex: here ? '0' : '-1', onclick: () => this.change({ ...this.layout, at: index }), onkeydown: (event) => this.tabKey(event, index) },
          h('span', { class: 'lamp', 'data-state': state }),
          h('span', { class: 'tab-name' }, name),
        );
        return h('div', { class: 'tab-holder', role: 'presentation' }, label);
      }),
    );
    if (had) this.tabs.querySelector<HTMLElement>('[aria-selected=true]')?.focus();
  }

  private tabKey(event: KeyboardEvent, index: number): void {
    const count = this.layout.tabs.length;
    if (event.key === 'Delete') return this.close(this.layout.tabs[index]?.focus ?? '');
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    this.layout = { ...this.layout, at: (index + step + count) % count };
    this.draw();
    this.tabs.querySelector<HTMLElement>('[aria-selected=true]')?.focus();
  }

  private close(target: string): void {
    this.change(layouts.close(this.layout, target));
  }

  private split(way: 'row' | 'column', beside?: string): void {
    if (beside !== undefined) this.layout = layouts.focusOn(this.layout, beside);
    this.choose('Put beside it', (it) => this.change(layouts.split(this.layout, way, it)));
  }

  /** Asks which session; a new one can be made of it. */
  private choose(verb: string, then: (target: string) => void): void {
    const open = new Set(verb === 'Open' ? [] : [layouts.current(this.layout)?.focus]);
    const living = this.app.sessions.all.filter((it) => it.state === 'running' && !open.has(it.uuid));
    const create = async () => {
      const made = await this.app.attempt(() => this.app.line.call('session.create', {}));
      await this.app.sessions.refresh();
      const uuid = (made as { uuid?: string } | undefined)?.uuid;
      if (uuid !== undefined) then(uuid);
    };
    const list: Command[] = living.map((it) => ({ title: `${verb}: ${nameOf(it)}`, hint: it.title || it.command, run: () => then(it.uuid) }));
    const fresh: Command[] = this.app.share === undefined ? [{ title: 'A new shell', run: create }] : [];
    showPalette([...fresh, ...list], verb);
  }

  private setFont(size: number): void {
    this.font = Math.min(FONT_MOST, Math.max(FONT_LEAST, size));
    remember('font', this.font);
    for (const pane of this.panes.values()) pane.fit();
  }
}

/** Turns a setting around that terminals look at when they are opened. */
function flip(name: string): void {
  remember(name, !remembered(name, false, isBoolean));
  location.reload();
}
