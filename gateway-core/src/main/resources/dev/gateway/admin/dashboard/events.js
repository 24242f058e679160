// What has changed from one answer to the next: generations, reloads, endpoints, restarts.

import {Configuration} from './config.js';
import {element, setText, Facts, badge} from './elements.js';
import {count, plural, time as clock} from './format.js';
import {mark} from './plots.js';

const MOST = 30;

const stateOf = stats => new Map(stats.upstreams.flatMap(upstream => upstream.endpoints
    .map(endpoint => [upstream.name + ' ' + endpoint.address, endpoint.state])));

export class Events {
  #facts;
  #list = element('ol', {class: 'events', 'aria-label': 'What has changed since this page was opened'});
  #empty = element('p', {class: 'empty'}, 'Nothing has changed since this page was opened.');
  #configuration = new Configuration();

  /** Whether the last reload that was seen has failed. */
  reloadFailed = false;

  constructor(parent) {
    this.#facts = new Facts(parent);
    parent.append(element('h3', {}, 'Changes'), this.#empty, this.#list);
    this.#configuration.read();
  }

  /** Adds a line, and a mark to the charts; returns the line. */
  add(time, text, level = 'plain') {
    mark(time, text);
    this.#empty.hidden = true;
    const item = element('li', {}, element('time', {}, clock(time)), element('span', {class: 'badge ' + level}, text));
    this.#list.prepend(item);
    while (this.#list.children.length > MOST) this.#list.lastElementChild.remove();
    return item;
  }

  /** Compares an answer with the one before, if it is of the same process. */
  show(stats, before, restarted) {
    const {generation, generationsDraining, reloadsSucceeded, reloadsFailed} = stats.config;
    this.#facts.set('Generation', count(generation));
    this.#facts.set('Reloads', `${count(reloadsSucceeded)} succeeded`);
    this.#facts.set('Reloads refused', badge(count(reloadsFailed), this.reloadFailed ? 'bad' : 'plain'));
    this.#facts.set('Earlier generations draining', count(generationsDraining));
    this.#facts.set('Java', stats.build.java);
    this.#facts.set('Access log lines dropped', badge(count(stats.accessLog.dropped), stats.accessLog.dropped > 0 ? 'warn' : 'plain'));
    setText('generation', count(generation));
    if (restarted) {
      this.reloadFailed = false;
      this.#configuration.compare(this.add(stats.time, 'The gateway was started again', 'warn'));
    } else if (before) {
      this.#compare(stats, before);
    }
  }

  #compare(stats, before) {
    const refused = stats.config.reloadsFailed - before.config.reloadsFailed;
    if (refused > 0) {
      this.reloadFailed = true;
      this.add(stats.time, refused === 1 ? 'A reload was refused' : `${plural(refused, 'reload')} were refused`, 'bad');
    }
    if (stats.config.generation !== before.config.generation) {
      this.reloadFailed = false;
      this.#configuration.compare(this.add(stats.time, `Generation ${stats.config.generation} is active`, 'info'));
    }
    const states = stateOf(before);
    for (const [name, state] of stateOf(stats)) {
      const earlier = states.get(name);
      if (earlier !== undefined && earlier !== state) {
        this.add(stats.time, `${name} is ${state.replaceAll('_', ' ')}`, state === 'healthy' ? 'good' : 'bad');
      }
    }
  }
}
