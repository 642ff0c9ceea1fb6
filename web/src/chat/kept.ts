// The conversations this browser knows: their ids, and the last of what was said.
//
// The server keeps the conversation itself and does not tell it again; this is only what was seen.

import { isObject } from '../native/wire';
import { remember, remembered } from '../settings';
import type { Entry } from './story';

export interface Kept {
  id: string;
  title: string;
  mode: string;
  model: string;
  /** When it was last used, in milliseconds since 1970. */
  at: number;
}

const MAX_KEPT = 30;
const MAX_ENTRIES = 200;

/** Browsers give a page five megabytes; one conversation gets a part of it. */
const MAX_TEXT = 300_000;

const isKept = (value: unknown): value is Kept[] =>
  Array.isArray(value) && value.every((it) => isObject(it) && typeof it['id'] === 'string' && typeof it['title'] === 'string');

export function conversations(): Kept[] {
  return remembered<Kept[]>('chats', [], isKept);
}

export function keepConversation(one: Kept): void {
  const others = conversations().filter((it) => it.id !== one.id);
  const all = [one, ...others].sort((a, b) => b.at - a.at);
  for (const old of all.slice(MAX_KEPT)) remember(`chat.${old.id}`, undefined);
  remember('chats', all.slice(0, MAX_KEPT));
}

export function forgetConversation(id: string): void {
  remember('chats', conversations().filter((it) => it.id !== id));
  remember(`chat.${id}`, undefined);
}

const isEntries = (value: unknown): value is Entry[] =>
  Array.isArray(value) && value.every((it) => isObject(it) && typeof it['kind'] === 'string' && typeof it['key'] === 'string');

export function entriesOf(id: string): Entry[] {
  // What was asked before a reload is asked again by the server if it still waits.
  return remembered<Entry[]>(`chat.${id}`, [], isEntries).filter((it) => !('state' in it) || it.state !== 'open');
}

export function keepEntries(id: string, entries: Entry[]): void {
  const last = entries.slice(-MAX_ENTRIES);
  while (last.length > 0 && JSON.stringify(last).length > MAX_TEXT) last.splice(0, Math.ceil(last.length / 4));
  remember(`chat.${id}`, last);
}
