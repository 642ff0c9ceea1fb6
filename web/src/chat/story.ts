// A conversation as a list of entries, made of the messages that come. No elements here.
//
// Messages are strangers' data: whatever is missing or of another form is left out, not trusted.

import { isObject, text } from '../native/wire';

export interface Question {
  question: string;
  header: string;
  multiSelect: boolean;
  options: { label: string; description: string }[];
}

export type Entry =
  | { kind: 'user'; key: string; text: string }
  | { kind: 'assistant'; key: string; text: string; streaming: boolean }
  | { kind: 'tool'; key: string; name: string; input: Record<string, unknown>; result: string | undefined; failed: boolean }
  | { kind: 'permission'; key: string; tool: string; input: Record<string, unknown>; suggestions: unknown[]; state: 'open' | 'allowed' | 'denied' | 'gone' }
  | { kind: 'question'; key: string; input: Record<string, unknown> | undefined; questions: Question[]; state: 'open' | 'answered' | 'gone' }
  | { kind: 'note'; key: string; text: string; bad: boolean };

/** Entries kept; older ones scroll out of memory. */
const MAX_ENTRIES = 2_000;

export class Story {
  entries: Entry[] = [];
  /** Whether the agent is at work. */
  busy = false;
  mode = 'ask';
  model = '';
  commands: string[] = [];
  private notes = 0;
  /** The text that is being streamed, by block of the message. */
  private streaming: { message: string; block: number } | undefined;

  /** The user said something. */
  said(words: string): void {
    this.add({ kind: 'user', key: `user-${++this.notes}`, text: words });
    this.busy = true;
  }

  /** Takes a message; false if it changed nothing. */
  take(message: unknown): boolean {
    if (!isObject(message)) return false;
    switch (message['type']) {
      case 'system':
        return this.system(message);
      case 'assistant':
        return this.assistant(message['message']);
      case 'user':
        return this.results(message['message']);
      case 'stream_event':
        return this.streamed(message['event']);
      case 'control_request':
        return this.request(message);
      case 'control_cancel_request':
        return this.settle(text(message['request_id']), 'gone');
      case 'control':
        return this.control(message);
      case 'result':
        return this.result(message);
      case 'raw':
        return this.note(text(message['data']), false);
      case 'error':
        return this.note(text(message['message']) || text(message['data']), true);
      default:
        return false;
    }
  }

  /** Marks a permission or question as dealt with. */
  settle(key: string, state: 'allowed' | 'denied' | 'answered' | 'gone'): boolean {
    let found = false;
    for (const entry of this.entries) {
      if (entry.key !== key || !('state' in entry) || entry.state !== 'open') continue;
      found = true;
      if (entry.kind === 'permission') entry.state = state === 'answered' ? 'allowed' : state;
      else entry.state = state === 'gone' ? 'gone' : 'answered';
    }
    return found;
  }

  get waiting(): boolean {
    return this.entries.some((it) => 'state' in it && it.state === 'open');
  }

  private add(entry: Entry): void {
    this.entries.push(entry);
    if (this.entries.length > MAX_ENTRIES) this.entries.splice(0, this.entries.length - MAX_ENTRIES);
  }

  note(words: string, bad: boolean): boolean {
    if (words === '') return false;
    this.add({ kind: 'note', key: `note-${++this.notes}`, text: words, bad });
    return true;
  }

  private system(message: Record<string, unknown>): boolean {
    const subtype = message['subtype'];
    const settings = isObject(message['settings']) ? message['settings'] : {};
    if (subtype === 'connected') {
      this.model = text(settings['model']) || this.model;
      this.mode = text(settings['mode']) || this.mode;
      return true;
    }
    if (subtype === 'init') {
      this.model = text(message['model']) || this.model;
      const commands = message['slash_commands'];
      this.commands = Array.isArray(commands) ? commands.map(text).filter((it) => it !== '') : [];
      return true;
    }
    if (subtype === 'interrupted') {
      this.busy = false;
      return this.note('Interrupted.', false);
    }
    if (subtype === 'restarted') {
      this.busy = false;
      return this.note('Started anew.', false);
    }
    if (subtype === 'error' || subtype === 'session_not_found') {
      this.busy = false;
      return this.note(text(message['message']), true);
    }
    if (subtype === 'lagged') return this.note('Some messages were left out.', false);
    return false;
  }

