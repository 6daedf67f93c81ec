// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls into an image of kernel code. A crash, a BUG, a function that is not there or a call that does not return ends
 * the call, not the program: what was wrong is kept, and from then on the image answers nothing. A WARN is counted.
 *
 *   program                       image
 *   pelton_image_select  --->     select_task_rq_fair()        returns: 1, answered
 *           ^                         | fault, missing, timer
 *           +----- siglongjmp --------+                        0, failed: the caller has the core's answer
 *
 * An image belongs to the thread that made it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "kernel_ops.h"

/* Numbers of crates/core/src/kernel.rs. */
enum operation {
	SUGOV_HOOK,
	SUGOV_WORK,
	SUGOV_LIMITS,
	SELECT_TASK_RQ_FAIR,
	UTIL_FITS_CPU,
	CPU_OVERUTILIZED,
	MISFIT_LOAD,
	MENU_SELECT,
	TEO_SELECT,
	SHOULD_WE_BALANCE,
	FIND_SRC,
	NEED_ACTIVE_BALANCE,
	CAN_MIGRATE_TASK,
	UTIL_EST_UPDATE,
	UPDATE_LOAD_SUM,
	UPDATE_LOAD_AVG,
	PELT_DIVIDER,
	START, /* no operation */
	OPERATIONS
};

static const char *const names[OPERATIONS] = {
	"the governor's hook",
	"the governor's worker",
	"sugov_limits",
	"select_task_rq_fair",
	"util_fits_cpu",
	"cpu_overutilized",
	"update_misfit_status",
	"menu_select",
	"teo_select",
	"should_we_balance",
	"the search of a balance",
	"need_active_balance",
	"can_migrate_task",
	"util_est_update",
	"___update_load_sum",
	"___update_load_avg",
	"get_pelt_divider",
	"its start",
};

#define WARNINGS_MAX 32
#define TEXT_MAX 512
/* CPU time that a call may take, in seconds: at least one of them, at most two. */
#define CALL_S 1
#define TIMER_SIGNAL SIGVTALRM

struct warning {
	const char *file;
	u32 line;
	u32 operation;
	u64 first_ns;
	u64 count;
};

struct pelton_image {
	sigjmp_buf back;
	const struct pelton_kernel_ops *ops;
	volatile sig_atomic_t is_inside;
	u32 operation;
	u64 now_ns;
	u64 all_calls, calls_at_tick;
	u64 calls[OPERATIONS];
	u32 nr_warnings;
	struct warning warnings[WARNINGS_MAX];
	timer_t timer;
	u32 has_timer;
	char failure[TEXT_MAX];
};

/* The image that kernel code runs of in this thread. */
static _Thread_local struct pelton_image *here;

static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, TIMER_SIGNAL };
#define NR_SIGNALS (sizeof(signals) / sizeof(signals[0]))
static struct sigaction before[NR_SIGNALS];

/* ---- faults ---- */

/* Where %gs:symbol is CPU 0's: user space leaves the register alone. */
static void on_cpu_0(void)
{
	__asm__ volatile("wrgsbase %0" ::"r"(0ul) : "memory");
}

__attribute__((format(printf, 2, 3), noreturn)) static void fails(struct pelton_image *i, const char *what, ...)
{
	int n;
	va_list args;

	va_start(args, what);
	n = vsnprintf(i->failure, TEXT_MAX, what, args);
	va_end(args);
	if (n > 0 && n < TEXT_MAX)
		snprintf(i->failure + n, TEXT_MAX - (size_t)n, ", in %s at %.6f s of simulated time",
			 names[i->operation], (double)i->now_ns / 1e9);
	siglongjmp(i->back, 1);
}

static void warns(struct pelton_image *i, const char *file, u32 line)
{
	u32 k;

	for (k = 0; k < i->nr_warnings; k++)
		if (i->warnings[k].line == line && !strcmp(i->warnings[k].file, file))
			break;
	if (k == WARNINGS_MAX)
		return;
	if (k == i->nr_warnings) {
		i->nr_warnings++;
		i->warnings[k] = (struct warning){ file, line, i->operation, i->now_ns, 0 };
	}
	i->warnings[k].count++;
}

