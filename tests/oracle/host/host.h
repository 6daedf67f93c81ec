/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The oracle's own parts: random states, the table of operations, comparison. */
#ifndef ORACLE_HOST_H
#define ORACLE_HOST_H

#ifdef PELTON_CANARY
#include "canary.h"
#endif
#include <stddef.h>

#include "pelton/pelton.h"
#include "pelton/policy_table.h"
#include "state.h"

/* One operation: the kernel's and the core's form of the same thing. */
struct oracle_op {
	const char *name; /* of the kernel's function or group of functions */
	const char *core; /* what of the core is compared with it */
	void (*make)(struct oracle_state *s);
	void (*kernel)(struct oracle_state *s);                         /* NULL: this release has no such function */
	void (*run)(struct oracle_state *s);                            /* the core's form */
	void (*settle)(struct oracle_state *k, struct oracle_state *p); /* what is not to be compared; may be NULL */
	u32 share;                                                      /* of the number of cases, percent; 0 = all */
};

/* A wrong rule put in the place of the core's form of an operation: the comparison must notice. */
struct oracle_canary {
	const char *name;
	const char *op;
	u32 first, last; /* releases in which it is wrong */
	void (*run)(struct oracle_state *s);
	const char *why;
};

/* random.c */
void rng_seed(u64 seed);
u64 rng_next(void);
u64 below(u64 n);
u32 chance(u32 percent);
u64 nice_weight(void);
u64 a_weight(void);
u64 a_delta(void);
s32 a_rest(u64 units);
u64 a_group_weight(void);
void an_avg(struct pelton_avg *a, u64 weight, u32 tasks, u32 queue);
void an_se(struct pelton_se *se, u32 group);
void a_cfs(struct pelton_cfs_rq *q);
void a_rq(struct pelton_rq *r);

/* fields.c */
u32 field_count(void);
const char *field_name(u32 i);
u64 field_get(const struct oracle_state *s, u32 i);
void field_set(struct oracle_state *s, u32 i, u64 v);
u32 first_difference(const struct oracle_state *a, const struct oracle_state *b);
void print_case(const struct oracle_state *in, const struct oracle_state *k, const struct oracle_state *p);

/* trap.c */
extern unsigned long oracle_warnings;
extern const char *oracle_warned_file; /* of the first warning since this was cleared */
extern u32 oracle_warned_line;
extern u32 trap_forgives;
void trap_install(void);
u32 trap_run(void (*f)(struct oracle_state *), struct oracle_state *s);

/* run.c */
extern struct pelton_policy oracle_policy;
extern u32 oracle_version;
/* Rules that the core decides by, where they are not those that states are made for. */
extern const struct pelton_policy *oracle_asked;
const struct pelton_policy *oracle_made_for(void);
u32 case_differs(const struct oracle_op *op, const struct oracle_state *in, struct oracle_state *k,
		 struct oracle_state *p);
u64 op_run(const struct oracle_op *op, u64 cases, u64 seed, struct oracle_state *first);
u32 op_notices(const struct oracle_op *op, u64 cases, u64 seed, u32 index, u32 value);
void minimise(const struct oracle_op *op, struct oracle_state *in);

/* answers.c */
u64 folded(u64 hash, u64 word);
u64 record_hash(u64 before, const void *record, size_t size);
u64 own_answers(const struct oracle_op *op, u32 under_other);
u64 print_answers(const struct oracle_op *op, const char *release, u32 few);

/* rules.c */
const char *find_profile(void);
u32 is_a_default(u32 index, u32 value);
u32 find_switch(const char *name);
const char *value_name(u32 index, u32 value, char *out, size_t size);
u32 set_rule(char *rule);
u32 set_rules(char *rules);

/* main.c */
u64 share_of(const struct oracle_op *op, u64 cases);
const struct oracle_op *find_op(const char *name);

/* diff.c */
int diff_op(const struct oracle_op *op, u64 cases, u64 seed, char *rules);
/* search.c */
int search_switches(u64 cases, u64 seed, char *rules);

