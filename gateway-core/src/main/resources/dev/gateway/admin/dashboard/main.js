// The page: asks for statistics, keeps their history, and has each part show its own.

import {showAttention} from './attention.js';
import {setClass, setText} from './elements.js';
import {Events} from './events.js';
import {Failures} from './failures.js';
import {age, byteRate, count, duration, percent, plural, rate, time as clock} from './format.js';
import {History} from './history.js';
import {draw, setSpan} from './plots.js';
import {Poller} from './poll.js';
import {Process} from './process.js';
import {Traffic} from './traffic.js';
import {Tunnels} from './tunnels.js';
import {Upstreams} from './upstreams.js';

const byId = id => document.getElementById(id);

const history = new History();
const traffic = new Traffic();
const upstreams = new Upstreams();
const tunnels = new Tunnels();
const failures = new Failures();
const process = new Process();
const events = new Events(byId('config'));
let paused = false;
let lostAt = null; // when the gateway was found not to answer
let nextTry = 0;

function show() {
  const stats = history.latest;
  const recent = history.recent;
  setText('version', stats.build.version);
  setText('uptime', age(stats.uptimeSeconds));
  tiles(stats, recent);
  showAttention(byId('attention'), stats.attention);
  traffic.show(stats, recent);
  failures.show(stats);
  upstreams.show(stats, recent);
  tunnels.show(stats);
  process.show(stats, recent);
  draw(history);
}

function tiles(stats, recent) {
  const {totals} = stats;
  const requests = recent?.rate(each => each.totals.requestsTotal);
  setText('tile-requests', rate(requests));
  setText('tile-requests-more', `${count(totals.requestsTotal)} in all, ${count(totals.requestsActive)} open`);
  setText('tile-latency', duration(stats.recent.p99));
  setText('tile-latency-more', `p50 ${duration(stats.recent.p50)}, p99.9 ${duration(stats.recent.p999)}`);
  const failures = each => Object.values(each.causes).reduce((total, number) => total + number, 0);
  const failed = recent?.rate(failures);
  const part = requests > 0 ? Math.min(1, failed / requests) : recent ? 0 : NaN;
  setText('tile-failed', percent(part));
  setClass(byId('tile-failed'), part >= 0.05 ? 'big bad' : part >= 0.01 ? 'big warn' : 'big');
  setText('tile-failed-more', `${rate(failed)}, ${count(failures(stats))} in all`);
  setText('tile-connections', count(totals.connectionsActive));
  const open = read => stats.listeners.reduce((total, each) => total + read(each.connections), 0);
  setText('tile-connections-more', `${count(open(each => each.activeTls))} with TLS, ${count(open(each => each.activeH2))} h2`);
  setText('tile-traffic', byteRate(recent?.rate(each => each.totals.bytesSent)));
  setText('tile-traffic-more', `received ${byteRate(recent?.rate(each => each.totals.bytesReceived))}`);
  setText('tile-tunnels', count(totals.tunnelsActive + totals.websocketsActive));
  setText('tile-tunnels-more', `${plural(totals.tunnelsActive, 'tunnel')}, ${plural(totals.websocketsActive, 'WebSocket')}`);
}

function link(state, text) {
  setClass(byId('link'), 'badge ' + state);
  setText('link', text);
}

function onAnswer(stats) {
  const before = history.latest;
  const restarted = history.add(stats);
  if (lostAt !== null) {
    if (before && !restarted) events.add(stats.time, 'The gateway answers again', 'good');
    lostAt = null;
    byId('lost').hidden = true;
    document.body.classList.remove('stale');
  }
  events.show(stats, before, restarted);
  link(paused ? 'warn' : 'good', paused ? 'paused' : 'live');
  if (!paused) show();
}

function onFailure(reason, wait) {
  lostAt ??= Date.now();
  nextTry = Date.now() + wait;
  byId('lost').hidden = false;
  document.body.classList.add('stale');
  link('bad', 'lost');
  tellLost(reason);
}

let lostReason = '';

function tellLost(reason = lostReason) {
  lostReason = reason;
  if (lostAt === null) return;
  const wait = Math.max(0, Math.ceil((nextTry - Date.now()) / 1000));
  setText('lost-detail', `Since ${clock(lostAt)} (${reason}). The values shown are from `
      + `${history.latest ? clock(history.latest.time) : 'nothing yet'}. ${wait > 0 ? `Next try in ${wait} s.` : 'Trying …'}`);
}

const poller = new Poller('stats', onAnswer, onFailure);
setInterval(tellLost, 1000);
byId('retry').addEventListener('click', () => poller.now());
byId('pause').addEventListener('click', () => {
  paused = !paused;
  byId('pause').setAttribute('aria-pressed', String(paused));
  setText('pause', paused ? 'Resume' : 'Pause');
  if (lostAt === null) link(paused ? 'warn' : 'good', paused ? 'paused' : 'live');
  if (!paused && history.latest) show();
});
for (const button of document.querySelectorAll('[data-span]')) {
  button.addEventListener('click', () => {
    document.querySelectorAll('[data-span]').forEach(each => each.setAttribute('aria-pressed', String(each === button)));
    setSpan(Number(button.dataset.span));
  });
}

/** Loads the history from before the page was opened, as far as the gateway has kept it. */
async function begin() {
  try {
    const answer = await fetch('history', {cache: 'no-store'});
    if (answer.ok) history.begin((await answer.json()).points);
  } catch {
    // the poller tells
  }
  poller.now();
}

begin();
