// A Chromium for the tests: Playwright's own, or Debian's where that cannot be downloaded.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chromium } from '@playwright/test';

const SYSTEM = ['/usr/bin/chromium', '/usr/bin/google-chrome'];

/** Downloads can hang behind a proxy; two minutes are enough for one that works. */
const PATIENCE_MS = 120_000;

const run = (program, ...words) => spawnSync(program, words, { stdio: 'inherit', timeout: PATIENCE_MS }).status === 0;

if (!existsSync(chromium.executablePath()) && !SYSTEM.some((it) => existsSync(it))) {
  const own = run('npx', 'playwright', 'install', '--with-deps', 'chromium');
  const debian = own || (run('apt-get', '--quiet=2', 'update') && run('apt-get', '--quiet=2', 'install', '--yes', '--no-install-recommends', 'chromium'));
  if (!debian) {
    console.error('No Chromium: `npx playwright install --with-deps chromium`, or install your system’s.');
    process.exit(1);
  }
}
