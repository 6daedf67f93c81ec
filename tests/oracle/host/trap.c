// SPDX-License-Identifier: GPL-2.0-or-later
/* What kernel code does in user space that ordinary code does not: warnings, unknown data, unknown functions. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "host.h"

extern char k_poison_start[], k_poison_end[];
extern const char *const k_poison_names[];
unsigned long oracle_warnings;
const char *oracle_warned_file;
u32 oracle_warned_line;
static sigjmp_buf trap;
static volatile int armed;
u32 trap_forgives;

/* Kernel code keeps the stack aligned to 8 bytes only. */
__attribute__((force_align_arg_pointer, noreturn)) void oracle_missing(const char *name);
void oracle_missing(const char *name)
{
	if (armed && trap_forgives)
		siglongjmp(trap, 1);
	fprintf(stderr, "oracle: the kernel called %s(), which has no stub\n", name);
	_exit(3);
}

/* From 6.19 on a warning with words is a call. */
__attribute__((force_align_arg_pointer)) void oracle_warned(const char *file, u32 line);
void oracle_warned(const char *file, u32 line)
{
	if (!oracle_warned_file) {
		oracle_warned_file = file;
		oracle_warned_line = line;
	}
	oracle_warnings++;
}

/* WARN_ON() is the instruction ud2, counted and skipped. BUG_ON() looks the same, and is the end. */
static int is_warning(ucontext_t *uc)
{
	const char *file;
	u32 line, kind = k_bug((u64)uc->uc_mcontext.gregs[REG_RIP], &file, &line);

	if (kind == 1)
		fprintf(stderr, "oracle: BUG at %s:%u\n", file, line);
	if (kind != 2)
		return 0;
	oracle_warned(file, line);
	uc->uc_mcontext.gregs[REG_RIP] += 2;
	return 1;
}

static void fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	char *at = info->si_addr;

	if (sig == SIGILL && is_warning(uc))
		return;
	if (armed && (sig == SIGFPE || trap_forgives))
		siglongjmp(trap, 1);
	if (at >= k_poison_start && at < k_poison_end)
		fprintf(stderr, "oracle: the kernel used data %s\n", k_poison_names[(at - k_poison_start) / 4096]);
	else
		fprintf(stderr, "oracle: signal %d at %p, address %p\n", sig, (void *)uc->uc_mcontext.gregs[REG_RIP],
			(void *)at);
	_exit(3);
}

void trap_install(void)
{
	struct sigaction sa = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &sa, 0);
	sigaction(SIGILL, &sa, 0);
	sigaction(SIGFPE, &sa, 0);
	mprotect(k_poison_start, (size_t)(k_poison_end - k_poison_start), PROT_NONE);
}

/* Runs one side of a case. Returns 0 when it divided by zero or, if forgiven, crashed: cases made simpler may. */
u32 trap_run(void (*f)(struct oracle_state *), struct oracle_state *s)
{
	u32 done = 0;

	armed = 1;
	if (!sigsetjmp(trap, 1)) {
		f(s);
		done = 1;
	}
	armed = 0;
	return done;
}
