/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thermal zone: trips, and the governors that turn its temperature into cooling states of frequency domains.
 *
 *   trend           raising, dropping or stable: this reading against the one before
 *   throttle        at or above a trip; thermal_trips=core: until the temperature is below trip - hysteresis
 *   step_wise       for each trip and each domain that it cools, starting from the domain's present state:
 *                   throttle and raising: one state deeper; dropping: by the form (switch step_wise)
 *   power_allocator err = control - temperature, in 22.10 fixed point
 *                   budget = sustainable + k_po or k_pu * err + k_i * sum(err) + k_d * (err - before) / period
 *                   between 0 and the most that all domains can take; divided by what each asks for, the rest by
 *                   what each can still take
 *   cooling state   0 = no limit, n = the n-th operating point from the top; a domain has the deepest of its trips
 *
 *   trip 70 C, 71 C raising at state 2: state 3.   control 85 C, 80 C, sustainable 1000 mW, switch on 70 C:
 *   k_pu = 2 * 1000 * 1024 / 15000 = 136, P = 136 * 5000 / 1024 = 664: budget 1664 mW with the first sum still empty
 *
 *   quantity           unit    range
 *   temperatures       mC      signed 32 bits, beyond +-2,000,000 the fixed point overflows as the kernel's
 *   power              mW      32 bits, below 2,097,152 for the same reason
 *   k_*                1/1024 mW per mC
 *   load of a domain   percent, sum of its CPUs
 *
 * Source: drivers/thermal/step_wise.c of 4.12, 4.14, 4.19 and 5.4, gov_step_wise.c of 5.10.262, 6.1.192, 6.6, 6.12.118,
 * 6.18 and 7.2.12 (get_target_state, thermal_zone_trip_update); power_allocator.c of 4.12 and 5.4,
 * gov_power_allocator.c of the same (pid_controller, estimate_pid_constants, divvy_up_power, allocate_power);
 * thermal_core.c (monitor_thermal_zone, thermal_zone_handle_trips); cpu_cooling.c of 5.4, cpufreq_cooling.c of 5.10 and
 * later (get_level, cpu_freq_to_power, cpu_power_to_freq, cpufreq_power2state, cpufreq_state2power, get_load).
 * Deviations: trends are those of readings, no driver's own; lower and upper states of a map are 0 and the deepest; the
 * static power of kernels before 4.16 is none; every trip is passive.
 */
#ifndef PELTON_THERMAL_H
#define PELTON_THERMAL_H

#include "bounds.h"
#include "fair.h"
#include "ondemand.h"

#define PELTON_NO_TARGET 0xffffffffu /* THERMAL_NO_TARGET */
#define PELTON_IPA_FRAC_BITS 10

/* Request of one trip to one domain. */
struct pelton_thermal_instance {
	u32 target; /* state, or PELTON_NO_TARGET */
	u32 initialized;
};

/* A trip, passive. */
struct pelton_trip {
	s32 temp_mc;
	s32 hyst_mc;
	u32 reached;
	u32 cools; /* domains, one bit each */
	struct pelton_thermal_instance instance[PELTON_COOLING_MAX];
};

/* A frequency domain as a cooling device. */
struct pelton_cooling {
	u32 state;
	u32 max_state;
	u32 last_load; /* percent, sum over its CPUs */
	u32 weight;
	u32 req_mw; /* what it takes */
	u32 max_mw; /* what it could */
	u32 weighted_mw;
	u32 granted_mw;
	u32 extra_mw; /* what it could take beyond what it got */
	u32 reserved;
};

/* The controller of power_allocator. */
struct pelton_ipa {
	s64 err_integral;
	s32 prev_err;
	s32 k_po;
	s32 k_pu;
	s32 k_i;
	s32 k_d;
	s32 integral_cutoff_mc;
	u32 sustainable_mw; /* 0 = estimated */
	u32 known_mw;       /* for which the constants hold */
	u32 range_mw;       /* last budget */
	u32 max_mw;         /* all domains */
};

/* A zone. */
struct pelton_zone {
	struct pelton_ipa ipa;
	s32 temp_mc;
	s32 last_mc;
	u32 passive; /* polled at the passive rate */
	u32 read;    /* it has been read before */
	u32 trips;
	u32 domains;
	u32 passive_ms;
	u32 reserved;
	struct pelton_trip trip[PELTON_TRIPS_MAX];
	struct pelton_cooling cooling[PELTON_COOLING_MAX];
};

