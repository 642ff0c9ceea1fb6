#!/usr/bin/env node
// A program that speaks as Claude Code does on its pipes, for tests of the page: what it answers is
// decided by a word in what it is told. `permission`, `question`, `slow`, `edit`; else it repeats.

import { createInterface } from 'node:readline';

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const text = (words) => say({ type: 'assistant', message: { role: 'assistant', id: `msg-${Date.now()}`, content: [{ type: 'text', text: words }] } });
const done = () => say({ type: 'result', subtype: 'success', is_error: false, result: '' });
const tool = (id, name, input) => say({ type: 'assistant', message: { role: 'assistant', id: `msg-${id}`, content: [{ type: 'tool_use', id, name, input }] } });
const result = (id, content, is_error = false) => say({ type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, is_error }] } });

let turns = 0;
const waiting = new Map();

function ask(tool_name, input, then, permission_suggestions) {
  const request_id = `request-${++turns}`;
  waiting.set(request_id, then);
  say({ type: 'control_request', request_id, request: { subtype: 'can_use_tool', tool_name, tool_use_id: `toolu-${turns}`, input, permission_suggestions } });
}

function turn(words) {
  if (words.includes('permission')) {
    const input = { file_path: 'README.md', content: '# Hello\n\nfrom the page' };
    const suggestions = [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }];
    ask('Write', input, (answer) => {
      const id = `toolu-${turns}`;
      tool(id, 'Write', answer.updatedInput ?? input);
      result(id, answer.behavior === 'allow' ? 'File created' : answer.message, answer.behavior !== 'allow');
      text(answer.behavior === 'allow' ? 'I wrote `README.md`.' : 'Then I will not write it.');
      done();
    }, suggestions);
  } else if (words.includes('question')) {
    const questions = [{ question: 'Which colour?', header: 'Colour', multiSelect: false, options: [{ label: 'Green', description: 'as the room' }, { label: 'Red', description: 'as a curtain' }] }];
    ask('AskUserQuestion', { questions }, (answer) => {
      const chosen = answer.updatedInput?.answers?.['Which colour?'];
      text(`You chose ${chosen}.`);
      done();
    });
  } else if (words.includes('edit')) {
    const id = `toolu-edit-${++turns}`;
    tool(id, 'Edit', { file_path: 'src/main.ts', old_string: 'const lamp = "red";\nlight(lamp);', new_string: 'const lamp = "green";\nlight(lamp);' });
    result(id, 'The file has been updated.');
    text('The lamp is **green** now. See [the page](https://example.org/) or `src/main.ts`:\n\n- one place changed\n- nothing else');
    done();
  } else if (words.includes('slow')) {
    text('This takes a while…');
  } else {
    text(`You said: ${words}`);
    done();
  }
}

say({ type: 'system', subtype: 'init', session_id: '', model: 'fake', slash_commands: ['help', 'compact'] });
for await (const line of createInterface({ input: process.stdin })) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    continue;
  }
  if (message.type === 'user') {
    const { content } = message.message;
    turn(typeof content === 'string' ? content : content.map((it) => it.text ?? '').join(' '));
  } else if (message.type === 'control_request') {
    const { subtype } = message.request;
    say({ type: 'control_response', response: { subtype: 'success', request_id: message.request_id, response: {} } });
    if (subtype === 'interrupt') say({ type: 'result', subtype: 'error_during_execution', is_error: false });
  } else if (message.type === 'control_response') {
    const { request_id, response } = message.response ?? {};
    const then = waiting.get(request_id);
    waiting.delete(request_id);
    then?.(response);
  }
}
