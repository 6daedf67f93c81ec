// SPDX-License-Identifier: GPL-2.0-or-later
// Opens the playground as people do, and compares its pages with those of the program, byte for byte.
// usage: node web/check_play.mjs PLAYGROUND.html --program pelton [--count N] [--picture FILE.png]
// Exit code: 0 good, 1 findings (one a line), 4 no browser or no packages.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { accessible, check, end, opened, option, page, wide } from './browser.mjs';

const program = option('--program');
const native = (words) => execFileSync(program, ['report', '--quiet', ...words, '-o', '-'], { encoding: 'utf8', maxBuffer: 1 << 28 });

/** The module alone, outside a browser. */
async function load() {
  const packed = readFileSync(page, 'utf8').match(/id="module">([A-Za-z0-9+/=]+)</)[1];
  const { instance: { exports: module } } = await WebAssembly.instantiate(gunzipSync(Buffer.from(packed, 'base64')), {});
  return (question) => {
    const bytes = new TextEncoder().encode(JSON.stringify(question));
    const place = module.room(bytes.length);
    new Uint8Array(module.memory.buffer, place, bytes.length).set(bytes);
    const length = module.answer();
    return JSON.parse(new TextDecoder().decode(new Uint8Array(module.memory.buffer, module.text(), length)));
  };
}

