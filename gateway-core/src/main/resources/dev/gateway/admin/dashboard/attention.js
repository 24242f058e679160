// What an operator should look at first, in words of the gateway.

import {element, setText, setClass} from './elements.js';

/** Fills the list with findings, each {level, text}. Without any, it says that nothing needs attention. */
export function showAttention(list, lines) {
  const shown = lines.length > 0 ? lines : [{level: 'good', text: 'Nothing needs attention.'}];
  while (list.children.length > shown.length) list.lastElementChild.remove();
  while (list.children.length < shown.length) list.append(element('li'));
  shown.forEach(({level, text}, i) => {
    setClass(list.children[i], level);
    setText(list.children[i], text);
  });
}
