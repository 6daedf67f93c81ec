// SPDX-License-Identifier: GPL-2.0-or-later
/* What load tracking asks in each thread (asked.h). */
#include "pelton/asked.h"

#ifndef PELTON_SMALL
_Thread_local const struct pelton_asked *pelton_asked_here;

void pelton_ask(const struct pelton_asked *asked);

void pelton_ask(const struct pelton_asked *asked)
{
	pelton_asked_here = asked;
}
#endif
