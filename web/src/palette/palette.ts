// The command palette: everything one can do, found by typing a few letters of it.
//
// It also serves as the menu of a single session. Not here: what the commands are (rooms, `app`).

import { append, h } from '../dom';
import { score } from './score';

export interface Command {
  title: string;
  /** A word on the right: where it belongs, or its keys. */
  hint?: string;
  run: () => void | Promise<void>;
}

/** More than a person reads. */
const MAX_SHOWN = 60;

let open: HTMLDialogElement | undefined;

/** Shows commands to choose from. */
export function showPalette(commands: Command[], label = 'What would you like to do?'): void {
  open?.close();
  const input = h('input', {
    type: 'text', role: 'combobox', class: 'palette-input', placeholder: label, 'aria-label': label,
    'aria-expanded': 'true', 'aria-controls': 'palette-list', 'aria-autocomplete': 'list',
    autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off',
  });
  const list = h('ul', { id: 'palette-list', role: 'listbox', class: 'palette-list', 'aria-label': label });
  const dialog = h('dialog', { class: 'palette', 'aria-label': label }, input, list);
  const before = document.activeElement;
  let shown: Command[] = [];
  let at = 0;

  const mark = () => {
    [...list.children].forEach((item, index) => {
      item.setAttribute('aria-selected', String(index === at));
      if (index === at) item.scrollIntoView({ block: 'nearest' });
    });
    if (shown.length > 0) input.setAttribute('aria-activedescendant', `palette-${at}`);
    else input.removeAttribute('aria-activedescendant');
  };
  const fill = () => {
    shown = ranked(commands, input.value);
    at = 0;
    list.replaceChildren();
    shown.forEach((command, index) => {
      const item = h('li', { role: 'option', id: `palette-${index}`, onclick: () => choose(index) }, h('span', {}, command.title));
      if (command.hint !== undefined) append(item, h('span', { class: 'palette-hint' }, command.hint));
      list.append(item);
    });
    if (shown.length === 0) list.append(h('li', { class: 'palette-none', role: 'option', 'aria-disabled': 'true' }, 'Nothing by that name.'));
    mark();
  };
  const choose = (index: number) => {
    const command = shown[index];
    if (command === undefined) return;
    dialog.close();
    void command.run();
  };
  input.addEventListener('input', fill);
  dialog.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && shown.length > 0) {
      at = (at + step + shown.length) % shown.length;
      mark();
      event.preventDefault();
    } else if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault();
      choose(at);
    }
    event.stopPropagation();
  });
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener('close', () => {
    if (open === dialog) open = undefined;
    dialog.remove();
    // What a command focused stays focused.
    if (document.activeElement === document.body && before instanceof HTMLElement) before.focus();
  });
  open = dialog;
  document.body.append(dialog);
  fill();
  dialog.showModal();
  input.focus();
}

function ranked(commands: Command[], query: string): Command[] {
  if (query.trim() === '') return commands.slice(0, MAX_SHOWN);
  return commands
    .map((command) => ({ command, score: score(query, `${command.title} ${command.hint ?? ''}`) }))
    .filter((it) => it.score > 0)
    .sort((one, two) => two.score - one.score)
    .slice(0, MAX_SHOWN)
    .map((it) => it.command);
}
