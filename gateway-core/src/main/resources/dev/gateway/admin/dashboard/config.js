// The active configuration, and what each generation has changed in it.

import {element} from './elements.js';

const MOST_LINES = 2000;
const AROUND = 2;

/** Lines of {sign, text}, by which one text becomes another; sign is a space, + or -. */
export function difference(before, after) {
  const old = before.split('\n');
  const fresh = after.split('\n');
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < old.length - start && end < fresh.length - start && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end++;
  const same = lines => lines.map(text => ({sign: ' ', text}));
  return [
    ...same(old.slice(0, start)),
    ...middle(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)),
    ...same(old.slice(old.length - end)),
  ];
}

/** Keeps the longest common sequence of lines, or none of texts that are very long. */
function middle(old, fresh) {
  const small = old.length <= MOST_LINES && fresh.length <= MOST_LINES;
  const width = fresh.length + 1;
  const common = new Uint16Array(small ? (old.length + 1) * width : 0); // of what follows two lines
  for (let i = old.length - 1; small && i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      common[i * width + j] = old[i] === fresh[j] ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < fresh.length) {
    if (small && i < old.length && j < fresh.length && old[i] === fresh[j]) {
      lines.push({sign: ' ', text: old[i++]});
      j++;
    } else if (i < old.length && (!small || j === fresh.length || common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      lines.push({sign: '-', text: old[i++]});
    } else {
      lines.push({sign: '+', text: fresh[j++]});
    }
  }
  return lines;
}

const WORDS = {'+': 'added', '-': 'removed', ' ': 'same'};

/** The lines that changed, with a few around them. */
function show(lines) {
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - AROUND), i + AROUND + 1).some(line => line.sign !== ' '));
  const text = element('pre', {class: 'diff', tabindex: '0'});
  lines.forEach((line, i) => {
    if (near[i]) text.append(element('span', {class: WORDS[line.sign]}, `${line.sign} ${line.text}\n`));
    else if (i > 0 && near[i - 1]) text.append(element('span', {class: 'same'}, '  …\n'));
  });
  return text;
}

export class Configuration {
  #text = null;

  /** Reads the active configuration, without its secrets. */
  async read() {
    try {
      const answer = await fetch('config', {cache: 'no-cache'});
      this.#text = answer.ok ? await answer.text() : null;
    } catch {
      this.#text = null; // the banner reports that the gateway does not answer
    }
  }

  /** Adds to a line of the changes what another generation has changed. */
  async compare(item) {
    const before = this.#text;
    await this.read();
    if (before === null || this.#text === null) return;
    const lines = difference(before, this.#text);
    const many = sign => lines.filter(line => line.sign === sign).length;
    item.append(before === this.#text ? element('p', {class: 'empty'}, 'The configuration has not changed.')
      : element('details', {open: ''}, element('summary', {}, `${many('+')} lines added, ${many('-')} removed`), show(lines)));
  }
}