/* An instruction that a kernel stops at: 1, a warning, which is passed over; does not return of others. */
static int stops(struct pelton_image *i, ucontext_t *uc)
{
	u64 ip = (u64)uc->uc_mcontext.gregs[REG_RIP];
	const char *file = "";
	u32 line = 0, kind = i->ops ? i->ops->bug(ip, &file, &line) : 0;

	if (kind == 1)
		fails(i, "BUG at %s:%u", file, line);
	if (kind != 2)
		fails(i, "instruction at image address %#llx that cannot be executed", ip);
	warns(i, file, line);
	uc->uc_mcontext.gregs[REG_RIP] += 2;
	return 1;
}

static void faults(struct pelton_image *i, int sig, const siginfo_t *info, ucontext_t *uc)
{
	const struct pelton_kernel_ops *ops = i->ops;
	char *at = info->si_addr;
	u64 ip = (u64)uc->uc_mcontext.gregs[REG_RIP];

	if (sig == SIGILL && stops(i, uc))
		return;
	if (sig == SIGFPE)
		fails(i, "division by zero at image address %#llx", ip);
	if (ops && at >= ops->poison_start && at < ops->poison_end)
		fails(i, "use of %s, which is not there", ops->poison_names[(at - ops->poison_start) / 4096]);
	fails(i, "bad access to %p at image address %#llx", (void *)at, ip);
}

/* A fault of the program's own, or a signal with another purpose: as it was before. */
static void passes_on(int sig, siginfo_t *info, void *context)
{
	u32 k = 0;

	while (k + 1 < NR_SIGNALS && signals[k] != sig)
		k++;
	if (before[k].sa_flags & SA_SIGINFO && before[k].sa_sigaction)
		before[k].sa_sigaction(sig, info, context);
	else if (before[k].sa_handler != SIG_DFL && before[k].sa_handler != SIG_IGN)
		before[k].sa_handler(sig);
	else if (before[k].sa_handler == SIG_DFL && sig != TIMER_SIGNAL)
		signal(sig, SIG_DFL);
}

static void caught(int sig, siginfo_t *info, void *context)
{
	struct pelton_image *i = here;
	ucontext_t *uc = context;

	/* Wherever it is that kernel code has gone to. */
	if (!i || !i->is_inside) {
		if (sig != TIMER_SIGNAL || !i)
			passes_on(sig, info, context);
		return;
	}
	if (sig != TIMER_SIGNAL) {
		faults(i, sig, info, uc);
	} else if (i->calls_at_tick == i->all_calls) {
		fails(i, "kernel code did not return within %d s", CALL_S);
	} else {
		i->calls_at_tick = i->all_calls;
	}
}

static void missing(const char *name)
{
	fails(here, "call of %s(), which is not there", name);
}

static void warned(const char *file, u32 line)
{
	warns(here, file, line);
}

static void install(void)
{
	struct sigaction sa = { .sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART };
	u32 k;

	for (k = 0; k < NR_SIGNALS; k++)
		sigaction(signals[k], &sa, &before[k]);
}

/* A signal for each second of CPU time of this thread. */
static int watch(struct pelton_image *i)
{
	struct itimerspec each = { { CALL_S, 0 }, { CALL_S, 0 } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TIMER_SIGNAL };

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	return timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &i->timer) || timer_settime(i->timer, 0, &each, 0);
}

/* ---- calls ---- */

/* Calls `call` where the operation is there and nothing has failed. */
#define ASKS(i, number, is_there, call) \
	do { \
		if (!(is_there) || (i)->failure[0]) \
			return 0; \
		(i)->operation = (number); \
		(i)->all_calls++; \
		if (sigsetjmp((i)->back, 0)) { \
			(i)->is_inside = 0; \
			on_cpu_0(); \
			return 0; \
		} \
		(i)->is_inside = 1; \
		call; \
		(i)->is_inside = 0; \
		(i)->calls[number]++; \
		return 1; \
	} while (0)

u32 pelton_image_start(struct pelton_image *i, pelton_kernel_entry *entry);
u32 pelton_image_start(struct pelton_image *i, pelton_kernel_entry *entry)
{
	static const struct pelton_kernel_host host = { missing, warned };

	ASKS(i, START, 1, i->ops = entry(&host));
}

