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
static sigjmp_buf trap;
static volatile int armed;

/* Kernel code keeps the stack aligned to 8 bytes only. */
__attribute__((force_align_arg_pointer, noreturn)) void oracle_missing(const char *name);
void oracle_missing(const char *name)
{
	fprintf(stderr, "oracle: the kernel called %s(), which has no stub\n", name);
	_exit(3);
}

/* WARN_ON() is the instruction ud2; BUG_ON() looks the same. Counted and skipped. */
static int is_warning(int sig, const ucontext_t *uc)
{
	return sig == SIGILL && ((const unsigned char *)uc->uc_mcontext.gregs[REG_RIP])[0] == 0x0f;
}

static void fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	char *at = info->si_addr;

	if (is_warning(sig, uc)) {
		oracle_warnings++;
		uc->uc_mcontext.gregs[REG_RIP] += 2;
		return;
	}
	if (sig == SIGFPE && armed)
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

/* Runs one side of a case. Returns 0 when it divided by zero, which only a case made simpler by hand does. */
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
