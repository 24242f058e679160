// History of the last ten minutes. Statistics count from the start of the process. The differences between two answers
// become points: rates, percentiles, and the gauges of that moment.

const SPAN = 600000;
const RECENT = 10;

const sum = numbers => numbers.reduce((total, number) => total + number, 0);

/** Adds the numbers of some objects up, by their keys. */
function sums(objects) {
  const total = {};
  for (const object of objects) {
    for (const [key, number] of Object.entries(object)) total[key] = (total[key] ?? 0) + number;
  }
  return total;
}

const routeKey = route => route.listener + ' ' + route.route;
const byKey = (list, key) => new Map(list.map(each => [key(each), each]));

/** The differences between two answers. A route or upstream that is new counts from nothing. */
export class Difference {
  constructor(before, after) {
    this.seconds = after.uptimeSeconds - before.uptimeSeconds;
    this.before = before;
    this.after = after;
    this.routesBefore = byKey(before.routes, routeKey);
    this.upstreamsBefore = byKey(before.upstreams, upstream => upstream.name);
  }

  /** How much a total has grown each second. */
  rate(read) {
    return (read(this.after) - read(this.before)) / this.seconds;
  }

  routeRate(route, read) {
    const before = this.routesBefore.get(routeKey(route));
    return (read(route) - (before ? read(before) : 0)) / this.seconds;
  }

  upstreamRate(upstream, read) {
    const before = this.upstreamsBefore.get(upstream.name);
    return (read(upstream) - (before ? read(before) : 0)) / this.seconds;
  }

  /** How much something of an endpoint has grown each second; one that is new counts from nothing. */
  endpointRate(upstream, endpoint, read) {
    const before = this.upstreamsBefore.get(upstream.name)?.endpoints.find(each => each.address === endpoint.address);
    return (read(endpoint) - (before ? read(before) : 0)) / this.seconds;
  }

  /** Rates of what is counted by words, such as causes; only words that have grown. */
  ratesByWord(read) {
    const before = read(this.before);
    const rates = {};
    for (const [word, number] of Object.entries(read(this.after))) {
      const grown = number - (before[word] ?? 0);
      if (grown > 0) rates[word] = grown / this.seconds;
    }
    return rates;
  }
}

export const codes = stats => sums(stats.routes.map(route => route.codes));

export class History {
  /** What was when, oldest first; "gap" ends a line. */
  points = [];
  #answers = []; // the whole answers of the last seconds

  /** Begins with points of before, oldest first. */
  begin(points) {
    this.points.unshift(...points);
  }

  /** Takes an answer; returns whether the process is another than before. */
  add(stats) {
    const last = this.latest;
    const restarted = last !== undefined
        && (stats.uptimeSeconds < last.uptimeSeconds || stats.totals.requestsTotal < last.totals.requestsTotal);
    if (restarted) {
      this.#answers = [];
      this.points.push({time: stats.time - 1, gap: true});
    } else if (last && (stats.time <= last.time || stats.uptimeSeconds === last.uptimeSeconds)) {
      return false; // the clock was set back, or it is the same answer
    }
    const difference = restarted || !last ? null : new Difference(last, stats);
    if (difference || this.points.length === 0 || restarted) this.points.push(point(stats, difference));
    while (this.points.length > 1 && this.points[0].time < stats.time - SPAN) this.points.shift();
    this.#answers.push(stats);
    while (this.#answers.length > 2 && stats.uptimeSeconds - this.#answers[1].uptimeSeconds >= RECENT - 0.5) {
      this.#answers.shift();
    }
    return restarted;
  }

  get latest() {
    return this.#answers[this.#answers.length - 1];
  }

  /** The difference that the last seconds made; null at the beginning. */
  get recent() {
    return this.#answers.length < 2 ? null : new Difference(this.#answers[0], this.latest);
  }

  /** The point at a moment, or the one before it. */
  at(time) {
    let found = this.points[0];
    for (const each of this.points) {
      if (each.time > time) break;
      if (!each.gap) found = each;
    }
    return found;
  }
}

/** What is shown of a moment; rates are null in the first one. */
function point(stats, difference) {
  return {
    time: stats.time,
    codes: difference?.ratesByWord(codes) ?? null,
    latency: stats.recent, // of the last seconds: what a single second has may be too little for percentiles
    causes: difference?.ratesByWord(each => each.causes) ?? null,
    received: difference?.rate(each => each.totals.bytesReceived) ?? null,
    sent: difference?.rate(each => each.totals.bytesSent) ?? null,
    tunnels: stats.totals.tunnelsActive,
    webSockets: stats.totals.websocketsActive,
    lag: Math.max(...stats.eventLoops.map(loop => loop.lagSeconds)),
    tasks: sum(stats.eventLoops.map(loop => loop.pendingTasks)),
    heap: stats.memory.heapUsedBytes,
    direct: stats.memory.directUsedBytes,
  };
}
