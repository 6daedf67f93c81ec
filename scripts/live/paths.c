// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What paths of the kernel take in a guest in which nothing else runs, on the guest's own clock. scripts/live/boot.sh
 * puts it there where PELTON_LIVE_PATHS is set, and a line `paths -` of the jobs runs it. Threads have CPUs of their
 * own. Beside what is measured stands what the measuring takes, so that one can be taken off the other.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 300
#define CALLS 4000
#define GAPS_MAX 20000
#define MS 1000000LL

typedef long long ns_t;
typedef void *(*body_t)(void *);

static ns_t samples[GAPS_MAX];
static _Atomic int stop, ready, sleeps_us;
static _Atomic ns_t woken_ns, cycles;
static int word, waiter_cpu, waiter_nice;

static ns_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static void nap(ns_t ns)
{
	struct timespec t = { ns / (1000 * MS), ns % (1000 * MS) };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* -1: any CPU. */
static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (cpu < 0 || i == cpu)
			CPU_SET(i, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* An emulator that executes one CPU after another goes on with the next one. */
static void hint(void)
{
#ifdef __aarch64__
	__asm__ volatile("yield");
#else
	__asm__ volatile("pause");
#endif
}

static pthread_t start(body_t body, int cpu)
{
	pthread_t thread;

	stop = ready = 0;
	pthread_create(&thread, NULL, body, (void *)(long)cpu);
	return thread;
}

static int by_size(const void *a, const void *b)
{
	ns_t x = *(const ns_t *)a, y = *(const ns_t *)b;

	return x < y ? -1 : x > y;
}

static void tell(const char *what, ns_t *all, int n)
{
	qsort(all, n, sizeof(*all), by_size);
	if (n)
		printf("%s: %d, ns 10 %% %lld, 50 %% %lld, 90 %% %lld\n", what, n, all[n / 10], all[n / 2],
		       all[n * 9 / 10]);
	fflush(stdout);
}

static ns_t futex(int *at, int op, int val)
{
	ns_t from = now();

	syscall(SYS_futex, at, op | FUTEX_PRIVATE_FLAG, val, NULL, NULL, 0);
	return now() - from;
}

static void *gives_way(void *cpu)
{
	run_on((int)(long)cpu);
	while (!stop)
		sched_yield();
	return NULL;
}

/* A switch and back again, and what giving way takes where no other thread waits. */
static void switches(int cpu)
{
	ns_t from, alone, both;
	pthread_t other;

	run_on(cpu);
	from = now();
	for (int i = 0; i < CALLS; i++)
		sched_yield();
	alone = (now() - from) / CALLS;
	other = start(gives_way, cpu);
	nap(3 * MS);
	from = now();
	for (int i = 0; i < CALLS; i++)
		sched_yield();
	both = (now() - from) / CALLS;
	stop = 1;
	pthread_join(other, NULL);
	printf("CPU %d: ns of giving way to no thread %lld, to another thread and back %lld\n", cpu, alone, both);
}

/* What keeps a busy thread from looking at the clock. */
static int gaps(ns_t span)
{
	ns_t last = now(), end = last + span;
	int n = 0;

	while (last < end && n < GAPS_MAX) {
		ns_t at;

		hint();
		at = now();
		if (at - last > 400)
			samples[n++] = at - last;
		last = at;
	}
	return n;
}

static void timers(int cpu)
{
	run_on(cpu);
	for (int i = 0; i < ROUNDS; i++) {
		ns_t at = now() + 17 * MS / 10;
		struct timespec t = { at / (1000 * MS), at % (1000 * MS) };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		samples[i] = now() - at;
	}
	tell("a timer wakes a thread of an idle CPU", samples, ROUNDS);
}

static void *waits(void *unused)
{
	(void)unused;
	run_on(waiter_cpu);
	setpriority(PRIO_PROCESS, 0, waiter_nice);
	while (!stop) {
		futex(&word, FUTEX_WAIT, 0);
		woken_ns = now();
	}
	return NULL;
}

/* A thread of `cpu` wakes one of `theirs`. */
static void wakes(const char *what, int cpu, int theirs, int nice)
{
	static ns_t none[ROUNDS], woken[ROUNDS];
	int unwaited = 0;
	pthread_t thread;

	run_on(cpu);
	waiter_cpu = theirs;
	waiter_nice = nice;
	thread = start(waits, theirs);
	nap(5 * MS);
	for (int i = 0; i < ROUNDS; i++) {
		ns_t from = now();

		samples[i] = futex(&word, FUTEX_WAKE, 1);
		nap(3 * MS / 2);
		woken[i] = woken_ns - from;
		none[i] = futex(&unwaited, FUTEX_WAKE, 1);
		nap(3 * MS / 2);
	}
	stop = 1;
	futex(&word, FUTEX_WAKE, 1);
	pthread_join(thread, NULL);
	printf("%s\n", what);
	tell("  the call", samples, ROUNDS);
	tell("  until the woken thread runs", woken, ROUNDS);
	tell("  a call that wakes no thread", none, ROUNDS);
}

static void *is_interrupted(void *cpu)
{
	int n;

	run_on((int)(long)cpu);
	ready = 1;
	n = gaps(500 * MS);
	stop = 1;
	tell("gaps of a busy thread that membarrier() interrupts", samples, n);
	return NULL;
}

/* The shortest are interrupts alone; another CPU executes meanwhile in the others. */
static void interrupts(int cpu, int theirs)
{
	pthread_t thread;

	run_on(cpu);
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0);
	thread = start(is_interrupted, theirs);
	while (!stop) {
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0);
		nap(7 * MS / 10);
	}
	pthread_join(thread, NULL);
}

