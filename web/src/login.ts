// Proving who one is. `greenroom web` prints an address with the token behind `#`, which browsers
// keep to themselves; it is posted once, and taken out of the address and the history. A share link
// has its secret there in the same way.

import { h } from './dom';
import { isObject } from './native/wire';

/** What we may do. */
export interface Grant {
  /** Everything, or what a share link is for. */
  scope: 'owner' | 'session';
  write: boolean;
}

/** Who the server takes us for; `denied` if for nobody, nothing if it cannot be reached. */
export async function whoAmI(): Promise<Grant | 'denied' | undefined> {
  try {
    const answer = await fetch('api/me', { cache: 'no-store' });
    // What we brought was wrong; perhaps others at this address bring wrong things all the time.
    if ([401, 403, 429].includes(answer.status)) return 'denied';
    const me: unknown = await answer.json();
    if (!isObject(me)) return undefined;
    return { scope: me['scope'] === 'session' ? 'session' : 'owner', write: me['write'] === true };
  } catch {
    // Nobody there is not the same as nobody welcome.
    return undefined;
  }
}

/** Logs in; what went wrong, if anything did. */
async function login(field: 'token' | 'password', secret: string): Promise<string | undefined> {
  try {
    const body = new URLSearchParams({ [field]: secret });
    const answer = await fetch('login', { method: 'POST', body, redirect: 'manual', cache: 'no-store' });
    if (answer.status === 429) return 'Too many tries. Wait a minute.';
    if (answer.ok || answer.type === 'opaqueredirect') return (await whoAmI()) === 'denied' ? 'That was not it.' : undefined;
    return answer.status === 401 || answer.status === 403 ? 'That was not it.' : `The server said ${answer.status}.`;
  } catch {
    return 'The server cannot be reached.';
  }
}

/** Uses the token or the link's secret of the address, if there is one. Gives what went wrong, if anything did. */
export async function claimFragment(): Promise<string | undefined> {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const token = fragment.get('token') ?? fragment.get('share');
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
