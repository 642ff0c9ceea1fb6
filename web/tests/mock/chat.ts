// `/ws/claude-stream` without a server: passes messages to the program in `claude.mjs` and back, in
// the forms the door uses. For tests of the page where the door's own chat is not what is tested.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { WebSocketRoute } from '@playwright/test';

export const CLAUDE = fileURLToPath(new URL('claude.mjs', import.meta.url));

/** Serves one connection of the page. Gives what the page sent. */
export function serveChat(page: WebSocketRoute, sent: Record<string, unknown>[]): void {
  const child = spawn(process.execPath, [CLAUDE], { stdio: ['pipe', 'pipe', 'ignore'] });
  const tell = (message: unknown) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const say = (message: unknown) => page.send(JSON.stringify(message));
  const asked = new Map<string, Record<string, unknown>>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as { type: string; request_id: string; request?: { tool_name: string; input: Record<string, unknown> } };
    // The door asks questions in the contract's form.
    if (message.type === 'control_request' && message.request?.tool_name === 'AskUserQuestion') {
      asked.set(message.request_id, message.request.input);
      say({ type: 'control', subtype: 'user_question_request', request_id: message.request_id, questions: message.request.input['questions'] });
    } else {
      page.send(line);
    }
  });
  const id = new URL(page.url()).searchParams.get('session_id');
  say({ type: 'system', subtype: 'connected', session_id: id, resumed: false, settings: { model: 'sonnet' } });
  page.onMessage((data) => {
    const message = JSON.parse(data.toString()) as Record<string, unknown>;
    sent.push(message);
    if (message['type'] === 'user') {
      tell({ type: 'user', message: { role: 'user', content: [{ type: 'text', text: message['message'] }] } });
    } else if (message['type'] === 'interrupt') {
      tell({ type: 'control_request', request_id: 'own', request: { subtype: 'interrupt' } });
      say({ type: 'system', subtype: 'interrupted', session_id: id });
    } else if (message['type'] === 'control') {
      say(message);
    } else if (message['type'] === 'control_response') {
      const { type: _, request_id, answers, ...rest } = message;
      const input = asked.get(String(request_id));
      const response = answers === undefined ? rest : { behavior: 'allow', updatedInput: { ...input, answers } };
      tell({ type: 'control_response', response: { subtype: 'success', request_id, response } });
    }
  });
  page.onClose(() => child.kill());
}
