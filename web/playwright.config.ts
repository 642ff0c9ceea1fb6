// How the page is tested in a real Chromium. Each test starts its own daemon: see tests/browser/house.ts.

import { existsSync } from 'node:fs';
import { chromium, defineConfig } from '@playwright/test';

const SYSTEM = ['/usr/bin/chromium', '/usr/bin/google-chrome'];
const own = existsSync(chromium.executablePath());
const system = SYSTEM.find((it) => existsSync(it));

export default defineConfig({
  testDir: 'tests/browser',
  testMatch: '*.spec.ts',
  // Two cores, and each test has a daemon, holders and a browser.
  workers: 1,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [['list']],
  outputDir: 'test-results',
  use: {
    browserName: 'chromium',
    viewport: { width: 1280, height: 800 },
    launchOptions: own || system === undefined ? {} : { executablePath: system },
    permissions: [],
  },
});
