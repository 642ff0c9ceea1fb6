// Making elements. Text goes in as text nodes only: names, titles and output are strangers' words.

type Child = Node | string | undefined | false;

type Listeners = { [K in keyof HTMLElementEventMap as `on${K}`]?: (event: HTMLElementEventMap[K]) => void };

export type Props = Listeners & {
  class?: string;
  /** Attributes as written in HTML; `true` means present, `false` and `undefined` absent. */
  [attribute: string]: unknown;
};

/** An element with attributes, listeners and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith('on') && typeof value === 'function') {
      element.addEventListener(name.slice(2), value as EventListener);
    } else if (value === true) {
      element.setAttribute(name, '');
    } else if (value !== undefined && value !== false) {
      element.setAttribute(name, String(value));
    }
  }
  append(element, ...children);
  return element;
}

export function append(parent: Node, ...children: Child[]): void {
  for (const child of children) {
    if (child === undefined || child === false) continue;
    parent.appendChild(typeof child === 'string' ? document.createTextNode(child) : child);
  }
}

/** A button that is never a form's. */
export function button(label: string, props: Props, ...children: Child[]): HTMLButtonElement {
  const inside = children.length > 0 ? children : [label];
  return h('button', { type: 'button', ...(children.length > 0 ? { 'aria-label': label, title: label } : {}), ...props }, ...inside);
}

/** The shapes of icons, drawn in a square of 24 with a stroke. */
const ICONS = {
  house: 'M4 11l8-7 8 7M6 10v9h12v-9M10 19v-5h4v5',
  terminal: 'M4 5h16v14H4zM8 10l3 2.5L8 15M13 15h3',
  chat: 'M5 5h14v10h-8l-4 4v-4H5z',
  search: 'M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15.5 15.5L20 20',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  columns: 'M4 5h16v14H4zM12 5v14',
  rows: 'M4 5h16v14H4zM4 12h16',
  eye: 'M3 12c3-5 6-7 9-7s6 2 9 7c-3 5-6 7-9 7s-6-2-9-7zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
  book: 'M12 6c-2-1.500-5-2-8-1v13c3-1 6-.5 8 1 2-1.500 5-2 8-1V5c-3-1-6-.5-8 1zM12 6v13',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 3v2M12 19v2M3 12h2M19 12h2M5.600 5.600l1.400 1.400M17 17l1.400 1.400M5.600 18.400L7 17M17 7l1.400-1.400',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l1.500 2h-15zM10 20h4',
  send: 'M4 12l16-7-5 15-3-6z',
  stop: 'M7 7h10v10H7z',
  key: 'M8 11a4 4 0 1 0 0 2h12v4M16 13v3',
  copy: 'M9 9h10v10H9zM5 15V5h10',
  link: 'M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 6 6l1-1',
  up: 'M12 19V5M6 11l6-6 6 6',
  down: 'M12 5v14M6 13l6 6 6-6',
} as const;

export type IconName = keyof typeof ICONS;

const SVG = 'http://www.w3.org/2000/svg';

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.appendChild(path);
  return svg;
}

/** How long ago that was, short: `3 m`, `2 d`. */
export function age(since: number, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - since) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** Whether an address may become a link: the web only, nothing that runs or reads files. */
export function isWebLink(address: string): boolean {
  try {
    const { protocol } = new URL(address);
    return protocol === 'https:' || protocol === 'http:';
  } catch {
    return false;
  }
}
