// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares the kernel's own functions with the core on random states:
 *   oracle run CASES SEED [NAME]   all operations, or those whose name contains NAME; exit 1 when something differs
 *   oracle canaries CASES SEED     wrong rules in the place of the core's must be noticed; exit 1 when one is not
 *   oracle proofs CASES SEED       lines "switch<tab>operation": other releases' values of it must be noticed
 *   oracle noticed CASES SEED      which operations notice another release's value of which switch
 *   oracle answers [few]           lines "release<tab>operation..." of standard input: numbers that stand for the core's
 *                                  answers; exit 1 when the kernel, where there is one, answers something else
 *   oracle own                     lines "release<tab>operation<tab>switch=value...": the same under another rule
 *   oracle rules                   all those lines, with the rules that change an operation's answers
 *   oracle diff CASES SEED NAME RULES
 *                                  one operation under "6.12,switch=value...", a profile and switches: lines of JSON
 *   oracle search CASES SEED RULES which switches, beside those, explain the operations of standard input
 *   oracle list                    operations and whether this release has them
 * Results go to standard output, one JSON object a line to the file named by ORACLE_RESULTS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host.h"

static const struct oracle_op *const tables[] = { ops_pelt,       ops_clock,  ops_group,   ops_util,     ops_governor,
						  ops_place,      ops_select, ops_balance, ops_uclamp,   ops_energy,
						  ops_idle,       ops_cfs,    ops_eevdf,   ops_deadline, ops_life,
						  ops_dbs,        ops_quota,  ops_class,   ops_levels,   ops_newidle,
						  ops_idle_group, ops_cache,  ops_server };
static FILE *results;

#define EACH_OP(op) \
	for (u32 t_ = 0; t_ < sizeof(tables) / sizeof(tables[0]); t_++) \
		for (const struct oracle_op *op = tables[t_]; op->name; op++)

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

u64 share_of(const struct oracle_op *op, u64 cases)
{
	return op->share ? cases * op->share / 100 : cases;
}

static void note(const char *kind, const char *name, u64 cases, u64 different, unsigned long warned)
{
	if (!results)
		return;
	fprintf(results,
		"{\"release\": \"%s\", \"kind\": \"%s\", \"name\": \"%s\", \"cases\": %llu, \"different\": %llu, "
		"\"warnings\": %lu}\n",
		k_release(), kind, name, cases, different, warned);
	fflush(results);
}

static void show_first(const struct oracle_op *op, struct oracle_state *first)
{
	static struct oracle_state k, p;

	minimise(op, first);
	case_differs(op, first, &k, &p);
	print_case(first, &k, &p);
}

/* Why an operation is expected to differ; NULL = it is not. */
static const char *known(const struct oracle_op *op)
{
	const struct oracle_known *row;

	for (row = oracle_known; row->op; row++)
		if (!strcmp(row->op, op->name) && oracle_version >= row->first && oracle_version <= row->last)
			return row->why;
	return 0;
}

/* Number of failures: differences that are not expected, or none where one is expected. */
static u64 judge(const struct oracle_op *op, u64 different)
{
	const char *why = known(op);

	if (!why)
		return different;
	if (different)
		printf("    known: %s\n", why);
	else
		printf("    no longer differs: take it out of known.c\n");
	return !different;
}

static u64 run_op(const struct oracle_op *op, u64 cases, u64 seed)
{
	static struct oracle_state first;
	unsigned long warned = oracle_warnings;
	double begin = seconds();
	u64 todo = share_of(op, cases), different;

	oracle_warned_file = 0;
	different = op_run(op, todo, seed, &first);
	printf("%-9s %-52s %9llu cases %8llu different %5.0f k/s\n", k_release(), op->name, todo, different,
	       (double)todo / (seconds() - begin) / 1e3);
	if (oracle_warnings != warned)
		printf("    the kernel warned %lu times, first at %s:%u\n", oracle_warnings - warned,
		       oracle_warned_file, oracle_warned_line);
	note("operation", op->name, todo, different, oracle_warnings - warned);
	if (different)
		show_first(op, &first);
	return judge(op, different) + (oracle_warnings - warned);
}

