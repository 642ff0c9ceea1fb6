// One attached session, over as many connections as it takes.
//
// It knows the offset reached. After a reconnect it asks to go on exactly there, so that what is
// on the screen stays; only if the daemon no longer has those bytes does a redraw come.

import { Kind, readOutput, readRedraw, type Frame } from './frame';
import { endingFromWire, isObject, RpcError, sessionFromWire, text, type Ending, type Session } from './wire';

/** What was typed while nobody could take it, in bytes: a command line, not a paste. */
const MAX_HELD_INPUT = 4096;

export interface StreamOptions {
  cols?: number;
  rows?: number;
  readOnly?: boolean;
  /** Lines above the screen that the first redraw brings along. */
  history?: number;
}

/** Where a stream's events go. */
export interface StreamSink {
  output(bytes: Uint8Array): void;
  /** Forget what was drawn; these bytes bring any terminal to the screen. */
  redraw(bytes: Uint8Array, reason: number): void;
  ended(ending: Ending): void;
  attached?(session: Session): void;
  /** Somebody else sized the session last: say the size again if it should be ours. */
  sizeWanted?(): void;
  failed?(error: RpcError): void;
}

/** What a stream needs of its connection. */
export interface Line {
  ask(
    method: string,
    params: Record<string, unknown>,
    atOnce?: (value: unknown) => void,
  ): Promise<unknown>;
  send(kind: number, id: string, payload: Uint8Array | string): boolean;
  named(id: string, stream: Stream): void;
  gone(stream: Stream): void;
  isOnline(): boolean;
}

export class Stream {
  /** Its id on the connection there is. */
  id: string | undefined;
  /** Where the next byte is; unknown before the first redraw. */
  offset: number | undefined;
  private sessionId = '';
  private held: Uint8Array[] = [];
  private heldBytes = 0;
  private over = false;

  constructor(
    readonly target: string,
    private readonly options: StreamOptions,
    private readonly sink: StreamSink,
    private readonly line: Line,
  ) {}

  /** Attaches over the connection there is now. */
  resume(): void {
    void this.attach();
  }

  private async attach(): Promise<void> {
    const params: Record<string, unknown> = {
      sessionId: this.target,
      stream: true,
      lag: 'skip',
      history: this.options.history ?? 0,
      readOnly: this.options.readOnly === true,
    };
    if (this.options.cols !== undefined && this.options.rows !== undefined) {
      params['cols'] = this.options.cols;
      params['rows'] = this.options.rows;
    }
    if (this.offset !== undefined) params['from'] = this.offset;
    try {
      await this.line.ask('session.attach', params, (answer) => this.settle(answer));
    } catch (error) {
      const why = error instanceof RpcError ? error : new RpcError(String(error), 'internal');
      // The next connection tries again.
      if (why.kind !== 'lost') this.fail(why);
    }
  }

  private settle(answer: unknown): void {
    if (!isObject(answer)) return this.fail(new RpcError('an answer without a stream', 'internal'));
    const id = text(answer['streamId']);
    if (this.over) {
      void this.line.ask('session.detach', { streamId: id }).catch(() => undefined);
      return;
    }
    this.id = id;
    this.sessionId = text(answer['sessionId']);
    this.line.named(id, this);
    const session = sessionFromWire(answer['session']);
    if (session !== undefined) this.sink.attached?.(session);
    const held = this.held;
    this.held = [];
    this.heldBytes = 0;
    for (const bytes of held) this.type(bytes);
  }

  private fail(why: RpcError): void {
    if (this.over) return;
    this.over = true;
    this.line.gone(this);
    this.sink.failed?.(why);
  }

  /** The connection is gone; the stream waits for the next. */
  interrupted(): void {
    this.id = undefined;
  }

  take(frame: Frame): void {
    if (this.over) return;
    if (frame.kind === Kind.output) {
      const output = readOutput(frame.payload);
      if (output === undefined) return;
      this.offset = output.end;
      this.sink.output(output.bytes);
    } else if (frame.kind === Kind.redraw) {
      const redraw = readRedraw(frame.payload);
      if (redraw === undefined) return;
      this.offset = redraw.offset;
      this.sink.redraw(redraw.bytes, redraw.reason);
    } else if (frame.kind === Kind.ended) {
      this.over = true;
      this.line.gone(this);
      this.sink.ended(endingFromWire(parse(frame.payload)));
    }
  }

  /** Has the whole screen drawn anew, with its history: what came meanwhile was left out. */
  redraw(): void {
    if (this.over || this.id === undefined) return;
    void this.line.ask('session.detach', { streamId: this.id }).catch(() => undefined);
    this.interrupted();
    this.offset = undefined;
    this.resume();
  }

  sizeWanted(session: string): void {
    if (session === this.sessionId) this.sink.sizeWanted?.();
  }

  /** Types bytes. False if they were lost: nobody can take them and too many are waiting. */
  type(bytes: Uint8Array): boolean {
    if (this.over || this.options.readOnly === true) return false;
    if (this.id !== undefined && this.line.send(Kind.input, this.id, bytes)) return true;
    if (this.heldBytes + bytes.length > MAX_HELD_INPUT) return false;
    this.held.push(bytes);
    this.heldBytes += bytes.length;
    return true;
  }

  /** Says the size of our terminal, now and whenever the stream is resumed. */
  resize(cols: number, rows: number): void {
    this.options.cols = cols;
    this.options.rows = rows;
    // Who only watches cannot size; it says of what size it is by attaching again.
    if (this.options.readOnly === true) this.redraw();
    else if (this.id !== undefined) {
      this.line.send(Kind.resize, this.sessionId, JSON.stringify({ cols, rows }));
    }
  }

  /** Leaves the session. */
  close(): void {
    if (this.over) return;
    this.over = true;
    this.line.gone(this);
    if (this.id !== undefined && this.line.isOnline()) {
      void this.line.ask('session.detach', { streamId: this.id }).catch(() => undefined);
    }
  }
}

function parse(payload: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(payload));
  } catch {
    return undefined;
  }
}