_Static_assert(sizeof(struct pelton_trip) == 16 + 8 * PELTON_COOLING_MAX, "layout");
_Static_assert(sizeof(struct pelton_cooling) == 40, "layout");
_Static_assert(sizeof(struct pelton_ipa) == 48, "layout");
_Static_assert(sizeof(struct pelton_zone) ==
		       48 + 32 + PELTON_TRIPS_MAX * (16 + 8 * PELTON_COOLING_MAX) + PELTON_COOLING_MAX * 40,
	       "layout");

/* +1 raising, -1 dropping, 0 stable. The first reading has none. */
PELTON_INLINE s32 pelton_thermal_trend(const struct pelton_zone *z)
{
	if (z->temp_mc == z->last_mc)
		return 0;
	return z->temp_mc > z->last_mc ? 1 : -1;
}

/* Does the trip ask for cooling? */
PELTON_INLINE u32 pelton_trip_reached(const struct pelton_policy *pol, const struct pelton_trip *t, s32 temp_mc)
{
	if (pol->thermal_trips == PELTON_THERMAL_TRIPS_CORE && t->reached)
		return temp_mc >= t->temp_mc - t->hyst_mc;
	return temp_mc >= t->temp_mc;
}

/* The next state that a trip at which the temperature does not rise any more asks for. */
PELTON_INLINE u32 pelton_step_wise_drops(const struct pelton_policy *pol, u32 target, u32 cur, u32 max, u32 throttle)
{
	if (pol->step_wise == PELTON_STEP_WISE_RELEASE && !throttle)
		return PELTON_NO_TARGET;
	if (pol->step_wise >= PELTON_STEP_WISE_LOWER && throttle) {
		/* From state 0 the kernel's difference wraps, and the deepest state is taken. */
		return pelton_clamp_u32(cur - 1, pelton_min_u32(1, max), max);
	}
	if (!cur)
		return throttle ? target : PELTON_NO_TARGET;
	if (pol->step_wise == PELTON_STEP_WISE_LOWER)
		return 0;
	if (pol->step_wise == PELTON_STEP_WISE_HOLD && throttle)
		return target;
	return pelton_min_u32(cur - 1, max);
}

/* Next target of an instance under step_wise. `cur`, `max`: state of the domain and its deepest. */
PELTON_INLINE u32 pelton_step_wise_target(const struct pelton_policy *pol, const struct pelton_thermal_instance *in,
					  u32 cur, u32 max, s32 trend, u32 throttle)
{
	if (!in->initialized)
		return throttle ? pelton_min_u32(cur + 1, max) : PELTON_NO_TARGET;
	if (throttle && trend > 0)
		return pelton_min_u32(cur + 1, max);
	return trend < 0 ? pelton_step_wise_drops(pol, in->target, cur, max, throttle) : in->target;
}

/* The deepest state that a trip asks of domain `d`. */
PELTON_INLINE void pelton_cooling_settle(struct pelton_zone *z, u32 d)
{
	u32 state = 0, target, i;

	for (i = 0; i < z->trips && i < PELTON_TRIPS_MAX; i++) {
		target = z->trip[i].cools >> d & 1 ? z->trip[i].instance[d].target : PELTON_NO_TARGET;
		if (target != PELTON_NO_TARGET)
			state = pelton_max_u32(state, target);
	}
	z->cooling[d].state = state;
}

PELTON_INLINE void pelton_cooling_settle_all(struct pelton_zone *z)
{
	u32 d;

	for (d = 0; d < z->domains && d < PELTON_COOLING_MAX; d++)
		pelton_cooling_settle(z, d);
}

PELTON_INLINE void pelton_step_wise_trip(const struct pelton_policy *pol, struct pelton_zone *z, struct pelton_trip *t)
{
	s32 trend = pelton_thermal_trend(z);
	u32 d;

	for (d = 0; d < z->domains && d < PELTON_COOLING_MAX; d++) {
		struct pelton_thermal_instance *in = &t->instance[d];

		if (!(t->cools >> d & 1))
			continue;
		in->target = pelton_step_wise_target(pol, in, z->cooling[d].state, z->cooling[d].max_state, trend,
						     t->reached);
		in->initialized = 1;
	}
}

