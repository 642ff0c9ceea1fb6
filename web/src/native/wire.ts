// The words of the native protocol as this page uses them: sessions, errors, notifications.
//
// What comes from the daemon is checked here, once; the rest of the page trusts these types.

export interface Session {
  /** What names exactly this session in calls. */
  id: string;
  number: number;
  uuid: string;
  name: string;
  backend: string;
  created: number;
  cwd: string;
  command: string;
  attachedClients: number;
  cols: number;
  rows: number;
  title: string;
  state: 'running' | 'ended' | 'lost';
  ended: number | undefined;
  code: number | undefined;
  signal: number | undefined;
  offset: number;
  alternate: boolean;
}

/** A session object, whatever of it is missing. */
export function sessionFromWire(value: unknown): Session | undefined {
  if (!isObject(value)) return undefined;
  const id = text(value['id']) || text(value['sessionId']);
  if (id === '') return undefined;
  const state = value['state'];
  return {
    id,
    number: number(value['number']) ?? 0,
    uuid: text(value['uuid']) || id,
    name: text(value['name']),
    backend: text(value['backend']),
    created: number(value['created']) ?? 0,
    cwd: text(value['cwd']),
    command: text(value['command']),
    attachedClients: number(value['attachedClients']) ?? 0,
    cols: number(value['cols']) ?? 80,
    rows: number(value['rows']) ?? 24,
    title: text(value['title']),
    state: state === 'ended' || state === 'lost' ? state : 'running',
    ended: number(value['ended']),
    code: number(value['code']),
    signal: number(value['signal']),
    offset: number(value['offset']) ?? 0,
    alternate: value['alternate'] === true,
  };
}

export interface ReadAnswer {
  text: string;
  cols: number;
  rows: number;
  cursor: { row: number; col: number; visible: boolean };
  offset: number;
}

export function readFromWire(value: unknown): ReadAnswer {
  const it = isObject(value) ? value : {};
  const cursor = isObject(it['cursor']) ? it['cursor'] : {};
  return {
    text: text(it['text']),
    cols: number(it['cols']) ?? 80,
    rows: number(it['rows']) ?? 24,
    cursor: {
      row: number(cursor['row']) ?? 0,
      col: number(cursor['col']) ?? 0,
      visible: cursor['visible'] === true,
    },
    offset: number(it['offset']) ?? 0,
  };
}

export interface Match {
  row: number;
  col: number;
  line: string;
  length: number;
}

export function matchesFromWire(value: unknown): Match[] {
  const list = isObject(value) && Array.isArray(value['matches']) ? value['matches'] : [];
  return list.filter(isObject).map((it) => ({
    row: number(it['row']) ?? 0,
    col: number(it['col']) ?? 0,
    line: text(it['line']),
    length: number(it['length']) ?? 0,
  }));
}

/** How a stream ended. */
export interface Ending {
  code?: number;
  signal?: number;
  reason?: string;
}

export function endingFromWire(value: unknown): Ending {
  if (!isObject(value)) return { reason: 'lost' };
  const ending: Ending = {};
  const code = number(value['code']);
  const signal = number(value['signal']);
  if (code !== undefined) ending.code = code;
  if (signal !== undefined) ending.signal = signal;
  if (typeof value['reason'] === 'string') ending.reason = value['reason'];
  return ending;
}

/** How it ended, in words. */
export function endingInWords(it: { code?: number | undefined; signal?: number | undefined; state?: string; reason?: string }): string {
  if (it.signal !== undefined) return `ended by signal ${it.signal}`;
  if (it.code === 0) return 'ended well';
  if (it.code !== undefined) return `ended with ${it.code}`;
  return it.state === 'lost' || it.reason === 'lost' ? 'lost' : 'ended';
}

export interface Note {
  method: string;
  params: Record<string, unknown>;
}

/** The daemon's no, or ours when there is no daemon. */
export class RpcError extends Error {
  override name = 'RpcError';
  constructor(
    message: string,
    /** One of the protocol's kinds; `lost` if the connection broke. */
    readonly kind: string,
    readonly hint?: string,
  ) {
    super(message);
  }

  static fromWire(value: unknown): RpcError {
    const it = isObject(value) ? value : {};
    const data = isObject(it['data']) ? it['data'] : {};
    const hint = text(data['hint']);
    const message = text(it['message']) || 'the daemon refused';
    const kind = text(data['kind']) || 'internal';
    return hint === '' ? new RpcError(message, kind) : new RpcError(message, kind, hint);
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
