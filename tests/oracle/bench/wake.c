// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In a guest: CPU 0 wakes a task that slept on any CPU, while the kernel's placement and a system call of known length
 * are timed (scripts/bench-placement-guest.sh). usage: wake none|half|all TIMES; half: every second CPU spins.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing/"
#define MOST_CPUS 512

static volatile unsigned *word; /* that the sleeper waits for */
static int cpus;
static pid_t busy[MOST_CPUS];

static void stay_on(int first, int last)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (; first <= last; first++)
		CPU_SET(first, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* A file of tracefs takes one word at a time. */
static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_TRUNC);
	ssize_t taken;

	if (fd < 0)
		perror(file);
	for (; *text && (taken = write(fd, text, strlen(text))) > 0; text += taken)
		;
	close(fd);
}

static void spin(int step)
{
	for (int cpu = 1; step && cpu < cpus; cpu += step) {
		busy[cpu] = fork();
		if (busy[cpu])
			continue;
		stay_on(cpu, cpu);
		for (;;)
			__asm__ volatile("");
	}
}

static void sleep_on_any(int told)
{
	unsigned seed = 1, seen;

	for (;;) {
		seed = seed * 1103515245 + 12345;
		stay_on((seed >> 16) % cpus, (seed >> 16) % cpus);
		stay_on(0, cpus - 1);
		seen = *word;
		if (write(told, "", 1) != 1)
			exit(1);
		while (*word == seen)
			syscall(SYS_futex, word, FUTEX_WAIT, seen, 0, 0, 0);
	}
}

static void trace_this(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	put(TRACING "set_ftrace_pid", pid);
	put(TRACING "set_ftrace_filter", "select_task_rq_fair __x64_sys_umask");
	put(TRACING "current_tracer", "function_graph");
	put(TRACING "tracing_on", "1");
}

static void wake(int times, int told)
{
	char c;

	while (times-- > 0 && read(told, &c, 1) == 1) {
		usleep(2500); /* until it sleeps */
		umask(022);
		__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, word, FUTEX_WAKE, 1, 0, 0, 0);
	}
}

int main(int argc, char **argv)
{
	pid_t sleeper;
	int told[2];

	if (argc != 3 || pipe(told))
		return 2;
	cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	word = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	spin(!strcmp(argv[1], "none") ? 0 : !strcmp(argv[1], "half") ? 2 : 1);
	sleeper = fork();
	if (!sleeper)
		sleep_on_any(told[1]);
	stay_on(0, 0);
	usleep(200000);
	trace_this();
	wake(atoi(argv[2]), told[0]);
	put(TRACING "tracing_on", "0");
	kill(sleeper, SIGKILL);
	for (int cpu = 1; cpu < cpus; cpu++)
		if (busy[cpu])
			kill(busy[cpu], SIGKILL);
	return 0;
}
