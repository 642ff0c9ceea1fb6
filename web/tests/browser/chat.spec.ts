// A conversation with a program that plays the agent: behind the door's own chat, or, where the door has
// none, behind a stand-in for it.

import { doorHasChat, expect, test } from './house';
import { serveChat } from '../mock/chat';
import type { Page } from '@playwright/test';

/** Opens the chat. */
async function chat(page: Page, url: string): Promise<void> {
  if (!(await doorHasChat(page, url))) await page.routeWebSocket(/claude-stream/, (socket) => serveChat(socket, []));
  await page.goto(`${url}/#/chat`);
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
}

async function say(page: Page, words: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(words);
  await page.keyboard.press('Enter');
}

test('what is said is answered', async ({ house, inside }) => {
  await chat(inside, house.url);
  await say(inside, 'good evening');
  await expect(inside.locator('.said.user')).toHaveText('good evening');
  await expect(inside.locator('.said.agent')).toHaveText('You said: good evening');
  await expect(inside.locator('.chat-status')).toHaveText('Ready');
});

test('a permission card shows what would be done, and does what was decided', async ({ house, inside }) => {
  await chat(inside, house.url);
  await say(inside, 'ask permission');
  const card = inside.locator('.ask').first();
  await expect(card).toContainText('May it use Write?');
  await expect(card.locator('ins').first()).toContainText('# Hello');
  await card.getByRole('button', { name: 'Allow', exact: true }).click();
  await expect(inside.locator('.said.agent')).toHaveText('I wrote README.md.');
  await expect(card).toContainText('Allowed.');
  await say(inside, 'ask permission again');
  await inside.locator('.ask[data-state=open]').getByRole('button', { name: 'Deny' }).click();
  await expect(inside.locator('.said.agent').last()).toHaveText('Then I will not write it.');
});

test('always is sent with what was suggested', async ({ house, inside }) => {
  const sent: Record<string, unknown>[] = [];
  await inside.routeWebSocket(/claude-stream/, (socket) => serveChat(socket, sent));
  await inside.goto(`${house.url}/#/chat`);
  await say(inside, 'ask permission');
  await inside.getByRole('button', { name: 'Always allow' }).click();
  await expect(inside.locator('.said.agent')).toHaveText('I wrote README.md.');
  const answer = sent.find((it) => it['type'] === 'control_response');
  expect(answer).toMatchObject({ behavior: 'allow', permission_suggestions: [{ type: 'setMode', mode: 'acceptEdits' }] });
});

test('a question is answered by choosing', async ({ house, inside }) => {
  await chat(inside, house.url);
  await say(inside, 'ask a question');
  await inside.getByRole('radio', { name: /Green/ }).check();
  await inside.getByRole('button', { name: 'Answer' }).click();
  await expect(inside.locator('.said.agent')).toHaveText('You chose Green.');
});

test('an edit is shown as a diff, links lead to the web and say where', async ({ house, inside }) => {
  await chat(inside, house.url);
  await say(inside, 'edit it');
  await expect(inside.locator('.diff del')).toHaveText('const lamp = "red";\n');
  await expect(inside.locator('.diff ins')).toHaveText('const lamp = "green";\n');
  await expect(inside.getByRole('link', { name: 'the page' })).toHaveAttribute('href', 'https://example.org/');
  await expect(inside.locator('.said.agent li')).toHaveCount(2);
});

test('a turn is interrupted and the mode changed', async ({ house, inside }) => {
  await chat(inside, house.url);
  await say(inside, 'something slow');
  await inside.getByRole('button', { name: 'Interrupt' }).click();
  await expect(inside.locator('.chat-note')).toHaveText('Interrupted.');
  await inside.getByRole('combobox', { name: 'What it may do' }).selectOption('plan');
  await expect(inside.locator('.chat-status')).toHaveText('Ready');
  await expect(inside.getByRole('combobox', { name: 'What it may do' })).toHaveValue('plan');
});

test('a conversation is still there after a reload', async ({ house, inside }) => {
  await chat(inside, house.url);
  await say(inside, 'remember me');
  await expect(inside.locator('.said.agent')).toHaveText('You said: remember me');
  await inside.reload();
  await expect(inside.locator('.said.user')).toHaveText('remember me');
  await expect(inside.locator('.said.agent')).toHaveText('You said: remember me');
});

test('a conversation goes on after the daemon was killed', async ({ house, inside }) => {
  test.skip(!(await doorHasChat(inside, house.url)), 'the door has no chat');
  await chat(inside, house.url);
  await say(inside, 'before');
  await expect(inside.locator('.said.agent')).toHaveText('You said: before');
  await house.killDaemon();
  await expect(inside.locator('.chat-status')).toHaveText(/Lost|Connecting|not there/);
  await house.startAgain();
  await expect(inside.locator('.chat-status')).toHaveText('Ready', { timeout: 30_000 });
  await say(inside, 'after');
  await expect(inside.locator('.said.agent')).toHaveText(['You said: before', 'You said: after']);
});
