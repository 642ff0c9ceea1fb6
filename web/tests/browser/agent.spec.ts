// The real Claude Code behind the door's own chat, offline.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { doorHasChat, expect, OFFLINE, test } from './house';

test.use({ claude: 'real' });
test.skip(!existsSync(OFFLINE), 'needs what runs Claude Code offline');
test.beforeEach(async ({ house, inside }) => test.skip(!(await doorHasChat(inside, house.url)), 'the door has no chat'));

test('a permission card decides what the real Claude Code does', async ({ house, inside }) => {
  test.setTimeout(120_000);
  const asked = { timeout: 40_000 };
  await inside.goto(`${house.url}/#/chat`);
  const say = async (words: string) => {
    await inside.getByRole('textbox', { name: 'Message' }).fill(words);
    await inside.keyboard.press('Enter');
  };
  await say('hello there');
  await expect(inside.locator('.said.agent').first()).toContainText('echo: hello there', asked);
  const file = join(house.home, 'lamp.txt');
  await say(`write ${file}: it is lit`);
  await expect(inside.locator('.ask[data-state=open]')).toContainText('May it use Write?', asked);
  await expect(inside.locator('.ask[data-state=open] ins')).toContainText('it is lit');
  expect(existsSync(file)).toBe(false);
  await inside.locator('.ask[data-state=open]').getByRole('button', { name: 'Allow', exact: true }).click();
  await expect(inside.locator('.said.agent').last()).toContainText('tool said', asked);
  expect(readFileSync(file, 'utf8')).toContain('it is lit');
  const other = join(house.home, 'dark.txt');
  await say(`write ${other}: never`);
  await inside.locator('.ask[data-state=open]').getByRole('button', { name: 'Deny' }).click(asked);
  await expect(inside.locator('.ask').last()).toContainText('Denied.');
  await expect(inside.locator('.chat-status')).toHaveText('Ready', asked);
  expect(existsSync(other)).toBe(false);
});

test('a question of the real Claude Code is answered on its card', async ({ house, inside }) => {
  await inside.goto(`${house.url}/#/chat`);
  await inside.getByRole('textbox', { name: 'Message' }).fill('ask');
  await inside.keyboard.press('Enter');
  const card = inside.locator('form.ask[data-state=open]');
  await card.getByRole('radio').first().check({ timeout: 40_000 });
  await card.getByRole('button', { name: 'Answer' }).click();
  await expect(inside.locator('.said.agent').last()).toContainText('tool said', { timeout: 40_000 });
});
