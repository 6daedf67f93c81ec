/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random inputs of the governor. */
#ifndef ORACLE_GOVERNOR_H
#define ORACLE_GOVERNOR_H

#include "state.h"

void a_cpu_state(struct pelton_cpu_state *s);

#endif