/* Is an instance of a trip in force? (tz->passive of the kernels in which governors count.) */
PELTON_INLINE u32 pelton_trip_active(const struct pelton_zone *z, const struct pelton_trip *t)
{
	u32 active = 0, d;

	for (d = 0; d < z->domains && d < PELTON_COOLING_MAX; d++)
		active |=
			(t->cools >> d & 1) && t->instance[d].initialized && t->instance[d].target != PELTON_NO_TARGET;
	return active;
}

/* A reading of the zone under step_wise: states of its domains, and how it is polled from now on. */
PELTON_INLINE void pelton_step_wise(const struct pelton_policy *pol, struct pelton_zone *z)
{
	u32 core = pol->thermal_trips == PELTON_THERMAL_TRIPS_CORE, i;

	z->passive = 0;
	for (i = 0; i < z->trips && i < PELTON_TRIPS_MAX; i++) {
		pelton_step_wise_trip(pol, z, &z->trip[i]);
		/*
		 * Each trip is carried out before the next one is looked at, where the core looks at them one by one.
		 */
		if (!core)
			pelton_cooling_settle_all(z);
		z->passive |= core ? z->trip[i].reached : pelton_trip_active(z, &z->trip[i]);
	}
	pelton_cooling_settle_all(z);
}

/* Fixed point. */
PELTON_INLINE s64 pelton_mul_frac(s64 x, s64 y)
{
	return (s64)((u64)x * (u64)y) >> PELTON_IPA_FRAC_BITS;
}

/* The trip whose temperature is held: the last one. */
PELTON_INLINE const struct pelton_trip *pelton_ipa_control(const struct pelton_zone *z)
{
	return &z->trip[z->trips ? pelton_min_u32(z->trips, PELTON_TRIPS_MAX) - 1 : 0];
}

/* Constants from the sustainable power and the distance between the two trips. */
PELTON_INLINE void pelton_ipa_constants(const struct pelton_policy *pol, struct pelton_zone *z, u32 sustainable_mw)
{
	struct pelton_ipa *p = &z->ipa;
	u32 distance = (u32)pelton_ipa_control(z)->temp_mc - (z->trips > 1 ? (u32)z->trip[0].temp_mc : 0);
	u32 tenth;

	p->known_mw = sustainable_mw;
	if (!distance)
		return;
	p->k_po = (s32)((sustainable_mw << PELTON_IPA_FRAC_BITS) / distance);
	p->k_pu = (s32)((2 * sustainable_mw << PELTON_IPA_FRAC_BITS) / distance);
	tenth = (u32)p->k_pu / 10;
	p->k_i = pol->ipa == PELTON_IPA_TRUNCATES ? 10 : (s32)pelton_max_u32(tenth, 1);
}

/* Power that the zone can stand, mW: given, or the least that all of its domains can take (`least_mw`). */
PELTON_INLINE u32 pelton_ipa_sustainable(const struct pelton_policy *pol, struct pelton_zone *z, u32 least_mw)
{
	u32 mw = z->ipa.sustainable_mw ? z->ipa.sustainable_mw : least_mw;

	if (mw != z->ipa.known_mw)
		pelton_ipa_constants(pol, z, mw);
	/* From 6.1 on an estimate is made once. */
	if (pol->ipa != PELTON_IPA_TRUNCATES)
		z->ipa.sustainable_mw = mw;
	return mw;
}

/* The sum of errors, limited to what the most power is worth; what it adds to the budget. */
PELTON_INLINE s64 pelton_ipa_integrate(struct pelton_ipa *p, s32 err, u32 max_mw)
{
	s64 i = pelton_mul_frac(p->k_i, p->err_integral), next;
	s32 most = (s32)(max_mw << PELTON_IPA_FRAC_BITS);

	if (err >= (s32)((u32)p->integral_cutoff_mc << PELTON_IPA_FRAC_BITS))
		return i;
	next = i + pelton_mul_frac(p->k_i, err);
	if ((next < 0 ? -next : next) >= most)
		return i;
	p->err_integral += err;
	return next;
}

