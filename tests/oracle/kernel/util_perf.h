/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one CPU needs: effective utilization and performance. After util_state.h. */

/* The fair class's utilization, `iowait` = 1: with what waits. */
void k_cpu_util(struct oracle_state *s)
{
	state_in(&s->cs[0], 0);
#if ORACLE_VERSION >= 605
	s->ret = s->iowait ? cpu_util_cfs_boost(0) : cpu_util_cfs(0);
#elif ORACLE_VERSION >= 516
	s->ret = cpu_util_cfs(0);
#else
	s->ret = min(cpu_util_cfs(cpu_rq(0)), s->cs[0].cap_orig + 0ul);
#endif
}

/* ret: effective utilization; aux, aux2: the floor and the limit beside it. */
void k_effective_util(struct oracle_state *s)
{
#if ORACLE_VERSION >= 608
	unsigned long min, max;

	state_in(&s->cs[0], 0);
	s->ret = effective_cpu_util(0, cpu_util_cfs_boost(0), &min, &max);
	s->aux = min;
	s->aux2 = max;
#elif ORACLE_VERSION >= 511
	state_in(&s->cs[0], 0);
	s->ret = effective_cpu_util(0, cpu_util_cfs(0), FREQUENCY_UTIL, NULL);
#else
	state_in(&s->cs[0], 0);
	s->ret = schedutil_cpu_util(0, cpu_util_cfs(cpu_rq(0)), s->cs[0].cap_orig, FREQUENCY_UTIL, NULL);
#endif
}

/* ret: what schedutil asks for, aux: its deadline floor or bandwidth. */
void k_get_util(struct oracle_state *s)
{
	struct sugov_cpu *sc = &per_cpu(sugov_cpu, 0);

	memset(sc, 0, sizeof(*sc));
	state_in(&s->cs[0], 0);
#if ORACLE_VERSION >= 608
	sugov_get_util(sc, s->iowait);
	s->ret = sc->util;
	s->aux = sc->bw_min;
#elif ORACLE_VERSION >= 511
	sugov_get_util(sc);
	s->ret = sc->util;
	s->aux = sc->bw_dl;
#else
	s->ret = sugov_get_util(sc);
	s->aux = sc->bw_dl;
#endif
}

#if ORACLE_VERSION >= 608
/* `util` between the floor `lowest` and the limit `highest`. */
void k_effective_perf(struct oracle_state *s)
{
	s->ret = sugov_effective_cpu_perf(0, s->util, s->lowest, s->highest);
}
#endif