/** Numbers that are the same in every run. */
function draws(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const WORKLOADS = ['ui-frames', 'hackbench:groups=1', 'busy:threads=2', 'periodic:run_us=3000,period_us=16000,threads=4,util_min=200',
  'schbench', 'sched-pipe', 'io:run_us=500,service_us=900', 'bursts:run_us=2000,sleep_us=9000,threads=3'];
const SWITCHES = ['', ',rate_limit_us=2000', ',headroom_pct=10', ',governor=ondemand', ',util_est=off'];

async function equal(ask, count) {
  const { boards, kernels } = ask('catalogue');
  const small = boards.filter((board) => board.cpus <= 16);
  for (let at = 0; at < count; at++) {
    const draw = draws(at + 1);
    const one = (list) => list[draw(list.length)];
    const [board, workload, policy] = [one(small).name, one(WORKLOADS), one(kernels) + one(SWITCHES)];
    const [ms, seed] = [50 + draw(400), 1 + draw(1000)];
    const words = ['--platform', board, '--workload', workload, '--policy', policy, '--duration', `${ms}ms`, '--seeds', '2', '--first-seed', String(seed)];
    const theirs = ask({ report: { compare: { input: { platform: board, workload, duration_ns: ms * 1_000_000 }, policies: [policy], seeds: 2, first_seed: seed } } });
    let ours = '';
    try { ours = native(words); } catch (error) { ours = error.status; }
    const same = theirs.page ? theirs.page === ours : ours === 3;
    check(same, `pelton report ${words.join(' ')}: the module gives ${theirs.page ? 'another page' : theirs.error}`);
  }
}

const DONE = () => document.documentElement.dataset.done !== undefined;
const frame = (tab) => tab.evaluate(() => document.getElementById('page').srcdoc);
const after = async (tab, change) => {
  const before = await tab.evaluate(() => document.documentElement.dataset.done);
  await change();
  await tab.waitForFunction((done) => document.documentElement.dataset.done !== done, before, { timeout: 60_000 });
};

/** Boosts: by keyboard, in the page of the program, in the link, and what a policy does not have. */
async function boosts(viewport) {
  const { tab } = await opened({ what: 'boosts', ready: DONE, viewport });
  await after(tab, () => tab.locator('#boost').fill('30'));
  await after(tab, () => tab.locator('#of').fill('ui'));
  await after(tab, () => tab.locator('#percent').press('ArrowRight'));
  check(await tab.inputValue('#percent') === '5', `an arrow key leads to ${await tab.inputValue('#percent')}`);
  const boosted = await frame(tab);
  const words = ['--platform', 'pixel6-gs101', '--workload', 'ui-frames + boost:of=ui,percent=5', '--duration', '2s', '--seeds', '6',
    '--policy', '7.2', '--policy', '7.2,rate_limit_us=10000,boost=30'];
  if (program) check(boosted === native(words), 'the page of boosts is not the one of the program');
  const linked = await opened({ what: 'boosts by link', ready: DONE, fragment: new URL(tab.url()).hash, viewport });
  const values = await Promise.all(['#boost', '#percent', '#of'].map((at) => linked.tab.inputValue(at)));
  check(values.join() === '30,5,ui' && await frame(linked.tab) === boosted, `the link has boosts of ${values}`);
  await after(tab, () => tab.locator('#percent').fill('-5'));
  check((await tab.textContent('#wrong')).includes('boost_form'), `below 0 without a hint: ${await tab.textContent('#wrong')}`);
  await after(tab, () => tab.locator('#a').fill('7.2,boost_form=later'));
  await after(tab, () => tab.locator('#b').fill('7.2,boost_form=later'));
  check(await tab.textContent('#wrong') === '', `no page of a boost below 0: ${await tab.textContent('#wrong')}`);
  await after(tab, () => tab.locator('#kind').selectOption({ label: 'mp3-short.json' }));
  check(!await tab.locator('#percent').isVisible(), 'an rt-app file has a boost group');
}

const light = await opened({ what: 'light', ready: DONE, viewport: { width: 1300, height: 900 } });
const first = await frame(light.tab);
check(first.length > 10_000, `no page at first: ${await light.tab.textContent('#wrong')}`);
await light.tab.waitForTimeout(500);
if (option('--picture')) await light.tab.screenshot({ path: option('--picture') });
if (program) {
  const words = ['--platform', 'pixel6-gs101', '--workload', 'ui-frames', '--duration', '2s', '--policy', '7.2', '--policy', '7.2,rate_limit_us=10000', '--seeds', '6'];
  check(first === native(words), 'the first page is not the one of the program');
  await equal(await load(), Number(option('--count') ?? 6));
}
const from = performance.now();
await after(light.tab, () => light.tab.locator('#rate').fill('2000'));
const slider = performance.now() - from;
const second = await frame(light.tab);
check(second !== first, 'the slider changes nothing');
const link = new URL(light.tab.url()).hash;
await after(light.tab, () => light.tab.locator('#a').fill('7.2,rate_limit_s=3'));
check((await light.tab.textContent('#wrong')).includes('rate_limit_us'), `a mistake has no hint: ${await light.tab.textContent('#wrong')}`);
await accessible(light.tab, 'light');
const again = await opened({ what: 'by link', ready: DONE, fragment: link, viewport: { width: 1300, height: 900 }, colorScheme: 'dark' });
check(await frame(again.tab) === second, 'the link gives another page');
await accessible(again.tab, 'dark');
const pasted = JSON.stringify({ global: { duration: 1 }, tasks: { t: { loop: -1, run: 2000, timer: { ref: 'r', period: 16000 } } } });
await after(again.tab, async () => {
  await again.tab.locator('#kind').selectOption({ label: 'rt-app file of your own' });
  await again.tab.locator('#text').fill(pasted);
});
check((await frame(again.tab)).includes('pasted.json'), `no page of what was pasted: ${await again.tab.textContent('#wrong')}`);
await boosts({ width: 1300, height: 900 });
const old = await opened({ what: 'old link', ready: DONE, fragment: '#0/abc' });
check((await old.tab.textContent('#wrong')).includes('another version'), 'an old link is not refused');
const phone = await opened({ what: 'phone', ready: DONE, viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
check(await phone.tab.locator('#percent').isVisible() && await phone.tab.locator('#boost').isVisible(), 'a phone has no boosts');
check(await wide(phone.tab) <= 0, `on a phone it scrolls sideways by ${await wide(phone.tab)}`);
await end(`good: first page after ${Math.round(light.ms)} ms, after the slider ${Math.round(slider)} ms`);
