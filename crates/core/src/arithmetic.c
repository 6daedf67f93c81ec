/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of load tracking as a table: of the core (PELTON_CANARY 0), and of the core with a constant that is
 * wrong on purpose. Who holds recordings against the core shows with those that a wrong core is noticed. No arithmetic
 * here.
 */
#include "canary.h"
#include "pelton/pelton.h"

#define PASTE(number) pelton_arithmetic_##number
#define SYMBOL(number) PASTE(number)

typedef const struct pelton_policy *policy_t;
typedef const struct pelton_ctx *ctx_t;
typedef struct pelton_avg *avg_t;
typedef struct pelton_se *se_t;
typedef struct pelton_cfs_rq *cfs_t;
typedef const struct pelton_se *cse_t;
typedef const struct pelton_cfs_rq *ccfs_t;

/* crates/core/src/arithmetic.rs has the same members in the same order. */
struct arithmetic {
	u64 (*accumulate)(ctx_t ctx, avg_t avg, u64 load, u64 runnable, u64 running);
	void (*publish)(policy_t pol, avg_t avg, u64 weight);
	u64 (*update_se)(ctx_t ctx, se_t se);
	u32 (*update_cfs_rq)(ctx_t ctx, cfs_t cfs);
	u32 (*update_avg)(ctx_t ctx, avg_t avg, u32 value);
	void (*attach)(policy_t pol, cfs_t cfs, se_t se);
	void (*detach)(policy_t pol, cfs_t cfs, cse_t se);
	void (*reweight)(policy_t pol, cfs_t cfs, se_t se, u64 weight);
	void (*sync_blocked)(ctx_t ctx, ccfs_t cfs, se_t se);
	u32 (*propagate)(ctx_t ctx, cfs_t cfs, se_t se, cfs_t owned);
};

extern const struct arithmetic SYMBOL(PELTON_CANARY);

const struct arithmetic SYMBOL(PELTON_CANARY) = {
	.accumulate = pelton_update_load_sum,
	.publish = pelton_publish,
	.update_se = pelton_update_load_avg_se,
	.update_cfs_rq = pelton_update_cfs_rq_load_avg,
	.update_avg = pelton_update_avg,
	.attach = pelton_attach_entity_load_avg,
	.detach = pelton_detach_entity_load_avg,
	.reweight = pelton_reweight,
	.sync_blocked = pelton_sync_blocked,
	.propagate = pelton_propagate_entity_load_avg,
};
