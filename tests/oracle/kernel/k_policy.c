/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pelt.c, and from 5.18 on the other classes with it. */
#if ORACLE_SPLIT
#include "pelt.c"
#else
#include "build_policy.c"
#endif
#ifdef PELTON_IMAGE
#include "image_pelt.h"
#elif !ORACLE_SPLIT
#ifndef WITHOUT_POLICY_DEADLINE
#include "policy_deadline.h"
#endif
#endif
