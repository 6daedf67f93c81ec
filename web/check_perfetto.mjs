// SPDX-License-Identifier: GPL-2.0-or-later
// Hands the time lines of a served page to a stand-in for the Perfetto UI, and looks at what arrives there.
// usage: node web/check_perfetto.mjs PAGE.html --program PELTON
// Exit code: 0 good, 1 findings (one a line), 4 no browser or no packages.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { browser, check, end, opened, option, page } from './browser.mjs';

const READY = () => document.documentElement.dataset.ready !== undefined;
const STAND_IN = `<script>addEventListener('message', (event) => {
  if (event.data === 'PING') event.source.postMessage('PONG', '*'); else window.got = event.data.perfetto;
});</script>`;

const { tab: local } = await opened({ what: 'a local file', ready: READY });
check(await local.locator('#perfetto').isDisabled() && await local.locator('#served').isVisible(), 'a local file does not say why it cannot');

const server = spawn(option('--program'), ['serve', page, '--quiet'], { stdio: ['ignore', 'pipe', 'inherit'] });
const address = await new Promise((resolve) => createInterface({ input: server.stdout }).once('line', resolve).once('close', () => resolve()));
if (!address) {
  check(false, 'nothing is served');
  await end('');
}
const context = await browser.newContext();
await context.route('https://ui.perfetto.dev/**', (route) => route.fulfill({ contentType: 'text/html', body: STAND_IN }));
const tab = await context.newPage();
tab.on('pageerror', (error) => check(false, error.message));
await tab.goto(address);
await tab.waitForFunction(READY);
check(await tab.locator('#perfetto').isEnabled() && await tab.locator('#served').isHidden(), 'a served page cannot');
const [other] = await Promise.all([context.waitForEvent('page'), tab.locator('#perfetto').click()]);
await other.waitForFunction(() => window.got);
const { title, events } = await other.evaluate(() => ({
  title: window.got.title,
  events: JSON.parse(new TextDecoder().decode(window.got.buffer)).traceEvents,
}));
server.kill('SIGINT');
const meta = JSON.parse(await tab.locator('#meta').textContent()).runs[0];
const of = (kind) => events.filter(({ ph }) => ph === kind);
const points = meta.series.reduce((sum, { n }) => sum + n, 0);
check(title.includes('ui-frames'), `the title is ${title}`);
check(of('C').length > 0 && of('X').length > 0, `${of('C').length} counters, ${of('X').length} slices`);
check(of('C').length + of('X').length <= points && of('C').length >= points / 4, `${events.length} events of ${points} points`);
check(events.every(({ ts = 0, dur = 0 }) => ts >= 0 && dur >= 0 && ts + dur <= meta.duration_s * 1e6 + 1), 'an event is outside of the run');
await end(`${of('C').length} values and ${of('X').length} slices arrive`);
