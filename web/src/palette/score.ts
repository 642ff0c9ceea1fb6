// How well a few typed letters fit a title.

/** Above zero if every letter of the query is found in order; more the closer and the earlier. */
export function score(query: string, title: string): number {
  const letters = query.toLowerCase().replaceAll(' ', '');
  const text = title.toLowerCase();
  if (letters === '') return 1;
  let at = -1;
  let total = 0;
  for (const letter of letters) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return 0;
    const begins = next === 0 || !/[\p{L}\p{N}]/u.test(text[next - 1] ?? '');
    total += next === at + 1 ? 4 : begins ? 3 : 1;
    at = next;
  }
  // A shorter title that fits as well is the better guess.
  return total + 1 / (1 + text.length);
}
