// The page's one connection to the daemon: calls, notifications, streams, and coming back.
//
// A lost connection is made anew by itself, with growing pauses; streams then go on at their
// offset (`stream`). Calls that were under way fail with kind `lost`: whether they ran is not
// known, so they are not repeated. Not here: frames (`frame`), what a view does with a session.

import { Decoder, encode, Kind, type Frame } from './frame';
import { Stream, type StreamOptions, type StreamSink } from './stream';
import { isObject, RpcError, text, type Note } from './wire';

/** The first pause before connecting again. A daemon that restarts takes about as long. */
const FIRST_PAUSE_MS = 200;

/** The longest pause: a laptop that wakes up should not wait for minutes. */
const LONGEST_PAUSE_MS = 8_000;

/** How long the line may be silent before somebody is asked whether it is still there. */
const SILENCE_MS = 20_000;

/** How long the answer to that may take. */
const ANSWER_MS = 10_000;

/** How long a call waits for a connection before it fails. */
const PATIENCE_MS = 15_000;

/** How many calls may be under way. The page itself never comes near; a loop gone wrong would. */
const MAX_CALLS = 1_000;

export type LineState = 'connecting' | 'online' | 'offline' | 'denied' | 'closed';

/** What a connection runs over: a browser's WebSocket, or a test's. */
export interface Socket {
  binaryType: string;
  readonly readyState: number;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
  onopen: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
}

export interface ConnectionOptions {
  open: () => Socket;
  /** Asked when a connection could not be made: whether it is because nobody is logged in. */
  denied?: () => Promise<boolean>;
  /** Who we say we are. */
  client?: string;
  firstPauseMs?: number;
  silenceMs?: number;
}

interface Call {
  resolve: (value: unknown) => void;
  reject: (error: RpcError) => void;
}

export class Connection {
  state: LineState = 'closed';
  /** What the daemon said of itself. */
  daemon: Record<string, unknown> = {};
  private socket: Socket | undefined;
  private decoder = new Decoder();
  private calls = new Map<number, Call>();
  private lastId = 0;
  private streams = new Set<Stream>();
  private byId = new Map<string, Stream>();
  private noteListeners = new Set<(note: Note) => void>();
  private stateListeners = new Set<(state: LineState) => void>();
  private attempts = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private watch: ReturnType<typeof setTimeout> | undefined;
  private heardAt = 0;

  constructor(private readonly options: ConnectionOptions) {}

  /** Connects, and from now on again whenever the connection is lost. */
  start(): void {
    if (this.state === 'online' || this.state === 'connecting') return;
    this.attempts = 0;
    this.dial();
  }

  /** Ends it for good. */
  stop(): void {
    this.become('closed');
    this.drop(new RpcError('the connection was closed', 'lost'));
  }

  /** Tries at once instead of waiting out the pause: the network or the user came back. */
  hurry(): void {
    if (this.state !== 'offline') return;
    this.attempts = 0;
    this.dial();
  }

  onNote(listener: (note: Note) => void): () => void {
    this.noteListeners.add(listener);
    return () => this.noteListeners.delete(listener);
  }

  onState(listener: (state: LineState) => void): () => void {
    this.stateListeners.add(listener);
    return () => this.stateListeners.delete(listener);
  }

  /** Calls a method, once there is a connection. */
  async call(method: string, params: Record<string, unknown> = {}): Promise<unknown> {
    if (this.state !== 'online') await this.online();
    return this.ask(method, params);
  }

  /** Attaches to a session, now and after every reconnect, until it ends or is closed. */
  attach(target: string, options: StreamOptions, sink: StreamSink): Stream {
    const stream = new Stream(target, options, sink, {
      ask: (method, params, atOnce) => this.ask(method, params, atOnce),
      send: (kind, id, payload) => this.send(kind, id, payload),
      named: (id, it) => this.byId.set(id, it),
      gone: (it) => this.forget(it),
      isOnline: () => this.state === 'online',
    });
    this.streams.add(stream);
    if (this.state === 'online') stream.resume();
    return stream;
  }

