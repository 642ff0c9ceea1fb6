// What a browser loads before a terminal or a chat is opened. Needs a built page.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

/** What the page may weigh, in bytes as sent. */
const BUDGET = 300_000;

const built = existsSync(join(DIST, 'index.html'));

test.skipIf(!built)('the page weighs less than 300 kB before a terminal is opened', () => {
  const assets = readdirSync(join(DIST, 'assets'));
  // The terminal's chunk is recognized by what is in it, so that this fails if it is loaded early.
  const isLate = (name: string) => name.startsWith('screen-');
  const early = assets.filter((it) => !isLate(it));
  expect(assets.filter(isLate)).not.toEqual([]);
  for (const name of early) expect(readFileSync(join(DIST, 'assets', name), 'latin1')).not.toContain('xterm-helper-textarea');
  const weight = (path: string) => (path.endsWith('.woff2') ? readFileSync(path).length : gzipSync(readFileSync(path)).length);
  const total = weight(join(DIST, 'index.html')) + early.reduce((sum, name) => sum + weight(join(DIST, 'assets', name)), 0);
  console.log(`${total} bytes before a terminal`);
  expect(total).toBeLessThan(BUDGET);
});

test.skipIf(!built)('nothing is loaded from anywhere else, and no script or style is in the page', () => {
  const html = readFileSync(join(DIST, 'index.html'), 'utf8');
  expect(html).not.toMatch(/(src|href)="https?:/);
  expect(html).not.toMatch(/<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/);
  for (const name of readdirSync(join(DIST, 'assets')).filter((it) => it.endsWith('.css'))) {
    expect(readFileSync(join(DIST, 'assets', name), 'utf8')).not.toMatch(/url\((?!["']?(\.|data:image))/);
  }
});
