// A daemon made of memory, behind a real WebSocket: enough of the native protocol to test the
// page's client against things a real daemon does seldom, such as dying between two frames.

import { WebSocketServer, type WebSocket } from 'ws';
import { Decoder, encode, Kind } from '../../src/native/frame';

interface Attached {
  socket: WebSocket;
  id: string;
}

export class MockHouse {
  /** All that was ever printed, one session. */
  printed = '';
  /** How much of it is kept: an attach from before that is redrawn. */
  keptFrom = 0;
  /** What was typed. */
  typed = '';
  /** The parameters of every attach, in order. */
  attaches: Record<string, unknown>[] = [];
  /** If set, answers to everything but the greeting never come. */
  silent = false;
  private streams: Attached[] = [];
  private lastStream = 0;
  private server: WebSocketServer | undefined;
  port = 0;

  async listen(port = 0): Promise<void> {
    const server = new WebSocketServer({ port, host: '127.0.0.1' });
    this.server = server;
    server.on('connection', (socket) => this.serve(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('listening', resolve);
      server.once('error', reject);
    });
    const address = server.address();
    this.port = typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Dies: every connection is cut without a word. */
  async die(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    this.streams = [];
    if (server === undefined) return;
    for (const socket of server.clients) socket.terminate();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  print(text: string): void {
    this.printed += text;
    for (const { socket, id } of this.streams) socket.send(this.output(id, text, this.printed.length));
  }

  end(code: number): void {
    for (const { socket, id } of this.streams) socket.send(encode(Kind.ended, id, JSON.stringify({ code })));
  }

  private serve(socket: WebSocket): void {
    const decoder = new Decoder();
    socket.on('message', (data: Buffer) => {
      for (const frame of decoder.feed(new Uint8Array(data))) {
        if (frame.kind === Kind.input) this.typed += new TextDecoder().decode(frame.payload);
        if (frame.kind !== Kind.jsonRpc) continue;
        const { id, method, params } = JSON.parse(new TextDecoder().decode(frame.payload)) as {
          id: number;
          method: string;
          params: Record<string, unknown>;
        };
        this.answer(socket, id, method, params);
      }
    });
    socket.on('close', () => {
      this.streams = this.streams.filter((it) => it.socket !== socket);
    });
  }

  private answer(socket: WebSocket, id: number, method: string, params: Record<string, unknown>): void {
    const say = (value: object) => socket.send(encode(Kind.jsonRpc, '', JSON.stringify({ jsonrpc: '2.0', id, ...value })));
    if (this.silent) return;
    if (method === 'session.attach') return this.attach(socket, id, params);
    if (method === 'test.slow') return void setTimeout(() => say({ result: params }), Number(params['ms']));
    if (method === 'test.fail') {
      return say({ error: { code: -32603, message: 'no', data: { kind: 'denied', hint: 'ask' } } });
    }
    say({ result: method === 'greenroom.hello' ? { protocol: 1, version: 'mock' } : { ok: true } });
  }

  /** Answer and first frame in one message, cut into pieces that fit nothing. */
  private attach(socket: WebSocket, id: number, params: Record<string, unknown>): void {
    this.attaches.push(params);
    const stream = `stream-${++this.lastStream}`;
    const answer = { jsonrpc: '2.0', id, result: { sessionId: 'native-1', streamId: stream, offset: 0, session: { id: 'native-1' } } };
    const from = typeof params['from'] === 'number' ? params['from'] : -1;
    const first =
      from >= this.keptFrom
        ? this.output(stream, this.printed.slice(from), this.printed.length)
        : this.redraw(stream);
    const all = Buffer.concat([encode(Kind.jsonRpc, '', JSON.stringify(answer)), first]);
    for (let at = 0; at < all.length; at += 7) socket.send(all.subarray(at, at + 7));
    this.streams.push({ socket, id: stream });
  }

  private output(id: string, text: string, end: number): Uint8Array {
    return encode(Kind.output, id, Buffer.concat([offset(end), Buffer.from(text)]));
  }

  private redraw(id: string): Uint8Array {
    const body = Buffer.concat([offset(this.printed.length), Buffer.from([0]), Buffer.from(this.printed)]);
    return encode(Kind.redraw, id, body);
  }
}

function offset(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
