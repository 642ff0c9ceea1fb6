// Telling somebody who looks elsewhere: a bell, an end, an agent that waits. Only if asked for.

import type { App } from './app';
import { endingInWords, text, type Note } from './native/wire';
import { go } from './router';
import { nameOf } from './sessions';
import { isBoolean, remember, remembered } from './settings';

/** The same session is not announced again within this time: a bell can ring a thousand times. */
const QUIET_MS = 10_000;

/** The longest text shown: a name or title can be anything. */
const MAX_TEXT = 120;

export class Notifier {
  private wanted = remembered('notify', false, isBoolean);
  private last = new Map<string, number>();

  constructor(private readonly app: App) {
    app.line.onNote((note) => this.note(note));
    app.announce = (about, title, body, open) => this.announce(about, title, body, open);
  }

  get on(): boolean {
    return this.wanted && 'Notification' in window && Notification.permission === 'granted';
  }

  /** Turns it on or off; the browser asks the first time. False if it said no. */
  async toggle(): Promise<boolean> {
    if (this.on) {
      this.wanted = false;
    } else {
      if (!('Notification' in window)) return false;
      this.wanted = (await Notification.requestPermission()) === 'granted';
    }
    remember('notify', this.wanted);
    return this.wanted;
  }

  /** Announces something unless the page is being looked at. */
  announce(about: string, title: string, body: string, open: () => void): void {
    if (!this.on || (!document.hidden && document.hasFocus())) return;
    const now = Date.now();
    if (now - (this.last.get(about) ?? 0) < QUIET_MS) return;
    this.last.set(about, now);
    const shown = new Notification(title.slice(0, MAX_TEXT), { body: body.slice(0, MAX_TEXT), tag: about });
    shown.onclick = () => {
      window.focus();
      open();
      shown.close();
    };
  }

  private note(note: Note): void {
    const id = text(note.params['sessionId']);
    const session = this.app.sessions.find(id);
    const name = session === undefined ? id : nameOf(session);
    const open = () => go('terminal', session?.uuid ?? id);
    if (note.method === 'session.bell') {
      this.announce(`bell ${id}`, name, session?.title || 'rings', open);
    } else if (note.method === 'session.ended') {
      this.announce(`end ${id}`, name, endingInWords(note.params), open);
    }
  }
}
