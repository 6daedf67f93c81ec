// SPDX-License-Identifier: GPL-2.0-or-later
// What every check of a page needs: the distribution's Chromium, the page's requests and errors as findings, axe.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const BROWSER = process.env.PELTON_CHROMIUM ?? '/usr/bin/chromium';
const QUIET = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

export const [page, ...options] = process.argv.slice(2);
export const option = (name) => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
export const findings = [];
export const check = (holds, words) => { if (!holds) findings.push(words); };

const missing = (what) => { console.log(`no ${what}`); process.exit(4); };
const require = createRequire(import.meta.url);
if (!existsSync(BROWSER)) missing(`browser: ${BROWSER}`);
const { chromium } = await import('playwright-core').catch(() => missing('packages: npm ci --prefix web'));
const axe = await (async () => readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'))().catch(() => missing('packages: npm ci --prefix web'));

export const browser = await chromium.launch({ executablePath: BROWSER, args: QUIET }).catch((error) => missing(`browser that starts: ${error.message}`));

/** A tab with the page in it, when `ready` holds there; what it asks the network for and what fails in it are findings. */
export async function opened({ what, ready, fragment = '', ...settings }) {
  const context = await browser.newContext(settings);
  const tab = await context.newPage();
  const own = pathToFileURL(page).href;
  const below = option('--below') && `${pathToFileURL(option('--below')).href}/`;
  const isOwn = (url) => url.split('#')[0] === own || /^(data|blob|about):/.test(url) || (below && url.startsWith(below));
  tab.on('request', (request) => check(isOwn(request.url()), `${what}: asks for ${request.url().slice(0, 100)}`));
  tab.on('pageerror', (error) => findings.push(`${what}: ${error.message}`));
  tab.on('console', (message) => check(message.type() !== 'error', `${what}: ${message.text()}`));
  const from = performance.now();
  await tab.goto(own + fragment);
  if (ready) await tab.waitForFunction(ready, undefined, { timeout: 60_000 });
  return { tab, ms: performance.now() - from };
}

/** Pixels by which it scrolls sideways. */
export const wide = (tab) => tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);

/** What axe finds, but for some rules; what is closed is opened and counts, too. */
export async function accessible(tab, what, without = []) {
  await tab.evaluate(() => document.querySelectorAll('details').forEach((one) => { one.open = true; }));
  // In the page's world, not by a script element, which the page's policy would have to allow.
  await tab.evaluate(axe);
  // Style sheets of a file beside the page are none that axe can fetch.
  const settings = { iframes: false, preload: false, rules: Object.fromEntries(without.map((rule) => [rule, { enabled: false }])) };
  const found = await tab.evaluate((asked) => window.axe.run(document, asked), settings);
  found.violations.forEach(({ id, nodes }) => findings.push(`${what}: ${id} (${nodes.length}): ${nodes[0].html.slice(0, 120)}`));
}

/** Says what was found and ends. */
export async function end(words) {
  await browser.close();
  console.log(findings.length ? findings.join('\n') : words);
  process.exit(findings.length ? 1 : 0);
}
