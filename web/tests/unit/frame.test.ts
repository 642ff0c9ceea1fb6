import { expect, test } from 'vitest';
import { Decoder, encode, FrameError, Kind, MAX_PAYLOAD_BYTES, readOutput, readRedraw, type Frame } from '../../src/native/frame';

const FRAMES: Frame[] = [
  { kind: Kind.jsonRpc, id: '', payload: new TextEncoder().encode('{"id":1}') },
  { kind: Kind.output, id: 'stream-1', payload: new Uint8Array([0, 0, 0, 0, 0, 0, 1, 2, 65, 66]) },
  { kind: 0x77, id: 'nobody knows', payload: new Uint8Array(0) },
  { kind: Kind.ended, id: 'strøm', payload: new Uint8Array(300).fill(7) },
];

function stream(): Uint8Array {
  return Uint8Array.from(FRAMES.flatMap((it) => [...encode(it.kind, it.id, it.payload)]));
}

/** Frames with their payloads copied, since a decoder hands out views. */
function plain(frames: Frame[]): unknown {
  return frames.map((it) => ({ ...it, payload: [...it.payload] }));
}

test('frames come out as they went in, however the bytes are cut in two', () => {
  const bytes = stream();
  for (let cut = 0; cut <= bytes.length; cut++) {
    const decoder = new Decoder();
    const got = [...decoder.feed(bytes.subarray(0, cut)), ...decoder.feed(bytes.subarray(cut))];
    expect(plain(got), `cut at ${cut}`).toEqual(plain(FRAMES));
  }
});

test('frames come out as they went in, byte by byte and in pieces of every size', () => {
  const bytes = stream();
  for (let size = 1; size < 40; size++) {
    const decoder = new Decoder();
    const got: Frame[] = [];
    for (let at = 0; at < bytes.length; at += size) got.push(...decoder.feed(bytes.slice(at, at + size)));
    expect(plain(got), `pieces of ${size}`).toEqual(plain(FRAMES));
  }
});

test('lengths past the bounds are refused before the body comes', () => {
  const head = new Uint8Array([Kind.output, 0, 0, 0, 0, 0xff, 0, 0, 0]);
  expect(() => new Decoder().feed(head)).toThrow(FrameError);
  expect(() => new Decoder().feed(new Uint8Array([1, 0, 1, 0, 0, 0, 0, 0, 0]))).toThrow(FrameError);
  expect(() => encode(1, '', new Uint8Array(MAX_PAYLOAD_BYTES + 1))).toThrow(FrameError);
});

test('offsets past 32 bits are read', () => {
  const payload = new Uint8Array([0, 0, 1, 0, 0, 0, 0, 5, 2, 65]);
  expect(readOutput(payload)?.end).toBe(2 ** 40 + 5);
  expect(readRedraw(payload)).toMatchObject({ offset: 2 ** 40 + 5, reason: 2 });
  expect(readOutput(new Uint8Array(7))).toBeUndefined();
  expect(readRedraw(new Uint8Array(8))).toBeUndefined();
});
