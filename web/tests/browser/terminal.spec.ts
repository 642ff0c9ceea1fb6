import { expect, shown, terminal, test, type } from './house';

test('what is typed is seen, and comes from the session', async ({ house, inside }) => {
  const uuid = await house.session('work');
  await inside.goto(`${house.url}/#/terminal/${uuid}`);
  await terminal(inside);
  await type(inside, 'echo $((40+2)) apples');
  await expect.poll(() => shown(inside)).toContain('42 apples');
  expect(await house.read('work')).toContain('42 apples');
});

test('the session has the size of the window that has the focus', async ({ house, inside }) => {
  const uuid = await house.session('size');
  await inside.goto(`${house.url}/#/terminal/${uuid}`);
  await terminal(inside);
  await expect.poll(async () => (await house.info('size')).cols).toBeGreaterThan(100);
  const before = await house.info('size');
  await inside.setViewportSize({ width: 800, height: 500 });
  await expect.poll(async () => (await house.info('size')).cols).toBeLessThan(before.cols);
  expect((await house.info('size')).rows).toBeLessThan(before.rows);
});

test('ten megabytes at once leave the page usable', async ({ house, inside }) => {
  const uuid = await house.session('flood');
  await inside.goto(`${house.url}/#/terminal/${uuid}`);
  await terminal(inside);
  await expect.poll(() => shown(inside)).toContain('$');
  await inside.evaluate(() => {
    const watch = window as unknown as { worst: number };
    watch.worst = 0;
    let last = performance.now();
    const frame = () => {
      watch.worst = Math.max(watch.worst, performance.now() - last);
      last = performance.now();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await type(inside, 'yes "some words that fill a line of output" | head -c 10000000; echo; echo all $((1+1)) done');
  await expect.poll(() => shown(inside), { timeout: 30_000 }).toContain('all 2 done');
  const worst = await inside.evaluate(() => (window as unknown as { worst: number }).worst);
  console.log(`longest pause between two frames: ${Math.round(worst)} ms`);
  expect(worst).toBeLessThan(1_000);
  await type(inside, 'echo still $((3+4))');
  await expect.poll(() => shown(inside)).toContain('still 7');
});

test('a daemon that is killed and started again costs nothing that was on the screen', async ({ house, inside }) => {
  const uuid = await house.session('lasting');
  await inside.goto(`${house.url}/#/terminal/${uuid}`);
  await terminal(inside);
  await type(inside, 'echo before $((5*5)); sleep 1; echo meanwhile $((6*6))');
  await expect.poll(() => shown(inside)).toContain('before 25');
  await house.killDaemon();
  await inside.locator('.shell[data-line=offline], .shell[data-line=connecting]').waitFor();
  expect(await shown(inside)).toContain('before 25');
  await house.startAgain();
  await inside.locator('.shell[data-line=online]').waitFor();
  await expect.poll(() => shown(inside)).toContain('meanwhile 36');
  expect(await shown(inside)).toContain('before 25');
  await type(inside, 'echo after $((7*7))');
  await expect.poll(() => shown(inside)).toContain('after 49');
});

test('two browsers see and type into one session', async ({ house, inside, browser }) => {
  const uuid = await house.session('both');
  await inside.goto(`${house.url}/#/terminal/${uuid}`);
  await terminal(inside);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript(() => localStorage.setItem('greenroom.reader', 'true'));
  const other = await context.newPage();
  await other.goto(house.open);
  await other.goto(`${house.url}/#/terminal/${uuid}`);
  await terminal(other);
  await type(inside, 'echo from one $((1+1))');
  await expect.poll(() => shown(other)).toContain('from one 2');
  await type(other, 'echo from two $((2+2))');
  await expect.poll(() => shown(inside)).toContain('from two 4');
  await context.close();
});

test('tabs and splits are as they were after a reload', async ({ house, inside }) => {
  const one = await house.session('one');
  await house.session('two');
  await inside.goto(`${house.url}/#/terminal/${one}`);
  await terminal(inside);
  await inside.locator('[data-act=split-row]').click();
  await inside.getByRole('option', { name: 'Put beside it: two' }).click();
  await expect(inside.locator('.pane')).toHaveCount(2);
  await inside.reload();
  await expect(inside.locator('.split.row .pane')).toHaveCount(2);
  await expect(inside.locator('.pane-name')).toHaveText(['one', 'two']);
});

test('text in the terminal is found', async ({ house, inside }) => {
  const uuid = await house.session('find', '/bin/sh', '-c', 'for i in 1 2 3; do echo needle $i; done; exec sh');
  await inside.goto(`${house.url}/#/terminal/${uuid}`);
  await terminal(inside);
  await expect.poll(() => shown(inside)).toContain('needle 3');
  await inside.keyboard.press('Control+Shift+F');
  await expect(inside.getByRole('textbox', { name: 'Find in this terminal' })).toBeFocused();
  await inside.keyboard.type('needle 2');
  await expect(inside.locator('.find-count')).toHaveText('1 of 1');
  await inside.keyboard.press('ControlOrMeta+A');
  await inside.keyboard.type('needle');
  // The one that was found stays the one that is shown.
  await expect(inside.locator('.find-count')).toHaveText('2 of 3');
  await inside.keyboard.press('Enter');
  await expect(inside.locator('.find-count')).toHaveText('1 of 3');
  await inside.keyboard.press('Escape');
  await expect(inside.locator('.xterm-helper-textarea')).toBeFocused();
});

test('who only watches cannot type, and does not size', async ({ house, inside }) => {
  const uuid = await house.session('watched');
  await inside.goto(`${house.url}/#/terminal/${uuid}`);
  await terminal(inside);
  await expect.poll(async () => (await house.info('watched')).cols).toBeGreaterThan(100);
  await inside.locator('[data-act=lock]').click();
  await terminal(inside);
  await house.greenroom('resize', 'watched', '60x20');
  await expect.poll(async () => (await house.info('watched')).cols).toBe(60);
  await inside.locator('.xterm-helper-textarea').focus();
  await type(inside, 'echo nobody sees this');
  await house.greenroom('send', 'watched', 'echo watched $((8+8))', '--enter');
  await expect.poll(() => shown(inside)).toContain('watched 16');
  expect(await house.read('watched')).not.toContain('nobody');
  expect((await house.info('watched')).cols).toBe(60);
});

test('a paste is a paste: nothing in it ends it', async ({ house, inside }) => {
  const uuid = await house.session('paste', 'cat');
  await inside.goto(`${house.url}/#/terminal/${uuid}`);
  await terminal(inside);
  await inside.locator('.xterm-helper-textarea').evaluate((element) => {
    const data = new DataTransfer();
    data.setData('text/plain', 'pasted \x1b[201~words');
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await expect.poll(() => house.read('paste')).toContain('pasted [201~words');
});

test('an ended session can be read', async ({ house, inside }) => {
  const uuid = await house.session('done', '/bin/sh', '-c', 'echo last words; exit 3');
  await house.greenroom('wait', 'done', '--exit').catch(() => undefined);
  await inside.goto(`${house.url}/#/terminal/${uuid}`);
  await terminal(inside);
  await expect.poll(() => shown(inside)).toContain('last words');
  await expect(inside.locator('.pane-title')).toHaveText('ended with 3');
});
