// The rooms of the page. A view is loaded when it is first gone to and kept: its terminals stay
// attached while another is looked at. To add one, add a row.

import type { App } from './app';
import type { IconName } from './dom';
import type { Command } from './palette/palette';

export interface View {
  element: HTMLElement;
  /** It is looked at now, with the rest of the address. */
  shown?(args: string[]): void;
  /** Something else is looked at. */
  hidden?(): void;
  /** What one can do here, for the palette. */
  commands?(): Command[];
}

export interface Room {
  name: string;
  title: string;
  icon: IconName;
  load: (app: App) => Promise<View>;
  /** Whether a share link, which is for one session, has a use for it. */
  shared?: boolean;
}

export const ROOMS: readonly Room[] = [
  {
    name: 'house',
    title: 'House',
    icon: 'house',
    load: async (app) => new (await import('./house/view')).HouseView(app),
  },
  {
    name: 'terminal',
    title: 'Terminals',
    icon: 'terminal',
    load: async (app) => new (await import('./terminal/view')).TerminalView(app),
    shared: true,
  },
  {
    name: 'chat',
    title: 'Chat',
    icon: 'chat',
    load: async (app) => new (await import('./chat/view')).ChatView(app),
  },
  {
    name: 'search',
    title: 'Search',
    icon: 'search',
    load: async (app) => new (await import('./search/view')).SearchView(app),
  },
];
