/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deadline.c, where it is a file of its own (to 5.17). */
#if ORACLE_SPLIT
#include "deadline.c"
#ifndef PELTON_IMAGE
#ifndef WITHOUT_POLICY_DEADLINE
#include "policy_deadline.h"
#endif
#endif
#endif
