// SPDX-License-Identifier: GPL-2.0-or-later
// Opens a page of the site as people do: light, dark, on a phone; what axe finds there, what it loads from outside of the
// site, and whether a phone has to scroll it sideways.
// usage: node web/check_site.mjs PAGE.html --below SITE
// Exit code: 0 good, 1 findings (one a line), 4 no browser or no packages.
import { accessible, check, end, opened, page, wide } from './browser.mjs';

// Tables of data frames have an index without a name.
const WITHOUT = ['empty-table-header'];

for (const colorScheme of ['light', 'dark']) {
  const { tab } = await opened({ what: colorScheme, viewport: { width: 1280, height: 900 }, colorScheme });
  await accessible(tab, colorScheme, WITHOUT);
}
const phone = await opened({ what: 'phone', viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
check(await wide(phone.tab) <= 0, `on a phone it scrolls sideways by ${await wide(phone.tab)}`);
await accessible(phone.tab, 'phone', WITHOUT);
await end(`good: ${page}`);
