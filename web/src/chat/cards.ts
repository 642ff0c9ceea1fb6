// How entries of a conversation look: text, tools, diffs, permissions, questions.

import { button, h } from '../dom';
import { text } from '../native/wire';
import { diffLines } from './diff';
import { markdown } from './markdown';
import type { Entry, Question } from './story';

/** What the buttons on cards do. */
export interface Answers {
  permit(entry: Entry & { kind: 'permission' }, how: 'allow' | 'always' | 'deny'): void;
  answer(entry: Entry & { kind: 'question' }, answers: Record<string, string>): void;
}

/** The longest result shown before it is cut; the agent has all of it. */
const MAX_RESULT = 20_000;

export function card(entry: Entry, answers: Answers): HTMLElement {
  switch (entry.kind) {
    case 'user':
      return h('article', { class: 'said user', 'aria-label': 'You' }, h('p', {}, entry.text));
    case 'assistant': {
      const element = h('article', { class: 'said agent', 'aria-label': 'Agent' });
      element.append(markdown(entry.text));
      return element;
    }
    case 'tool':
      return tool(entry);
    case 'permission':
      return permission(entry, answers);
    case 'question':
      return question(entry, answers);
    case 'note':
      return h('p', { class: `chat-note${entry.bad ? ' bad' : ''}` }, entry.text);
  }
}

function tool(entry: Entry & { kind: 'tool' }): HTMLElement {
  const state = entry.result === undefined ? 'at work' : entry.failed ? 'failed' : 'done';
  const body = [what(entry.name, entry.input)];
  if (entry.result !== undefined && entry.result !== '') {
    const cut = entry.result.length > MAX_RESULT ? `${entry.result.slice(0, MAX_RESULT)}\n…` : entry.result;
    body.push(h('pre', { class: 'tool-result', tabindex: '0', 'aria-label': 'Result' }, cut));
  }
  const summary = h('summary', {}, h('span', { class: 'tool-name' }, entry.name), h('span', { class: 'tool-brief' }, brief(entry.input)), h('span', { class: `tool-state ${state.replace(' ', '-')}` }, state));
  const details = h('details', { class: 'tool' }, summary, ...body);
  // A change is worth seeing without being asked for.
  details.open = entry.name === 'Edit' || entry.name === 'Write' || entry.name === 'MultiEdit';
  return details;
}

/** What a tool is asked to do, in one line. */
function brief(input: Record<string, unknown>): string {
  const line = text(input['description']) || text(input['command']) || text(input['file_path']) || text(input['path']) || text(input['pattern']) || text(input['url']) || text(input['query']);
  return line.split('\n')[0] ?? '';
}

/** What a tool is asked to do, in full: a command, a diff, or its parameters. */
function what(name: string, input: Record<string, unknown>): HTMLElement {
  if (name === 'Bash') return h('pre', { class: 'tool-command', tabindex: '0' }, text(input['command']));
  const path = text(input['file_path']);
  if (name === 'Write') return diff(path, [['', text(input['content'])]]);
  if (name === 'Edit') return diff(path, [[text(input['old_string']), text(input['new_string'])]]);
  if (name === 'MultiEdit' && Array.isArray(input['edits'])) {
    const edits = (input['edits'] as Record<string, unknown>[]).map((it): [string, string] => [text(it?.['old_string']), text(it?.['new_string'])]);
    return diff(path, edits);
  }
  return h('pre', { class: 'tool-command', tabindex: '0' }, JSON.stringify(input, null, 2));
}

function diff(path: string, edits: [string, string][]): HTMLElement {
  const lines = edits.flatMap(([before, after]) => diffLines(before, after));
  const rows = lines.map(({ sign, text }) => {
    const kind = sign === '+' ? 'ins' : sign === '-' ? 'del' : 'span';
    return h(kind, { class: 'diff-line', 'data-sign': sign }, `${text}\n`);
  });
  return h('figure', { class: 'diff' }, h('figcaption', {}, path), h('pre', { tabindex: '0', 'aria-label': `Changes of ${path}` }, ...rows));
}

