import { expect, shown, terminal, test } from './house';

/** How many different colours a thumbnail has: one means nothing is drawn. */
const colours = (canvas: HTMLCanvasElement) => {
  const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: new Uint8ClampedArray() };
  return new Set(new Uint32Array(data.buffer)).size;
};

test('every session has a card with its picture, state and facts', async ({ house, inside }) => {
  await house.session('alpha', '/bin/sh', '-c', 'printf "\\033]2;a fine title\\007\\033[31mred\\033[m words\\n"; exec sh');
  await house.session('omega', '/bin/sh', '-c', 'echo over; exit 2');
  const alpha = inside.locator('.card', { hasText: 'alpha' });
  await expect(alpha).toContainText('a fine title');
  await expect(alpha).toContainText('living');
  await expect.poll(() => alpha.locator('canvas').evaluate(colours)).toBeGreaterThan(3);
  await expect(inside.locator('.card', { hasText: 'omega' })).toContainText('ended with 2');
});

test('a thumbnail is read again only when its session printed something', async ({ house, inside }) => {
  await house.session('quiet', '/bin/sh', '-c', 'echo once; exec cat');
  const canvas = inside.locator('.card', { hasText: 'quiet' }).locator('canvas');
  // Words have edges in many colours. An empty screen with its cursor has two, and would rightly be read again.
  await expect.poll(() => canvas.evaluate(colours)).toBeGreaterThan(3);
  const reads = () => inside.evaluate(() => (window as unknown as { reads: number }).reads);
  await inside.evaluate(() => {
    const watch = window as unknown as { reads: number; lists: number };
    watch.reads = watch.lists = 0;
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (data) {
      const words = new TextDecoder().decode(data as Uint8Array<ArrayBuffer>);
      if (words.includes('session.read')) watch.reads += 1;
      if (words.includes('session.list')) watch.lists += 1;
      send.call(this, data);
    };
  });
  // Two beats of the list go by without a read.
  await expect.poll(() => inside.evaluate(() => (window as unknown as { lists: number }).lists)).toBeGreaterThan(1);
  expect(await reads()).toBe(0);
  await house.greenroom('send', 'quiet', 'more', '--enter');
  await expect.poll(reads).toBeGreaterThan(0);
});

test('sessions are made, renamed, ended and forgotten', async ({ inside }) => {
  await inside.locator('[data-act=create]').click();
  await inside.getByLabel('Name', { exact: true }).fill('first');
  await inside.getByLabel('Command', { exact: true }).fill('echo made here; exec cat');
  await inside.getByRole('button', { name: 'Create' }).click();
  await terminal(inside);
  await expect.poll(() => shown(inside)).toContain('made here');
  await inside.getByRole('link', { name: 'House', exact: true }).click();
  const act = async (what: string) => {
    await inside.locator('.card-more').first().click();
    await inside.getByRole('option', { name: what }).click();
  };
  await act('Rename first');
  await inside.getByLabel('Name', { exact: true }).fill('second');
  await inside.getByRole('button', { name: 'Rename' }).click();
  await expect(inside.locator('.card-name')).toHaveText('second');
  await act('End second');
  await inside.getByRole('button', { name: 'End it' }).click();
  await expect(inside.locator('.house-ended .card')).toHaveCount(1);
  await act('Forget second');
  await inside.getByRole('button', { name: 'Forget it' }).click();
  await expect(inside.locator('.card')).toHaveCount(0);
});

test('search finds what was printed in living and ended sessions', async ({ house, inside }) => {
  await house.session('living', '/bin/sh', '-c', 'echo a lost button; exec cat');
  await house.session('ended', '/bin/sh', '-c', 'echo another BUTTON, found');
  await house.greenroom('wait', 'ended', '--exit').catch(() => undefined);
  await inside.goto(`${house.url}/#/search`);
  await inside.getByRole('searchbox', { name: 'Search all sessions' }).fill('button');
  await expect(inside.locator('.search-status')).toHaveText('2 matches in 2 of 2 sessions');
  await expect(inside.locator('.search-group', { hasText: 'ended' }).locator('mark')).toHaveText('BUTTON');
  await inside.locator('.search-group', { hasText: 'living' }).locator('.search-hit').click();
  await expect(inside.locator('.find-count')).toHaveText(/1/);
});

test('a bell is seen until somebody looks', async ({ house, inside }) => {
  const uuid = await house.session('ringing', '/bin/sh', '-c', 'read x; printf "\\007"; exec cat');
  await expect(inside.locator('.card')).toHaveAttribute('data-state', 'running');
  await house.greenroom('send', 'ringing', '', '--enter');
  await expect(inside.locator('.card')).toHaveAttribute('data-state', 'rang');
  await expect(inside).toHaveTitle(/^\(1\)/);
  await inside.goto(`${house.url}/#/terminal/${uuid}`);
  await terminal(inside);
  await expect(inside).not.toHaveTitle(/^\(1\)/);
});

test('who looks elsewhere and asked for it is told of a bell and an end', async ({ house, inside, context }) => {
  await context.grantPermissions(['notifications'], { origin: house.url });
  await house.session('caller', '/bin/sh', '-c', 'read x; printf "\\007"; read x; exit 4');
  await inside.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    window.Notification = class {
      static permission = 'granted';
      static requestPermission = () => Promise.resolve('granted');
      constructor(title: string, options: { body: string }) {
        seen.push(`${title}: ${options.body}`);
      }
    } as unknown as typeof Notification;
    document.hasFocus = () => false;
  });
  const seen = () => inside.evaluate(() => (window as unknown as { seen: string[] }).seen);
  await inside.locator('.card').waitFor();
  await inside.getByRole('button', { name: 'Notifications' }).click();
  await expect(inside.getByRole('status').filter({ hasText: 'You will be told' })).toBeVisible();
  await house.greenroom('send', 'caller', '', '--enter');
  await expect.poll(seen).toEqual(['caller: rings']);
  await house.greenroom('send', 'caller', '', '--enter');
  await expect.poll(seen).toEqual(['caller: rings', 'caller: ended with 4']);
});