/* The budget, mW. `max_mw`: all domains at their highest; `least_mw`: at their lowest. */
PELTON_INLINE u32 pelton_ipa_budget(const struct pelton_policy *pol, struct pelton_zone *z, u32 max_mw, u32 least_mw)
{
	struct pelton_ipa *p = &z->ipa;
	u32 sustainable = pelton_ipa_sustainable(pol, z, least_mw);
	s32 err = (s32)((u32)(pelton_ipa_control(z)->temp_mc - z->temp_mc) << PELTON_IPA_FRAC_BITS);
	s64 sum = pelton_mul_frac(err < 0 ? p->k_po : p->k_pu, err) + pelton_ipa_integrate(p, err, max_mw);
	s64 d = pelton_mul_frac(p->k_d, (s32)((u32)err - (u32)p->prev_err));

	sum += pelton_div_s64((s64)((u64)d << PELTON_IPA_FRAC_BITS), z->passive_ms);
	p->prev_err = err;
	sum = (s64)sustainable + (sum >> PELTON_IPA_FRAC_BITS);
	if (sum < 0)
		return 0;
	return (u32)pelton_min_u64((u64)sum, max_mw);
}

/* n / d to the nearest. */
PELTON_INLINE u32 pelton_div_closest(u64 n, u32 d)
{
	return (u32)pelton_div_floor(n + d / 2, d);
}

/* Gives domains that could take more their parts of the power that others could not take. */
PELTON_INLINE void pelton_ipa_extra(const struct pelton_policy *pol, struct pelton_zone *z, u32 extra, u32 room)
{
	u32 d;

	extra = pelton_min_u32(extra, room);
	for (d = 0; d < z->domains && d < PELTON_COOLING_MAX; d++) {
		struct pelton_cooling *c = &z->cooling[d];

		if (pol->ipa == PELTON_IPA_TRUNCATES)
			c->granted_mw += (u32)pelton_div_floor(c->extra_mw * extra, room);
		else
			c->granted_mw += pelton_div_closest((u64)c->extra_mw * extra, room);
	}
}

/* Divides the budget. Each domain's req_mw, max_mw and weighted_mw are given. */
PELTON_INLINE void pelton_ipa_divide(const struct pelton_policy *pol, struct pelton_zone *z, u32 total, u32 range_mw)
{
	u32 extra = 0, room = 0, d;

	for (d = 0; d < z->domains && d < PELTON_COOLING_MAX; d++) {
		struct pelton_cooling *c = &z->cooling[d];

		c->granted_mw = pelton_div_closest((u64)c->weighted_mw * range_mw, total ? total : 1);
		if (!total && pol->ipa == PELTON_IPA_IDLE_MAX)
			c->granted_mw = c->max_mw;
		extra += pelton_sub_floor_u32(c->granted_mw, c->max_mw);
		c->granted_mw = pelton_min_u32(c->granted_mw, c->max_mw);
		c->extra_mw = c->max_mw - c->granted_mw;
		room += c->extra_mw;
	}
	if (extra && room)
		pelton_ipa_extra(pol, z, extra, room);
}

/* Weights of 0 everywhere count as 1 each. */
PELTON_INLINE void pelton_ipa_weigh(struct pelton_zone *z)
{
	u32 weights = 0, d;

	for (d = 0; d < z->domains && d < PELTON_COOLING_MAX; d++)
		weights += z->cooling[d].weight;
	for (d = 0; d < z->domains && d < PELTON_COOLING_MAX; d++) {
		u32 weight = weights ? z->cooling[d].weight : 1u << PELTON_IPA_FRAC_BITS;

		z->cooling[d].weighted_mw = (weight * z->cooling[d].req_mw) >> PELTON_IPA_FRAC_BITS;
	}
}

/* Below the trip that switches the controller on? With a single trip it is never off. */
PELTON_INLINE u32 pelton_ipa_off(const struct pelton_zone *z)
{
	return z->trips > 1 && z->temp_mc < z->trip[0].temp_mc;
}

/*
 * A reading of the zone under power_allocator: what each domain is granted, granted_mw. Returns 0 when the controller
 * is off: then all states are 0.
 */
PELTON_INLINE u32 pelton_ipa_allocate(const struct pelton_policy *pol, struct pelton_zone *z, u32 least_mw)
{
	u32 max_mw = 0, total = 0, off = pelton_ipa_off(z), i;

	/* What counts: the governor's switch, or the core's passive trips. */
	z->passive = !off;
	for (i = 0; pol->thermal_trips == PELTON_THERMAL_TRIPS_CORE && i < z->trips && i < PELTON_TRIPS_MAX; i++)
		z->passive = i ? z->passive | z->trip[i].reached : z->trip[i].reached;
	if (off) {
		z->ipa.err_integral = 0;
		z->ipa.prev_err = 0;
		return 0;
	}
	pelton_ipa_weigh(z);
	for (i = 0; i < z->domains && i < PELTON_COOLING_MAX; i++) {
		max_mw += z->cooling[i].max_mw;
		total += z->cooling[i].weighted_mw;
	}
	z->ipa.max_mw = max_mw;
	z->ipa.range_mw = pelton_ipa_budget(pol, z, max_mw, least_mw);
	pelton_ipa_divide(pol, z, total, z->ipa.range_mw);
	return 1;
}

