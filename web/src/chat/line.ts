// The connection of one conversation: `/ws/claude-stream`, made anew when it is lost.
//
// After a reconnect it asks for what came since (`since`), if the server counts its messages.

import { isObject } from '../native/wire';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;

/** How often the server is asked whether it is there. */
const PING_MS = 25_000;

/** How often a conversation that ends at once is tried: it will not come by trying. */
const MAX_TRIES = 6;

export interface ChatOptions {
  id: string;
  mode: string;
  model: string;
  /** End the conversation of that id and begin anew. */
  fresh?: boolean;
}

export interface ChatEvents {
  message(message: unknown): void;
  state(state: 'connecting' | 'online' | 'offline' | 'ended'): void;
}

export class ChatLine {
  private socket: WebSocket | undefined;
  private tries = 0;
  private since: number | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private beat: ReturnType<typeof setInterval> | undefined;
  private over = false;

  constructor(
    private readonly options: ChatOptions,
    private readonly events: ChatEvents,
  ) {
    this.dial();
  }

  /** Sends a message; false if nobody is there to take it. */
  send(message: Record<string, unknown>): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  close(): void {
    this.over = true;
    clearTimeout(this.retry);
    clearInterval(this.beat);
    this.socket?.close(1000);
  }

  private address(): URL {
    const address = new URL('ws/claude-stream', document.baseURI);
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
    address.hash = '';
    const { id, mode, model, fresh } = this.options;
    address.searchParams.set('session_id', id);
    address.searchParams.set('mode', mode);
    if (model !== '') address.searchParams.set('model', model);
    if (fresh === true && this.tries === 0) address.searchParams.set('force_new', '1');
    else address.searchParams.set('resume', '1');
    if (this.since !== undefined) address.searchParams.set('since', String(this.since));
    return address;
  }

  private dial(): void {
    this.events.state('connecting');
    const socket = new WebSocket(this.address());
    this.socket = socket;
    socket.onopen = () => {
      this.events.state('online');
      clearInterval(this.beat);
      this.beat = setInterval(() => this.send({ type: 'ping' }), PING_MS);
    };
    socket.onmessage = (event) => this.take(event.data);
    socket.onclose = (event) => this.lost(event.code);
  }

  private take(data: unknown): void {
    if (typeof data !== 'string') return;
    let message: unknown;
    try {
      message = JSON.parse(data);
    } catch {
      return;
    }
    if (isObject(message) && typeof message['seq'] === 'number') this.since = message['seq'];
    if (isObject(message) && typeof message['last_seq'] === 'number') this.since ??= message['last_seq'];
    // It lives: what was tried before does not count.
    if (isObject(message) && message['type'] !== 'system') this.tries = 0;
    this.events.message(message);
  }

  private lost(code: number): void {
    clearInterval(this.beat);
    if (this.over) return;
    // 1000 is the server's own end of it.
    if (code === 1000 || this.tries >= MAX_TRIES) {
      this.over = true;
      this.events.state('ended');
      return;
    }
    this.events.state('offline');
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.tries, LONGEST_PAUSE_MS);
    this.tries += 1;
    this.retry = setTimeout(() => this.dial(), pause);
  }
}
