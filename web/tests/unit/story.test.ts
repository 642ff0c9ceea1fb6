import { expect, test } from 'vitest';
import { Story, type Entry } from '../../src/chat/story';

function told(...messages: unknown[]): Story {
  const story = new Story();
  for (const message of messages) story.take(message);
  return story;
}

const brief = (entries: Entry[]) => entries.map((it) => ('text' in it ? `${it.kind}: ${it.text}` : `${it.kind} ${it.key}`));

const PERMISSION = {
  type: 'control_request',
  request_id: 'r1',
  request: { subtype: 'can_use_tool', tool_name: 'Write', input: { file_path: 'a' }, permission_suggestions: [{ type: 'setMode' }] },
};

test('text and tools of a message are entries in order', () => {
  const content = [{ type: 'text', text: 'I look.' }, { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }];
  const story = told({ type: 'assistant', message: { id: 'm', content } }, { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 't1', content: 'a\nb' }] } });
  expect(brief(story.entries)).toEqual(['assistant: I look.', 'tool t1']);
  expect(story.entries[1]).toMatchObject({ result: 'a\nb', failed: false });
});

test('streamed text grows, and is replaced by the whole message', () => {
  const delta = (text: string) => ({ type: 'stream_event', event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } } });
  const story = told(delta('Hel'), delta('lo'));
  expect(brief(story.entries)).toEqual(['assistant: Hello']);
  story.take({ type: 'assistant', message: { id: 'm', content: [{ type: 'text', text: 'Hello.' }] } });
  expect(brief(story.entries)).toEqual(['assistant: Hello.']);
});

test('a permission is open until it is decided, taken back, or the turn ends', () => {
  const story = told(PERMISSION, PERMISSION);
  expect(story.entries).toHaveLength(1);
  expect(story.waiting).toBe(true);
  story.settle('r1', 'denied');
  expect(story.entries[0]).toMatchObject({ kind: 'permission', state: 'denied', tool: 'Write' });
  expect(told(PERMISSION, { type: 'control_cancel_request', request_id: 'r1' }).waiting).toBe(false);
  expect(told(PERMISSION, { type: 'result', subtype: 'success' }).waiting).toBe(false);
});

test('questions come in the contract’s form and in the program’s', () => {
  const questions = [{ question: 'Which?', header: 'H', multiSelect: true, options: [{ label: 'A' }] }];
  const contract = told({ type: 'control', subtype: 'user_question_request', request_id: 'q', questions });
  const program = told({ type: 'control_request', request_id: 'q', request: { subtype: 'can_use_tool', tool_name: 'AskUserQuestion', input: { questions } } });
  for (const story of [contract, program]) {
    expect(story.entries[0]).toMatchObject({ kind: 'question', questions: [{ question: 'Which?', multiSelect: true, options: [{ label: 'A', description: '' }] }] });
  }
});

test('modes and models that somebody else set are known', () => {
  const story = told({ type: 'control', subtype: 'set_permission_mode', mode: 'acceptEdits' }, { type: 'control', subtype: 'set_model', model: 'opus' });
  expect([story.mode, story.model]).toEqual(['act', 'opus']);
});

test('messages of any form change nothing and break nothing', () => {
  const odd = [null, 1, 'text', [], {}, { type: 'assistant' }, { type: 'assistant', message: { content: 7 } }, { type: 'user', message: { content: [null] } }, { type: 'control_request' }, { type: 'stream_event', event: 3 }, { type: 'control', subtype: 'user_question_request', questions: [4] }];
  expect(() => told(...odd)).not.toThrow();
});
