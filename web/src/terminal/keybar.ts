// Keys a phone does not have. Ctrl and Alt stay down for the next key.

import { button, h } from '../dom';

/** What is written on a key, what it is called to the daemon, and what it is called aloud if that differs. */
const KEYS: readonly [string, string, string?][] = [
  ['Esc', 'esc'], ['Tab', 'tab'], ['←', 'left', 'Left'], ['↓', 'down', 'Down'],
  ['↑', 'up', 'Up'], ['→', 'right', 'Right'], ['⏎', 'enter', 'Enter'], ['⌫', 'backspace', 'Backspace'],
  ['|', '|', 'Bar'], ['/', '/', 'Slash'], ['~', '~', 'Tilde'], ['-', '-', 'Dash'],
  ['^C', 'ctrl+c', 'Control C'], ['^D', 'ctrl+d', 'Control D'], ['^R', 'ctrl+r', 'Control R'],
  ['PgUp', 'pageup'], ['PgDn', 'pagedown'], ['Home', 'home'], ['End', 'end'],
];

export class KeyBar {
  readonly element: HTMLElement;
  private readonly held = new Set<'ctrl' | 'alt'>();
  private readonly holds = new Map<'ctrl' | 'alt', HTMLButtonElement>();

  /** `press` gets a key by name, such as `ctrl+up`. */
  constructor(private readonly press: (key: string) => void) {
    const hold = (name: 'ctrl' | 'alt', label: string) => {
      const key = button(label, { class: 'key', 'aria-pressed': 'false', onclick: () => this.toggle(name) });
      this.holds.set(name, key);
      return key;
    };
    const keys = KEYS.map(([label, name, spoken]) =>
      button(label, { class: 'key', 'aria-label': spoken, 'data-key': name, onclick: () => this.send(name) }),
    );
    const [escape, tab, ...rest] = keys;
    this.element = h('div', { class: 'keybar', role: 'toolbar', 'aria-label': 'Keys' }, escape, tab, hold('ctrl', 'Ctrl'), hold('alt', 'Alt'), ...rest);
    // A tap must not take the focus, or the phone's keyboard would go.
    this.element.addEventListener('pointerdown', (event) => event.preventDefault());
  }

  /** The text with what is held: one letter with Ctrl is a key, anything else is text. */
  combine(text: string): { key: string } | { text: string } {
    if (this.held.size === 0 || [...text].length !== 1) return { text };
    const key = [...this.held, text.toLowerCase()].join('+');
    this.release();
    return { key };
  }

  private send(name: string): void {
    const key = [...[...this.held].filter((it) => !name.includes(it)), name].join('+');
    this.release();
    this.press(key);
  }

  private toggle(name: 'ctrl' | 'alt'): void {
    if (!this.held.delete(name)) this.held.add(name);
    this.show();
  }

  private release(): void {
    this.held.clear();
    this.show();
  }

  private show(): void {
    for (const [name, key] of this.holds) key.setAttribute('aria-pressed', String(this.held.has(name)));
  }
}
