/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpudeadline.c, where it is a file of its own (to 5.17): with the made-up machine's capacities. */
#if ORACLE_SPLIT
#include "cpudeadline.c"
#endif
