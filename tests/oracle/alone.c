// SPDX-License-Identifier: GPL-2.0-or-later
/* In the place of a kernel: the core's side of the operations alone, as the release that ORACLE_RELEASE names. */
#include <stdlib.h>

#include "host.h"

char k_poison_start[1];
extern char k_poison_end[1] __attribute__((alias("k_poison_start")));
const char *const k_poison_names[1];

const u32 oracle_alone = 1;
struct pelton_placement oracle_place;
oracle_call *oracle_begin;

const char *k_release(void)
{
	const char *release = getenv("ORACLE_RELEASE");

	return release ? release : "";
}

void k_boot(void)
{
}

u32 k_bug(u64 ip, const char **file, u32 *line)
{
	(void)ip;
	*file = "";
	*line = 0;
	return 0;
}
