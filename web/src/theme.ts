// Light, dark, or as the system has it; and the colours terminals are drawn with in both.
//
// Everything else takes its colours from the variables in style/tokens.css.

import { remember, remembered } from './settings';

export type Choice = 'system' | 'light' | 'dark';

const CHOICES: readonly Choice[] = ['system', 'light', 'dark'];
const isChoice = (value: unknown): value is Choice => CHOICES.includes(value as Choice);
const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

let choice: Choice = remembered<Choice>('theme', 'system', isChoice);

export function themeChoice(): Choice {
  return choice;
}

export function isDark(): boolean {
  return choice === 'dark' || (choice === 'system' && system.matches);
}

export function chooseTheme(next: Choice): void {
  choice = next;
  remember('theme', next === 'system' ? undefined : next);
  applyTheme();
}

/** The other one of what is seen now. */
export function toggleTheme(): void {
  chooseTheme(isDark() ? 'light' : 'dark');
}

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = isDark() ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

system.addEventListener('change', applyTheme);

export interface Palette {
  background: string;
  foreground: string;
  cursor: string;
  selection: string;
  /** The 16 colours programs name by number. */
  ansi: readonly string[];
}

const DARK: Palette = {
  background: '#101714',
  foreground: '#d5ddd6',
  cursor: '#7fdca4',
  selection: '#2f4b3e',
  ansi: [
    '#2a332e', '#e5746b', '#77c58d', '#dcb566', '#7fa9d8', '#c493cf', '#6dc0bd', '#c9d1ca',
    '#6f7d75', '#f39389', '#98dcaa', '#efcd86', '#a2c4ea', '#dab2e2', '#90d6d2', '#f1f5f1',
  ],
};

const LIGHT: Palette = {
  background: '#fbfaf5',
  foreground: '#27302b',
  cursor: '#1f7a4d',
  selection: '#cfe5d6',
  ansi: [
    '#27302b', '#b3372f', '#23733f', '#85600a', '#2b5f9e', '#8a4296', '#136e6c', '#6a746d',
    '#57625b', '#c44a40', '#2d8049', '#916a10', '#3a6fb0', '#9a52a6', '#1d7c79', '#3d4741',
  ],
};

export function palette(): Palette {
  return isDark() ? DARK : LIGHT;
}

/** The colour of a number in the table of 256: 16 named ones, a cube of 6, 24 greys. */
export function indexed(index: number, of: Palette): string {
  if (index < 16) return of.ansi[index] ?? of.foreground;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const step = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  const cube = index - 16;
  return `rgb(${step(Math.floor(cube / 36))} ${step(Math.floor(cube / 6) % 6)} ${step(cube % 6)})`;
}
