// The pictures of the README: each view, light and dark. Made only when asked for (`npm run pictures`), so that
// a test run changes no file.

import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, shown, terminal, test, type House } from './house';
import { serveChat } from '../mock/chat';
import type { Page } from '@playwright/test';

const FOLDER = fileURLToPath(new URL('../../../docs/pictures/', import.meta.url));

test.skip(process.env['PICTURES'] !== '1', 'pictures are made only when asked for');

/** Programs whose screens look like a day's work and are the same every time. */
const SCREENS: Record<string, string> = {
  build: String.raw`\033]2;cargo build\007\033[1;32m   Compiling\033[0m greenroom-model v0.1.0\n\033[1;32m   Compiling\033[0m greenroom-screen v0.1.0\n\033[1;32m   Compiling\033[0m greenroom-engine v0.1.0\n\033[1;33mwarning\033[0m: unused variable: \`lamp\`\n  \033[1;34m-->\033[0m src/stage.rs:41:9\n\033[1;32m    Finished\033[0m \`dev\` profile in 12.31s\n\033[1;32m     Running\033[0m \`target/debug/greenroom ls\`\n\033[36m 1\033[0m build   running   cargo build\n\033[36m 2\033[0m server  running   serving on 8384\n$ `,
  server: String.raw`\033]2;serving on 8384\007\033[2m12:04:01\033[0m \033[32mINFO\033[0m listening on \033[4mhttp://127.0.0.1:8384\033[0m\n\033[2m12:04:07\033[0m \033[32mINFO\033[0m GET /health \033[32m200\033[0m 1 ms\n\033[2m12:04:09\033[0m \033[33mWARN\033[0m GET /lamp \033[33m404\033[0m 1 ms\n\033[2m12:04:12\033[0m \033[32mINFO\033[0m POST /cue \033[32m201\033[0m 3 ms\n\033[2m12:04:15\033[0m \033[31mERROR\033[0m the curtain is stuck\n\033[2m12:04:16\033[0m \033[32mINFO\033[0m the curtain moves again\n`,
  agent: String.raw`\033]2;claude: light the stage\007\033[35m*\033[0m \033[1mReading\033[0m src/lamp.rs\n\033[35m*\033[0m \033[1mEdited\033[0m src/lamp.rs \033[32m+12\033[0m \033[31m-4\033[0m\n\n\033[7m Do you want to run \`cargo test\`? \033[0m\n\n \033[36m> 1. Yes\033[0m\n   2. Yes, and do not ask again\n   3. No\n`,
  monitor: String.raw`\033]2;htop\007  1 \033[32m||||||||||\033[31m||||\033[0m                 41.2%%\n  2 \033[32m|||||||\033[0m                        22.7%%\nMem \033[32m|||||||||||||\033[34m||\033[33m|||||\033[0m        3.1G/8.0G\n\n\033[30;42m  PID USER      CPU%% MEM%%   TIME+  Command     \033[0m\n 1205 room      38.0  4.1  0:31.20 rustc\n 1188 room       6.7  1.2  0:09.02 greenroom\n  977 room       1.3  0.4  0:01.44 zsh\n`,
};

async function furnish(house: House): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const [name, screen] of Object.entries(SCREENS)) {
    const script = `${house.home}/${name}`;
    writeFileSync(script, `#!/bin/sh\nprintf "${screen}"; exec cat\n`, { mode: 0o700 });
    ids[name] = await house.session(name, `./${name}`);
  }
  ids['deploy'] = await house.session('deploy', '/bin/sh', '-c', 'printf "uploading 41 files\\n\\033[32mdone\\033[0m in 3.2 s\\n"');
  ids['tests'] = await house.session('tests', '/bin/sh', '-c', 'printf "running 212 tests\\ntest lamp::goes_on ... \\033[31mFAILED\\033[0m\\n"; exit 1');
  return ids;
}

async function both(page: Page, name: string): Promise<void> {
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await expect(page.locator('html')).toHaveAttribute('data-theme', scheme);
    // Two frames, so that canvases have taken the new colours.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await page.screenshot({ path: `${FOLDER}${name}-${scheme}.png`, animations: 'disabled', caret: 'hide' });
  }
}

test('pictures of every view', async ({ house, inside }) => {
  test.setTimeout(180_000);
  mkdirSync(FOLDER, { recursive: true });
  await inside.evaluate(() => localStorage.setItem('greenroom.reader', 'false'));
  const ids = await furnish(house);
  await house.greenroom('wait', 'tests', '--exit').catch(() => undefined);
  await inside.goto(`${house.url}/#/house`);
  await expect(inside.locator('.card')).toHaveCount(6);
  // A canvas nobody drew on is 300 wide.
  const drawn = (canvas: HTMLCanvasElement) => canvas.width !== 300;
  for (const canvas of await inside.locator('.card[data-state=running] canvas').all()) await expect.poll(() => canvas.evaluate(drawn)).toBe(true);
  await expect(inside.locator('.card-title', { hasText: 'htop' })).toBeVisible();
  await both(inside, 'house');
  await inside.keyboard.press('Control+k');
  await inside.keyboard.type('op');
  await both(inside, 'palette');
  await inside.keyboard.press('Escape');

  await inside.evaluate(() => localStorage.setItem('greenroom.reader', 'true'));
  await inside.goto(`${house.url}/#/terminal/${ids['build']}`);
  await inside.reload();
  await terminal(inside);
  const beside = async (act: string, name: string, count: number) => {
    await inside.locator('.pane.focused').locator(`[data-act=${act}]`).click();
    await inside.getByRole('option', { name: `Put beside it: ${name}` }).click();
    await expect(inside.locator('.xterm-helper-textarea')).toHaveCount(count);
  };
  await beside('split-row', 'server', 2);
  await beside('split-column', 'monitor', 3);
  await expect.poll(() => shown(inside)).toContain('curtain moves');
  await expect.poll(() => shown(inside)).toContain('zsh');
  await both(inside, 'terminal');

  await inside.goto(`${house.url}/#/search/lamp`);
  await expect(inside.locator('.search-group')).toHaveCount(4);
  await both(inside, 'search');

  await inside.routeWebSocket(/claude-stream/, (socket) => serveChat(socket, []));
  await inside.goto(`${house.url}/#/chat`);
  const say = async (words: string) => {
    await inside.getByRole('textbox', { name: 'Message' }).fill(words);
    await inside.keyboard.press('Enter');
  };
  await say('Please edit the lamp so that it is green.');
  await expect(inside.locator('.said.agent')).toHaveCount(1);
  await say('Now write the README. You may ask for permission.');
  await inside.locator('.ask').waitFor();
  await both(inside, 'chat');

  await inside.setViewportSize({ width: 390, height: 780 });
  await inside.goto(`${house.url}/#/terminal/${ids['agent']}`);
  await inside.locator('.readable-text').waitFor({ timeout: 5_000 }).catch(() => inside.locator('[data-act=readable]').first().click());
  await expect(inside.locator('.readable-text')).toContainText('Do you want');
  await both(inside, 'phone');
});

test('a picture of the login', async ({ house, page }) => {
  mkdirSync(FOLDER, { recursive: true });
  await page.goto(house.url);
  await page.getByLabel('Token or password').waitFor();
  await both(page, 'login');
});
