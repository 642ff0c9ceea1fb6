// The frames of the native protocol: bytes to frames and back.
//
// `[type u8][idLen u32][id][payloadLen u32][payload]`, big endian. A WebSocket message may hold a
// part of a frame or many: the decoder takes any split. Not here: what frames mean (`connection`).

/** The types of frames this page sends or understands. Others are skipped. */
export const Kind = {
  terminalData: 0x01,
  resize: 0x02,
  streamClose: 0x03,
  resizeRequest: 0x04,
  output: 0x10,
  redraw: 0x11,
  ended: 0x12,
  input: 0x13,
  jsonRpc: 0xff,
} as const;

export interface Frame {
  kind: number;
  id: string;
  payload: Uint8Array;
}

/** The longest id: as the daemon has it. */
export const MAX_ID_BYTES = 4096;

/** The largest payload: as the daemon has it. */
export const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;

/** Type and both lengths. */
const HEAD_BYTES = 9;

const utf8 = new TextEncoder();
const text = new TextDecoder();

/** The bytes of one frame. */
export function encode(kind: number, id: string, payload: Uint8Array | string): Uint8Array<ArrayBuffer> {
  const name = utf8.encode(id);
  const body = typeof payload === 'string' ? utf8.encode(payload) : payload;
  if (name.length > MAX_ID_BYTES || body.length > MAX_PAYLOAD_BYTES) {
    throw new FrameError(`a frame of ${body.length} bytes with an id of ${name.length} is too large`);
  }
  const bytes = new Uint8Array(HEAD_BYTES + name.length + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, kind);
  view.setUint32(1, name.length);
  bytes.set(name, 5);
  view.setUint32(5 + name.length, body.length);
  bytes.set(body, HEAD_BYTES + name.length);
  return bytes;
}

/** What comes cannot be frames: the connection is of no more use. */
export class FrameError extends Error {
  override name = 'FrameError';
}

/** Cuts a stream of bytes into frames, whatever way it was split. */
export class Decoder {
  /** Pieces not used up yet. Joined only when a frame spans them, so a large one costs one copy. */
  private pieces: Uint8Array[] = [];
  private held = 0;
  /** How much must be there before looking again is worth it. */
  private wanted = HEAD_BYTES;

  /** Takes bytes and gives the frames that are whole now. */
  feed(bytes: Uint8Array): Frame[] {
    if (bytes.length > 0) {
      this.pieces.push(bytes);
      this.held += bytes.length;
    }
    if (this.held < this.wanted) return [];
    const all = this.joined();
    const frames: Frame[] = [];
    let at = 0;
    for (;;) {
      const frame = this.frameAt(all, at);
      if (frame === undefined) break;
      frames.push(frame.frame);
      at = frame.end;
    }
    const rest = all.subarray(at);
    this.pieces = rest.length > 0 ? [rest] : [];
    this.held = rest.length;
    return frames;
  }

  private joined(): Uint8Array {
    const [first] = this.pieces;
    if (first !== undefined && this.pieces.length === 1) return first;
    const all = new Uint8Array(this.held);
    let at = 0;
    for (const piece of this.pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    return all;
  }

  private frameAt(all: Uint8Array, at: number): { frame: Frame; end: number } | undefined {
    this.wanted = HEAD_BYTES;
    if (all.length - at < HEAD_BYTES) return undefined;
    const view = new DataView(all.buffer, all.byteOffset + at, all.length - at);
    const idLength = view.getUint32(1);
    if (idLength > MAX_ID_BYTES) throw new FrameError(`an id of ${idLength} bytes`);
    this.wanted = HEAD_BYTES + idLength;
    if (view.byteLength < this.wanted) return undefined;
    const length = view.getUint32(5 + idLength);
    if (length > MAX_PAYLOAD_BYTES) throw new FrameError(`a payload of ${length} bytes`);
    this.wanted += length;
    if (view.byteLength < this.wanted) return undefined;
    const body = at + HEAD_BYTES + idLength;
    const frame: Frame = {
      kind: view.getUint8(0),
      id: text.decode(all.subarray(at + 5, at + 5 + idLength)),
      payload: all.subarray(body, body + length),
    };
    return { frame, end: body + length };
  }
}

/** What an Output frame carries. */
export function readOutput(payload: Uint8Array): { end: number; bytes: Uint8Array } | undefined {
  if (payload.length < 8) return undefined;
  return { end: readOffset(payload), bytes: payload.subarray(8) };
}

/** What a Redraw frame carries. */
export function readRedraw(
  payload: Uint8Array,
): { offset: number; reason: number; bytes: Uint8Array } | undefined {
  if (payload.length < 9) return undefined;
  return { offset: readOffset(payload), reason: payload[8] ?? 0, bytes: payload.subarray(9) };
}

/** An offset. A session that printed 2^53 bytes does not exist: it takes decades. */
function readOffset(payload: Uint8Array): number {
  const view = new DataView(payload.buffer, payload.byteOffset, 8);
  return view.getUint32(0) * 2 ** 32 + view.getUint32(4);
}
