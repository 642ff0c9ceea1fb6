// Shows what xterm.js makes of given bytes: one JSON line per case in, one JSON line per case out.
//
//   node run.mjs [FOLDER]    FOLDER holds node_modules (default: the folder of this file)
//
// In:  {name, steps: [{cols, rows, hex}, …], graphemes: bool}. The first step opens the terminal at
//      that size, each later one resizes it; then the step's bytes are written.
// Out: {name, rows: [text], cursor: [row, col], visible: bool, wrapped: [bool], history: [text],
//       styles: [[[col, len, fg, bg, attrs], …] per row], title, replies: hex}
//
// `cursor` has col = cols while a wrap is pending. `styles` lists only what differs from the default;
// a colour is "default", "0" to "255" or "#rrggbb", `attrs` is a list of names in a fixed order.
// Not here: any opinion. Comparing, trimming and known differences live in the Rust tests.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { resolve } from "node:path";

const require = createRequire(resolve(process.argv[2] ?? import.meta.dirname, "package.json"));
const { Terminal } = require("@xterm/headless");
const { UnicodeGraphemesAddon } = require("@xterm/addon-unicode-graphemes");

// More than any case scrolls away, few enough that hundreds of terminals stay cheap.
const SCROLLBACK = 1000;

const ATTRS = [
  ["bold", "isBold"],
  ["dim", "isDim"],
  ["italic", "isItalic"],
  ["blink", "isBlink"],
  ["inverse", "isInverse"],
  ["hidden", "isInvisible"],
  ["strike", "isStrikethrough"],
  ["overline", "isOverline"],
];

// What SGR 4:n asks for, by n. Only the index is the standard's; the names are ours.
const UNDERLINES = [[], ["underline"], ["double"], ["curly"], ["dotted"], ["dashed"]];

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() !== "") {
    process.stdout.write(JSON.stringify(await show(JSON.parse(line))) + "\n");
  }
}

async function show({ name, steps, graphemes }) {
  const [{ cols, rows }] = steps;
  const options = { cols, rows, scrollback: SCROLLBACK, allowProposedApi: true };
  // Off, as it would print every byte it cannot parse, which many cases are about.
  const terminal = new Terminal({ ...options, logLevel: "off" });
  if (graphemes) {
    terminal.loadAddon(new UnicodeGraphemesAddon());
  }
  let title = "";
  let replies = "";
  terminal.onTitleChange((text) => (title = text));
  terminal.onData((text) => (replies += Buffer.from(text, "utf8").toString("hex")));
  terminal.onBinary((text) => (replies += Buffer.from(text, "latin1").toString("hex")));
  for (const step of steps) {
    if (step.cols !== terminal.cols || step.rows !== terminal.rows) {
      terminal.resize(step.cols, step.rows);
    }
    await new Promise((done) => terminal.write(Buffer.from(step.hex, "hex"), done));
  }
  const shown = { name, ...screen(terminal), title, replies };
  terminal.dispose();
  return shown;
}

function screen(terminal) {
  const { active, normal } = terminal.buffer;
  const lines = Array.from({ length: terminal.rows }, (_, row) => active.getLine(active.baseY + row));
  return {
    rows: lines.map((line) => line.translateToString(true)),
    cursor: [active.cursorY, active.cursorX],
    // The public interface does not tell; this is the field its own renderers read.
    visible: !terminal._core.coreService.isCursorHidden,
    wrapped: lines.map((line) => line.isWrapped),
    styles: lines.map((line) => runs(line, terminal.cols)),
    history: Array.from({ length: normal.baseY }, (_, row) => normal.getLine(row).translateToString(true)),
  };
}

function runs(line, cols) {
  const found = [];
  let last = null;
  for (let col = 0; col < cols; col++) {
    const cell = line.getCell(col);
    const width = cell.getWidth();
    if (width === 0) {
      continue; // the right half of a wide character belongs to its left half
    }
    const style = [colour(cell, "Fg"), colour(cell, "Bg"), attrs(cell)];
    const key = JSON.stringify(style);
    if (last !== null && last.key === key && last.run[0] + last.run[1] === col) {
      last.run[1] += width;
    } else {
      last = { key, run: [col, width, ...style] };
      found.push(last.run);
    }
  }
  return found.filter(([, , fg, bg, attrs]) => fg !== "default" || bg !== "default" || attrs.length > 0);
}

function colour(cell, ground) {
  if (cell[`is${ground}Default`]()) {
    return "default";
  }
  const value = cell[`get${ground}Color`]();
  return cell[`is${ground}RGB`]() ? "#" + value.toString(16).padStart(6, "0") : String(value);
}

function attrs(cell) {
  const underline = cell.isUnderline() ? UNDERLINES[cell.getUnderlineStyle()] : [];
  return [...ATTRS.filter(([, asks]) => cell[asks]()).map(([name]) => name), ...underline];
}