static int run(u64 cases, u64 seed, const char *only)
{
	u64 different = 0, total = 0;

	EACH_OP(op)
	{
		if (!op->kernel || !strstr(op->name, only))
			continue;
		different += run_op(op, cases, seed);
		total += share_of(op, cases);
	}
	printf("%-9s %llu states, %llu unexpected differences\n", k_release(), total, different);
	return different != 0;
}

const struct oracle_op *find_op(const char *name)
{
	EACH_OP(op)
	{
		if (!strcmp(op->name, name))
			return op;
	}
	fprintf(stderr, "oracle: no operation %s\n", name);
	exit(70);
}

/* The operation with the wrong rule in it differs in some case. */
static u32 is_noticed(const struct oracle_canary *c, u64 cases, u64 seed)
{
	static struct oracle_state first;
	struct oracle_op wrong = *find_op(c->op);
	u64 different;

	if (!wrong.kernel)
		return 0;
	wrong.run = c->run;
	different = op_run(&wrong, share_of(&wrong, cases), seed, &first);
	printf("%-9s canary %-2s %-42s %8llu different: %s\n", k_release(), c->name, c->op, different, c->why);
	note("canary", c->name, cases, different, 0);
	return different != 0;
}

static int canaries(u64 cases, u64 seed)
{
	const struct oracle_canary *c;
	u32 missed = 0, tried = 0;

	for (c = oracle_canaries; c->name; c++) {
		if (oracle_version < c->first || oracle_version > c->last)
			continue;
		tried++;
		if (is_noticed(c, cases, seed))
			continue;
		printf("%-9s canary %s was not noticed\n", k_release(), c->name);
		missed++;
	}
	printf("%-9s %u canaries, %u not noticed\n", k_release(), tried, missed);
	return missed != 0;
}

/* Why nothing can tell a value from the release's own; NULL = something should. */
static const char *same(u32 index, const char *value)
{
	const struct oracle_same *row;

	for (row = oracle_same; row->name; row++)
		if (!strcmp(row->name, pelton_switch_table[index].name) && !strcmp(row->value, value) &&
		    oracle_version >= row->first && oracle_version <= row->last)
			return row->why;
	return 0;
}

/* Values that other releases have and this operation does not notice. */
static u32 not_noticed(const struct oracle_op *op, u64 cases, u64 seed, u32 index)
{
	u32 value, missed = 0;
	const char *why;
	char name[64];

	for (value = 0; value < pelton_switch_value_count(index); value++) {
		if (value == pelton_policy_get(&oracle_policy, index) || !is_a_default(index, value))
			continue;
		if (op->kernel && op_notices(op, share_of(op, cases), seed, index, value))
			continue;
		value_name(index, value, name, sizeof(name));
		why = same(index, name);
		printf("%-9s %s=%s is not noticed by %s%s%s\n", k_release(), pelton_switch_table[index].name, name,
		       op->name, why ? ": " : "", why ? why : "");
		missed += !why;
	}
	return missed;
}

/* Lines "switch<tab>operation" of standard input: each proves its switch only if no other release's value passes. */
static int proofs(u64 cases, u64 seed)
{
	char line[256], *name;
	u32 rows = 0, missed = 0;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		name = strchr(line, '\t');
		if (!name)
			continue;
		*name++ = 0;
		missed += not_noticed(find_op(name), cases, seed, find_switch(line));
		rows++;
	}
	printf("%-9s %u proofs of switches, %u values of other releases not noticed\n", k_release(), rows, missed);
	return missed != 0 || !rows;
}

/* Which operations notice another release's value of which switch, one line each. */
static int noticed(u64 cases, u64 seed)
{
	u32 index, value;

	for (index = 0; index < PELTON_SWITCH_COUNT; index++)
		for (value = 0; value < pelton_switch_value_count(index); value++) {
			if (value == pelton_policy_get(&oracle_policy, index) || !is_a_default(index, value))
				continue;
			EACH_OP(op)
			{
				if (op->kernel && op_notices(op, share_of(op, cases), seed, index, value))
					printf("%s\t%u\t%s\n", pelton_switch_table[index].name, value, op->name);
			}
		}
	return 0;
}

