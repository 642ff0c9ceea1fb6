// Styled text, as `session.read` gives it, to lines of runs: for thumbnails and the readable view.
//
// Only colours and attributes are understood (SGR); every other sequence is left out. This is no
// terminal: the daemon has already made a screen of the output.

/** A colour: a number of the table of 256, a value, or the terminal's own. */
export type Colour = number | string | undefined;

export interface Style {
  fg: Colour;
  bg: Colour;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
  hidden: boolean;
  strike: boolean;
}

export interface Run {
  text: string;
  style: Style;
}

const PLAIN: Style = {
  fg: undefined, bg: undefined, bold: false, dim: false, italic: false,
  underline: false, inverse: false, hidden: false, strike: false,
};

/** SGR, another CSI, an OSC or other string, any two-byte sequence, or a stray control character. */
// eslint-disable-next-line no-control-regex
const SEQUENCE = /\x1b\[([0-9;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** The lines of a styled text. */
export function parseStyled(text: string): Run[][] {
  let style = PLAIN;
  return text.split('\n').map((line) => {
    const runs: Run[] = [];
    let at = 0;
    const push = (end: number) => {
      if (end > at) runs.push({ text: line.slice(at, end), style });
    };
    for (const match of line.matchAll(SEQUENCE)) {
      push(match.index);
      at = match.index + match[0].length;
      if (match[1] !== undefined) style = apply(style, match[1]);
    }
    push(line.length);
    return runs;
  });
}

function apply(before: Style, parameters: string): Style {
  const style = { ...before };
  const groups = parameters.split(';').map((it) => it.split(':').map((number) => Number(number || 0)));
  for (let at = 0; at < groups.length; at++) {
    const group = groups[at] ?? [0];
    const code = group[0] ?? 0;
    if (code === 38 || code === 48) {
      const inline = group.length > 1;
      const rest = inline ? group.slice(1) : groups.slice(at + 1).map((it) => it[0] ?? 0);
      const [colour, used] = extended(rest, inline);
      if (code === 38) style.fg = colour;
      else style.bg = colour;
      if (!inline) at += used;
    } else {
      simple(style, code, group[1]);
    }
  }
  return style;
}

/** `5;n` or `2;r;g;b`, and how many numbers that took. With colons a colour space may come first. */
function extended(rest: number[], inline: boolean): [Colour, number] {
  if (rest[0] === 5) return [Math.min(255, rest[1] ?? 0), 2];
  if (rest[0] !== 2) return [undefined, 1];
  const from = inline && rest.length >= 5 ? 2 : 1;
  const [red = 0, green = 0, blue = 0] = rest.slice(from, from + 3).map((it) => Math.min(255, it));
  return [`rgb(${red} ${green} ${blue})`, 4];
}

function simple(style: Style, code: number, sub: number | undefined): void {
  if (code === 0) Object.assign(style, PLAIN);
  else if (code === 1) style.bold = true;
  else if (code === 2) style.dim = true;
  else if (code === 3) style.italic = true;
  else if (code === 4) style.underline = sub !== 0;
  else if (code === 7) style.inverse = true;
  else if (code === 8) style.hidden = true;
  else if (code === 9) style.strike = true;
  else if (code === 21) style.underline = true;
  else if (code === 22) style.bold = style.dim = false;
  else if (code === 23) style.italic = false;
  else if (code === 24) style.underline = false;
  else if (code === 27) style.inverse = false;
  else if (code === 28) style.hidden = false;
  else if (code === 29) style.strike = false;
  else if (code >= 30 && code <= 37) style.fg = code - 30;
  else if (code === 39) style.fg = undefined;
  else if (code >= 40 && code <= 47) style.bg = code - 40;
  else if (code === 49) style.bg = undefined;
  else if (code >= 90 && code <= 97) style.fg = code - 82;
  else if (code >= 100 && code <= 107) style.bg = code - 92;
}