u32 pelton_image_sugov_start(struct pelton_image *i, u32 domain, u64 cpus, const struct pelton_sugov_policy *sp,
			     const u32 *khz, u32 opps);
u32 pelton_image_sugov_start(struct pelton_image *i, u32 domain, u64 cpus, const struct pelton_sugov_policy *sp,
			     const u32 *khz, u32 opps)
{
	ASKS(i, START, i->ops->sugov_start, i->ops->sugov_start(domain, cpus, sp, khz, opps));
}

u32 pelton_image_sugov_hook(struct pelton_image *i, u32 domain, u32 place, u32 exec_cpu, u64 now, u32 flags,
			    const struct pelton_cpu_state *cs, struct pelton_sugov_policy *sp,
			    struct pelton_sugov_cpu *sc, struct pelton_kernel_hook *out);
u32 pelton_image_sugov_hook(struct pelton_image *i, u32 domain, u32 place, u32 exec_cpu, u64 now, u32 flags,
			    const struct pelton_cpu_state *cs, struct pelton_sugov_policy *sp,
			    struct pelton_sugov_cpu *sc, struct pelton_kernel_hook *out)
{
	ASKS(i, SUGOV_HOOK, i->ops->sugov_hook,
	     i->ops->sugov_hook(domain, place, exec_cpu, now, flags, cs, sp, sc, out));
}

u32 pelton_image_sugov_work(struct pelton_image *i, u32 domain, struct pelton_sugov_policy *sp, u32 *khz);
u32 pelton_image_sugov_work(struct pelton_image *i, u32 domain, struct pelton_sugov_policy *sp, u32 *khz)
{
	ASKS(i, SUGOV_WORK, i->ops->sugov_work, *khz = i->ops->sugov_work(domain, sp));
}

u32 pelton_image_sugov_limits(struct pelton_image *i, u32 domain, struct pelton_sugov_policy *sp);
u32 pelton_image_sugov_limits(struct pelton_image *i, u32 domain, struct pelton_sugov_policy *sp)
{
	ASKS(i, SUGOV_LIMITS, i->ops->sugov_limits, i->ops->sugov_limits(domain, sp));
}

u32 pelton_image_select(struct pelton_image *i, const struct pelton_placement *s, struct pelton_kernel_select *out);
u32 pelton_image_select(struct pelton_image *i, const struct pelton_placement *s, struct pelton_kernel_select *out)
{
	ASKS(i, SELECT_TASK_RQ_FAIR, i->ops->select_task_rq_fair, i->ops->select_task_rq_fair(s, out));
}

u32 pelton_image_util_fits(struct pelton_image *i, const struct pelton_placement *s, u32 util, u32 min, u32 max,
			   u32 cpu, s32 *out);
u32 pelton_image_util_fits(struct pelton_image *i, const struct pelton_placement *s, u32 util, u32 min, u32 max,
			   u32 cpu, s32 *out)
{
	ASKS(i, UTIL_FITS_CPU, i->ops->util_fits_cpu, *out = i->ops->util_fits_cpu(s, util, min, max, cpu));
}

u32 pelton_image_overutilized(struct pelton_image *i, const struct pelton_placement *s, u32 cpu, u32 *out);
u32 pelton_image_overutilized(struct pelton_image *i, const struct pelton_placement *s, u32 cpu, u32 *out)
{
	ASKS(i, CPU_OVERUTILIZED, i->ops->cpu_overutilized, *out = i->ops->cpu_overutilized(s, cpu));
}

u32 pelton_image_misfit(struct pelton_image *i, const struct pelton_placement *s, u32 cpu, u32 biggest, u64 *out);
u32 pelton_image_misfit(struct pelton_image *i, const struct pelton_placement *s, u32 cpu, u32 biggest, u64 *out)
{
	ASKS(i, MISFIT_LOAD, i->ops->misfit_load, *out = i->ops->misfit_load(s, cpu, biggest));
}

