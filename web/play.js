// SPDX-License-Identifier: GPL-2.0-or-later
// The playground: a form, the simulator as a module in a worker, its page in a frame. All of it is in the link.
'use strict';
(() => {
  // Version of what stands in links. Another one is refused: it would mean something else.
  const LINKS = '1';
  const START = { board: 'pixel6-gs101', kind: 'ui-frames', options: '', text: '', util_min: '0', util_max: '1024',
    percent: '0', of: '', a: '7.2', b: '7.2', rate: '10000', boost: '0', seconds: '2', seeds: '6', seed: '1' };
  const PASTED = 'rt-app file of your own';
  // What is typed stays quiet for so long before it is carried out, ms.
  const PAUSE_MS = 60;
  // A run of what stood here before may take so long before it is stopped, ms: a new worker begins with cold code.
  const PATIENCE_MS = 400;
  // A run that takes longer is stopped, ms: a page must not hang.
  const LONGEST_MS = 60_000;
  const at = (id) => document.getElementById(id);
  const form = at('form');

  /** Runs in the worker: it has nothing but the module. */
  function work() {
    let module;
    const encoder = new TextEncoder();
    const decoder = new TextDecoder();
    onmessage = async ({ data: { number, question, compiled } }) => {
      try {
        if (compiled) ({ exports: module } = await WebAssembly.instantiate(compiled, {}));
        const text = encoder.encode(question);
        const place = module.room(text.length);
        new Uint8Array(module.memory.buffer, place, text.length).set(text);
        const bytes = module.answer();
        const answer = decoder.decode(new Uint8Array(module.memory.buffer, module.text(), bytes));
        postMessage({ number, answer: JSON.parse(answer) });
      } catch (error) {
        postMessage({ number, answer: { error: `the simulator stopped: ${error.message}` }, broken: true });
      }
    };
  }

  /** The module, compiled once for all workers. */
  function compile() {
    const letters = atob(at('module').textContent.trim());
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return WebAssembly.compileStreaming(new Response(stream, { headers: { 'content-type': 'application/wasm' } }));
  }

  const compiled = (async () => compile())();
  let worker = null;
  let waiting = null;
  let numbers = 0;
  // State that was asked last; empty when it was stopped.
  let asked = '';

  function ended(answer) {
    const { resolve, timer } = waiting;
    waiting = null;
    clearTimeout(timer);
    resolve(answer);
  }

  function stop() {
    worker?.terminate();
    worker = null;
    asked = '';
  }

  /** The answer to a question; one that is asked before it is there takes its place. */
  function ask(question) {
    if (waiting) {
      stop();
      ended(null);
    }
    const fresh = !worker;
    if (fresh) {
      const address = URL.createObjectURL(new Blob([`(${work})()`], { type: 'text/javascript' }));
      worker = new Worker(address);
      worker.onerror = () => {
        stop();
        if (waiting) ended({ error: 'this browser does not start the simulator: it needs workers and WebAssembly' });
      };
      worker.onmessage = ({ data }) => {
        URL.revokeObjectURL(address);
        if (data.broken) stop();
        if (waiting?.number === data.number) ended(data.answer);
      };
    }
    const number = ++numbers;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        stop();
        ended({ error: `no answer in ${LONGEST_MS / 1000} s: choose a shorter run, fewer seeds or a smaller board` });
      }, LONGEST_MS);
      waiting = { number, resolve, timer, from: performance.now() };
      const mine = worker;
      compiled.then(
        (module) => mine.postMessage({ number, question: JSON.stringify(question), compiled: fresh ? module : undefined }),
        (error) => { if (waiting?.number === number) ended({ error: `the simulator does not start: ${error.message}` }); },
      );
    });
  }

  const state = () => Object.fromEntries(Object.keys(START).map((name) => [name, form.elements[name].value]));
  const isText = (kind) => kind === PASTED || kind.endsWith('.json');

  /** The part of a workload that boosts tasks, as SchedTune did. */
  function group({ percent, of }) {
    if (percent === '0') return '';
    return ` + boost:${of.trim() ? `of=${of.trim()},` : ''}percent=${percent}`;
  }

  /** The request that the form stands for: the one that `pelton report` makes of its arguments. */
  function request(now) {
    const clamps = [['util_min', '0'], ['util_max', '1024']].filter(([name, free]) => now[name] !== free).map(([name]) => `${name}=${now[name]}`);
    const options = [now.options.trim(), ...clamps].filter(Boolean).join(',');
    const workload = isText(now.kind)
      ? { workload: now.kind === PASTED ? 'pasted.json' : now.kind, workload_text: now.text }
      : { workload: (options ? `${now.kind}:${options}` : now.kind) + group(now) };
    const switches = [['rate_limit_us', now.rate], ['boost', now.boost]].filter(([, value]) => value !== '0').map((one) => one.join('='));
    const b = now.b.trim() && [now.b.trim(), ...switches].join(',');
    const policies = [now.a.trim(), b].filter(Boolean);
    return { report: { compare: {
      input: { platform: now.board, duration_ns: Math.round(Number(now.seconds) * 1e9), ...workload },
      policies, seeds: Number(now.seeds), first_seed: Number(now.seed), jobs: 1 } } };
  }

  async function through(bytes, stream) {
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
  }

  /** What differs from the start, packed. */
  async function link(now) {
    const changed = Object.fromEntries(Object.entries(now).filter(([name, value]) => value !== START[name]));
    const bytes = await through(new TextEncoder().encode(JSON.stringify(changed)), new CompressionStream('deflate-raw'));
    const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
    const text = btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
    return `#${LINKS}/${text}`;
  }

  async function linked(hash) {
    if (hash.length < 2) return START;
    const [version, text] = hash.slice(1).split('/');
    if (version !== LINKS) throw new Error(`this link is of another version of the playground (${version.slice(0, 9)}); here is ${LINKS}`);
    const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
    const known = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw'))));
    return Object.fromEntries(Object.entries(START).map(([name, value]) => [name, typeof known[name] === 'string' ? known[name] : value]));
  }

  let page = '';
  let timer = 0;

  function show() {
    const now = state();
    at('model-part').hidden = isText(now.kind);
    at('clamps').hidden = isText(now.kind);
    at('text-part').hidden = !isText(now.kind);
    document.querySelectorAll('output').forEach((output) => { output.textContent = at(output.htmlFor[0]).value; });
    if (now.rate === '0') document.querySelector('output[for=rate]').textContent = 'as the kernel has it';
  }

  async function run() {
    if (!form.checkValidity()) {
      // What is still being computed is not what stands here any more.
      if (waiting) {
        stop();
        ended(null);
      }
      asked = '';
      at('said').textContent = '';
      form.reportValidity();
      return;
    }
    const now = state();
    const from = performance.now();
    // Browsers report an input that is left once more.
    if (JSON.stringify(now) === asked) return;
    if (waiting && from - waiting.from < PATIENCE_MS) {
      timer = setTimeout(run, PATIENCE_MS / 20);
      return;
    }
    at('said').textContent = 'running';
    at('save').disabled = true;
    const answering = ask(request(now));
    asked = JSON.stringify(now);
    const [answer, fragment] = await Promise.all([answering, link(now)]);
    if (answer === null) return;
    at('save').disabled = !answer.page;
    history.replaceState(null, '', fragment);
    at('wrong').textContent = answer.error ?? '';
    at('said').textContent = answer.error ? 'no result' : `done in ${Math.round(performance.now() - from)} ms`;
    if (answer.page) {
      page = answer.page;
      at('page').srcdoc = page;
    }
    document.documentElement.dataset.done = String(numbers);
  }

  /** A slider's step is carried out at once: what follows waits for it. */
  function changed({ target }) {
    show();
    clearTimeout(timer);
    timer = setTimeout(run, target.type === 'range' ? 0 : PAUSE_MS);
  }

  function fill(catalogue) {
    const option = (value, text = value) => new Option(text, value);
    at('board').append(...catalogue.boards.map((board) => option(board.name, `${board.name} (${board.cpus} CPUs)`)));
    at('kind').append(...catalogue.models.map((model) => option(model.model)), ...catalogue.examples.map(([name]) => option(name)), option(PASTED));
    at('kernels').append(...catalogue.kernels.map((kernel) => option(kernel)));
    at('version').textContent = `Pelton ${catalogue.version}, core ${catalogue.core}`;
    at('kind').addEventListener('change', () => {
      const example = catalogue.examples.find(([name]) => name === at('kind').value);
      if (example) at('text').value = example[1];
    });
  }

  const take = (values) => Object.entries(values).forEach(([name, value]) => { form.elements[name].value = value; });

  async function open() {
    try {
      take(await linked(location.hash));
    } catch (error) {
      take(START);
      at('wrong').textContent = `The link cannot be read: ${error.message}`;
      show();
      document.documentElement.dataset.done = 'unread';
      return;
    }
    show();
    await run();
  }

  form.addEventListener('submit', (event) => event.preventDefault());
  at('save').addEventListener('click', () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([page], { type: 'text/html' }));
    link.download = 'pelton.html';
    link.click();
    URL.revokeObjectURL(link.href);
  });
  at('link').addEventListener('click', async () => {
    const text = new URL(await link(state()), location.href).href;
    at('said').textContent = await navigator.clipboard?.writeText(text).then(() => 'link copied', () => text) ?? text;
  });
  addEventListener('hashchange', open);
  ask('catalogue').then((catalogue) => {
    if (catalogue.error) {
      at('wrong').textContent = catalogue.error;
      return undefined;
    }
    fill(catalogue);
    form.addEventListener('input', changed);
    form.addEventListener('change', changed);
    return open();
  });
})();
