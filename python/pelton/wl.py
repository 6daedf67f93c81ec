# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads put together from phases: what is simulated here runs on hardware through rt-app.

>>> from pelton import wl
>>> w = wl.periodic(duty_pct=20, period_ms=16, duration_s=1) + wl.ramp(5, 75, steps=3) + 3 * wl.sleep("10ms")
>>> w.named("ui").with_cpus(0, 1)
<pelton.wl.Workload of 1 task: ui>

`+` is one after the other, `n *` is again and again, `|` is beside each other. Work is time on the biggest CPU at its
highest frequency, as rt-app's calibration has it.
"""

from __future__ import annotations

import copy
import json
import operator
import os
from collections.abc import Sequence
from typing import Any

from . import _files, _pelton
from .errors import InputError

#: Longest period or run of one event, us.
US_MAX = 3_600_000_000
#: Longest time of several periods, s: that of the longest run.
DURATION_S_MAX = 2_592_000
#: Most repetitions of a phase that rt-app counts.
LOOPS_MAX = 2_147_483_647
#: Policies of tasks, as rt-app names them.
POLICIES = ("SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE", "SCHED_FIFO", "SCHED_RR", "SCHED_DEADLINE")


class Workload:
    """Tasks, each a list of phases."""

    def __init__(self, tasks: dict[str, dict[str, Any]]) -> None:
        self._tasks = tasks

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of its tasks."""
        return tuple(self._tasks)

    def __add__(self, other: Workload) -> Workload:
        """One after the other: phases of `other` follow in the same task."""
        name, task = self._only("+")
        _, then = other._only("+")
        return Workload({name: {**copy.deepcopy(task), "phases": task["phases"] + copy.deepcopy(then["phases"])}})

    def __mul__(self, times: int) -> Workload:
        """All phases so many times."""
        if not isinstance(times, int) or not 1 <= times <= 1_000:
            raise InputError(f"{times!r} repetitions of a phase", allowed="1..=1000")
        name, task = self._only("*")
        return Workload({name: {**copy.deepcopy(task), "phases": copy.deepcopy(task["phases"]) * times}})

    __rmul__ = __mul__

    def __or__(self, other: Workload) -> Workload:
        """Beside each other: tasks of both, numbered where names are equal."""
        made = copy.deepcopy(self._tasks)
        for name, task in other._tasks.items():
            free = name
            number = 1
            while free in made:
                number += 1
                free = f"{name}-{number}"
            made[free] = copy.deepcopy(task)
        return Workload(made)

    def named(self, name: str) -> Workload:
        """The task under another name."""
        _, task = self._only("named")
        if not name or not name.isprintable():
            raise InputError(f"{name!r} is no name of a task", hint="printable letters")
        return Workload({name: copy.deepcopy(task)})

    def forever(self) -> Workload:
        """The phases of every task again and again until the run ends."""
        return self._with(loop=-1)

    def with_cpus(self, *cpus: int) -> Workload:
        """Only these CPUs."""
        return self._with(cpus=[operator.index(cpu) for cpu in cpus])

    def clamped(self, min: int | None = None, max: int | None = None) -> Workload:
        """Utilization clamps, of 1024."""
        given = {"util_min": min, "util_max": max}
        clamps = {key: operator.index(value) for key, value in given.items() if value is not None}
        for value in clamps.values():
            if not 0 <= value <= 1024:
                raise InputError(f"a clamp of {value}", allowed="0..=1024")
        return self._with(**clamps)

    def scheduled(self, policy: str, priority: int | None = None) -> Workload:
        """A scheduling policy as `SCHED_FIFO`, and its priority (of fair tasks: nice)."""
        if policy not in POLICIES:
            raise InputError(f"`{policy}` is no scheduling policy", hint=f"known are {', '.join(POLICIES)}")
        return self._with(policy=policy, **({} if priority is None else {"priority": operator.index(priority)}))

    def in_group(self, path: str) -> Workload:
        """The task group of all tasks."""
        return self._with(taskgroup=path)

    def to_rt_app(self, path: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None = None) -> str:
        """An rt-app file, JSON; also written to `path`, where one is given. Times are us."""
        tasks = {}
        for name, task in self._tasks.items():
            phases = {f"p{number}": phase for number, phase in enumerate(task["phases"])}
            options = {key: value for key, value in task.items() if key != "phases"}
            tasks[name] = {"loop": 1, **options, "phases": phases}
        common = {"calibration": "CPU0", "default_policy": "SCHED_OTHER"}
        text = json.dumps({"global": common, "tasks": tasks}, indent=2) + "\n"
        if path is not None:
            _files.write(path, text)
        return text

    def _with(self, **options: Any) -> Workload:
        return Workload({name: {**copy.deepcopy(task), **options} for name, task in self._tasks.items()})

    def _only(self, what: str) -> tuple[str, dict[str, Any]]:
        if len(self._tasks) != 1:
            found = f"there are {len(self._tasks)}: {', '.join(self._tasks)}"
            raise InputError(f"`{what}` is about one task, and {found}", hint="join them with | last")
        return next(iter(self._tasks.items()))

    def __repr__(self) -> str:
        tasks = f"{len(self._tasks)} task{'s' if len(self._tasks) != 1 else ''}"
        return f"<pelton.wl.Workload of {tasks}: {', '.join(self._tasks)}>"


