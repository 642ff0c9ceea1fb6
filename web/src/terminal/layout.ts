// Tabs and splits as a value: what is where, and which pane has the focus. No elements here.
//
// A session is in at most one pane: one connection says one size for it.

export interface Pane {
  kind: 'pane';
  /** The session's UUID, which outlives names and daemons. */
  session: string;
}

export interface Split {
  kind: 'split';
  way: 'row' | 'column';
  /** How much of the room the first has, 0 to 1. */
  share: number;
  first: Part;
  second: Part;
}

export type Part = Pane | Split;

export interface Tab {
  root: Part;
  /** The session that has the focus. */
  focus: string;
}

export interface Layout {
  tabs: Tab[];
  at: number;
}

/** More tabs than anybody finds anything in; a bound for what is remembered. */
const MAX_TABS = 50;

/** Panes smaller than a fifth cannot be read. */
const LEAST_SHARE = 0.1;

export const EMPTY: Layout = { tabs: [], at: 0 };

export function sessionsOf(part: Part): string[] {
  return part.kind === 'pane' ? [part.session] : [...sessionsOf(part.first), ...sessionsOf(part.second)];
}

export function allSessions(layout: Layout): string[] {
  return layout.tabs.flatMap((tab) => sessionsOf(tab.root));
}

export function current(layout: Layout): Tab | undefined {
  return layout.tabs[layout.at];
}

/** Goes to where a session is, or opens a tab for it. */
export function open(layout: Layout, session: string): Layout {
  const at = layout.tabs.findIndex((tab) => sessionsOf(tab.root).includes(session));
  if (at >= 0) return { tabs: layout.tabs.map((tab, index) => (index === at ? { ...tab, focus: session } : tab)), at };
  const tab: Tab = { root: { kind: 'pane', session }, focus: session };
  const tabs = [...layout.tabs, tab].slice(-MAX_TABS);
  return { tabs, at: tabs.length - 1 };
}

/** Puts a session beside the one that has the focus. */
export function split(layout: Layout, way: Split['way'], session: string): Layout {
  const rest = close(layout, session);
  const tab = current(rest);
  if (tab === undefined) return open(layout, session);
  const beside = (part: Part): Part => {
    if (part.kind === 'split') return { ...part, first: beside(part.first), second: beside(part.second) };
    if (part.session !== tab.focus) return part;
    return { kind: 'split', way, share: 0.5, first: part, second: { kind: 'pane', session } };
  };
  return replace(rest, rest.at, { root: beside(tab.root), focus: session });
}

/** Takes a session out; its neighbour gets the room, an empty tab goes. */
export function close(layout: Layout, session: string): Layout {
  const at = layout.tabs.findIndex((tab) => sessionsOf(tab.root).includes(session));
  const tab = layout.tabs[at];
  if (tab === undefined) return layout;
  const without = (part: Part): Part | undefined => {
    if (part.kind === 'pane') return part.session === session ? undefined : part;
    const first = without(part.first);
    const second = without(part.second);
    if (first === undefined) return second;
    return second === undefined ? first : { ...part, first, second };
  };
  const root = without(tab.root);
  if (root === undefined) {
    const tabs = layout.tabs.filter((it) => it !== tab);
    const next = layout.at > at || layout.at >= tabs.length ? layout.at - 1 : layout.at;
    return { tabs, at: Math.max(0, next) };
  }
  const focus = tab.focus === session ? (sessionsOf(root)[0] ?? '') : tab.focus;
  return replace(layout, at, { root, focus });
}

/** Gives the divider of a split another place. `path` says how to get there: first, second, … */
export function setShare(layout: Layout, path: ('first' | 'second')[], share: number): Layout {
  const tab = current(layout);
  if (tab === undefined) return layout;
  const set = (part: Part, rest: ('first' | 'second')[]): Part => {
    if (part.kind === 'pane') return part;
    const [step, ...more] = rest;
    if (step === undefined) return { ...part, share: Math.min(1 - LEAST_SHARE, Math.max(LEAST_SHARE, share)) };
    return { ...part, [step]: set(part[step], more) };
  };
  return replace(layout, layout.at, { ...tab, root: set(tab.root, path) });
}

/** The next pane of the tab, round and round. */
export function turnFocus(layout: Layout, step: number): Layout {
  const tab = current(layout);
  if (tab === undefined) return layout;
  const all = sessionsOf(tab.root);
  const next = all[(all.indexOf(tab.focus) + step + all.length) % all.length];
  return next === undefined ? layout : replace(layout, layout.at, { ...tab, focus: next });
}

export function focusOn(layout: Layout, session: string): Layout {
  const tab = current(layout);
  if (tab === undefined || tab.focus === session || !sessionsOf(tab.root).includes(session)) return layout;
  return replace(layout, layout.at, { ...tab, focus: session });
}

function replace(layout: Layout, at: number, tab: Tab): Layout {
  return { tabs: layout.tabs.map((it, index) => (index === at ? tab : it)), at: layout.at };
}

/** Whether what was remembered is a layout. */
export function isLayout(value: unknown): value is Layout {
  if (typeof value !== 'object' || value === null) return false;
  const { tabs, at } = value as Partial<Layout>;
  return Array.isArray(tabs) && tabs.length <= MAX_TABS && tabs.every(isTab) && typeof at === 'number';
}

function isTab(value: unknown): value is Tab {
  if (typeof value !== 'object' || value === null) return false;
  const { root, focus } = value as Partial<Tab>;
  return typeof focus === 'string' && isPart(root, 0) && sessionsOf(root).includes(focus);
}

/** Splits in splits in splits: past this it was not made here. */
const MAX_DEPTH = 16;

function isPart(value: unknown, depth: number): value is Part {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  const part = value as Record<string, unknown>;
  if (part['kind'] === 'pane') return typeof part['session'] === 'string';
  const { kind, way, share, first, second } = part;
  return (
    kind === 'split' && (way === 'row' || way === 'column') && typeof share === 'number' &&
    isPart(first, depth + 1) && isPart(second, depth + 1)
  );
}
