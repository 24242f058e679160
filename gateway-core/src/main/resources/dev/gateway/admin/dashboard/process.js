// The process: event loops, memory, certificates, configuration, HTTP/2.

import {Facts, Table, badge, meter} from './elements.js';
import {bytes, count, day, duration, plural, rate} from './format.js';
import {Plot} from './plots.js';

const DAY = 86400;

/** Whole days until a certificate ends, and how urgent that is. */
function daysLeft(certificate, now) {
  const days = Math.floor((certificate.notAfterSeconds - now / 1000) / DAY);
  return {days, level: days < 7 ? 'bad' : days < 21 ? 'warn' : 'good', text: days < 0 ? 'expired' : plural(days, 'day')};
}

export class Process {
  #loops;
  #memory;
  #http2;
  #certificates = new Table(document.getElementById('certificates'), 'Certificates',
      [{name: 'Name', text: true, wrap: true}, {name: 'Of', text: true, wrap: true}, {name: 'Left', text: true}, {name: 'Ends', text: true, wide: true}],
      'No listener or upstream has a certificate.');

  constructor() {
    new Plot('loops', 'Event-loop lag', [
      {name: 'longest in 10 s', color: 'violet', fill: true, value: point => point.lag},
    ], {format: duration, least: 0.005});
    new Plot('memory', 'Memory', [
      {name: 'heap', color: 'good', fill: true, value: point => point.heap},
      {name: 'direct', color: 'info', dash: [7, 3], value: point => point.direct},
    ], {format: bytes, binary: true, least: 1 << 20});
    this.#loops = new Table(document.getElementById('loops'), 'Event loops',
        [{name: 'Loop', text: true}, {name: 'Lag'}, {name: 'Tasks waiting', wide: true}, {name: 'Connections'}, {name: 'Exchanges'}], '');
    this.#memory = new Facts(document.getElementById('memory'));
    this.#http2 = new Table(document.getElementById('bytes'), 'HTTP/2',
        [{name: 'HTTP/2', text: true}, {name: 'Open streams'}, {name: 'Streams'}, {name: 'Frames', wide: true}, {name: 'Resets', wide: true},
          {name: 'Flow-control pauses', wide: true}], '');
  }

  show(stats, recent) {
    this.#loops.show(stats.eventLoops.map(loop => ({
      key: String(loop.loop),
      cells: [
        String(loop.loop), badge(duration(loop.lagSeconds), loop.lagSeconds > 0.1 ? 'bad' : 'plain'), count(loop.pendingTasks),
        count(loop.connections), count(loop.exchanges),
      ],
    })));
    const {heapUsedBytes, heapMaxBytes, directUsedBytes, directMaxBytes} = stats.memory;
    this.#memory.set('Heap', meter(`${bytes(heapUsedBytes)} of ${bytes(heapMaxBytes)}`, heapUsedBytes / heapMaxBytes));
    this.#memory.set('Direct', meter(`${bytes(directUsedBytes)} of ${bytes(directMaxBytes)}`, directUsedBytes / directMaxBytes));
    this.#certificates.show([...stats.certificates]
        .sort((a, b) => a.notAfterSeconds - b.notAfterSeconds)
        .map((each, i) => {
          const left = daysLeft(each, stats.time);
          const of = each.listener ?? each.upstream;
          return {
            key: `${of} ${each.name} ${i}`,
            cells: [each.name, of, badge(left.text, left.level), day(each.notAfterSeconds * 1000)],
          };
        }));
    this.#http2.show(['downstream', 'upstream'].map(side => {
      const now = stats.h2[side];
      const grown = read => recent ? rate(recent.rate(each => read(each.h2[side]))) : '–';
      return {
        key: side,
        cells: [
          side, count(now.streamsActive), grown(each => each.streams), grown(each => each.frames.received + each.frames.sent),
          count(now.resets.received + now.resets.sent), count(now.flowControlPauses),
        ],
      };
    }));
  }
}
