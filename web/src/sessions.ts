// The house as this page knows it: every session, living and ended, kept fresh.
//
// Notifications say that something changed, then the list is asked for once. Offsets change
// without a notification, so views that show them (thumbnails) have the list asked for in a beat,
// only while somebody can see it.

import type { Connection } from './native/connection';
import { sessionFromWire, type Note, type Session } from './native/wire';

/** The beat of views that show what sessions print. */
const BEAT_MS = 1_500;

/** Many notifications in a row are one question. */
const SETTLE_MS = 60;

/** Notifications after which the list is not what it was. */
const CHANGES = new Set([
  'session.created', 'session.ended', 'session.renamed', 'session.attached', 'session.detached',
  'session.forgotten', 'session.resized', 'session.title',
]);

export class Sessions {
  all: Session[] = [];
  /** Whether the list was ever answered. */
  known = false;
  /** Sessions whose bell rang and that nobody looked at since. */
  readonly rang = new Set<string>();
  private listeners = new Set<() => void>();
  private watchers = 0;
  private beat: ReturnType<typeof setTimeout> | undefined;
  private settle: ReturnType<typeof setTimeout> | undefined;
  private asking: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(private readonly line: Connection) {
    line.onNote((note) => this.note(note));
    line.onState((state) => {
      if (state === 'online') void this.refresh();
    });
    document.addEventListener('visibilitychange', () => this.schedule());
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Keeps offsets fresh until the answer is called. */
  watch(): () => void {
    this.watchers += 1;
    void this.refresh();
    this.schedule();
    let done = false;
    return () => {
      if (!done) this.watchers -= 1;
      done = true;
    };
  }

  /** By id, UUID or number. */
  find(target: string): Session | undefined {
    return this.all.find((it) => it.uuid === target || it.id === target || String(it.number) === target);
  }

  seen(id: string): void {
    if (this.rang.delete(id)) this.tell();
  }

  /** Asks for the list; what happened before this was called is in it when it is done. */
  refresh(): Promise<void> {
    if (this.line.state !== 'online') return Promise.resolve();
    if (this.asking === undefined) {
      this.asking = this.ask().finally(() => (this.asking = undefined));
      return this.asking;
    }
    // One under way may have been answered before; those that come meanwhile share the next.
    this.next ??= this.asking.then(() => {
      this.next = undefined;
      return this.refresh();
    });
    return this.next;
  }

  private async ask(): Promise<void> {
    try {
      const answer = await this.line.call('session.list', { ended: true });
      const list = Array.isArray(answer) ? answer : [];
      this.all = list.map(sessionFromWire).filter((it) => it !== undefined);
      this.known = true;
      this.tell();
    } catch {
      // The next notification or connection asks again.
    }
  }

  private note(note: Note): void {
    if (note.method === 'session.bell' && typeof note.params['sessionId'] === 'string') {
      this.rang.add(note.params['sessionId']);
      this.tell();
    }
    if (!CHANGES.has(note.method)) return;
    clearTimeout(this.settle);
    this.settle = setTimeout(() => void this.refresh(), SETTLE_MS);
  }

  private schedule(): void {
    clearTimeout(this.beat);
    if (this.watchers === 0 || document.hidden) return;
    this.beat = setTimeout(() => void this.refresh().then(() => this.schedule()), BEAT_MS);
  }

  private tell(): void {
    for (const listener of [...this.listeners]) listener();
  }
}

/** What a session is called: its name, or its number. */
export function nameOf(session: Session): string {
  return session.name !== '' ? session.name : `session ${session.number}`;
}
