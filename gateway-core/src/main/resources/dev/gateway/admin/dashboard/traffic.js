// What goes through: the charts of requests, the causes of failures, the routes.

import {Table, badge} from './elements.js';
import {byteRate, count, duration, percent, rate} from './format.js';
import {Plot} from './plots.js';
import {meaning} from './causes.js';

const CODES = [['2xx', 'good'], ['3xx', 'info'], ['1xx', 'quiet'], ['4xx', 'warn'], ['5xx', 'bad'], ['none', 'quiet']];
const CAUSE_COLORS = ['bad', 'violet', 'warn', 'info', 'pink'];

const codeName = code => code === 'none' ? 'no answer' : code;

/** Only classes that occur, but successes always. */
function codeSeries(points) {
  return CODES
      .filter(([code]) => code === '2xx' || points.some(point => point.codes?.[code]))
      .map(([code, color]) => ({name: codeName(code), color, value: point => point.codes && (point.codes[code] ?? 0)}));
}

const causeColors = new Map();

/** A cause keeps its color as long as it is shown. */
function causeColor(cause, shown) {
  for (const known of causeColors.keys()) {
    if (!shown.includes(known)) causeColors.delete(known);
  }
  if (!causeColors.has(cause)) {
    const taken = [...causeColors.values()];
    causeColors.set(cause, CAUSE_COLORS.find(color => !taken.includes(color)));
  }
  return causeColors.get(cause);
}

/** The most frequent causes of the time that is shown, and all others together. */
function causeSeries(points) {
  const totals = new Map();
  for (const point of points) {
    for (const [cause, number] of Object.entries(point.causes ?? {})) totals.set(cause, (totals.get(cause) ?? 0) + number);
  }
  const ranked = [...totals].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([cause]) => cause);
  const own = ranked.slice(0, CAUSE_COLORS.length).sort();
  const series = own.map(cause => (
    {name: cause, color: causeColor(cause, own), value: point => point.causes && (point.causes[cause] ?? 0)}));
  const rest = ranked.slice(CAUSE_COLORS.length);
  if (rest.length > 0) {
    series.push({
      name: 'others',
      color: 'quiet',
      value: point => point.causes && rest.reduce((total, cause) => total + (point.causes[cause] ?? 0), 0),
    });
  }
  return series;
}

const latency = part => point => {
  const value = point.latency?.[part];
  return value > 0 ? value : null; // nothing, not zero, where there was no request
};

export class Traffic {
  #causes = new Table(document.getElementById('causes'), 'Causes of failures',
      [{name: 'Cause', text: true, wrap: true}, {name: 'Meaning', text: true, wide: true, wrap: true}, {name: 'Now'}, {name: 'Total'}],
      'No exchange has failed since the start.');

  #routes = new Table(document.getElementById('routes'), 'Routes',
      [{name: 'Route', text: true, wrap: true}, {name: 'Listener', text: true, wide: true}, {name: 'Requests'}, {name: 'p50', wide: true}, {name: 'p90', wide: true},
        {name: 'p99'}, {name: '4xx', wide: true}, {name: '5xx', wide: true}, {name: 'Failed'}, {name: 'Total', wide: true}],
      'No request has arrived yet.');

  constructor() {
    new Plot('requests', 'Requests by status', codeSeries, {format: rate, stacked: true, least: 1});
    new Plot('latency', 'Latency of requests', [
      {name: 'p50', color: 'good', value: latency('p50')},
      {name: 'p90', color: 'info', dash: [7, 3], value: latency('p90')},
      {name: 'p99', color: 'violet', dash: [3, 2], value: latency('p99')},
      {name: 'p99.9', color: 'bad', dash: [1, 2], value: latency('p999')},
    ], {format: duration, log: true});
    new Plot('failures', 'Failed exchanges by cause', causeSeries, {format: rate, stacked: true, least: 1});
    new Plot('bytes', 'Bytes from and to clients', [
      {name: 'received', color: 'info', dash: [7, 3], value: point => point.received},
      {name: 'sent', color: 'good', fill: true, value: point => point.sent},
    ], {format: byteRate, binary: true, least: 1024});
  }

  show(stats, recent) {
    const causes = Object.entries(stats.causes).filter(([, total]) => total > 0);
    const now = recent?.ratesByWord(each => each.causes) ?? {};
    this.#causes.show(causes
        .sort((a, b) => (now[b[0]] ?? 0) - (now[a[0]] ?? 0) || b[1] - a[1])
        .map(([cause, total]) => ({
          key: cause,
          cells: [cause, meaning(cause), rate(now[cause] ?? 0), count(total)],
        })));
    this.#routes.show(stats.routes
        .map(route => this.#route(route, recent))
        .sort((a, b) => b.weight - a.weight || (a.key < b.key ? -1 : 1)));
  }

  #route(route, recent) {
    const requests = recent ? recent.routeRate(route, each => each.requests) : NaN;
    const part = code => recent && requests > 0
      ? recent.routeRate(route, each => each.codes[code] ?? 0) / requests : requests === 0 ? 0 : NaN;
    const failures = each => Object.values(each.causes).reduce((total, number) => total + number, 0);
    const failed = requests > 0 ? recent.routeRate(route, failures) / requests : requests === 0 ? 0 : NaN;
    return {
      key: route.listener + ' ' + route.route,
      weight: Math.round(Math.log2(1 + (requests || 0))), // so that rows of about the same traffic do not change places
      cells: [
        route.route || '(no route)', route.listener, rate(requests), duration(route.recent.p50), duration(route.recent.p90),
        duration(route.recent.p99), percent(part('4xx')), alarming(part('5xx')), alarming(failed), count(route.requests),
      ],
    };
  }
}

const alarming = part => badge(percent(part), part >= 0.05 ? 'bad' : part >= 0.01 ? 'warn' : 'plain');
