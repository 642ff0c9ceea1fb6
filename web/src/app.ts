// What views share: the connection, the sessions, and what can be done with one.

import { askText, form, showText, sure, toast } from './dialogs';
import type { Grant } from './login';
import type { Connection } from './native/connection';
import { isObject, RpcError, sessionFromWire, text, type Session } from './native/wire';
import type { Command } from './palette/palette';
import { go } from './router';
import { nameOf, type Sessions } from './sessions';

const HOUR_MS = 60 * 60 * 1000;

export class App {
  /** Tells somebody who looks elsewhere, if they want that (`notify`). */
  announce: (about: string, title: string, body: string, open: () => void) => void = () => undefined;

  constructor(
    readonly line: Connection,
    readonly sessions: Sessions,
  ) {}

  /** What we may do; until that is known, everything. The daemon minds it, not the page. */
  grant: Grant = { scope: 'owner', write: true };

  /** What a share link allows; nothing if we may do everything. */
  get share(): { write: boolean } | undefined {
    return this.grant.scope === 'session' ? this.grant : undefined;
  }

  /** Does something that the daemon may refuse, and says so if it does. */
  async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const hint = error instanceof RpcError && error.hint !== undefined ? ` (${error.hint})` : '';
      toast(`${error instanceof Error ? error.message : String(error)}${hint}`, 'error');
      return undefined;
    }
  }

  /** Asks what to run, and makes a session of it. */
  async create(): Promise<void> {
    const values = await form({
      title: 'New session',
      text: 'Leave the command empty for your shell.',
      fields: [
        { name: 'name', label: 'Name', placeholder: 'chosen for you' },
        { name: 'command', label: 'Command', placeholder: 'your shell' },
        { name: 'cwd', label: 'Folder', placeholder: 'your home' },
      ],
      yes: 'Create',
    });
    if (values === undefined) return;
    const params = Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ''));
    await this.attempt(async () => {
      const session = sessionFromWire(await this.line.call('session.create', params));
      await this.sessions.refresh();
      if (session !== undefined) go('terminal', session.uuid);
    });
  }

  async rename(session: Session): Promise<void> {
    const name = await askText(`Rename ${nameOf(session)}`, 'Name', session.name, 'Rename');
    if (name === undefined || name === session.name) return;
    await this.attempt(() => this.line.call('session.rename', { sessionId: session.id, name }));
  }

  async kill(session: Session): Promise<void> {
    const text = 'The program in it is ended. What it printed can still be read.';
    if (!(await sure(`End ${nameOf(session)}?`, text, 'End it'))) return;
    await this.attempt(() => this.line.call('session.kill', { sessionId: session.id }));
  }

  async forget(session: Session): Promise<void> {
    const text = 'Its screen, history and status are removed.';
    if (!(await sure(`Forget ${nameOf(session)}?`, text, 'Forget it'))) return;
    await this.attempt(() => this.line.call('session.forget', { sessionId: session.id }));
  }

  /** Makes a link for one session, for somebody without the token. */
  async shareLink(session: Session): Promise<void> {
    const values = await form({
      title: `Share ${nameOf(session)}`,
      text: 'Whoever has the link sees this one session, and no other, until it expires.',
      fields: [
        { name: 'access', label: 'They may', choices: ['watch', 'watch and type'], value: 'watch' },
        { name: 'hours', label: 'For', choices: ['1 hour', '8 hours', '24 hours'], value: '1 hour' },
      ],
      yes: 'Make a link',
    });
    if (values === undefined) return;
    await this.attempt(async () => {
      const answer = await this.line.call('web.share', {
        sessionId: session.id,
        write: values['access'] === 'watch and type',
        lastsMs: parseInt(values['hours'] ?? '1', 10) * HOUR_MS,
      });
      // The daemon knows itself by its own address; who reads this knows it by another, perhaps.
      const link = new URL(isObject(answer) ? text(answer['open']) : '', location.href);
      const here = new URL(location.pathname + link.hash, location.href).href;
      showText('A link to this session', 'Send it only to whom it is meant for: it is the key.', here);
    });
  }

  /** What can be done with a session. */
  sessionCommands(session: Session): Command[] {
    const name = nameOf(session);
    const list: Command[] = [{ title: `Open ${name}`, hint: 'terminal', run: () => go('terminal', session.uuid) }];
    if (this.share !== undefined) return list;
    const living = session.state === 'running';
    if (living) {
      list.push({ title: `Rename ${name}`, hint: 'session', run: () => this.rename(session) });
      list.push({ title: `Share ${name}`, hint: 'session', run: () => this.shareLink(session) });
      list.push({ title: `End ${name}`, hint: 'session', run: () => this.kill(session) });
    } else {
      list.push({ title: `Forget ${name}`, hint: 'session', run: () => this.forget(session) });
    }
    return list;
  }
}
