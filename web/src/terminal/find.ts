// The line in which one types what to find in a terminal.

import { button, h, icon } from '../dom';

export class FindBar {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly count = h('span', { class: 'find-count', role: 'status' });

  constructor(
    private readonly look: (text: string, back: boolean) => void,
    private readonly left: () => void,
  ) {
    this.input = h('input', { type: 'text', 'aria-label': 'Find in this terminal', placeholder: 'Find', spellcheck: 'false', oninput: () => this.go(true) });
    this.element = h(
      'div',
      { class: 'find', hidden: true, role: 'search' },
      this.input,
      this.count,
      button('Earlier', { class: 'bare', onclick: () => this.go(true) }, icon('up')),
      button('Later', { class: 'bare', onclick: () => this.go(false) }, icon('down')),
      button('Done', { class: 'bare', onclick: () => this.close() }, icon('close')),
    );
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close();
      else if (event.key === 'Enter' && event.target === this.input) this.go(!event.shiftKey);
      else return;
      event.preventDefault();
    });
  }

  open(text?: string): void {
    this.element.hidden = false;
    if (text !== undefined) this.input.value = text;
    this.input.select();
    this.input.focus();
    if (text !== undefined) this.go(true);
  }

  /** Which of how many is shown. */
  found(at: number, count: number): void {
    this.count.textContent = count === 0 ? 'none' : at < 0 ? `${count}` : `${at + 1} of ${count}`;
  }

  private close(): void {
    this.element.hidden = true;
    this.left();
  }

  /** Terminals are read from the end, so looking goes back first. */
  private go(back: boolean): void {
    if (this.input.value !== '') this.look(this.input.value, back);
  }
}
