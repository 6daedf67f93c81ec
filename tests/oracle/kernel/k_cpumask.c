/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpumask.c, which remembers where the last search of a CPU ended. */
#include "../../lib/cpumask.c"
#ifndef PELTON_IMAGE
#include "k.h"

int k_last_found(int found)
{
	int was = __this_cpu_read(distribute_cpu_mask_prev);

	__this_cpu_write(distribute_cpu_mask_prev, found);
	return was;
}
#endif
