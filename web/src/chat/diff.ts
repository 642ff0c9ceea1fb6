// What an edit changes, line by line.

export interface DiffLine {
  sign: '+' | '-' | ' ';
  text: string;
}

/** Longer texts are shown as taken out and put in: comparing costs their product. */
const MAX_LINES = 600;

/** The lines of both texts in one order: kept, taken out, put in. */
export function diffLines(before: string, after: string): DiffLine[] {
  const old = before === '' ? [] : before.split('\n');
  const now = after === '' ? [] : after.split('\n');
  if (old.length > MAX_LINES || now.length > MAX_LINES) {
    return [...old.map((text) => line('-', text)), ...now.map((text) => line('+', text))];
  }
  const common = longest(old, now);
  const lines: DiffLine[] = [];
  let one = 0;
  let two = 0;
  while (one < old.length || two < now.length) {
    if (one < old.length && two < now.length && old[one] === now[two]) {
      lines.push(line(' ', old[one] ?? ''));
      one += 1;
      two += 1;
    } else if (two >= now.length || (one < old.length && at(common, one + 1, two) >= at(common, one, two + 1))) {
      lines.push(line('-', old[one] ?? ''));
      one += 1;
    } else {
      lines.push(line('+', now[two] ?? ''));
      two += 1;
    }
  }
  return lines;
}

function line(sign: DiffLine['sign'], text: string): DiffLine {
  return { sign, text };
}

/** How many lines the ends of both texts have in common, from every pair of places. */
function longest(old: string[], now: string[]): Uint16Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let one = old.length - 1; one >= 0; one--) {
    const row = table[one];
    if (row === undefined) continue;
    for (let two = now.length - 1; two >= 0; two--) {
      row[two] = old[one] === now[two] ? at(table, one + 1, two + 1) + 1 : Math.max(at(table, one + 1, two), at(table, one, two + 1));
    }
  }
  return table;
}

function at(table: Uint16Array[], one: number, two: number): number {
  return table[one]?.[two] ?? 0;
}
