// The line between two panes, which can be dragged, or moved with the arrow keys.

import { h } from '../dom';

/** How far an arrow key moves it. */
const STEP = 0.05;

export class Divider {
  readonly element: HTMLElement;
  private first: HTMLElement | undefined;
  private second: HTMLElement | undefined;

  constructor(
    private readonly way: 'row' | 'column',
    private share: number,
    private readonly moved: (share: number) => void,
  ) {
    this.element = h('div', {
      class: 'divider', role: 'separator', tabindex: '0', 'aria-label': 'Between two terminals',
      'aria-orientation': way === 'row' ? 'vertical' : 'horizontal', 'aria-valuemin': '10', 'aria-valuemax': '90',
      onpointerdown: (event) => this.drag(event), onkeydown: (event) => this.key(event),
    });
  }

  between(first: HTMLElement, second: HTMLElement): void {
    this.first = first;
    this.second = second;
    this.set(this.share);
  }

  private set(share: number): void {
    this.share = Math.min(0.9, Math.max(0.1, share));
    if (this.first !== undefined) this.first.style.flexGrow = String(this.share);
    if (this.second !== undefined) this.second.style.flexGrow = String(1 - this.share);
    this.element.setAttribute('aria-valuenow', String(Math.round(this.share * 100)));
  }

  private drag(event: PointerEvent): void {
    const room = this.element.parentElement?.getBoundingClientRect();
    if (room === undefined) return;
    this.element.setPointerCapture(event.pointerId);
    const move = (at: PointerEvent) =>
      this.set(this.way === 'row' ? (at.clientX - room.left) / room.width : (at.clientY - room.top) / room.height);
    const done = () => {
      this.element.removeEventListener('pointermove', move);
      this.moved(this.share);
    };
    this.element.addEventListener('pointermove', move);
    this.element.addEventListener('pointerup', done, { once: true });
    event.preventDefault();
  }

  private key(event: KeyboardEvent): void {
    const less = this.way === 'row' ? 'ArrowLeft' : 'ArrowUp';
    const more = this.way === 'row' ? 'ArrowRight' : 'ArrowDown';
    if (event.key !== less && event.key !== more) return;
    event.preventDefault();
    this.set(this.share + (event.key === more ? STEP : -STEP));
    this.moved(this.share);
  }
}