u32 pelton_image_menu(struct pelton_image *i, struct pelton_menu *m, const struct pelton_idle_table *t,
		      const struct pelton_idle_now *now, struct pelton_idle_choice *out);
u32 pelton_image_menu(struct pelton_image *i, struct pelton_menu *m, const struct pelton_idle_table *t,
		      const struct pelton_idle_now *now, struct pelton_idle_choice *out)
{
	ASKS(i, MENU_SELECT, i->ops->menu_select, i->ops->menu_select(m, t, now, out));
}

u32 pelton_image_teo(struct pelton_image *i, struct pelton_teo *m, const struct pelton_idle_table *t,
		     const struct pelton_idle_now *now, struct pelton_idle_choice *out);
u32 pelton_image_teo(struct pelton_image *i, struct pelton_teo *m, const struct pelton_idle_table *t,
		     const struct pelton_idle_now *now, struct pelton_idle_choice *out)
{
	ASKS(i, TEO_SELECT, i->ops->teo_select, i->ops->teo_select(m, t, now, out));
}

u32 pelton_image_should_we_balance(struct pelton_image *i, const struct pelton_placement *s,
				   const struct pelton_lb_env *env, u32 *out);
u32 pelton_image_should_we_balance(struct pelton_image *i, const struct pelton_placement *s,
				   const struct pelton_lb_env *env, u32 *out)
{
	ASKS(i, SHOULD_WE_BALANCE, i->ops->should_we_balance, *out = i->ops->should_we_balance(s, env));
}

u32 pelton_image_find_src(struct pelton_image *i, const struct pelton_placement *s, const struct pelton_lb_env *env,
			  struct pelton_kernel_src *out);
u32 pelton_image_find_src(struct pelton_image *i, const struct pelton_placement *s, const struct pelton_lb_env *env,
			  struct pelton_kernel_src *out)
{
	ASKS(i, FIND_SRC, i->ops->find_src, i->ops->find_src(s, env, out));
}

u32 pelton_image_need_active_balance(struct pelton_image *i, const struct pelton_placement *s,
				     const struct pelton_lb_env *env, u32 migration, u32 *out);
u32 pelton_image_need_active_balance(struct pelton_image *i, const struct pelton_placement *s,
				     const struct pelton_lb_env *env, u32 migration, u32 *out)
{
	ASKS(i, NEED_ACTIVE_BALANCE, i->ops->need_active_balance,
	     *out = i->ops->need_active_balance(s, env, migration));
}

u32 pelton_image_can_migrate_task(struct pelton_image *i, const struct pelton_placement *s, struct pelton_lb_env *env,
				  const struct pelton_lb_task *t, u32 migration, u32 *out);
u32 pelton_image_can_migrate_task(struct pelton_image *i, const struct pelton_placement *s, struct pelton_lb_env *env,
				  const struct pelton_lb_task *t, u32 migration, u32 *out)
{
	ASKS(i, CAN_MIGRATE_TASK, i->ops->can_migrate_task, *out = i->ops->can_migrate_task(s, env, t, migration));
}

/* ---- load tracking: functions that the core asks, of the image of this thread ---- */

static u32 asked_divider(struct pelton_image *i, u32 period_contrib, u32 *out)
{
	ASKS(i, PELT_DIVIDER, 1, *out = i->ops->pelt_divider(period_contrib));
}

static u32 asked_load_sum(struct pelton_image *i, u64 now, struct pelton_avg *avg, const u64 *in, u32 *out)
{
	ASKS(i, UPDATE_LOAD_SUM, 1, *out = i->ops->update_load_sum(now, avg, in[0], in[1], in[2]));
}

static u32 asked_load_avg(struct pelton_image *i, struct pelton_avg *avg, u64 load)
{
	ASKS(i, UPDATE_LOAD_AVG, 1, i->ops->update_load_avg(avg, load));
}

static u32 asked_util_est(struct pelton_image *i, struct pelton_se *se, u32 cap_orig, u32 sleeps)
{
	ASKS(i, UTIL_EST_UPDATE, 1, i->ops->util_est_update(se, cap_orig, sleeps));
}

