/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Integer helpers. Every division names its rounding and is total: a zero divisor gives 0, never a trap.
 *
 *   cap_scale(v, s)           (v * s) >> 10
 *   sub_floor(a, b)           a - b, not below 0
 *   clamp(v, lo, hi)          the lower bound wins when lo > hi
 *   mul_u64_u32_shr32(v, m)   floor(v * m / 2^32) without 128-bit arithmetic, exact for v < 2^63
 *
 * Source: Linux 7.2 kernel/sched/sched.h (cap_scale), include/linux/math64.h (mul_u64_u32_shr). Deviation: none.
 */
#ifndef PELTON_ARITH_H
#define PELTON_ARITH_H

#include "types.h"

/* Checked builds define this to stop when an input left the range of bounds.h; other builds saturate silently. */
#ifndef PELTON_ASSERT
#define PELTON_ASSERT(condition) ((void)0)
#endif

#define PELTON_NSEC_PER_USEC 1000u
#define PELTON_NSEC_PER_MSEC 1000000u

PELTON_INLINE u64 pelton_min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

PELTON_INLINE u64 pelton_max_u64(u64 a, u64 b)
{
	return a > b ? a : b;
}

PELTON_INLINE u32 pelton_min_u32(u32 a, u32 b)
{
	return a < b ? a : b;
}

PELTON_INLINE u32 pelton_max_u32(u32 a, u32 b)
{
	return a > b ? a : b;
}

PELTON_INLINE u32 pelton_clamp_u32(u32 v, u32 lo, u32 hi)
{
	if (v < lo || hi < lo)
		return lo;
	return v > hi ? hi : v;
}

PELTON_INLINE u64 pelton_cap_scale(u64 v, u32 scale)
{
	return (v * scale) >> PELTON_CAPACITY_SHIFT;
}

PELTON_INLINE u64 pelton_sub_floor(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

PELTON_INLINE u32 pelton_sub_floor_u32(u32 a, u32 b)
{
	return a > b ? a - b : 0;
}

/* v changed by (to - from), not below 0. */
PELTON_INLINE u64 pelton_shift_by(u64 v, u64 from, u64 to)
{
	return to >= from ? v + (to - from) : pelton_sub_floor(v, from - to);
}

PELTON_INLINE u64 pelton_distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

PELTON_INLINE u64 pelton_div_floor(u64 n, u64 d)
{
	return d ? n / d : 0;
}

/* floor(a * b / d), the product taken in 64 bits and cut to 32 bits on return. */
PELTON_INLINE u32 pelton_mul_div_floor(u32 a, u32 b, u32 d)
{
	u64 q = pelton_div_floor((u64)a * b, d);

	PELTON_ASSERT(q <= 0xffffffffu);
	return (u32)pelton_min_u64(q, 0xffffffffu);
}

PELTON_INLINE u64 pelton_mul_u64_u32_shr32(u64 v, u32 m)
{
	return (v >> 32) * m + (((v & 0xffffffffu) * m) >> 32);
}

/* Has at least `window` passed since `then`? Signed difference: a clock that went back counts as "no". */
PELTON_INLINE u32 pelton_elapsed(u64 now, u64 then, u64 window)
{
	return (s64)(now - then) >= (s64)window;
}

#endif
