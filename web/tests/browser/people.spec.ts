// People as they are: on a phone, without a mouse, with other eyes.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, terminal, test, shown } from './house';
import { serveChat } from '../mock/chat';
import type { Page } from '@playwright/test';

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });

  test('a session is read and typed into without being sized', async ({ house, inside }) => {
    const uuid = await house.session('pocket', '/bin/sh', '-c', 'echo a line that is much longer than what a phone of this width can show in one row of letters; exec sh');
    await inside.goto(`${house.url}/#/terminal/${uuid}`);
    const text = inside.locator('.readable-text');
    await expect(text).toContainText('in one row of letters');
    const overflow = await text.evaluate((it) => it.scrollWidth > it.clientWidth + 1);
    expect(overflow).toBe(false);
    await inside.getByRole('textbox', { name: 'Type here' }).fill('echo pocket $((6*7))');
    await inside.getByRole('button', { name: 'Send' }).tap();
    await expect(text).toContainText('pocket 42');
    expect(await house.info('pocket')).toMatchObject({ cols: 80, rows: 24 });
  });

  test('keys a phone does not have are on the bar', async ({ house, inside }) => {
    const uuid = await house.session('keys', 'cat', '-v');
    await inside.goto(`${house.url}/#/terminal/${uuid}`);
    const bar = inside.getByRole('toolbar', { name: 'Keys' });
    await bar.getByRole('button', { name: 'Esc' }).tap();
    await bar.getByRole('button', { name: 'Up' }).first().tap();
    await bar.getByRole('button', { name: 'Bar' }).tap();
    await bar.getByRole('button', { name: 'Tilde' }).tap();
    await bar.getByRole('button', { name: 'Ctrl', exact: true }).tap();
    await inside.getByRole('textbox', { name: 'Type here' }).fill('a');
    await bar.getByRole('button', { name: 'Enter' }).tap();
    await expect(inside.locator('.readable-text')).toContainText('^[^[[A|~^A');
  });

  test('the page is no wider than the phone', async ({ house, inside }) => {
    await house.session('narrow');
    for (const room of ['house', 'terminal', 'chat', 'search']) {
      await inside.goto(`${house.url}/#/${room}`);
      await inside.locator(`[data-room=${room}][aria-current]`).waitFor();
      const wide = await inside.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(wide, room).toBeLessThanOrEqual(0);
    }
  });
});

test('everything is reached with the keyboard alone', async ({ house, inside }) => {
  await house.session('keyed');
  await inside.locator('.card').waitFor();
  await inside.keyboard.press('Control+k');
  await inside.keyboard.type('open keyed');
  await inside.keyboard.press('Enter');
  await terminal(inside);
  await expect(inside.locator('.xterm-helper-textarea')).toBeFocused();
  await inside.keyboard.type('echo by hand $((9*9))\n');
  await expect.poll(() => shown(inside)).toContain('by hand 81');
  // In a terminal Ctrl+K is the shell's; with Shift it is ours.
  await inside.keyboard.press('Control+k');
  await expect(inside.getByRole('dialog')).toHaveCount(0);
  await inside.keyboard.press('Control+Shift+K');
  await inside.keyboard.type('split right');
  await inside.keyboard.press('Enter');
  await inside.keyboard.type('new shell');
  await inside.keyboard.press('Enter');
  await expect(inside.locator('.pane')).toHaveCount(2);
  await expect(inside.locator('.pane.focused .xterm-helper-textarea')).toBeFocused();
  await inside.keyboard.press('Control+Shift+ArrowLeft');
  await expect(inside.locator('.pane').first()).toHaveClass(/focused/);
  await inside.keyboard.press('Control+Shift+K');
  await inside.keyboard.type('go to house');
  await inside.keyboard.press('Enter');
  await expect(inside.locator('.card')).toHaveCount(2);
  // And without any shortcut, only with Tab.
  await inside.locator('body').press('Tab');
  for (let presses = 0; presses < 40; presses++) {
    if (await inside.evaluate(() => document.activeElement?.classList.contains('card-open'))) break;
    await inside.keyboard.press('Tab');
  }
  await expect(inside.locator('.card-open').first()).toBeFocused();
  await inside.keyboard.press('ArrowRight');
  await expect(inside.locator('.card-open').nth(1)).toBeFocused();
  await inside.keyboard.press('Enter');
  await terminal(inside);
});

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds that is serious or worse. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> } };
    const { violations } = await axe.run();
    const serious = violations.filter((it) => it.impact === 'serious' || it.impact === 'critical');
    return serious.map((it) => `${it.id}: ${it.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
  });
}

for (const scheme of ['light', 'dark'] as const) {
  test(`nothing serious stands in anybody’s way, ${scheme}`, async ({ house, inside }) => {
    await inside.emulateMedia({ colorScheme: scheme });
    const uuid = await house.session('access', '/bin/sh', '-c', 'echo needle; exec cat');
    await house.session('over', 'true');
    const sent: Record<string, unknown>[] = [];
    await inside.routeWebSocket(/claude-stream/, (socket) => serveChat(socket, sent));
    await inside.locator('.card').nth(1).waitFor();
    expect(await findings(inside), 'house').toEqual([]);
    await inside.keyboard.press('Control+k');
    expect(await findings(inside), 'palette').toEqual([]);
    await inside.keyboard.press('Escape');
    await inside.goto(`${house.url}/#/terminal/${uuid}`);
    await terminal(inside);
    expect(await findings(inside), 'terminal').toEqual([]);
    await inside.locator('[data-act=readable]').click();
    await expect(inside.locator('.readable-text')).toContainText('needle');
    expect(await findings(inside), 'readable').toEqual([]);
    await inside.goto(`${house.url}/#/search/needle`);
    await inside.locator('.search-hit').first().waitFor();
    expect(await findings(inside), 'search').toEqual([]);
    await inside.goto(`${house.url}/#/chat`);
    for (const words of ['edit it', 'ask permission']) {
      await inside.getByRole('textbox', { name: 'Message' }).fill(words);
      await inside.keyboard.press('Enter');
    }
    await inside.locator('.ask').waitFor();
    expect(await findings(inside), 'chat').toEqual([]);
  });
}

test('the login stands in nobody’s way', async ({ house, page }) => {
  await page.goto(house.url);
  await page.getByLabel('Token or password').waitFor();
  expect(await findings(page)).toEqual([]);
});