def _phase(**events: Any) -> Workload:
    return Workload({"task": {"phases": [events]}})


def _us(time: str) -> int:
    us = _pelton.time_ns(time) // 1_000
    if not 1 <= us <= US_MAX:
        raise InputError(f"{time} of an event", allowed="1us..=1h")
    return us


def run(time: str) -> Workload:
    """Work of so long on the biggest CPU at its highest frequency: "4ms"."""
    return _phase(loop=1, run=_us(time))


def sleep(time: str) -> Workload:
    """Sleep of so long: "10ms"."""
    return _phase(loop=1, sleep=_us(time))


def periodic(duty_pct: float, period_ms: float, *, duration_s: float = 1.0) -> Workload:
    """Work at the begin of each period, `duty_pct` of it."""
    _check_duty(duty_pct)
    # What is not a number is in no range.
    if not 0.001 <= period_ms <= US_MAX / 1_000:
        raise InputError(f"a period of {period_ms} ms", allowed=f"0.001..={US_MAX // 1_000}")
    if not 0 < duration_s <= DURATION_S_MAX:
        raise InputError(f"periods for {duration_s} s", allowed=f"above 0, up to {DURATION_S_MAX}")
    period_us = round(period_ms * 1_000)
    loops = max(round(duration_s * 1e6 / period_us), 1)
    if loops > LOOPS_MAX:
        raise InputError(f"{loops} periods", allowed=f"1..={LOOPS_MAX}", hint="forever() repeats until the run ends")
    run_us = max(round(period_us * duty_pct / 100), 1)
    return _phase(loop=loops, run=run_us, timer={"ref": "unique", "period": period_us})


def ramp(
    start_pct: float, end_pct: float, *, steps: int = 10, period_ms: float = 16, step_s: float = 1.0
) -> Workload:
    """Periodic work whose duty cycle goes from one share to another in equal steps."""
    if not 2 <= steps <= 1_000:
        raise InputError(f"a ramp of {steps} steps", allowed="2..=1000")
    _check_duty(start_pct)
    _check_duty(end_pct)
    change = (end_pct - start_pct) / (steps - 1)
    least, most = min(start_pct, end_pct), max(start_pct, end_pct)
    # A sum of rounded numbers may be a little beyond the last of them.
    duties = [min(max(start_pct + change * step, least), most) for step in range(operator.index(steps))]
    return _sum([periodic(duty, period_ms, duration_s=step_s) for duty in duties])


def busy(duration_s: float = 1.0) -> Workload:
    """Work without a pause."""
    if not 1e-6 <= duration_s <= US_MAX / 1e6:
        raise InputError(f"work of {duration_s} s", allowed=f"0.000001..={US_MAX // 1_000_000}")
    return _phase(loop=1, run=round(duration_s * 1e6))


def _check_duty(duty_pct: float) -> None:
    if not 0 < duty_pct <= 100:
        raise InputError(f"a duty cycle of {duty_pct} %", allowed="above 0, up to 100")


def _sum(parts: Sequence[Workload]) -> Workload:
    made = parts[0]
    for part in parts[1:]:
        made = made + part
    return made