/* After a failure the core's divisor: the run ends soon, without a result. */
static u32 divider(u32 period_contrib)
{
	u32 out = 0;

	return asked_divider(here, period_contrib, &out) && out ? out : PELTON_MIN_DIVISOR + period_contrib;
}

static u32 load_sum(u64 now, struct pelton_avg *avg, u64 load, u64 runnable, u64 running)
{
	const u64 in[] = { load, runnable, running };
	u32 out = 0;

	asked_load_sum(here, now, avg, in, &out);
	return out;
}

static void load_avg(struct pelton_avg *avg, u64 load)
{
	asked_load_avg(here, avg, load);
}

static void util_est(struct pelton_se *se, u32 cap_orig, u32 sleeps)
{
	asked_util_est(here, se, cap_orig, sleeps);
}

/* Functions of the image of this thread, for the core to ask. */
void pelton_image_tracking(const struct pelton_image *i, struct pelton_asked *out);
void pelton_image_tracking(const struct pelton_image *i, struct pelton_asked *out)
{
	const struct pelton_kernel_ops *ops = i->ops;

	*out = (struct pelton_asked){
		.divider = ops->pelt_divider ? divider : 0,
		.load_sum = ops->update_load_sum ? load_sum : 0,
		.load_avg = ops->update_load_avg ? load_avg : 0,
		.util_est = ops->util_est_update ? util_est : 0,
	};
}

/* ---- life ---- */

/* May a program say which CPU executes? (HWCAP2_FSGSBASE) */
u32 pelton_image_possible(void);
u32 pelton_image_possible(void)
{
	return getauxval(AT_HWCAP2) & 2 ? 1 : 0;
}

u64 pelton_image_size(void);
u64 pelton_image_size(void)
{
	return sizeof(struct pelton_image);
}

/* An image is this thread's from now on. False: no timer can be had. */
u32 pelton_image_begin(struct pelton_image *i);
u32 pelton_image_begin(struct pelton_image *i)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
	memset(i, 0, sizeof(*i));
	here = i;
	i->has_timer = !watch(i);
	return i->has_timer;
}

/* After the start: what must not be touched cannot be. */
u32 pelton_image_protect(const struct pelton_image *i);
u32 pelton_image_protect(const struct pelton_image *i)
{
	const struct pelton_kernel_ops *ops = i->ops;

	return !mprotect(ops->poison_start, (size_t)(ops->poison_end - ops->poison_start), PROT_NONE);
}

void pelton_image_end(struct pelton_image *i);
void pelton_image_end(struct pelton_image *i)
{
	if (i->has_timer)
		timer_delete(i->timer);
	here = 0;
}

/* What is asked from now on is asked at `now_ns` of the run, when the kernel's clocks read `clock_ns`. */
void pelton_image_at(struct pelton_image *i, u64 now_ns, u64 clock_ns);
void pelton_image_at(struct pelton_image *i, u64 now_ns, u64 clock_ns)
{
	i->now_ns = now_ns;
	if (i->ops->at)
		i->ops->at(clock_ns);
}

const struct pelton_kernel_ops *pelton_image_ops(const struct pelton_image *i);
const struct pelton_kernel_ops *pelton_image_ops(const struct pelton_image *i)
{
	return i->ops;
}

/* What went wrong; empty: nothing. */
const char *pelton_image_failure(const struct pelton_image *i);
const char *pelton_image_failure(const struct pelton_image *i)
{
	return i->failure;
}

u64 pelton_image_calls(const struct pelton_image *i, u32 operation);
u64 pelton_image_calls(const struct pelton_image *i, u32 operation)
{
	return operation < OPERATIONS ? i->calls[operation] : 0;
}

/* The warning of this number: its file, null after the last one. */
const char *pelton_image_warning(const struct pelton_image *i, u32 number, u32 *line, u32 *operation, u64 *first_ns,
				 u64 *count);
const char *pelton_image_warning(const struct pelton_image *i, u32 number, u32 *line, u32 *operation, u64 *first_ns,
				 u64 *count)
{
	const struct warning *w = &i->warnings[number];

	if (number >= i->nr_warnings)
		return 0;
	*line = w->line;
	*operation = w->operation;
	*first_ns = w->first_ns;
	*count = w->count;
	return w->file;
}
