// What an operator should look at first, in words.

import {element, setText, setClass} from './elements.js';
import {bytes, duration, percent, plural, rate} from './format.js';
import {sums} from './history.js';
import {daysLeft} from './process.js';

const LAG = 0.1;
const FAILED = 0.05;
const DIRECT = 0.85;
/** Causes that clients cause, or that are refusals by policy. */
const OF_CLIENTS = /^(client|policy|proxy_auth|authz|rate|no_route|body_too|max_duration|idle_timeout|admin)/;

/** Returns lines of {level, text}. */
export function attention(stats, recent, reloadFailed) {
  const lines = [];
  const say = (level, text) => lines.push({level, text});
  if (reloadFailed) say('bad', 'The last reload was refused; the log says why.');
  for (const {name, endpoints, sources, panic, namedByRequests} of stats.upstreams) {
    for (const {source, state, problem} of sources) {
      if (state === 'stale') say('warn', `Upstream ${name}: ${source} fails, so its endpoints may be out of date: ${problem}`);
    }
    if (endpoints.length === 0 && !namedByRequests) say('bad', `Upstream ${name} has no endpoints.`);
    if (panic) say('bad', `Upstream ${name}: too few endpoints are in service, so all get requests (panic mode).`);
    const ill = endpoints.filter(each => each.state !== 'healthy').length;
    if (ill > 0) say(ill === endpoints.length ? 'bad' : 'warn', `Upstream ${name}: ${ill} of ${plural(endpoints.length, 'endpoint')} not healthy.`);
  }
  for (const certificate of stats.certificates) {
    const left = daysLeft(certificate, stats.time);
    if (left.level !== 'good') say(left.level, `The certificate of ${certificate.name} (${certificate.listener ?? certificate.upstream}): ${left.text}${left.days < 0 ? '' : ' left'}.`);
  }
  if (stats.authFilesStale > 0) say('bad', `${plural(stats.authFilesStale, 'file')} of users, tokens, groups or filters cannot be read; /ready says why.`);
  if (recent) traffic(stats, recent, say);
  const lag = Math.max(...stats.eventLoops.map(loop => loop.lagSeconds));
  if (lag > LAG) say('warn', `An event loop kept its tasks waiting for ${duration(lag)}.`);
  const {directUsedBytes, directMaxBytes} = stats.memory;
  if (directUsedBytes > directMaxBytes * DIRECT) say('bad', `Direct memory: ${bytes(directUsedBytes)} of ${bytes(directMaxBytes)} are in use.`);
  return lines;
}

function traffic(stats, recent, say) {
  for (const name of new Set(stats.routes.map(route => route.route))) {
    const routes = stats.routes.filter(route => route.route === name);
    const grown = read => routes.reduce((total, route) => total + recent.routeRate(route, read), 0);
    const requests = grown(each => each.requests);
    const causes = Object.keys(sums(routes.map(route => route.causes))).filter(cause => !OF_CLIENTS.test(cause))
        .map(cause => [cause, grown(each => each.causes[cause] ?? 0)])
        .sort((a, b) => b[1] - a[1]);
    const failed = causes.reduce((total, [, number]) => total + number, 0);
    if (failed * recent.seconds >= 1.5 && failed >= requests * FAILED) {
      say('bad', `Route ${name}: ${percent(failed / requests)} of requests fail, most with ${causes[0][0]}.`);
    }
  }
  for (const upstream of stats.upstreams) {
    if (upstream.pending.active > 0 && recent.upstreamRate(upstream, each => each.pending.overflow) > 0) {
      say('bad', `Upstream ${upstream.name}: the pending queue is full.`);
    }
  }
  const dropped = recent.rate(each => each.accessLog.dropped);
  if (dropped > 0) say('warn', `The access log drops lines: ${rate(dropped)}.`);
}

/** Shows them, or that there are none. */
export function showAttention(list, lines) {
  const shown = lines.length > 0 ? lines : [{level: 'good', text: 'Nothing needs attention.'}];
  while (list.children.length > shown.length) list.lastElementChild.remove();
  while (list.children.length < shown.length) list.append(element('li'));
  shown.forEach(({level, text}, i) => {
    setClass(list.children[i], level);
    setText(list.children[i], text);
  });
}
