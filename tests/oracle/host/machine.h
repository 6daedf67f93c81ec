/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine that is held, field by field. */
#ifndef ORACLE_MACHINE_H
#define ORACLE_MACHINE_H

#include "host.h"

/* A field of a machine, and its value where there is nothing to say of it. */
struct machine_field {
	const char *name;
	u32 at;
	u32 size;
	u64 plain;
};

/* Tables that end with a field without name. */
extern const struct machine_field machine_facts[], machine_task[], machine_waker[], machine_cpu[];
extern struct pelton_placement machine_held;

u64 machine_get(const void *record, const struct machine_field *f);
void machine_set(void *record, const struct machine_field *f, u64 v);

#endif
