// SPDX-License-Identifier: GPL-2.0-or-later
// Opens a page as people do, in the distribution's Chromium, and says what is wrong with it.
// usage: node web/check.mjs PAGE.html [--numbers FILE] [--picture FILE.png] [--most-ms N]
// --numbers: JSON, quantity -> medians as they are to stand in the table of the answers.
// Exit code: 0 good, 1 findings (one a line), 4 no browser or no packages.
import { readFileSync } from 'node:fs';
import { accessible, check, end, opened, option, wide } from './browser.mjs';

const READY = () => !document.getElementById('panels') || document.documentElement.dataset.ready !== undefined;

async function numbers(tab) {
  const wanted = JSON.parse(readFileSync(option('--numbers'), 'utf8'));
  const shown = await tab.evaluate(() => Object.fromEntries([...document.querySelectorAll('section[aria-labelledby=answer] tbody tr')]
    .map((row) => [row.querySelector('th').firstChild.textContent, [...row.querySelectorAll('td.n')].map((cell) => cell.firstChild?.textContent)])));
  for (const [quantity, medians] of Object.entries(wanted)) {
    medians.forEach((median) => check((shown[quantity] ?? []).includes(median), `${quantity}: ${median} is not among ${shown[quantity]}`));
  }
}

/** Zoom by mouse and keys reaches every panel; a mark leads to its explanation; runs can be chosen. */
async function lines(tab) {
  if (!await tab.locator('#panels .uplot').count()) return;
  const range = () => tab.locator('#range').textContent();
  const whole = await range();
  const over = tab.locator('#panels .u-over').first();
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await tab.mouse.move(box.x + box.width * 0.25, box.y + box.height / 2);
  await tab.mouse.down();
  await tab.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2, { steps: 4 });
  await tab.mouse.up();
  check(await range() !== whole, 'a drag does not zoom');
  const axes = () => tab.evaluate(() => new Set([...document.querySelectorAll('#panels canvas')].map((one) => one.width)).size);
  check(await axes() === 1, 'panels are not equally wide');
  await tab.locator('#panels').focus();
  const steps = [];
  for (const key of ['ArrowRight', '+', '-', 'ArrowLeft']) {
    await tab.keyboard.press(key);
    steps.push(await range());
  }
  check(new Set(steps).size >= 3, `keys do not move: ${steps.join('; ')}`);
  await tab.keyboard.press('0');
  check(await range() === whole, `0 shows ${await range()}, not ${whole}`);
  await mark(tab);
  const runs = tab.locator('input[name=side]');
  if (await runs.count() > 1) {
    await runs.nth(1).check();
    await tab.waitForFunction(() => document.documentElement.dataset.ready === '1');
    check(await tab.locator('#panels .uplot').count() > 0, 'the second run has no panels');
  }
}

async function mark(tab) {
  const marks = JSON.parse(await tab.locator('#meta').textContent()).runs[0];
  if (!marks.decisions.length) return;
  const [time, domain] = marks.decisions[0];
  const order = [...new Set(marks.panels.map((panel) => panel.of))].flatMap((of) => marks.panels.filter((panel) => panel.of === of));
  const at = order.findIndex((panel) => panel.domain === domain);
  const over = tab.locator('#panels .u-over').nth(at);
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  const x = Math.min(Math.max((time / marks.duration_s) * box.width, 2), box.width - 2);
  await tab.mouse.click(box.x + x, box.y + box.height / 2);
  check(await tab.locator('details.picked[open]').count() === 1, 'a mark leads to no explanation');
}

const light = await opened({ what: 'light', ready: READY, viewport: { width: 1200, height: 900 }, colorScheme: 'light' });
check(light.ms <= Number(option('--most-ms') ?? 10_000), `ready after ${Math.round(light.ms)} ms`);
if (option('--picture')) await light.tab.screenshot({ path: option('--picture'), fullPage: true });
if (option('--numbers')) await numbers(light.tab);
await lines(light.tab);
await accessible(light.tab, 'light');
const dark = await opened({ what: 'dark', ready: READY, viewport: { width: 1200, height: 900 }, colorScheme: 'dark', reducedMotion: 'reduce' });
await accessible(dark.tab, 'dark');
const phone = await opened({ what: 'phone', ready: READY, viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
check(await wide(phone.tab) <= 0, `on a phone it scrolls sideways by ${await wide(phone.tab)}`);
await accessible(phone.tab, 'phone');
check(await wide(phone.tab) <= 0, `on a phone, all opened, it scrolls sideways by ${await wide(phone.tab)}`);
const plain = await opened({ what: 'without script', javaScriptEnabled: false });
check(await plain.tab.locator('table').count() > 0, 'without script there is no table');
check(await plain.tab.locator('h1').count() === 1, 'without script there is no heading');
await end(`good: ready after ${Math.round(light.ms)} ms`);
