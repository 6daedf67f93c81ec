/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler with the usual policy compiled in: a switch that the compiler knows takes no instruction, where one
 * that only the verifier knows is still read. Its numbers are those that were given. The loader takes this program
 * where the switches that it is given are these, and else the one that reads them all.
 */
#ifndef PELTON_LIVE_USUAL_H
#define PELTON_LIVE_USUAL_H

#include "pelton/policy_table.h"

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winitializer-overrides"
const struct pelton_policy policy_usual SEC(".rodata.usual") = {
	PELTON_SWITCHES(PELTON_NEWEST_VALUE).uclamp = PELTON_UCLAMP_DEBT,
	.delayed_dequeue = PELTON_OFF,
};
#pragma clang diagnostic pop

HIDDEN struct pelton_policy policy(void)
{
	const struct pelton_policy *given_numbers = policy_as_given();
	struct pelton_policy p = policy_usual;

#define LIVE_NUMBER(field, unit, min, max, preset, why) p.field = given_numbers->field;
	PELTON_PARAMETERS(LIVE_NUMBER)
#undef LIVE_NUMBER
	return p;
}
/* A value of its own in each place, which the compiler takes apart. */
#define POLICY (&(const struct pelton_policy[]){ policy() }[0])

#endif
