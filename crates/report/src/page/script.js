// SPDX-License-Identifier: GPL-2.0-or-later
// Time lines of a report. Columns stand in the page, packed as src/pack.rs says; nothing is loaded.
'use strict';
(() => {
  const meta = JSON.parse(document.getElementById('meta')?.textContent ?? 'null');
  const panels = document.getElementById('panels');
  if (!meta || !panels || typeof uPlot === 'undefined') return;
  const bar = document.querySelector('.bar');
  const shown = document.getElementById('range');
  const HEIGHT = 150;
  const TASKS_ROW = 18;
  // Groups of panels that are open at first; a machine may have hundreds of domains.
  const OPEN = 4;
  const PERFETTO = 'https://ui.perfetto.dev';

  let side = 0;
  let run = meta.runs[0];
  let range = [0, run.duration_s];
  let plots = [];
  let shows = 0;

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (at) => css(`--s${at % 8}`);
  const seconds = (value) => `${value.toFixed(6).replace(/\.?0+$/, '')} s`;

  async function unpack(at) {
    const text = document.getElementById(`columns-${at}`).textContent;
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new DataView(await new Response(stream).arrayBuffer());
  }

  /** Times (s) and values of every series of a run. */
  async function columns(at) {
    const view = await unpack(at);
    let place = 0;
    return meta.runs[at].series.map((series) => {
      const times = new Float64Array(series.n);
      const values = new Float64Array(series.n);
      for (let i = 0, time = 0; i < series.n; i++, place += 4) {
        time += view.getUint32(place, true);
        times[i] = time * meta.runs[at].tick_s;
      }
      for (let i = 0, value = 0; i < series.n; i++, place += 4) {
        value = (value + view.getInt32(place, true)) | 0;
        values[i] = value * series.scale;
      }
      return [times, values];
    });
  }

  /** Series over the times of all of them; a value holds until the next, before the first there is none. */
  function together(lines) {
    const all = new Float64Array(lines.reduce((sum, [times]) => sum + times.length, 0));
    lines.reduce((at, [times]) => { all.set(times, at); return at + times.length; }, 0);
    all.sort();
    const times = all.filter((time, at) => at === 0 || time !== all[at - 1]);
    const held = lines.map(([own, values]) => {
      const out = new Array(times.length).fill(null);
      for (let i = 0, at = -1; i < times.length; i++) {
        while (at + 1 < own.length && own[at + 1] <= times[i]) at++;
        if (at >= 0) out[i] = values[at];
      }
      return out;
    });
    return [times, ...held];
  }

  /** First place whose time is behind `time`. */
  function behind(times, time) {
    let low = 0;
    let high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle + 1; else high = middle;
    }
    return low;
  }

  const task = (tid) => (tid === null ? '' : tid === 0 ? 'idle' : run.tasks[tid] ?? `task ${tid}`);

  /** A row for each CPU, a box for each stay of a task; what is narrower than a dot is drawn once. */
  function drawTasks(plot, lines, labels) {
    const { ctx } = plot;
    const { left, top, width, height } = plot.bbox;
    const row = height / lines.length;
    const ratio = uPlot.pxRatio;
    ctx.save();
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    ctx.textBaseline = 'middle';
    lines.forEach(([times, tids], cpu) => {
      const y = top + cpu * row + ratio;
      ctx.fillStyle = css('--ink');
      ctx.textAlign = 'right';
      ctx.fillText(run.series[labels[cpu]].label, left - 6 * ratio, y + row / 2 - ratio);
      ctx.textAlign = 'left';
      const first = Math.max(0, behind(times, plot.scales.x.min) - 1);
      let drawn = -1;
      for (let i = first; i < times.length && times[i] <= plot.scales.x.max; i++) {
        if (tids[i] === 0) continue;
        const from = Math.max(plot.valToPos(times[i], 'x', true), left);
        const end = i + 1 < times.length ? times[i + 1] : run.duration_s;
        const to = Math.min(plot.valToPos(end, 'x', true), left + width);
        if (to <= drawn) continue;
        drawn = Math.max(Math.ceil(to), Math.floor(from) + 1);
        const hue = (tids[i] * 137.508) % 360;
        ctx.fillStyle = `hsl(${hue} 60% 36%)`;
        ctx.fillRect(from, y, Math.max(to - from, ratio), row - 2 * ratio);
        const name = task(tids[i]);
        if (to - from > ctx.measureText(name).width + 6 * ratio) {
          ctx.fillStyle = '#ffffff';
          ctx.fillText(name, from + 3 * ratio, y + row / 2 - ratio);
        }
      }
    });
    ctx.restore();
  }

  /** Marks of the decisions that the page explains. */
  function drawMarks(plot, domain) {
    const { ctx } = plot;
    const ratio = uPlot.pxRatio;
    ctx.save();
    ctx.fillStyle = css('--beyond');
    for (const [time, of] of run.decisions) {
      if (of !== domain || time < plot.scales.x.min || time > plot.scales.x.max) continue;
      const x = plot.valToPos(time, 'x', true);
      const y = plot.bbox.top;
      ctx.beginPath();
      ctx.moveTo(x - 4 * ratio, y - 7 * ratio);
      ctx.lineTo(x + 4 * ratio, y - 7 * ratio);
      ctx.lineTo(x, y);
      ctx.fill();
    }
    ctx.restore();
  }

  /** Opens the explanation whose mark is nearest to `x` of a panel, if one is near. */
  function explain(plot, domain, x) {
    const distance = ([time]) => Math.abs(plot.valToPos(time, 'x') - x);
    let best = -1;
    run.decisions.forEach((mark, at) => {
      if (mark[1] === domain && (best < 0 || distance(mark) < distance(run.decisions[best]))) best = at;
    });
    if (best >= 0 && distance(run.decisions[best]) <= 8) open(best);
  }

  function open(at) {
    const entry = document.getElementById(`d-${side}-${at}`);
    if (!entry) return;
    document.querySelectorAll('details.picked').forEach((old) => old.classList.remove('picked'));
    entry.parentElement.open = true;
    entry.open = true;
    entry.classList.add('picked');
    entry.scrollIntoView({ block: 'center' });
    entry.querySelector('summary').focus({ preventScroll: true });
  }

  function zoom(from, to) {
    const length = Math.min(Math.max(to - from, 2e-5), run.duration_s);
    const start = Math.min(Math.max(from, 0), run.duration_s - length);
    range = [start, start + length];
    plots.forEach(({ plot }) => plot.setScale('x', { min: range[0], max: range[1] }));
    shown.textContent = `${seconds(range[0])} to ${seconds(range[1])}`;
  }

  const actions = {
    earlier: ([from, to]) => [from - (to - from) / 4, to - (to - from) / 4],
    later: ([from, to]) => [from + (to - from) / 4, to + (to - from) / 4],
    in: ([from, to]) => [from + (to - from) / 4, to - (to - from) / 4],
    out: ([from, to]) => [from - (to - from) / 2, to + (to - from) / 2],
    all: () => [0, run.duration_s],
  };
  const keys = { ArrowLeft: 'earlier', ArrowRight: 'later', '+': 'in', '=': 'in', '-': 'out', 0: 'all', Home: 'all' };

  function options(panel, lines, width) {
    const ink = () => css('--ink');
    const grid = { stroke: () => css('--rule'), width: 1 };
    const isTasks = panel.kind === 'tasks';
    const unit = run.series[panel.series[0]].unit;
    const named = (at) => ({
      label: run.series[at].label,
      value: (_, value) => (isTasks ? task(value) : value === null ? '-' : `${+value.toFixed(3)} ${unit}`),
    });
    const drawn = (at, place) => (isTasks
      ? { paths: () => null, points: { show: false } }
      : { stroke: () => colour(place), width: 1, spanGaps: true, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }) });
    const top = (_, __, max) => [0, Math.max(max, panel.top ?? 1e-9) * 1.02];
    const temperature = unit === 'C';
    return {
      width,
      height: isTasks ? TASKS_ROW * lines.length + 40 : HEIGHT,
      scales: { x: { time: false }, y: { range: isTasks ? [0, lines.length] : temperature ? (_, min, max) => [Math.floor(min), Math.ceil(max + 0.1)] : top } },
      series: [{ label: 'time', value: (_, value) => (value === null ? '-' : seconds(value)) },
        ...panel.series.map((at, place) => ({ ...named(at), ...drawn(at, place) }))],
      axes: [{ stroke: ink, grid, ticks: grid, size: 28, values: (_, ticks) => ticks.map((tick) => seconds(tick)) },
        { stroke: ink, grid, ticks: grid, size: 64, show: true, values: isTasks ? () => [] : undefined }],
      cursor: { sync: { key: 'pelton', scales: ['x', null] }, drag: { x: true, y: false } },
      padding: [10, 8, 0, 0],
      legend: { live: true },
      hooks: {
        draw: [(plot) => {
          if (isTasks) drawTasks(plot, lines, panel.series);
          else if (panel.domain !== null) drawMarks(plot, panel.domain);
        }],
        // The library tells of a change behind it: one of ours is the range already; one by hand is for all panels.
        setScale: [(plot, key) => {
          const { min, max } = plot.scales.x;
          if (key === 'x' && (min !== range[0] || max !== range[1])) queueMicrotask(() => zoom(min, max));
        }],
      },
    };
  }

  function draw(panel, into, data) {
    const figure = document.createElement('div');
    figure.className = 'panel';
    const heading = document.createElement('h3');
    const { unit } = run.series[panel.series[0]];
    const thinned = Math.max(...panel.series.map((at) => run.series[at].thinned));
    heading.textContent = panel.title + (unit ? `, ${unit}` : '')
      + (thinned ? ` (first, last, smallest and largest value of each ${seconds(thinned * run.tick_s)})` : '');
    figure.append(heading);
    into.append(figure);
    const lines = panel.series.map((at) => data[at]);
    const plot = new uPlot(options(panel, lines, figure.clientWidth || 600), together(lines), figure);
    plot.root.querySelector('.u-wrap').setAttribute('aria-hidden', 'true');
    if (panel.domain !== null) plot.over.addEventListener('click', (event) => explain(plot, panel.domain, event.offsetX));
    plots.push({ plot, figure });
  }

  /** Panels by what they are about, each group under a heading that opens and closes it. */
  function groups(data) {
    const names = [...new Set(run.panels.map((panel) => panel.of))];
    for (const [place, name] of names.entries()) {
      const group = document.createElement('details');
      const summary = document.createElement('summary');
      summary.textContent = name;
      group.append(summary);
      panels.append(group);
      let made = false;
      const make = () => {
        if (made || !group.open) return;
        made = true;
        run.panels.filter((panel) => panel.of === name).forEach((panel) => draw(panel, group, data));
        zoom(...range);
      };
      group.addEventListener('toggle', make);
      group.open = place < OPEN;
      make();
    }
  }

  async function show(at) {
    const mine = ++shows;
    const data = await columns(at);
    // Another run was chosen meanwhile.
    if (mine !== shows) return;
    const length = run.duration_s;
    side = at;
    run = meta.runs[at];
    plots.forEach(({ plot }) => plot.destroy());
    plots = [];
    panels.replaceChildren();
    if (run.duration_s !== length) range = [0, run.duration_s];
    groups(data);
    zoom(...range);
    document.documentElement.dataset.ready = String(at);
  }

  /** The time lines as a trace in Chrome's JSON form: tasks as slices, all else as counters. */
  async function trace() {
    const data = await columns(side);
    const events = [];
    const micro = (s) => +(s * 1e6).toFixed(3);
    const group = (pid, name) => events.push({ ph: 'M', pid, tid: 0, name: 'process_name', args: { name } });
    run.panels.forEach((panel, at) => {
      const pid = at + 1;
      group(pid, `${panel.of}: ${panel.title}`);
      panel.series.forEach((of, tid) => {
        const [times, values] = data[of];
        const { label, unit } = run.series[of];
        if (panel.kind === 'tasks') events.push({ ph: 'M', pid, tid, name: 'thread_name', args: { name: label } });
        times.forEach((time, i) => {
          const ts = micro(time);
          if (panel.kind !== 'tasks') events.push({ ph: 'C', pid, ts, name: unit ? `${label}, ${unit}` : label, args: { value: values[i] } });
          else if (values[i]) events.push({ ph: 'X', pid, tid, ts, dur: micro((times[i + 1] ?? run.duration_s) - time), name: task(values[i]) });
        });
      });
    });
    return new TextEncoder().encode(JSON.stringify({ traceEvents: events })).buffer;
  }

  /** Hands the time lines to the Perfetto UI in another window: it answers when it is ready. */
  async function perfetto() {
    const other = window.open(PERFETTO);
    if (!other) return;
    const buffer = await trace();
    const asks = setInterval(() => other.postMessage('PING', PERFETTO), 100);
    const gaveUp = setTimeout(() => clearInterval(asks), 60000);
    window.addEventListener('message', function answer(event) {
      if (event.source !== other || event.data !== 'PONG') return;
      clearInterval(asks);
      clearTimeout(gaveUp);
      window.removeEventListener('message', answer);
      other.postMessage({ perfetto: { buffer, title: document.title } }, PERFETTO);
    });
  }

  const open_in = document.getElementById('perfetto');
  open_in.addEventListener('click', perfetto);
  // Browsers let only what a server sent talk to another window.
  open_in.disabled = !location.protocol.startsWith('http');
  document.getElementById('served').hidden = !open_in.disabled;

  bar.hidden = false;
  bar.addEventListener('change', (event) => show(Number(event.target.value)));
  bar.addEventListener('click', (event) => {
    const action = event.target.dataset?.do;
    if (action) zoom(...actions[action](range));
  });
  panels.addEventListener('keydown', (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    zoom(...actions[action](range));
  });
  new ResizeObserver(() => {
    plots.forEach(({ plot, figure }) => {
      if (figure.clientWidth && Math.abs(plot.width - figure.clientWidth) > 1) plot.setSize({ width: figure.clientWidth, height: plot.height });
    });
  }).observe(panels);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => plots.forEach(({ plot }) => plot.redraw(false)));
  show(0);
})();
