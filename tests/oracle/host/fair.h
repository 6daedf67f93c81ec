/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random queues of the fair class. */
#ifndef ORACLE_FAIR_H
#define ORACLE_FAIR_H

#include "host.h"

void a_fair_weight(struct pelton_fair_se *se);
void a_fair_queue(struct oracle_fair *f, u32 least, u32 runs);
void fair_sums(struct oracle_fair *f);
void fair_distinct(struct oracle_fair *f);
const struct pelton_fair_se *fair_running(const struct oracle_fair *f);

#endif
