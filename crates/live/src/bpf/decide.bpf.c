/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a fair task goes, decided inside a kernel by the core itself. The policy is data, and the record is not
 * checked: that no record makes it read or write anywhere else is what the kernel's verifier has proved before it runs.
 *
 * The program is attached to nothing. One of the type for traffic control can be run on request, many times, and timed.
 */
#include "pelton/placement.h"

#define SEC(name) __attribute__((section(name), used))

SEC(".bss.policy") struct pelton_policy policy;
SEC(".bss.record") struct pelton_placement record;
SEC(".bss.placed") struct pelton_placed placed;

#define POLICY (&policy)
#define RECORD (&record)
#define PLACED (&placed)

#include "decide_group.h"

SEC("tc") int place(void *context)
{
	(void)context;
	return (int)pelton_select_task_rq_fair(POLICY, RECORD, PLACED);
}

SEC("license") char terms[] = "GPL";
