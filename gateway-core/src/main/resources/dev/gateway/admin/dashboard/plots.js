// Charts over time. Each shows its values as text: those of now, or of the moment that the pointer or the arrow keys have
// chosen. All charts share this moment.

import {element, setClass, setText} from './elements.js';
import {time as clock} from './format.js';

const {Chart} = window; // optional for a program that embeds the gateway
const SWATCH = 'http://www.w3.org/2000/svg';

const LEAST_SPAN = 30000;

const all = [];
let span = 180000;
let chosen = null; // the moment, or null for now
let history = null;
const marks = []; // {time, text}: what happened, drawn as a line through all charts

const color = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

/** A line across all charts at the chosen moment, and one wherever something has happened. */
const moments = {
  id: 'moments',
  afterDatasetsDraw({ctx, chartArea: area, scales: {x}}) {
    const line = (time, style, dash) => {
      if (time < x.min || time > x.max) return;
      const at = Math.round(x.getPixelForValue(time)) + 0.5;
      ctx.save();
      ctx.beginPath();
      ctx.setLineDash(dash);
      ctx.strokeStyle = style;
      ctx.moveTo(at, area.top);
      ctx.lineTo(at, area.bottom);
      ctx.stroke();
      ctx.restore();
    };
    for (const mark of marks) line(mark.time, color('accent'), [4, 3]);
    if (chosen !== null) line(chosen, color('muted'), []);
  },
};

/** Whole minutes, or parts of them, that stay where they are while time moves on. */
function timeTicks(axis) {
  const wide = axis.width > 420;
  const shown = (axis.max - axis.min) / (wide ? 7 : 4);
  const step = [5000, 10000, 15000, 30000, 60000, 120000, 180000].find(each => each >= shown) ?? 300000;
  const ticks = [];
  const edge = (axis.max - axis.min) * 0.04; // where a label would be cut off
  for (let at = Math.ceil((axis.min + edge) / step) * step; at <= axis.max - edge; at += step) ticks.push({value: at});
  axis.ticks = ticks;
}

const clockOfTick = millis => millis % 60000 === 0 ? clock(millis).slice(0, 5) : clock(millis);

/** Powers of ten, with what is shown between them. */
const decades = {
  afterDataLimits(axis) {
    axis.min = 10 ** Math.floor(Math.log10(axis.min) + 1e-9);
    axis.max = 10 ** Math.max(Math.ceil(Math.log10(axis.max) - 1e-9), Math.log10(axis.min) + 1);
  },
  afterBuildTicks(axis) {
    const first = Math.round(Math.log10(axis.min));
    const powers = Array.from({length: Math.round(Math.log10(axis.max)) - first + 1}, (_, i) => first + i);
    axis.ticks = powers.map(power => ({value: Number(`1e${power}`)}));
  },
};

/** Steps that are round in powers of 1024. */
const binarySteps = {
  afterDataLimits(axis) {
    axis.most = axis.max; // building ticks changes max
  },
  afterBuildTicks(axis) {
    let step = 1;
    for (let unit = 1; axis.most / step > 5; unit *= 1024) {
      step = [1, 2, 5, 10, 20, 50, 100, 200, 500].map(each => each * unit).find(each => axis.most / each <= 5) ?? step;
    }
    axis.max = Math.ceil(axis.most / step) * step;
    axis.ticks = Array.from({length: Math.round(axis.max / step) + 1}, (_, i) => ({value: i * step}));
  },
};

export class Plot {
  #chart;
  #series;
  #format;
  #when = element('span', {class: 'when'});
  #legend = element('ul', {class: 'legend'});
  #canvas = element('canvas');
  #frame;
  #items = new Map();
  #title;
  #options;