  private assistant(message: unknown): boolean {
    if (!isObject(message)) return false;
    const id = text(message['id']) || `message-${++this.notes}`;
    // What was streamed comes once more, whole.
    this.entries = this.entries.filter((it) => !(it.kind === 'assistant' && it.streaming));
    this.streaming = undefined;
    this.busy = true;
    for (const block of blocksOf(message['content'])) {
      if (block['type'] === 'text' && text(block['text']) !== '') {
        this.add({ kind: 'assistant', key: `${id}-${++this.notes}`, text: text(block['text']), streaming: false });
      } else if (block['type'] === 'tool_use') {
        const input = isObject(block['input']) ? block['input'] : {};
        const key = text(block['id']);
        if (this.entries.some((it) => it.kind === 'tool' && it.key === key)) continue;
        this.add({ kind: 'tool', key, name: text(block['name']), input, result: undefined, failed: false });
      }
    }
    return true;
  }

  /** Results of tools come as messages of the user. */
  private results(message: unknown): boolean {
    if (!isObject(message)) return false;
    let changed = false;
    for (const block of blocksOf(message['content'])) {
      if (block['type'] !== 'tool_result') continue;
      const tool = this.entries.findLast((it) => it.kind === 'tool' && it.key === text(block['tool_use_id']));
      if (tool?.kind !== 'tool') continue;
      tool.result = plainText(block['content']);
      tool.failed = block['is_error'] === true;
      changed = true;
    }
    return changed;
  }

  /** Text as it is made, if the server passes it on. */
  private streamed(event: unknown): boolean {
    if (!isObject(event)) return false;
    const delta = isObject(event['delta']) ? event['delta'] : {};
    if (event['type'] !== 'content_block_delta' || delta['type'] !== 'text_delta') return false;
    const block = Number(event['index']) || 0;
    const last = this.entries.at(-1);
    if (last?.kind === 'assistant' && last.streaming && this.streaming?.block === block) {
      last.text += text(delta['text']);
    } else {
      this.streaming = { message: '', block };
      this.add({ kind: 'assistant', key: `stream-${++this.notes}`, text: text(delta['text']), streaming: true });
    }
    this.busy = true;
    return true;
  }

  private request(message: Record<string, unknown>): boolean {
    const request = isObject(message['request']) ? message['request'] : {};
    if (request['subtype'] !== 'can_use_tool') return false;
    const key = text(message['request_id']);
    if (this.entries.some((it) => it.key === key && 'state' in it)) return false;
    const input = isObject(request['input']) ? request['input'] : {};
    if (request['tool_name'] === 'AskUserQuestion') {
      this.add({ kind: 'question', key, input, questions: questionsOf(input['questions']), state: 'open' });
      return true;
    }
    const list = request['permission_suggestions'];
    const suggestions: unknown[] = Array.isArray(list) ? list : [];
    this.add({ kind: 'permission', key, tool: text(request['tool_name']), input, suggestions, state: 'open' });
    return true;
  }

  private control(message: Record<string, unknown>): boolean {
    const subtype = message['subtype'];
    if (subtype === 'set_permission_mode') {
      this.mode = uiMode(text(message['mode']));
      return true;
    }
    if (subtype === 'set_model') {
      this.model = text(message['model']) || this.model;
      return true;
    }
    if (subtype !== 'user_question_request') return false;
    const key = text(message['request_id']);
    if (this.entries.some((it) => it.key === key && 'state' in it)) return false;
    this.add({ kind: 'question', key, input: undefined, questions: questionsOf(message['questions']), state: 'open' });
    return true;
  }

  private result(message: Record<string, unknown>): boolean {
    this.busy = false;
    for (const entry of this.entries) if ('state' in entry && entry.state === 'open') entry.state = 'gone';
    if (message['subtype'] === 'exit') {
      const code = message['exit_code'];
      return this.note(`The agent ended${typeof code === 'number' ? ` with ${code}` : ''}.`, code !== 0) || true;
    }
    if (message['is_error'] === true) this.note(text(message['result']) || 'That did not work.', true);
    return true;
  }
}

/** The words of the page for the modes of the program. */
export function uiMode(mode: string): string {
  if (mode === 'acceptEdits' || mode === 'bypassPermissions' || mode === 'dontAsk' || mode === 'act') return 'act';
  return mode === 'plan' ? 'plan' : 'ask';
}

function blocksOf(content: unknown): Record<string, unknown>[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

function plainText(content: unknown): string {
  return blocksOf(content).map((it) => text(it['text'])).join('\n');
}

function questionsOf(value: unknown): Question[] {
  const list = Array.isArray(value) ? value.filter(isObject) : [];
  return list.map((it) => ({
    question: text(it['question']),
    header: text(it['header']),
    multiSelect: it['multiSelect'] === true,
    options: (Array.isArray(it['options']) ? it['options'].filter(isObject) : []).map((option) => ({
      label: text(option['label']),
      description: text(option['description']),
    })),
  }));
}