function permission(entry: Entry & { kind: 'permission' }, answers: Answers): HTMLElement {
  const element = h('section', { class: 'ask', 'data-state': entry.state, 'aria-label': `The agent asks to use ${entry.tool}` }, h('h3', {}, `May it use ${entry.tool}?`), what(entry.tool, entry.input));
  if (entry.state !== 'open') {
    const words = { allowed: 'Allowed.', denied: 'Denied.', gone: 'No longer asked.' }[entry.state];
    element.append(h('p', { class: 'ask-done' }, words));
    return element;
  }
  const always = entry.suggestions.length > 0 && button('Always allow', { 'data-act': 'always', onclick: () => answers.permit(entry, 'always') });
  element.append(
    h(
      'div',
      { class: 'ask-buttons' },
      button('Allow', { class: 'primary', 'data-act': 'allow', onclick: () => answers.permit(entry, 'allow') }),
      always || h('span', { hidden: true }),
      button('Deny', { class: 'danger', 'data-act': 'deny', onclick: () => answers.permit(entry, 'deny') }),
    ),
  );
  if (always !== false) element.append(h('p', { class: 'ask-always' }, `Always: ${entry.suggestions.map(suggestion).join('; ')}`));
  return element;
}

/** What “always” would mean, in words. */
function suggestion(value: unknown): string {
  const it = (value ?? {}) as Record<string, unknown>;
  const where = { session: 'in this conversation', projectSettings: 'in this project', localSettings: 'in this project, for you', userSettings: 'everywhere, for you' }[text(it['destination'])] ?? '';
  if (it['type'] === 'setMode') return `no more questions about edits ${where}`.trim();
  if (Array.isArray(it['rules'])) {
    const rules = (it['rules'] as Record<string, unknown>[]).map((rule) => `${text(rule?.['toolName'])}${rule?.['ruleContent'] === undefined ? '' : `(${text(rule['ruleContent'])})`}`);
    return `${rules.join(', ')} ${where}`.trim();
  }
  return `${text(it['type'])} ${where}`.trim();
}

function question(entry: Entry & { kind: 'question' }, answers: Answers): HTMLElement {
  const open = entry.state === 'open';
  const parts = entry.questions.map((it, index) => ({ it, field: choices(it, `${entry.key}-${index}`, open) }));
  const submit = (event: Event) => {
    event.preventDefault();
    const given = parts.map(({ it, field }) => {
      const chosen = [...field.querySelectorAll<HTMLInputElement>('input:checked')].map((box) => box.value);
      const own = field.querySelector<HTMLInputElement>('input[type=text]')?.value.trim() ?? '';
      return [it.question, [...chosen, ...(own === '' ? [] : [own])].join(', ')];
    });
    answers.answer(entry, Object.fromEntries(given) as Record<string, string>);
  };
  const words = entry.state === 'answered' ? 'Answered.' : 'No longer asked.';
  return h(
    'form',
    { class: 'ask', 'data-state': entry.state, 'aria-label': 'The agent asks you', onsubmit: submit },
    ...parts.map(({ field }) => field),
    open ? h('div', { class: 'ask-buttons' }, h('button', { type: 'submit', class: 'primary', 'data-act': 'answer' }, 'Answer')) : h('p', { class: 'ask-done' }, words),
  );
}

function choices(it: Question, name: string, open: boolean): HTMLElement {
  const type = it.multiSelect ? 'checkbox' : 'radio';
  const options = it.options.map((option, index) => {
    const id = `${name}-${index}`;
    return h('div', { class: 'choice' }, h('input', { type, name, id, value: option.label, disabled: !open }), h('label', { for: id }, h('strong', {}, option.label), option.description === '' ? '' : ` ${option.description}`));
  });
  const own = h('input', { type: 'text', 'aria-label': `Another answer to ${it.question}`, placeholder: 'Something else', disabled: !open });
  return h('fieldset', {}, h('legend', {}, it.header === '' ? '' : h('span', { class: 'choice-header' }, it.header), it.question), ...options, own);
}
