/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The made-up frequency driver. */
#ifndef ORACLE_K_DRIVER_H
#define ORACLE_K_DRIVER_H

extern unsigned long oracle_perf[3];

/* Forgets what was noted. A driver without table gets frequencies as they are. */
void k_driver(int has_table, int need_update_limits);
/* After k_driver(): the driver takes no performance. */
void k_driver_frequencies(void);
/* Changes are not noted. */
void k_driver_silent(void);

#endif
