// Where the page begins: theme, who we are, the connection, and then the rooms.

import './style/tokens.css';
import './style/base.css';
import './style/shell.css';
import { App } from './app';
import { claimFragment, isDenied, loginView } from './login';
import { Connection } from './native/connection';
import { Notifier } from './notify';
import { Sessions } from './sessions';
import { Shell } from './shell';
import { applyTheme } from './theme';

const root = document.getElementById('app');

function openSocket(): WebSocket {
  const address = new URL('ws/native', document.baseURI);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  address.hash = '';
  return new WebSocket(address);
}

async function begin(at: HTMLElement): Promise<void> {
  applyTheme();
  const refused = await claimFragment();
  const line = new Connection({
    open: openSocket as () => never,
    denied: isDenied,
    client: 'greenroom page',
  });
  const sessions = new Sessions(line);
  const app = new App(line, sessions);
  let shell: Shell | undefined;
  const enter = () => {
    shell ??= new Shell(app, new Notifier(app));
    at.replaceChildren(shell.element);
    line.start();
  };
  const leave = (why: string) => at.replaceChildren(loginView(why, enter));
  line.onState((state) => {
    if (state === 'denied') leave('');
  });
  window.addEventListener('online', () => line.hurry());
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) line.hurry();
  });
  if (refused !== undefined) leave(refused);
  else if (await isDenied()) leave('');
  else enter();
}

if (root !== null) void begin(root);
