/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the drivers share among themselves: the made-up machine. */
#ifndef ORACLE_K_H
#define ORACLE_K_H

#include "state.h"

/* The prototypes of calls that this release does not have stay unused; those of its own must match. */
struct task_struct;
struct static_key;

/* CPUs that there is room for: 8, and many where placements are counted (scripts/bench-placement.sh). */
#define O_CPUS CONFIG_NR_CPUS

extern u64 oracle_now;
extern unsigned long oracle_cap[O_CPUS], oracle_lost[O_CPUS], oracle_idle_calls[O_CPUS];
/* What arch_scale_freq_ref() says; 0: it is not there. */
extern unsigned int oracle_ref[O_CPUS];
extern unsigned int oracle_irq_work, oracle_driven, oracle_driven_khz;
/* When the timer that was started last is to expire. */
extern s64 oracle_timer_at;
extern s64 oracle_sleep, oracle_event, oracle_latency;
extern int oracle_tick_stopped, oracle_got_tick;

/* The program is told of a warning that is a call. */
void oracle_warned(const char *file, u32 line);

struct task_struct *k_some_task(void);
void k_rq_in(const struct pelton_rq *r);
void k_rq_out(struct pelton_rq *r);
void k_cpus(unsigned int count);
void k_key(struct static_key *key, int on);
void k_freq_key(int on);
void k_uclamp(int cpu, int used, unsigned int min, unsigned int max);
void k_current(struct task_struct *p);
void k_ktime(u64 now);
int k_last_found(int found);
void k_iowait(int cpu, unsigned int tasks);

#endif
