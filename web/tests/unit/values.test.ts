import { expect, test } from 'vitest';
import { diffLines } from '../../src/chat/diff';
import { hashOf, placeOf } from '../../src/router';
import { score } from '../../src/palette/score';
import * as layouts from '../../src/terminal/layout';

const diff = (before: string, after: string) => diffLines(before, after).map((it) => it.sign + it.text);

test('a diff keeps what is the same and shows what is not', () => {
  expect(diff('a\nb\nc', 'a\nx\nc')).toEqual([' a', '-b', '+x', ' c']);
  expect(diff('', 'new\nfile')).toEqual(['+new', '+file']);
  expect(diff('old', '')).toEqual(['-old']);
  expect(diff('one\ntwo\nthree', 'zero\none\nthree\nfour')).toEqual(['+zero', ' one', '-two', ' three', '+four']);
});

test('texts too long to compare are shown whole, at once', () => {
  const long = Array.from({ length: 5000 }, (_, at) => String(at)).join('\n');
  expect(diff(long, long)).toHaveLength(10_000);
});

test('an address goes there and back, whatever is in it', () => {
  const odd = ['a/b', 'ü %', '..', '#'];
  expect(placeOf(hashOf('terminal', ...odd))).toEqual({ room: 'terminal', args: odd });
  expect(placeOf('#/%E0%A4%A/x')).toEqual({ room: '%E0%A4%A', args: ['x'] });
  expect(placeOf('')).toEqual({ room: '', args: [] });
});

test('letters in order fit, and closer ones fit better', () => {
  expect(score('xyz', 'Open shell')).toBe(0);
  expect(score('osh', 'Open shell')).toBeGreaterThan(score('osh', 'No such hall'));
  expect(score('new session', 'New session')).toBeGreaterThan(score('new session', 'Rename wild session'));
});

/** A layout in one line: tabs by `|`, panes by names, focus by `*`. */
function line(layout: layouts.Layout): string {
  const part = (it: layouts.Part, focus: string): string =>
    it.kind === 'pane' ? it.session + (it.session === focus ? '*' : '') : `(${part(it.first, focus)}${it.way === 'row' ? '-' : '/'}${part(it.second, focus)})`;
  return layout.tabs.map((tab, at) => (at === layout.at ? '>' : '') + part(tab.root, tab.focus)).join('|');
}

test('sessions are opened, split and closed', () => {
  let it = layouts.open(layouts.open(layouts.EMPTY, 'a'), 'b');
  expect(line(it)).toBe('a*|>b*');
  it = layouts.split(it, 'row', 'c');
  it = layouts.split(it, 'column', 'd');
  expect(line(it)).toBe('a*|>(b-(c/d*))');
  it = layouts.turnFocus(it, 1);
  expect(line(it)).toBe('a*|>(b*-(c/d))');
  it = layouts.close(it, 'b');
  expect(line(it)).toBe('a*|>(c*/d)');
  expect(line(layouts.open(it, 'a'))).toBe('>a*|(c*/d)');
  it = layouts.close(layouts.close(it, 'c'), 'd');
  expect(line(it)).toBe('>a*');
  expect(line(layouts.close(it, 'a'))).toBe('');
});

test('a session that is put beside another leaves where it was', () => {
  const it = layouts.open(layouts.open(layouts.EMPTY, 'a'), 'b');
  expect(line(layouts.split(it, 'row', 'a'))).toBe('>(b-a*)');
});

test('dividers stay where both sides can be seen', () => {
  const it = layouts.setShare(layouts.split(layouts.open(layouts.EMPTY, 'a'), 'row', 'b'), [], 5);
  expect(it.tabs[0]?.root).toMatchObject({ share: 0.9 });
});

test('only a layout is taken for one', () => {
  const it = layouts.split(layouts.open(layouts.EMPTY, 'a'), 'row', 'b');
  expect(layouts.isLayout(JSON.parse(JSON.stringify(it)))).toBe(true);
  for (const odd of [null, 3, {}, { tabs: [{}], at: 0 }, { tabs: [{ focus: 'x', root: { kind: 'pane', session: 'a' } }], at: 0 }, { tabs: 'no', at: 0 }]) {
    expect(layouts.isLayout(odd)).toBe(false);
  }
});