  private online(): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = this.onState((state) => {
        if (state !== 'online' && state !== 'closed' && state !== 'denied') return;
        finish();
        if (state === 'online') resolve();
        else reject(new RpcError('not connected', 'lost'));
      });
      const timer = setTimeout(() => {
        finish();
        reject(new RpcError('the daemon cannot be reached', 'lost'));
      }, PATIENCE_MS);
      const finish = () => {
        done();
        clearTimeout(timer);
      };
    });
  }

  /**
   * `atOnce` gets the answer before the next frame is looked at. A promise would tell too late: the
   * first frames of a stream may follow their attach answer in the same message.
   */
  private ask(
    method: string,
    params: Record<string, unknown>,
    atOnce?: (value: unknown) => void,
  ): Promise<unknown> {
    if (this.calls.size >= MAX_CALLS) {
      return Promise.reject(new RpcError('too many calls at once', 'limit'));
    }
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      const answered = (value: unknown) => {
        atOnce?.(value);
        resolve(value);
      };
      this.calls.set(id, { resolve: answered, reject });
      const request = { jsonrpc: '2.0', id, method, params };
      if (!this.send(Kind.jsonRpc, '', JSON.stringify(request))) {
        this.calls.delete(id);
        reject(new RpcError('not connected', 'lost'));
      }
    });
  }

  private send(kind: number, id: string, payload: Uint8Array | string): boolean {
    if (this.socket === undefined || this.socket.readyState !== 1) return false;
    this.socket.send(encode(kind, id, payload));
    return true;
  }

  private dial(): void {
    clearTimeout(this.retry);
    this.hangUp();
    this.become('connecting');
    this.decoder = new Decoder();
    const socket = this.options.open();
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    let opened = false;
    socket.onopen = () => {
      opened = true;
      void this.greet(socket);
    };
    socket.onmessage = (event: { data: unknown }) => {
      if (socket === this.socket) this.take(event.data);
    };
    socket.onerror = () => undefined;
    socket.onclose = () => {
      if (socket === this.socket) void this.lost(opened);
    };
  }

  /** Says who we are; a door that does not answer is as good as none. */
  private async greet(socket: Socket): Promise<void> {
    this.heard();
    try {
      const client = this.options.client ?? 'page';
      const hello = await this.ask('greenroom.hello', { protocol: 1, client });
      if (isObject(hello)) this.daemon = hello;
      // A share link may not say who it is; it need not.
      await this.ask('client.identify', { type: 'web', name: client }).catch(() => undefined);
    } catch (error) {
      // A share link's door may not know the greeting; what counts is that it answers.
      if (error instanceof RpcError && error.kind === 'lost') return;
    }
    if (socket !== this.socket) return;
    this.attempts = 0;
    this.become('online');
    for (const stream of this.streams) stream.resume();
  }

  private take(data: unknown): void {
    this.heard();
    if (!(data instanceof ArrayBuffer)) return;
    let frames: Frame[];
    try {
      frames = this.decoder.feed(new Uint8Array(data));
    } catch {
      this.socket?.close();
      return;
    }
    for (const frame of frames) this.frame(frame);
  }

  private frame(frame: Frame): void {
    if (frame.kind === Kind.jsonRpc) {
      this.message(frame.payload);
    } else if (frame.kind === Kind.resizeRequest) {
      for (const stream of this.streams) stream.sizeWanted(frame.id);
    } else {
      this.byId.get(frame.id)?.take(frame);
    }
  }

  private message(payload: Uint8Array): void {
    let message: unknown;
    try {
      message = JSON.parse(new TextDecoder().decode(payload));
    } catch {
      return;
    }
    if (!isObject(message)) return;
    if (typeof message['id'] === 'number') {
      const call = this.calls.get(message['id']);
      this.calls.delete(message['id']);
      if (message['error'] !== undefined) call?.reject(RpcError.fromWire(message['error']));
      else call?.resolve(message['result']);
    } else if (typeof message['method'] === 'string') {
      const params = isObject(message['params']) ? message['params'] : {};
      const note: Note = { method: text(message['method']), params };
      for (const listener of this.noteListeners) listener(note);
    }
  }

  private async lost(opened: boolean): Promise<void> {
    this.drop(new RpcError('the connection was lost', 'lost'));
    if (this.state === 'closed') return;
    this.become('offline');
    if (!opened && (await this.options.denied?.())) {
      this.become('denied');
      return;
    }
    if (this.state !== 'offline') return;
    const first = this.options.firstPauseMs ?? FIRST_PAUSE_MS;
    const pause = Math.min(first * 2 ** this.attempts, LONGEST_PAUSE_MS);
    this.attempts += 1;
    // Half of it by chance, so that many pages do not come back in one beat.
    this.retry = setTimeout(() => this.dial(), pause / 2 + (Math.random() * pause) / 2);
  }

  private drop(why: RpcError): void {
    clearTimeout(this.watch);
    clearTimeout(this.retry);
    this.hangUp();
    this.byId.clear();
    for (const stream of this.streams) stream.interrupted();
    const calls = [...this.calls.values()];
    this.calls.clear();
    for (const call of calls) call.reject(why);
  }

  private hangUp(): void {
    const socket = this.socket;
    this.socket = undefined;
    if (socket === undefined) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  private forget(stream: Stream): void {
    this.streams.delete(stream);
    if (stream.id !== undefined) this.byId.delete(stream.id);
  }

  /** Something came: the line is alive. One timer is enough, it looks at the clock when it rings. */
  private heard(): void {
    this.heardAt = Date.now();
    if (this.watch === undefined) this.watchAgain(this.silence());
  }

  private silence(): number {
    return this.options.silenceMs ?? SILENCE_MS;
  }

  private watchAgain(delay: number): void {
    clearTimeout(this.watch);
    this.watch = setTimeout(() => {
      this.watch = undefined;
      if (this.state !== 'online') return;
      const silent = Date.now() - this.heardAt;
      if (silent < this.silence()) this.watchAgain(this.silence() - silent);
      else this.probe();
    }, delay);
  }

  /** Asks whether anybody is there, and gives the connection up if nobody is. */
  private probe(): void {
    const socket = this.socket;
    const timer = setTimeout(
      () => {
        if (socket === this.socket) void this.lost(true);
      },
      Math.min(ANSWER_MS, this.silence()),
    );
    const answered = () => clearTimeout(timer);
    this.ask('greenroom.hello', { protocol: 1, client: this.options.client ?? 'page' }).then(answered, answered);
  }

  private become(state: LineState): void {
    if (this.state === state) return;
    this.state = state;
    for (const listener of [...this.stateListeners]) listener(state);
  }
}
