// Tunnels and WebSockets: how many are open, and by which listener or route.

import {Table, badge} from './elements.js';
import {age, bytes, count} from './format.js';
import {Plot} from './plots.js';

const OPEN_SHOWN = 20;
const OPEN_EVERY = 3000;

const total = counts => Object.values(counts).reduce((all, each) => all + each, 0);

export class Tunnels {
  #table;
  #card = document.getElementById('open');
  #open = new Table(this.#card, 'Open tunnels and WebSockets', [
    {name: 'To', text: true, wrap: true}, {name: 'Kind', text: true, wide: true}, {name: 'From', text: true, wide: true},
    {name: 'Endpoint', text: true, wide: true}, {name: 'Open for'}, {name: 'Silent for'}, {name: 'Received', wide: true},
    {name: 'Sent', wide: true},
  ], '', OPEN_SHOWN);

  #asked = -OPEN_EVERY;

  constructor() {
    new Plot('tunnels', 'Open tunnels and WebSockets', [
      {name: 'tunnels', color: 'info', fill: true, value: point => point.tunnels},
      {name: 'WebSockets', color: 'violet', dash: [7, 3], value: point => point.webSockets},
    ], {format: count, whole: true, least: 4});
    this.#table = new Table(document.getElementById('tunnels'), 'Tunnels by listener, WebSockets by route', [
      {name: 'Listener or route', text: true, wrap: true}, {name: 'Kind', text: true, wide: true}, {name: 'Open'}, {name: 'Opened'}, {name: 'Failed'},
      {name: 'Denied', wide: true}, {name: 'Received', wide: true}, {name: 'Sent', wide: true},
    ], 'No tunnel and no WebSocket has been opened yet.');
  }

  show(stats) {
    const tunnels = stats.listeners
        .filter(({tunnels}) => tunnels.total > 0 || total(tunnels.deniedByRule) > 0)
        .map(({name, tunnels}) => ({
          key: 'tunnel ' + name,
          cells: [
            name, 'tunnels', count(tunnels.active), count(tunnels.total), failed(total(tunnels.causes)),
            count(total(tunnels.deniedByRule)), bytes(tunnels.receivedBytes), bytes(tunnels.sentBytes),
          ],
        }));
    const webSockets = stats.routes.filter(route => route.websockets.total > 0).map(route => ({
      key: 'websocket ' + route.listener + ' ' + route.route,
      cells: [
        `${route.route} (${route.listener})`, 'WebSockets', count(route.websockets.active), count(route.websockets.total),
        failed(total(route.websockets.causes)), '', '', '',
      ],
    }));
    this.#table.show([...tunnels, ...webSockets]);
    this.#showOpen(stats.totals.tunnelsActive + stats.totals.websocketsActive);
  }

  /** Asks now and then which ones are open. */
  async #showOpen(active) {
    this.#card.hidden = active === 0;
    if (active === 0 || performance.now() - this.#asked < OPEN_EVERY) return;
    this.#asked = performance.now();
    try {
      const answer = await fetch(`tunnels?limit=${OPEN_SHOWN}`, {cache: 'no-store'});
      if (answer.ok) this.#open.show((await answer.json()).tunnels.map(openRow));
    } catch {
      // the banner reports that the gateway does not answer
    }
  }
}

const openRow = tunnel => ({
  key: String(tunnel.id),
  cells: [
    tunnel.target, tunnel.kind, tunnel.identity ? `${tunnel.identity} (${tunnel.client})` : tunnel.client,
    tunnel.endpoint ?? '', age(tunnel.ageMillis / 1000), age(tunnel.idleMillis / 1000),
    bytes(tunnel.receivedBytes), bytes(tunnel.sentBytes),
  ],
});

const failed = number => badge(count(number), number > 0 ? 'warn' : 'plain');
