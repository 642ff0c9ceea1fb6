// Small questions: a text, a yes or no, a form. Native dialogs keep the focus and know Escape.

import { button, h } from './dom';

/** A form in a dialog. Gives the fields' values, or nothing if it was left. */
export function form(options: {
  title: string;
  text?: string;
  fields: { name: string; label: string; value?: string; placeholder?: string; choices?: string[] }[];
  yes: string;
  danger?: boolean;
}): Promise<Record<string, string> | undefined> {
  const { title, text, fields, yes, danger } = options;
  const controls = fields.map((field) => {
    const id = `field-${field.name}`;
    const control =
      field.choices === undefined
        ? h('input', { id, name: field.name, value: field.value ?? '', placeholder: field.placeholder, autocomplete: 'off', spellcheck: 'false' })
        : h('select', { id, name: field.name }, ...field.choices.map((it) => h('option', { value: it, selected: it === field.value }, it)));
    return h('div', { class: 'field' }, h('label', { for: id }, field.label), control);
  });
  const body = h(
    'form',
    { method: 'dialog' },
    h('h2', { id: 'dialog-title' }, title),
    text !== undefined && h('p', {}, text),
    ...controls,
    h(
      'div',
      { class: 'dialog-buttons' },
      button('Cancel', { class: 'quiet', onclick: () => dialog.close() }),
      h('button', { type: 'submit', value: 'yes', class: danger === true ? 'danger' : 'primary' }, yes),
    ),
  );
  const dialog = h('dialog', { class: 'dialog', 'aria-labelledby': 'dialog-title' }, body);
  dialog.addEventListener('keydown', (event) => event.stopPropagation());
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      if (dialog.returnValue !== 'yes') return resolve(undefined);
      const values = [...new FormData(body)].map(([name, value]) => [name, String(value)]);
      resolve(Object.fromEntries(values) as Record<string, string>);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** A yes or no. */
export async function sure(title: string, text: string, yes: string): Promise<boolean> {
  return (await form({ title, text, fields: [], yes, danger: true })) !== undefined;
}

/** One line of text. */
export async function askText(title: string, label: string, value: string, yes: string): Promise<string | undefined> {
  const answer = await form({ title, fields: [{ name: 'text', label, value }], yes });
  return answer?.['text'];
}

/** Something to copy, with the text selected. */
export function showText(title: string, text: string, value: string): void {
  const field = h('input', { readonly: true, value, 'aria-label': title, class: 'mono' });
  const dialog = h(
    'dialog',
    { class: 'dialog', 'aria-label': title },
    h('h2', {}, title),
    h('p', {}, text),
    field,
    h(
      'div',
      { class: 'dialog-buttons' },
      button('Close', { class: 'quiet', onclick: () => dialog.close() }),
      button('Copy', { class: 'primary', onclick: () => void navigator.clipboard?.writeText(value).then(() => dialog.close()) }),
    ),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  field.select();
}

/** How long a message is seen: long enough to read two lines. */
const TOAST_MS = 6_000;

/** A message that goes by itself. */
export function toast(message: string, kind: 'info' | 'error' = 'info'): void {
  let area = document.querySelector('.toasts');
  if (area === null) {
    area = h('div', { class: 'toasts', role: 'status', 'aria-live': 'polite' });
    document.body.append(area);
  }
  const element = h('div', { class: `toast ${kind}` }, message);
  area.append(element);
  setTimeout(() => element.remove(), TOAST_MS);
}
