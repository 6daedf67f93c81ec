// SPDX-License-Identifier: GPL-2.0-or-later
/* Stands for what a kernel's side defines, where a part of that side does not compile with the kernel's tree. */
#include "host.h"

__attribute__((weak)) struct pelton_placement oracle_place;
__attribute__((weak)) oracle_call *oracle_begin;
