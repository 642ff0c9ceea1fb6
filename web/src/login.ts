// Proving who one is. `greenroom web` prints an address with the token behind `#`, which browsers
// keep to themselves; it is posted once, and taken out of the address and the history.

import { h } from './dom';

/** Whether the server wants a login before it says anything. */
export async function isDenied(): Promise<boolean> {
  try {
    const answer = await fetch('api/sessions', { cache: 'no-store' });
    return answer.status === 401;
  } catch {
    // Nobody there is not the same as nobody welcome.
    return false;
  }
}

/** Logs in; what went wrong, if anything did. */
async function login(field: 'token' | 'password', secret: string): Promise<string | undefined> {
  try {
    const body = new URLSearchParams({ [field]: secret });
    const answer = await fetch('login', { method: 'POST', body, redirect: 'manual', cache: 'no-store' });
    if (answer.status === 429) return 'Too many tries. Wait a minute.';
    if (answer.ok || answer.type === 'opaqueredirect') return (await isDenied()) ? 'That was not it.' : undefined;
    return answer.status === 401 || answer.status === 403 ? 'That was not it.' : `The server said ${answer.status}.`;
  } catch {
    return 'The server cannot be reached.';
  }
}

/** Uses the token of the address, if there is one. Gives what went wrong, if anything did. */
export async function claimFragment(): Promise<string | undefined> {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const token = fragment.get('token');
  if (token === null) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return login('token', token);
}

/** Asks for the token or the password. */
export function loginView(message: string, done: () => void): HTMLElement {
  const error = h('p', { class: 'login-error', role: 'alert' }, message);
  const secret = h('input', { id: 'secret', type: 'password', autocomplete: 'current-password', required: true });
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const said = secret.value.trim();
    // A token is 64 hex digits; everything else is a password.
    const wrong = await login(/^[0-9a-f]{64}$/i.test(said) ? 'token' : 'password', said);
    error.textContent = wrong ?? '';
    if (wrong === undefined) done();
    else secret.select();
  };
  const form = h(
    'form',
    { class: 'login-card', onsubmit: (event) => void submit(event) },
    h('h1', { class: 'wordmark' }, 'greenroom'),
    h('p', {}, 'Your sessions are behind this door.'),
    h('label', { for: 'secret' }, 'Token or password'),
    secret,
    error,
    h('button', { type: 'submit', class: 'primary' }, 'Come in'),
    h('p', { class: 'login-help' }, 'On the machine itself, ', h('code', {}, 'greenroom web'), ' prints an address that logs you in.'),
  );
  queueMicrotask(() => secret.focus());
  return h('main', { class: 'login' }, form);
}
