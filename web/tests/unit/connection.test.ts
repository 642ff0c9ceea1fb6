import { afterEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { Connection, type ConnectionOptions, type Socket } from '../../src/native/connection';
import type { StreamSink } from '../../src/native/stream';
import type { Ending } from '../../src/native/wire';
import { MockHouse } from '../mock/house';

/** How long something may take that takes milliseconds. */
const BOUND = { timeout: 5_000, interval: 5 };

let house: MockHouse;
let line: Connection | undefined;

afterEach(async () => {
  line?.stop();
  await house.die();
});

async function connect(options: Partial<ConnectionOptions> = {}): Promise<Connection> {
  house = new MockHouse();
  await house.listen();
  line = new Connection({
    open: () => new WebSocket(`ws://127.0.0.1:${house.port}`) as unknown as Socket,
    firstPauseMs: 5,
    ...options,
  });
  line.start();
  return line;
}

/** What a terminal would show: redraws clear it, output goes on. */
class Shown implements StreamSink {
  text = '';
  redraws = 0;
  ending: Ending | undefined;
  output(bytes: Uint8Array): void {
    this.text += new TextDecoder().decode(bytes);
  }
  redraw(bytes: Uint8Array): void {
    this.redraws += 1;
    this.text = new TextDecoder().decode(bytes);
  }
  ended(ending: Ending): void {
    this.ending = ending;
  }
}

test('calls run at the same time and each gets its own answer', async () => {
  const it = await connect();
  const order: number[] = [];
  const slow = it.call('test.slow', { ms: 60 }).then((value) => (order.push(60), value));
  const quick = it.call('test.slow', { ms: 5 }).then((value) => (order.push(5), value));
  expect(await Promise.all([slow, quick])).toEqual([{ ms: 60 }, { ms: 5 }]);
  expect(order).toEqual([5, 60]);
});

test('a refusal has its kind and its hint', async () => {
  const it = await connect();
  await expect(it.call('test.fail')).rejects.toMatchObject({ kind: 'denied', hint: 'ask', message: 'no' });
});

test('a stream whose first frame comes with the answer loses nothing', async () => {
  const it = await connect();
  house.printed = 'hello';
  const shown = new Shown();
  it.attach('1', { history: 10 }, shown);
  await vi.waitFor(() => expect(shown.text).toBe('hello'), BOUND);
  house.print(' world');
  await vi.waitFor(() => expect(shown.text).toBe('hello world'), BOUND);
  house.end(3);
  await vi.waitFor(() => expect(shown.ending).toEqual({ code: 3 }), BOUND);
});

test('after the daemon died the stream goes on at its offset and nothing is cleared', async () => {
  const it = await connect();
  house.printed = 'before ';
  const shown = new Shown();
  it.attach('1', {}, shown);
  await vi.waitFor(() => expect(shown.text).toBe('before '), BOUND);
  const port = house.port;
  await house.die();
  house.printed += 'meanwhile ';
  await house.listen(port);
  await vi.waitFor(() => expect(shown.text).toBe('before meanwhile '), BOUND);
  expect(shown.redraws).toBe(1);
  expect(house.attaches[1]).toMatchObject({ from: 'before '.length });
});

test('bytes that are no longer kept come as a redraw', async () => {
  const it = await connect();
  house.printed = 'old ';
  const shown = new Shown();
  it.attach('1', {}, shown);
  await vi.waitFor(() => expect(shown.text).toBe('old '), BOUND);
  const port = house.port;
  await house.die();
  house.printed += 'new';
  house.keptFrom = 6;
  await house.listen(port);
  await vi.waitFor(() => expect(shown.redraws).toBe(2), BOUND);
  expect(shown.text).toBe('old new');
});

test('what is typed while the daemon is away is typed when it is back', async () => {
  const it = await connect();
  const stream = it.attach('1', {}, new Shown());
  await vi.waitFor(() => expect(stream.id).toBeDefined(), BOUND);
  const port = house.port;
  await house.die();
  await vi.waitFor(() => expect(it.state).not.toBe('online'), BOUND);
  expect(stream.type(new TextEncoder().encode('ls\r'))).toBe(true);
  expect(stream.type(new Uint8Array(5_000))).toBe(false);
  await house.listen(port);
  await vi.waitFor(() => expect(house.typed).toBe('ls\r'), BOUND);
});

test('a call under way when the connection breaks fails as lost', async () => {
  const it = await connect();
  await it.call('test.slow', { ms: 0 });
  const call = it.call('test.slow', { ms: 60_000 });
  const lost = expect(call).rejects.toMatchObject({ kind: 'lost' });
  await house.die();
  await lost;
});

test('a line on which nobody answers is given up and made anew', async () => {
  const it = await connect({ silenceMs: 30 });
  await it.call('test.slow', { ms: 0 });
  const states: string[] = [];
  it.onState((state) => states.push(state));
  house.silent = true;
  await vi.waitFor(() => expect(states).toContain('offline'), BOUND);
  house.silent = false;
  await vi.waitFor(() => expect(states.at(-1)).toBe('online'), BOUND);
});

test('who is not logged in is told so and not tried again', async () => {
  house = new MockHouse();
  await house.listen();
  const port = house.port;
  await house.die();
  let dialled = 0;
  line = new Connection({
    open: () => (dialled++, new WebSocket(`ws://127.0.0.1:${port}`) as unknown as Socket),
    denied: () => Promise.resolve(true),
    firstPauseMs: 1,
  });
  line.start();
  await vi.waitFor(() => expect(line?.state).toBe('denied'), BOUND);
  expect(dialled).toBe(1);
});
