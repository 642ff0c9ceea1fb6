// How the page is built: one small entry, and a chunk for each view that is opened.
//
// Everything is served by the program itself, so every address is relative and nothing is inlined:
// the page's policy allows no `data:` scripts or styles.

import { defineConfig } from 'vite';

/** Where `npm run dev` finds a running web door. */
const DOOR = process.env['GREENROOM_WEB'] ?? 'http://127.0.0.1:8384';

/** What the page allows itself, besides what the door allows it: no style that is written as text. */
const POLICY = "script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; object-src 'none'";

export default defineConfig({
  base: './',
  plugins: [
    {
      name: 'policy',
      // While developing, styles are written as text.
      apply: 'build',
      transformIndexHtml: () => [{ tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content: POLICY }, injectTo: 'head-prepend' }],
    },
  ],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The budget is tested in tests/unit/budget.test.ts; the terminal's chunk is allowed to be big.
    chunkSizeWarningLimit: 800,
  },
  server: {
    proxy: {
      '/ws': { target: DOOR, ws: true },
      '/api': DOOR,
      '/login': DOOR,
      '/logout': DOOR,
    },
  },
  test: { include: ['tests/unit/**/*.test.ts'] },
} as Parameters<typeof defineConfig>[0]);
