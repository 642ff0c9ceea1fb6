import { expect, test } from 'vitest';
import { parseStyled } from '../../src/ansi';

/** The runs of one line, as `text{what is not plain}`. */
function line(text: string): string {
  return (parseStyled(text)[0] ?? [])
    .map(({ text, style }) => {
      const set = Object.entries(style).filter(([, value]) => value !== undefined && value !== false);
      return `${text}{${set.map(([name, value]) => (value === true ? name : `${name}=${value}`)).join(' ')}}`;
    })
    .join('');
}

test('colours and attributes begin and end where they say', () => {
  expect(line('a\x1b[1;31mb\x1b[0mc')).toBe('a{}b{fg=1 bold}c{}');
  expect(line('\x1b[38;5;208;4mx\x1b[24my')).toBe('x{fg=208 underline}y{fg=208}');
  expect(line('\x1b[48;2;1;2;3mx')).toBe('x{bg=rgb(1 2 3)}');
  expect(line('\x1b[38:2::9:8:7mx\x1b[4:0my')).toBe('x{fg=rgb(9 8 7)}y{fg=rgb(9 8 7)}');
  expect(line('\x1b[95;107mx')).toBe('x{fg=13 bg=15}');
});

test('a style goes on into the next line', () => {
  expect(parseStyled('\x1b[7ma\nb')[1]?.[0]?.style.inverse).toBe(true);
});

test('sequences that are not colours leave nothing behind', () => {
  expect(line('a\x1b[2Kb\x1b]8;;javascript:alert(1)\x07c\x1b]8;;\x1b\\d\x07\x9be')).toBe('a{}b{}c{}d{}e{}');
  expect(line('\x1b[38;5mx\x1b[38mx')).toBe('x{fg=0}x{}');
});