/* machine.c: a machine that is held in the place of the one that a case's seed makes. */
u32 machine_begin(void);
void machine_made(void);
u32 machine_hold(const struct oracle_op *op, const struct oracle_state *in);
void machine_drop(void);
u64 machine_size(void);
void machine_print(void);
/* machine_shrink.c */
void machine_shrink(const struct oracle_op *op, const struct oracle_state *in);

/* known.c */
struct oracle_known {
	const char *op;
	u32 first, last; /* releases that differ */
	const char *why;
};
extern const struct oracle_known oracle_known[];

/* A value of another release that no state can tell from the release's own, in what an operation covers. */
struct oracle_same {
	const char *name; /* of the switch */
	const char *value;
	u32 first, last; /* releases */
	const char *why;
};
extern const struct oracle_same oracle_same[];

/* ops_*.c: tables that end with a row without name. */
extern const struct oracle_op ops_pelt[], ops_clock[], ops_group[], ops_util[], ops_governor[], ops_place[],
	ops_select[], ops_balance[], ops_uclamp[], ops_energy[], ops_idle[], ops_cfs[], ops_eevdf[], ops_deadline[],
	ops_life[], ops_dbs[], ops_quota[], ops_class[], ops_levels[], ops_newidle[], ops_cache[], ops_idle_group[],
	ops_server[];
extern const struct oracle_canary oracle_canaries[];

/* ops_idle.c: a governor under rules that may be wrong. */
void menu_under(struct oracle_state *s, const struct pelton_policy *pol);
void teo_under(struct oracle_state *s, const struct pelton_policy *pol);
/* ops_select.c: the core's answer under rules that may be wrong. */
void select_under(struct oracle_state *s, const struct pelton_policy *pol);
void place_machine(u64 seed);
void fits_under(struct oracle_state *s, const struct pelton_policy *pol);
void clamps_under(struct oracle_state *s, u32 forgets);
/* ops_dbs.c: the same of a sampling governor. */
void ondemand_under(struct oracle_state *s, const struct pelton_policy *pol);
void conservative_under(struct oracle_state *s, const struct pelton_policy *pol);
void misfit_under(struct oracle_state *s, const struct pelton_policy *pol);

/* ops_balance.c */
void find_under(struct oracle_state *s, const struct pelton_policy *pol);
void active_under(struct oracle_state *s, const struct pelton_policy *pol);
void can_migrate_under(struct oracle_state *s, const struct pelton_policy *pol);
void make_caches(void);

/* ops_cache.c: wrong rules. */
void cache_fast_mean(struct oracle_state *s);
void cache_always_moves(struct oracle_state *s);
void cache_never_forgets(struct oracle_state *s);

/* ops_newidle.c */
void newidle_under(struct oracle_state *s, const struct pelton_policy *pol);
void newidle_stats_under(struct oracle_state *s, const struct pelton_policy *pol);
void newidle_low_side(struct oracle_state *s);
void newidle_cut_weight(struct oracle_state *s);

/* ops_quota.c, ops_class.c: wrong rules. */
void quota_slice(struct oracle_state *s);
void quota_keeps_nothing(struct oracle_state *s);
void quota_counts_once(struct oracle_state *s);
void class_no_level(struct oracle_state *s);
void class_any_size(struct oracle_state *s);
void limits_up(struct oracle_state *s);
/* ops_levels.c */
void levels_old_load(struct oracle_state *s);
void shares_in_units(struct oracle_state *s);
void levels_empty_stays(struct oracle_state *s);
void levels_no_idle_group(struct oracle_state *s);
/* ops_idle_group.c */
void an_idle_meeting(struct oracle_state *s);
u32 idle_meeting(const struct oracle_state *s);
void idle_group_walks_on(struct oracle_state *s);

struct pelton_ctx ctx_at(u64 now, u32 cap);

#endif
