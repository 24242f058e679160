// Asks for the statistics again and again: each second, seldom while nobody looks, and ever more seldom while no answer
// comes. A gateway that takes long to answer is asked less often, so that watching never becomes its work.

const EVERY = 1000;
const EVERY_HIDDEN = 10000;
const LONGEST_BACK_OFF = 15000;
const PATIENCE = 5000;

export class Poller {
  #url;
  #onAnswer;
  #onFailure;
  #failures = 0;
  #timer = 0;
  #asking = false;

  /** onAnswer gets the statistics; onFailure a reason and the milliseconds until the next try. */
  constructor(url, onAnswer, onFailure) {
    this.#url = url;
    this.#onAnswer = onAnswer;
    this.#onFailure = onFailure;
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.now();
    });
    window.addEventListener('online', () => this.now());
  }

  /** Asks at once, unless an answer is on its way. */
  now() {
    if (this.#asking) return;
    clearTimeout(this.#timer);
    this.#ask();
  }

  async #ask() {
    this.#asking = true;
    const began = performance.now();
    let stats = null;
    let reason = '';
    try {
      stats = await this.#fetch();
    } catch (failure) {
      reason = failure.message;
    }
    this.#asking = false;
    const took = performance.now() - began;
    const next = stats === null ? Math.min(EVERY * 2 ** this.#failures++, LONGEST_BACK_OFF)
      : document.hidden ? EVERY_HIDDEN : Math.max(EVERY - took, 3 * took);
    this.#timer = setTimeout(() => this.#ask(), next);
    if (stats === null) {
      this.#onFailure(reason, next);
    } else {
      this.#failures = 0;
      this.#onAnswer(stats);
    }
  }

  async #fetch() {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), PATIENCE);
    try {
      const answer = await fetch(this.#url, {
        headers: {Accept: 'application/json'},
        cache: 'no-store',
        signal: limit.signal,
      });
      if (!answer.ok) throw new Error(`it answered ${answer.status}`);
      return await answer.json();
    } catch (failure) {
      if (failure.name === 'AbortError') throw new Error(`no answer in ${PATIENCE / 1000} s`);
      throw failure;
    } finally {
      clearTimeout(timer);
    }
  }
}
