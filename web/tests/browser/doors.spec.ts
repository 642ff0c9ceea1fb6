// Who comes in, and to what: logins and share links, and what strangers' words may not do.

import { expect, shown, terminal, test, type, watch } from './house';
import type { Browser, BrowserContext, Page } from '@playwright/test';

async function stranger(browser: Browser): Promise<{ context: BrowserContext; page: Page; faults: string[] }> {
  const context = await browser.newContext();
  await context.addInitScript(() => localStorage.setItem('greenroom.reader', 'true'));
  const page = await context.newPage();
  return { context, page, faults: watch(page) };
}

test('without the token there is a login, and with it the house', async ({ house, page }) => {
  await page.goto(house.url);
  await page.getByLabel('Token or password').fill('f'.repeat(64));
  await page.getByRole('button', { name: 'Come in' }).click();
  await expect(page.getByRole('alert')).toHaveText('That was not it.');
  const token = new URL(house.open).hash.replace('#token=', '');
  await page.getByLabel('Token or password').fill(token);
  await page.getByRole('button', { name: 'Come in' }).click();
  await page.locator('.shell[data-line=online]').waitFor();
  await page.reload();
  await page.locator('.shell[data-line=online]').waitFor();
});

test('the token leaves the address and is kept nowhere a script can read', async ({ house, inside }) => {
  const token = new URL(house.open).hash.replace('#token=', '');
  expect(inside.url()).not.toContain(token);
  const kept = await inside.evaluate(() => JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }) + document.cookie);
  expect(kept).not.toContain(token);
  expect(kept).not.toContain('greenroom-session');
});

test('a link to watch shows one session and lets nobody type', async ({ house, inside, browser }) => {
  await house.session('shared', '/bin/sh', '-c', 'echo for your eyes; exec cat');
  await house.session('private', '/bin/sh', '-c', 'echo secret; exec cat');
  void inside;
  const link = JSON.parse(await house.greenroom('share', 'shared', '--json')) as { open: string };
  const { context, page, faults } = await stranger(browser);
  await page.goto(link.open);
  await terminal(page);
  await expect.poll(() => shown(page)).toContain('for your eyes');
  await page.locator('.xterm-helper-textarea').focus();
  await type(page, 'not allowed');
  await expect(page.getByRole('link', { name: 'House', exact: true })).toBeHidden();
  await page.keyboard.press('Control+Shift+K');
  await expect(page.getByRole('option', { name: /private/ })).toHaveCount(0);
  await expect(page.getByRole('option', { name: /New session/ })).toHaveCount(0);
  await page.keyboard.press('Escape');
  await house.greenroom('send', 'shared', 'owner types', '--enter');
  await expect.poll(() => shown(page)).toContain('owner types');
  expect(await house.read('shared')).not.toContain('not allowed');
  expect(faults).toEqual([]);
  await context.close();
});

test('a link to type lets somebody type into that session', async ({ house, inside, browser }) => {
  await house.session('open', 'cat');
  // Made on the page, as people do.
  await inside.locator('.card-more').click();
  await inside.getByRole('option', { name: 'Share open' }).click();
  await inside.getByLabel('They may').selectOption('watch and type');
  await inside.getByRole('button', { name: 'Make a link' }).click();
  const link = await inside.getByRole('textbox', { name: 'A link to this session' }).inputValue();
  const { context, page } = await stranger(browser);
  await page.goto(link);
  await terminal(page);
  await expect.poll(async () => (await house.info('open')).attachedClients).toBe(1);
  await page.locator('.xterm-helper-textarea').focus();
  await type(page, 'hello from outside');
  await expect.poll(() => house.read('open')).toContain('hello from outside');
  await context.close();
});

test('names, titles and output of strangers stay text', async ({ house, inside }) => {
  const bad = '<img src=x onerror=alert(1)>';
  await inside.addInitScript(() => undefined);
  inside.on('dialog', () => {
    throw new Error('a script of a stranger ran');
  });
  const script = `printf '\\033]2;${bad}\\007%s\\n\\033]8;;javascript:alert(1)\\033\\\\click\\033]8;;\\033\\\\\\n\\033]52;c;aGFja2Vk\\007\\033]52;c;?\\007' '${bad}'; exec cat`;
  const uuid = await house.session('<b>bold</b>', '/bin/sh', '-c', script);
  const card = inside.locator('.card');
  await expect(card.locator('.card-name')).toHaveText('<b>bold</b>');
  await expect(card.locator('.card-title')).toHaveText(bad);
  expect(await inside.locator('.card img, .card b').count()).toBe(0);
  await inside.goto(`${house.url}/#/terminal/${uuid}`);
  await terminal(inside);
  await expect.poll(() => shown(inside)).toContain('click');
  await inside.goto(`${house.url}/#/search/onerror`);
  await expect(inside.locator('.search-line').first()).toContainText(bad);
  expect(await inside.locator('.search img').count()).toBe(0);
  expect(await inside.evaluate(() => navigator.clipboard.readText().catch(() => 'denied'))).not.toBe('hacked');
  // Nothing was sent back to the program either: it would be seen, `cat` repeats it.
  expect(await house.read('<b>bold</b>')).not.toContain(']52');
});

test('the slower way of drawing keeps to the policy, too', async ({ house, inside }) => {
  await inside.evaluate(() => localStorage.setItem('greenroom.plain-drawing', 'true'));
  const uuid = await house.session('plain', '/bin/sh', '-c', 'printf "\\033[38;2;200;100;50mdirect\\033[m \\033[1;4;31mred\\033[m\\n"; exec cat');
  await inside.goto(`${house.url}/#/terminal/${uuid}`);
  await inside.reload();
  await terminal(inside);
  await expect(inside.locator('.xterm-rows')).toContainText('direct');
  const colour = await inside.locator('.xterm-rows span', { hasText: 'direct' }).first().evaluate((it) => getComputedStyle(it).color);
  expect(colour).not.toBe('rgb(0, 0, 0)');
});
