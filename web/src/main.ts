// Where the page begins: theme, who we are, the connection, and then the rooms.

import './style/tokens.css';
import './style/base.css';
import './style/shell.css';
import { App } from './app';
import { claimFragment, loginView, whoAmI } from './login';
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
    denied: async () => (await whoAmI()) === 'denied',
    client: 'greenroom page',
  });
  const sessions = new Sessions(line);
  const app = new App(line, sessions);
  let shell: Shell | undefined;
  const enter = async () => {
    const me = await whoAmI();
    if (me === 'denied') return leave('');
    if (me !== undefined) app.grant = me;
    // A link is for one session: there is nothing else to see.
    if (app.share !== undefined && !location.hash.startsWith('#/terminal')) location.hash = '#/terminal';
    shell ??= new Shell(app, new Notifier(app));
    at.replaceChildren(shell.element);
    line.start();
  };
  const leave = (why: string) => at.replaceChildren(loginView(why, () => void enter()));
  line.onState((state) => {
    if (state === 'denied') leave('');
  });
  window.addEventListener('online', () => line.hurry());
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) line.hurry();
  });
  if (refused !== undefined) leave(refused);
  else await enter();
}

if (root !== null) void begin(root);
