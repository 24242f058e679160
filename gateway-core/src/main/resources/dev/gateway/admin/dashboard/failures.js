// The last exchanges that failed, one by one: the gateway keeps them, so they are there when the page is opened.

import {Table, badge} from './elements.js';
import {time as clock} from './format.js';

const SHOWN = 20;
const EVERY = 3000;

export class Failures {
  #table = new Table(document.getElementById('last-failures'), 'The last exchanges that failed', [
    {name: 'Time', text: true}, {name: 'Status'}, {name: 'Cause', text: true, wrap: true},
    {name: 'Request', text: true, wide: true, wrap: true}, {name: 'Route', text: true, wide: true, wrap: true},
    {name: 'Endpoint', text: true, wrap: true}, {name: 'What happened', text: true, wide: true, wrap: true},
  ], 'No exchange has failed since the start.', SHOWN);

  #asked = -EVERY;
  #failed = -1;

  /** Asks for them if there are more than before, and not all the time. */
  async show(stats) {
    const failed = Object.values(stats.causes).reduce((total, each) => total + each, 0) + (stats.totals.handlerErrors ?? 0)
        + stats.upstreams.reduce((total, each) => total + (each.codes['5xx'] ?? 0), 0);
    if (failed === this.#failed || performance.now() - this.#asked < EVERY) return;
    this.#asked = performance.now();
    try {
      const answer = await fetch('failures', {cache: 'no-store'});
      if (!answer.ok) return;
      this.#table.show((await answer.json()).failures.map(row));
      this.#failed = failed;
    } catch {
      // the banner reports that the gateway does not answer
    }
  }
}

const row = failure => ({
  key: `${failure.time} ${failure.requestId ?? ''} ${failure.path}`,
  cells: [
    clock(failure.time), String(failure.status), badge(failure.cause ?? 'answered so', failure.status >= 500 ? 'bad' : 'warn'),
    `${failure.method ?? ''} ${failure.path}`.trim(), failure.route ?? '', tried(failure),
    [failure.detail, failure.requestId].filter(Boolean).join(' · '),
  ],
});

/** All endpoints that were tried, the last one last. */
const tried = failure => [...(failure.tried ?? []).map(each => each.endpoint), failure.endpoint].filter(Boolean).join(', then ');
