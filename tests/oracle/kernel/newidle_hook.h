/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Before fair.c: the search that a CPU makes when it goes idle is ours, so that a case says what it finds and takes.
 * The kernel's function stays as it is; of its calls, the one with CPU_NEWLY_IDLE gets another name.
 */
struct rq;
struct sched_domain;

static int oracle_newly_search(int cpu, struct rq *rq, struct sched_domain *sd, int idle, int *goes_on);

#define O_CALL_CPU_NEWLY_IDLE ~, oracle_newly_search
#define O_SECOND(first, second, ...) second
#define O_CALLED(...) O_SECOND(__VA_ARGS__, load_balance, )
#define O_CALLED_RQ(...) O_SECOND(__VA_ARGS__, sched_balance_rq, )
#define load_balance(cpu, rq, sd, idle, goes_on) O_CALLED(O_CALL_##idle)(cpu, rq, sd, idle, goes_on)
#define sched_balance_rq(cpu, rq, sd, idle, goes_on) O_CALLED_RQ(O_CALL_##idle)(cpu, rq, sd, idle, goes_on)
