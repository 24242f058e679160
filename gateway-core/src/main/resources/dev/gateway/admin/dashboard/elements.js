// Elements that are changed only where something has changed, so that nothing flickers and a selection stays.

/** Makes an element with attributes and children; texts are never read as HTML. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function setText(target, text) {
  const node = typeof target === 'string' ? document.getElementById(target) : target;
  if (node.textContent !== text) node.textContent = text;
}

export function setClass(node, name) {
  if (node.className !== name) node.className = name;
}

/** A short word with a color of its own; the word says what the color says. */
export const badge = (text, level) => ({text, badge: level});

/** A number of something, and how much of a whole that is. */
export const meter = (text, part, kind = '') => ({text, part, kind});

function fill(cell, value) {
  if (value === null || typeof value !== 'object') {
    setText(cell, String(value ?? ''));
    return;
  }
  let inner = cell.firstElementChild;
  if (!inner) {
    cell.textContent = '';
    inner = element('span');
    cell.append(inner);
    if ('part' in value) cell.append(element('span', {class: 'bar', 'aria-hidden': 'true'}, element('i')));
  }
  setText(inner, value.text);
  if ('badge' in value) setClass(inner, 'badge ' + value.badge);
  if ('note' in value) {
    setClass(inner, 'noted');
    inner.title = value.note;
  }
  if ('part' in value) {
    const bar = cell.lastElementChild;
    bar.firstElementChild.style.width = Math.max(0, Math.min(100, value.part * 100)).toFixed(1) + '%';
    setClass(bar, 'bar ' + value.kind);
  }
}

/**
 * A table whose rows are kept by a key. Columns are {name, wide, text, wrap}: wide ones are left out on narrow screens, text
 * is not aligned as numbers are, and what wraps may take several lines.
 */
export class Table {
  #body = element('tbody');
  #rows = new Map();
  #columns;
  #most;
  #empty = element('p', {class: 'empty'});
  #more = element('p', {class: 'more'});
  #scroll;

  constructor(parent, label, columns, empty, most = 50) {
    this.#columns = columns;
    this.#most = most;
    const head = element('tr', {}, ...columns.map(each => {
      const cell = element('th', {scope: 'col'}, each.name);
      setClass(cell, this.#class(each));
      return cell;
    }));
    this.#scroll = element('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label},
        element('table', {}, element('thead', {}, head), this.#body));
    setText(this.#empty, empty);
    parent.append(this.#scroll, this.#empty, this.#more);
  }

  #class(column) {
    return [column.text ? 'text' : '', column.wide ? 'wide' : '', column.wrap ? 'wrap' : ''].filter(Boolean).join(' ');
  }

  /** Shows rows of {key, cells, level}, in their order. */
  show(rows) {
    const shown = rows.slice(0, this.#most);
    this.#scroll.hidden = rows.length === 0;
    this.#empty.hidden = rows.length > 0;
    this.#more.hidden = rows.length <= this.#most;
    setText(this.#more, `and ${rows.length - this.#most} more`);
    const gone = new Set(this.#rows.keys());
    shown.forEach(({key, cells, level}, index) => {
      gone.delete(key);
      let row = this.#rows.get(key);
      if (!row) {
        row = element('tr', {}, ...this.#columns.map((column, i) => {
          const cell = i === 0 ? element('th', {scope: 'row'}) : element('td');
          setClass(cell, this.#class(column));
          return cell;
        }));
        this.#rows.set(key, row);
      }
      setClass(row, level ?? '');
      cells.forEach((value, i) => fill(row.cells[i], value));
      if (this.#body.rows[index] !== row) this.#body.insertBefore(row, this.#body.rows[index] ?? null);
    });
    for (const key of gone) {
      this.#rows.get(key).remove();
      this.#rows.delete(key);
    }
  }
}

/** Names and values, one under the other. */
export class Facts {
  #list = element('dl');
  #values = new Map();

  constructor(parent) {
    parent.append(this.#list);
  }

  set(name, value) {
    let node = this.#values.get(name);
    if (!node) {
      node = element('dd');
      this.#values.set(name, node);
      this.#list.append(element('div', {}, element('dt', {}, name), node));
    }
    fill(node, value);
  }
}
