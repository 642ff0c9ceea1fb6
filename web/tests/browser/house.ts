// A house of its own for each test: a daemon in a folder of its own, its web door on a free port, and
// a page that is logged in. Nothing of it is left when the test is over.
//
// The program is the one that GREENROOM names, or that of the target folder; it carries the page.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test as base, type Page } from '@playwright/test';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const CLAUDE = fileURLToPath(new URL('../mock/claude.mjs', import.meta.url));

/** Runs the real Claude Code without a network. */
export const OFFLINE = join(ROOT, '../shared/standin/claude-offline');

/** How long any command of the program may take. */
const COMMAND_MS = 20_000;

function program(): string {
  const named = process.env['GREENROOM'];
  if (named !== undefined) return named;
  const target = process.env['CARGO_TARGET_DIR'] ?? join(ROOT, 'target');
  const found = ['debug', 'release'].map((it) => join(target, it, 'greenroom')).find((it) => existsSync(it));
  if (found === undefined) throw new Error('no program: `cargo build -p greenroom` first');
  return found;
}

export class House {
  // testkit looks for this beginning when it looks for what was left behind.
  readonly home = mkdtempSync(join(tmpdir(), 'grt-web-'));
  /** The address that logs in. */
  open = '';
  url = '';
  port = 0;

  constructor(private readonly claude: 'fake' | 'real' = 'fake') {}

  private readonly env = { ...process.env, GREENROOM_HOME: this.home, SHELL: '/bin/sh', PS1: '$ ', ENV: '' };

  async start(): Promise<void> {
    writeFileSync(join(this.home, 'config.toml'), this.config(), { mode: 0o600 });
    await this.greenroom('daemon', 'start');
    const told = JSON.parse(await this.greenroom('web', '--json')) as { url: string; port: number; open: string };
    this.url = told.url;
    this.port = told.port;
    this.open = told.open;
  }

  private config(): string {
    const port = this.port === 0 ? 0 : this.port;
    return `[doors.web]\nenabled = true\nport = ${port}\n\n[websocket]\nclaude_command = "${this.agent()}"\n`;
  }

  /** What is started for a conversation. The real one keeps what it remembers in our folder. */
  private agent(): string {
    if (this.claude === 'fake') return `${process.execPath} ${CLAUDE}`;
    const folder = join(this.home, 'claude');
    const script = join(this.home, 'claude-here');
    mkdirSync(folder, { recursive: true });
    const installed = join(homedir(), '.cache/claude-offline/node_modules');
    if (existsSync(installed) && !existsSync(join(folder, 'node_modules'))) symlinkSync(installed, join(folder, 'node_modules'));
    writeFileSync(script, `#!/bin/sh\nCLAUDE_OFFLINE_DIR=${folder} exec ${OFFLINE} "$@"\n`, { mode: 0o700 });
    return script;
  }

  /** Runs the program, and gives what it prints. */
  async greenroom(...words: string[]): Promise<string> {
    const { stdout } = await run(program(), words, { env: this.env, timeout: COMMAND_MS, cwd: this.home });
    return stdout;
  }

  /** Makes a session of a shell or a program; gives its UUID. */
  async session(name: string, ...command: string[]): Promise<string> {
    const words = ['new', '--json', '--detached', '--name', name, '--size', '80x24'];
    const made = await this.greenroom(...words, '--', ...(command.length > 0 ? command : ['/bin/sh']));
    return (JSON.parse(made) as { uuid: string }).uuid;
  }

  /** What a session shows. */
  read(name: string): Promise<string> {
    return this.greenroom('read', name);
  }

  async info(name: string): Promise<{ cols: number; rows: number; attachedClients: number }> {
    return JSON.parse(await this.greenroom('info', '--json', name)) as { cols: number; rows: number; attachedClients: number };
  }

  async pid(): Promise<number> {
    const status = JSON.parse(await this.greenroom('daemon', 'status', '--json')) as { pid: number };
    return status.pid;
  }

  /** Kills the daemon, the hard way, and waits until it is gone. */
  async killDaemon(): Promise<void> {
    const pid = await this.pid();
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => existsSync(`/proc/${pid}/stat`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z'), { message: 'the daemon is gone' }).toBe(false);
  }

  /** Starts it again, on the port it had. */
  async startAgain(): Promise<void> {
    writeFileSync(join(this.home, 'config.toml'), this.config(), { mode: 0o600 });
    await this.greenroom('daemon', 'start');
  }

  /**
   * Ends every session, the daemon, and the holders that are left: one keeps its ended session for ten
   * seconds if somebody who was attached is gone, and for ever without a daemon.
   */
  async stop(): Promise<void> {
    const all = JSON.parse(await this.greenroom('ls', '--all', '--json').catch(() => '[]')) as { uuid: string; holderPid?: number; state: string }[];
    for (const { uuid } of all.filter((it) => it.state === 'running')) await this.greenroom('kill', uuid).catch(() => undefined);
    await this.greenroom('daemon', 'stop').catch(() => undefined);
    for (const { holderPid } of all) if (holderPid !== undefined && isHolder(holderPid)) process.kill(holderPid, 'SIGKILL');
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Whether that process is a holder: a number alone may be somebody else's by now. */
function isHolder(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('greenroom-holder');
  } catch {
    return false;
  }
}

/** Types with the keyboard into the terminal that has the focus. */
export async function type(page: Page, words: string): Promise<void> {
  await page.keyboard.type(words);
  await page.keyboard.press('Enter');
}

/** What terminals on the page show, as a screen reader gets it. */
export async function shown(page: Page): Promise<string> {
  const rows = await page.locator('.xterm-accessibility-tree > *').allTextContents();
  return rows.join('\n');
}

/** Waits until a session's terminal is there and drawn. */
export async function terminal(page: Page): Promise<void> {
  await page.locator('.xterm-helper-textarea').first().waitFor({ state: 'attached' });
}

/** Whether the door serves conversations itself. */
export async function doorHasChat(page: Page, url: string): Promise<boolean> {
  const answer = await page.request.get(`${url}/ws/claude-stream`);
  return answer.status() !== 404;
}

interface Fixtures {
  /** Who plays the agent in conversations. */
  claude: 'fake' | 'real';
  house: House;
  /** A page of that house that is logged in. Fails if the page's policy was broken or a script failed. */
  inside: Page;
}

/** Watches a page for what must not happen. */
export function watch(page: Page): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) faults.push(message.text());
  });
  return faults;
}

export const test = base.extend<Fixtures>({
  claude: ['fake', { option: true }],
  house: async ({ claude }, use) => {
    const house = new House(claude);
    try {
      await house.start();
      await use(house);
    } finally {
      await house.stop();
    }
  },
  context: async ({ context }, use) => {
    // What is drawn by the graphics card can be read only so.
    await context.addInitScript(() => {
      if (localStorage.getItem('greenroom.reader') === null) localStorage.setItem('greenroom.reader', 'true');
    });
    await use(context);
  },
  inside: async ({ page, house }, use) => {
    const faults = watch(page);
    await page.goto(house.open);
    await page.locator('.shell[data-line=online]').waitFor();
    await use(page);
    expect(faults).toEqual([]);
  },
});

export { expect };
