#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Assembler stubs for what kernel.o leaves undefined. usage: stubs.py KERNEL.O NOTES > stubs.S

A function stub names itself and stops. Data of the table below starts as zero (per-CPU data in its section); other data
lies in pages that cannot be read, so that a use is noticed (host.c names the symbol)."""
import re
import subprocess
import sys

PERCPU = {
    "this_cpu_off": 8, "pcpu_hot": 64, "current_task": 8, "cpu_number": 8, "__preempt_count": 8, "arch_freq_scale": 8,
    "cpufreq_pressure": 8, "thermal_pressure": 8, "hw_pressure": 8, "cpu_sibling_map": 64, "cpuidle_devices": 8,
    "ksoftirqd": 8, "irq_stat": 256, "cpu_info": 1024, "softnet_data": 64, "cpu_llc_shared_map": 64, "cpu_irqtime": 64,
}
ZERO = {
    "__cpu_possible_mask": 64, "__cpu_online_mask": 64, "__cpu_present_mask": 64, "__cpu_active_mask": 64,
    "__cpu_dying_mask": 64, "__num_online_cpus": 8, "nr_cpu_ids": 8, "jiffies": 8, "__per_cpu_offset": 4096,
    "init_task": 32768, "arch_scale_freq_key": 64, "oops_in_progress": 8, "system_state": 8, "init_mm": 8192,
    "cpu_cgrp_subsys_on_dfl_key": 64, "cpu_cgrp_subsys_enabled_key": 64, "timekeeping_suspended": 8, "cpuhp_tasks_frozen": 8,
    "cpufreq_freq_invariance": 64, "static_key_initialized": 8, "perf_sched_events": 64, "vtime_accounting_enabled": 64,
    "hrtimer_highres_enabled_key": 64, "cpu_all_bits": 64, "cpu_bit_bitmap": 8192, "sched_smt_present": 64,
}
NOTHING = {
    "_raw_spin_lock", "_raw_spin_unlock", "_raw_spin_lock_irqsave", "_raw_spin_unlock_irqrestore", "_raw_spin_lock_irq",
    "_raw_spin_unlock_irq", "_raw_spin_trylock", "__rcu_read_lock", "__rcu_read_unlock", "rcu_read_unlock_strict", "mutex_lock", "mutex_unlock", "__warn_printk",
    "_printk", "printk",
}
# Called like instructions: no register may change.
UNSEEN = {"preempt_schedule_thunk", "preempt_schedule_notrace_thunk"}
LIBC = {"memset", "memcpy", "memmove", "memcmp", "strcmp", "strlen", "strncmp", "strchr"}

obj = sys.argv[1]
undefined = {l.split()[-1] for l in subprocess.run(["nm", "-u", obj], capture_output=True, text=True, check=True).stdout.splitlines()}
data = set()
for line in subprocess.run(["readelf", "-rW", obj], capture_output=True, text=True, check=True).stdout.splitlines():
    m = re.match(r"\S+\s+\S+\s+(R_X86_64_\S+)\s+\S+\s+(\S+)", line)
    if m and m[2] in undefined and m[1] not in ("R_X86_64_PLT32", "R_X86_64_64"):
        data.add(m[2])

missing = "\n.globl missing_{0}\nmissing_{0}: .asciz \"{0}\""
out = ["/* generated */", ".section .note.GNU-stack,\"\",@progbits"]
poison = []
for s in sorted(undefined):
    if s.startswith(("oracle_", "__start_", "__stop_", "__per_cpu_start", "__per_cpu_end")) or s in LIBC or "__sched_class_" in s:
        continue
    out.append(f".weak {s}")
    if s.startswith("const_") and s[6:] in PERCPU:
        out.append(f".set {s}, {s[6:]}")
        if s[6:] in undefined:
            continue
        s = s[6:]
    if s in PERCPU:
        first = ".quad init_task" if s in ("pcpu_hot", "current_task") else ".quad 0"
        out.append(f'.section .data..percpu,"aw"\n.balign 64\n.globl {s}\n{s}: {first}\n.skip {max(PERCPU[s] - 8, 8)}')
    elif s in ZERO:
        out.append(f".bss\n.balign 64\n{s}: .skip {ZERO[s]}")
    elif s in data:
        poison.append(s)
    elif s in UNSEEN:
        out.append(f'.section .text.stub,"ax"\n{s}: ret')
    elif s in NOTHING:
        out.append(f'.section .text.stub,"ax"\n{s}: xor %eax,%eax\nret')
    else:
        out.append(f'.section .text.stub,"ax"\n{s}: lea 1f(%rip),%rdi\njmp oracle_missing\n.section .rodata.stub,"a"\n1: .asciz "{s}"')
out.append('.section .oracle_poison,"aw",@nobits\n.balign 4096\n.globl k_poison_start,k_poison_end\nk_poison_start:')
out += [f".weak {s}\n{s}: .skip 4096" for s in poison]
out.append("k_poison_end: .skip 4096")
out.append('.section .rodata.stub,"a"\n.globl k_poison_names\nk_poison_names:')
out += [f'.quad 2f\n.section .rodata.stubn,"a"\n2: .asciz "{s}"\n.section .rodata.stub,"a"' for s in poison]
print("\n".join(out))
with open(sys.argv[2], "w", encoding="ascii") as notes:
    print(f"{len(undefined)} undefined, {len(poison)} of them data that nothing may touch: {' '.join(poison)}", file=notes)