/* A line of the core's own answers under a rule: no kernel is asked. */
static void print_own(const struct oracle_op *op, const char *profile, char *rule)
{
	struct pelton_policy own = oracle_policy;

	if (!set_rule(rule))
		exit(70);
	printf("%s\t%s\t%s\t%016llx\n", profile, op->name, rule, own_answers(op, rule[0] != '-'));
	oracle_policy = own;
}

/* Lines "release<tab>operation" of standard input, those of other releases passed over; `own`: with a rule. */
static int answers(u32 few, u32 own)
{
	const char *profile = find_profile();
	char line[256], *release, *name, *rule, *end;
	u64 different = 0;

	while (fgets(line, sizeof(line), stdin)) {
		release = strtok_r(line, "\t\n", &end);
		name = strtok_r(0, "\t\n", &end);
		if (!name || strcmp(release, profile))
			continue;
		rule = strtok_r(0, "\t\n", &end);
		if (own && rule)
			print_own(find_op(name), profile, rule);
		else
			different += print_answers(find_op(name), profile, few);
	}
	return different != 0;
}

/* Prints what an operation answers under each rule that changes its answers. */
static void print_others(const struct oracle_op *op, const char *profile)
{
	struct pelton_policy own = oracle_policy;
	u64 right = own_answers(op, 1);
	char rule[128], name[64];
	u32 index, value, changes;

	for (index = 0; index < PELTON_SWITCH_COUNT; index++)
		for (value = 0; value < pelton_switch_value_count(index); value++) {
			changes = !pelton_policy_set(&oracle_policy, index, value) && own_answers(op, 1) != right;
			oracle_policy = own;
			if (!changes)
				continue;
			snprintf(rule, sizeof(rule), "%s=%s", pelton_switch_table[index].name,
				 value_name(index, value, name, sizeof(name)));
			print_own(op, profile, rule);
		}
}

/* All lines of `own`: the release's rules, and those of others that the operations notice. */
static int rules(void)
{
	const char *profile = find_profile();
	char as_it_is[] = "-";

	EACH_OP(op)
	{
		print_own(op, profile, as_it_is);
		print_others(op, profile);
	}
	return 0;
}

static int list(void)
{
	EACH_OP(op) printf("%s\t%s\t%s\t%u\n", k_release(), op->name, op->core, op->kernel != 0);
	return 0;
}

int main(int argc, char **argv)
{
	u64 cases = argc > 2 ? strtoull(argv[2], 0, 0) : 100000, seed = argc > 3 ? strtoull(argv[3], 0, 0) : 1;
	const char *what = argc > 1 ? argv[1] : "", *file = getenv("ORACLE_RESULTS");

	setvbuf(stdout, 0, _IOLBF, 0);
	find_profile();
	trap_install();
	k_boot();
	if (file)
		results = fopen(file, "a");
	if (!strcmp(what, "run"))
		return run(cases, seed, argc > 4 ? argv[4] : "");
	if (!strcmp(what, "canaries"))
		return canaries(cases, seed);
	if (!strcmp(what, "noticed"))
		return noticed(cases, seed);
	if (!strcmp(what, "proofs"))
		return proofs(cases, seed);
	if (!strcmp(what, "answers"))
		return answers(argc > 2 && !strcmp(argv[2], "few"), 0);
	if (!strcmp(what, "own"))
		return answers(0, 1);
	if (!strcmp(what, "rules"))
		return rules();
	if (!strcmp(what, "diff") && argc > 5)
		return diff_op(find_op(argv[4]), cases, seed, argv[5]);
	if (!strcmp(what, "search") && argc > 4)
		return search_switches(cases, seed, argv[4]);
	if (!strcmp(what, "list"))
		return list();
	fprintf(stderr, "usage: oracle run|canaries|proofs|noticed|answers|own|rules|diff|search|list "
			"[CASES [SEED [NAME [RULES]]]]\n");
	return 2;
}