  /**
   * Series are {name, color, dash, value(point)}, or a function that returns them for the points that are shown.
   * Options: format of values, stacked, log, binary (steps), whole (numbers only), least (what the axis shows at least).
   */
  constructor(id, title, series, options) {
    this.#title = title;
    this.#series = series;
    this.#format = options.format;
    this.#options = options;
    this.#frame = element('div', {class: 'plot', tabindex: '0', role: 'img'}, this.#canvas);
    document.getElementById(id).append(
        element('div', {class: 'head'}, element('h2', {}, title), this.#when), this.#frame, this.#legend);
    all.push(this);
    if (!Chart) {
      document.getElementById('no-charts').hidden = false;
      this.#frame.hidden = true;
      return;
    }
    this.#chart = new Chart(this.#canvas, this.#settings());
    this.#canvas.addEventListener('pointermove', event => {
      choose(this.#chart.scales.x.getValueForPixel(event.offsetX));
    });
    this.#canvas.addEventListener('pointerleave', () => choose(null));
    this.#frame.addEventListener('keydown', event => step(event));
    this.#frame.addEventListener('blur', () => choose(null));
  }

  #settings() {
    const {format, stacked, log, binary, least, whole} = this.#options;
    return {
      type: 'line',
      data: {datasets: []},
      plugins: [moments],
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        parsing: false,
        normalized: true,
        events: [],
        layout: {padding: {top: 8, right: 2}},
        elements: {point: {radius: 0}, line: {borderWidth: 1.75, borderJoinStyle: 'round'}},
        plugins: {legend: {display: false}, tooltip: {enabled: false}},
        scales: {
          x: {
            type: 'linear',
            afterBuildTicks: timeTicks,
            ticks: {callback: clockOfTick, maxRotation: 0, autoSkip: false},
            grid: {drawTicks: false},
            border: {display: false},
          },
          y: {
            type: log ? 'logarithmic' : 'linear',
            stacked: Boolean(stacked),
            beginAtZero: !log,
            suggestedMax: least,
            ...(log ? decades : binary ? binarySteps : {}),
            afterFit: axis => axis.width = 62,
            ticks: {callback: value => format(value), maxTicksLimit: 6, padding: 6, ...(whole ? {precision: 0} : {})},
            grid: {drawTicks: false},
            border: {display: false},
          },
        },
      },
    };
  }

  draw() {
    const latest = history.points[history.points.length - 1];
    const shown = history.points.filter(each => each.time >= latest.time - span - 2000);
    const series = typeof this.#series === 'function' ? this.#series(shown) : this.#series;
    if (this.#chart) this.#paint(series, shown, latest);
    this.#describe(series);
  }

  #paint(series, shown, latest) {
    const scales = this.#chart.options.scales;
    scales.x.min = Math.max(latest.time - span, Math.min(history.points[0].time, latest.time - LEAST_SPAN)); // it grows
    scales.x.max = latest.time;
    for (const scale of [scales.x, scales.y]) {
      scale.ticks.color = color('muted');
      scale.grid.color = color('line');
      scale.ticks.font = {size: 11};
    }
    this.#chart.data.datasets = series.map((each, index) => this.#dataset(each, index, shown));
    this.#chart.update('none');
  }

  #dataset(each, index, shown) {
    const paint = color(each.color);
    const {stacked} = this.#options;
    return {
      label: each.name,
      data: shown.map(point => ({x: point.time, y: point.gap ? NaN : each.value(point) ?? NaN})),
      borderColor: paint,
      borderDash: each.dash ?? [],
      backgroundColor: stacked ? paint + '59' : paint + '1f',
      fill: stacked ? (index === 0 ? 'origin' : '-1') : Boolean(each.fill) && 'origin',
    };
  }

  /** The values as text; they also tell those who do not see the chart. */
  #describe(series) {
    const point = chosen === null ? history.points[history.points.length - 1] : history.at(chosen);
    setText(this.#when, chosen === null ? 'now' : clock(point.time));
    setClass(this.#when, chosen === null ? 'when' : 'when chosen');
    const gone = new Set(this.#items.keys());
    const texts = [];
    series.forEach((each, index) => {
      gone.delete(each.name);
      let item = this.#items.get(each.name);
      if (!item) {
        item = legendItem(each);
        this.#items.set(each.name, item);
      }
      item.swatch.setAttribute('class', 'swatch ' + each.color);
      const text = this.#format(each.value(point));
      setText(item.value, text);
      texts.push(each.name + ' ' + text);
      if (this.#legend.children[index] !== item.node) this.#legend.insertBefore(item.node, this.#legend.children[index] ?? null);
    });
    for (const name of gone) {
      this.#items.get(name).node.remove();
      this.#items.delete(name);
    }
    const label = `${this.#title}, ${chosen === null ? 'now' : 'at ' + clock(point.time)}: ${texts.join(', ') || 'nothing'}`;
    if (this.#frame.getAttribute('aria-label') !== label) this.#frame.setAttribute('aria-label', label);
  }
}

function legendItem(series) {
  const swatch = document.createElementNS(SWATCH, 'svg');
  swatch.setAttribute('viewBox', '0 0 18 8');
  swatch.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS(SWATCH, 'path');
  line.setAttribute('d', 'M0 4h18');
  if (series.dash) line.setAttribute('stroke-dasharray', series.dash.join(' '));
  swatch.append(line);
  const value = element('b');
  return {swatch, value, node: element('li', {}, swatch, element('span', {}, series.name), value)};
}

function choose(time) {
  const latest = history?.points[history.points.length - 1];
  if (!latest) return;
  chosen = time === null || time >= latest.time ? null : Math.max(time, latest.time - span);
  drawAll();
}

function step(event) {
  const times = history?.points.filter(each => !each.gap).map(each => each.time) ?? [];
  const now = times.length - 1;
  const current = chosen === null ? now : times.findLastIndex(each => each <= chosen);
  const target = {
    ArrowLeft: current - 1, ArrowRight: current + 1, PageUp: current - 10, PageDown: current + 10, Home: 0, End: now,
    Escape: now,
  }[event.key];
  if (target === undefined || now < 0) return;
  event.preventDefault();
  choose(target >= now ? null : times[Math.max(0, target)]);
}

let wanted = false;

function drawAll() {
  if (wanted || !history?.points.length) return;
  wanted = true;
  requestAnimationFrame(() => {
    wanted = false;
    all.forEach(plot => plot.draw());
  });
}

/** Draws what has become of the history. */
export function draw(newest) {
  history = newest;
  drawAll();
}

/** Shows so many seconds. */
export function setSpan(seconds) {
  span = seconds * 1000;
  drawAll();
}

/** Remembers that something has happened. */
export function mark(time, text) {
  marks.push({time, text});
  if (marks.length > 50) marks.shift();
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
