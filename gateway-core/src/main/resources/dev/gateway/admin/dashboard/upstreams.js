// Upstreams, and the health and pools of their endpoints.

import {Table, badge, meter} from './elements.js';
import {count, duration, percent, rate} from './format.js';

export class Upstreams {
  #table = new Table(document.getElementById('upstreams'), 'Upstreams and their endpoints',
      [{name: 'Upstream', text: true, wrap: true}, {name: 'Health', text: true}, {name: 'Requests'}, {name: 'Failed'}, {name: 'Mean', wide: true},
        {name: 'p99', wide: true}, {name: '5xx', wide: true}, {name: 'Not connected', wide: true}, {name: 'In use', wide: true}, {name: 'Idle', wide: true},
        {name: 'Connecting', wide: true}, {name: 'Pending'}],
      'No upstream is configured.', 120);

  show(stats, recent) {
    const rows = [];
    for (const upstream of stats.upstreams) {
      rows.push(whole(upstream, recent));
      for (const endpoint of upstream.endpoints) rows.push(part(upstream, endpoint, recent));
    }
    this.#table.show(rows);
  }
}

const state = ({state, ejections}) => state === 'ejected' && ejections > 1 ? `ejected ${ejections} times` : state;

const healthy = endpoint => endpoint.state === 'healthy';

function health({endpoints, namedByRequests}) {
  if (namedByRequests) return badge('by request', 'plain');
  const well = endpoints.filter(healthy).length;
  return badge(`${well} of ${endpoints.length}`, well === 0 ? 'bad' : well === endpoints.length ? 'good' : 'warn');
}

function whole(upstream, recent) {
  const requests = recent ? recent.upstreamRate(upstream, each => each.attempts.total) : NaN;
  const errors = recent ? recent.upstreamRate(upstream, each => each.codes['5xx'] ?? 0) : NaN;
  const unconnected = recent ? recent.upstreamRate(upstream, each => sum(each.connections.failures)) : NaN;
  const seconds = recent ? recent.upstreamRate(upstream, each => each.latency.sumSeconds) : NaN;
  const {active, idle} = upstream.connections;
  const failing = requests > 0 ? errors / requests : requests === 0 ? 0 : NaN;
  return {
    key: upstream.name,
    level: 'group',
    cells: [
      upstream.name, health(upstream), rate(requests), failures(recent, recent?.upstreamRate(upstream, each => each.attempts.failed)), mean(seconds, requests),
      duration(upstream.recent.p99), badge(percent(failing), failing >= 0.05 ? 'bad' : failing >= 0.01 ? 'warn' : 'plain'),
      refused(unconnected), meter(count(active - idle), active > 0 ? (active - idle) / active : 0), count(idle),
      count(upstream.endpoints.reduce((total, each) => total + each.connecting, 0)), pending(upstream.pending.active),
    ],
  };
}

const failures = (recent, number) => recent ? badge(rate(number), number > 0 ? 'bad' : 'plain') : rate(NaN);

const mean = (seconds, requests) => requests > 0 ? duration(seconds / requests) : duration(NaN);

function part(upstream, endpoint, recent) {
  const {active, idle} = endpoint;
  const counted = recent && 'requests' in endpoint;
  const grown = read => counted ? recent.endpointRate(upstream, endpoint, read) : NaN;
  const requests = grown(each => each.requests ?? 0);
  return {
    key: upstream.name + ' ' + endpoint.address,
    level: 'member',
    cells: [
      endpoint.address + (endpoint.weight === 1 ? '' : ` × ${endpoint.weight}`),
      badge(state(endpoint), healthy(endpoint) ? 'good' : 'bad'), counted ? rate(requests) : '',
      counted ? failures(recent, grown(each => each.failures ?? 0)) : '', counted ? mean(grown(each => each.requestSeconds ?? 0), requests) : '',
      '', '', '',
      meter(count(active), active + idle > 0 ? active / (active + idle) : 0), count(idle), count(endpoint.connecting),
      pending(endpoint.pending),
    ],
  };
}

const sum = counts => Object.values(counts).reduce((total, each) => total + each, 0);

const refused = number => badge(rate(number), number > 0 ? 'warn' : 'plain');

const pending = number => badge(count(number), number > 0 ? 'warn' : 'plain');