static void *sleeps(void *cpu)
{
	run_on((int)(long)cpu);
	while (!stop) {
		nap(sleeps_us ? sleeps_us * 1000 : 50 * MS);
		cycles++;
	}
	return NULL;
}

/* Loops per second; the clock goes by with what other CPUs execute as well. */
static double rate(ns_t span)
{
	ns_t from = now(), n = 0;

	for (; now() - from < span; n++)
		for (int i = 0; i < 1000; i++)
			__asm__ volatile("");
	return n * 1e9 / (now() - from);
}

/* What a sleep and its end take of the clock that all CPUs share. */
static void sleeping(int cpu, int theirs)
{
	pthread_t thread;
	double alone, beside;
	ns_t from, before, ran;

	run_on(cpu);
	sleeps_us = 0;
	thread = start(sleeps, theirs);
	nap(60 * MS);
	alone = rate(300 * MS);
	sleeps_us = 500;
	nap(60 * MS);
	from = now();
	before = cycles;
	beside = rate(400 * MS);
	ran = now() - from;
	printf("a sleep of 500 us on CPU %d and its end: %.0f ns\n", theirs,
	       (alone - beside) / alone * ran / (double)(cycles - before));
	stop = 1;
	pthread_join(thread, NULL);
}

static void *is_busy(void *cpu)
{
	run_on((int)(long)cpu);
	while (!stop)
		hint();
	return NULL;
}

/* The longest search of each domain since they were asked, as the kernel measures it. */
static void costs(int cpu)
{
	for (int domain = 0; domain < 3; domain++) {
		char path[120], line[32];
		FILE *file;

		snprintf(path, sizeof(path), "/sys/kernel/debug/sched/domains/cpu%d/domain%d/max_newidle_lb_cost", cpu,
			 domain);
		file = fopen(path, "r+");
		if (!file)
			continue;
		if (fgets(line, sizeof(line), file))
			printf("CPU %d, longest search of domain %d: %s", cpu, domain, line);
		rewind(file);
		fputs("0", file);
		fclose(file);
	}
}

/* A CPU that runs out of tasks while another one has two that may not leave it. */
static void searches(int cpu, int busy)
{
	pthread_t first = start(is_busy, busy), second = start(is_busy, busy);

	run_on(cpu);
	for (int i = 0; i < 10; i++) {
		for (int n = 0; n < 40; n++)
			nap(13 * MS / 10);
		costs(cpu);
	}
	stop = 1;
	pthread_join(first, NULL);
	pthread_join(second, NULL);
}

int main(void)
{
	int last = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;

	/* Threads have it from who makes them: sleeps end when they are over. */
	prctl(PR_SET_TIMERSLACK, 1);
	/* The guest still ends its start. */
	nap(3000 * MS);
	for (int i = 0; i < 2; i++) {
		int cpu = i ? last : 1;

		switches(cpu);
		for (int n = 0; n < ROUNDS; n++) {
			ns_t from = now();

			samples[n] = now() - from;
		}
		tell("asking for the time", samples, ROUNDS);
		tell("gaps of a busy thread", samples, gaps(1000 * MS));
		timers(cpu);
	}
	wakes("a thread of its own CPU that goes last", 1, 1, 19);
	wakes("a thread of another CPU, which is idle", 1, 0, 0);
	wakes("a thread that may run anywhere", 1, -1, 0);
	interrupts(1, 2);
	sleeping(1, last);
	searches(1, last);
	searches(last, 1);
	return 0;
}