/* A new temperature: which trips are reached. To be followed by the governor. */
PELTON_INLINE void pelton_zone_read(const struct pelton_policy *pol, struct pelton_zone *z, s32 temp_mc)
{
	u32 i;

	z->last_mc = z->read ? z->temp_mc : temp_mc;
	z->temp_mc = temp_mc;
	z->read = 1;
	for (i = 0; i < z->trips && i < PELTON_TRIPS_MAX; i++)
		z->trip[i].reached = pelton_trip_reached(pol, &z->trip[i], temp_mc);
}

/* Would a reading of this temperature change which trips are reached? (Sensors that interrupt.) */
PELTON_INLINE u32 pelton_zone_crosses(const struct pelton_policy *pol, const struct pelton_zone *z, s32 temp_mc)
{
	u32 crosses = 0, i;

	for (i = 0; i < z->trips && i < PELTON_TRIPS_MAX; i++)
		crosses |= pelton_trip_reached(pol, &z->trip[i], temp_mc) != z->trip[i].reached;
	return crosses;
}

/* Power of a busy CPU in whole milliwatts, as the energy model is asked for it. */
PELTON_INLINE u32 pelton_cooling_mw(u64 uw)
{
	return (u32)(uw / 1000);
}

/* Power of one busy CPU at `at_khz`: of the lowest operating point at or above it. Tables of `n` points ascend. */
PELTON_INLINE u32 pelton_cooling_freq_to_mw(const u32 *khz, const u64 *uw, u32 n, u32 at_khz)
{
	u32 i;

	for (i = 0; i + 1 < n && i < PELTON_OPP_MAX; i++)
		if (at_khz <= khz[i])
			break;
	return n ? pelton_cooling_mw(uw[i]) : 0;
}

/* State that limits to the highest operating point of at most `at_mw`, else to the lowest. */
PELTON_INLINE u32 pelton_cooling_mw_to_state(const u64 *uw, u32 n, u32 at_mw)
{
	u32 found = 0, i;

	for (i = 1; i < n && i < PELTON_OPP_MAX; i++)
		if (at_mw >= pelton_cooling_mw(uw[i]))
			found = i;
	return n ? n - 1 - found : 0;
}

/* Power that `cpus` busy CPUs take in a state, mW. */
PELTON_INLINE u32 pelton_cooling_state2power(const u64 *uw, u32 n, u32 state, u32 cpus)
{
	return state < n ? pelton_cooling_mw(uw[n - 1 - state]) * cpus : 0;
}

/* Power that a domain takes now: its load, and the power of its frequency. */
PELTON_INLINE void pelton_cooling_requested(struct pelton_cooling *c, const u32 *khz, const u64 *uw, u32 n, u32 cur_khz,
					    u32 load_pct)
{
	c->last_load = load_pct;
	c->req_mw = pelton_cooling_freq_to_mw(khz, uw, n, cur_khz) * load_pct / 100;
}

/* State in which a domain takes at most `granted_mw` with the load that it had last. */
PELTON_INLINE u32 pelton_cooling_power2state(const struct pelton_cooling *c, const u64 *uw, u32 n)
{
	return pelton_cooling_mw_to_state(uw, n, c->granted_mw * 100 / (c->last_load ? c->last_load : 1));
}

/* Load of a CPU, percent: of its capacity (cooling_load=utilization), or of the time since it was last asked. */
PELTON_INLINE u32 pelton_cooling_load(const struct pelton_policy *pol, u32 util, u32 capacity, u64 time_us, u64 idle_us)
{
	if (pol->cooling_load == PELTON_COOLING_LOAD_UTILIZATION)
		return pelton_mul_div_floor(util, 100, capacity);
	return time_us <= idle_us ? 0 : (u32)pelton_div_floor(100 * (time_us - idle_us), time_us);
}

#endif
