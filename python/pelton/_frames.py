# SPDX-License-Identifier: GPL-2.0-or-later
"""What people look for in events, under the names and columns of LISA's `df_*` methods; what it has as an index is the
first column: `run.df.cpus_frequency().to_pandas(index="Time")`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _ask, _pelton
from ._ask import Progress

if TYPE_CHECKING:
    from ._runs import Subject

#: A task by number or name.
Task = int | str


class Frames:
    """Tables of a run or a trace. `Time` is the clock of the events in seconds; frequencies are kHz.

    `run.df` has them; `pelton.Frames(trace, progress=True)` shows how far reading is, for each table.
    """

    def __init__(self, subject: Subject, progress: Progress | bool = False) -> None:
        _ask.check_progress(progress)
        self._subject = subject._subject
        self._progress = progress

    def _made(self, name: str, **question: object) -> _pelton.Table:
        given = {key: value for key, value in question.items() if value is not None}
        with _ask.followed(self._progress) as follower:
            table, notes = self._subject.frame(name, _ask.written(given), follower)
        _ask.warn(notes)
        return table

    def cpus_frequency(self) -> _pelton.Table:
        """Every change of a frequency: cpu, frequency."""
        return self._made("cpus_frequency")

    def cpu_frequency(self, cpu: int) -> _pelton.Table:
        """Those of one CPU."""
        return self._made("cpu_frequency", cpu=cpu)

    def cpu_frequency_residency(self, cpu: int) -> _pelton.Table:
        """Time of a CPU at each frequency: total_time, and active_time in which it was not idle, s."""
        return self._made("cpu_frequency_residency", cpu=cpu)

    def domain_frequency_residency(self, cpu: int) -> _pelton.Table:
        """The same for the frequency domain of a CPU; active: some CPU of it."""
        return self._made("domain_frequency_residency", cpu=cpu)

    def cpu_frequency_transitions(self, cpu: int) -> _pelton.Table:
        """Arrivals of a CPU at each frequency."""
        return self._made("cpu_frequency_transitions", cpu=cpu)

    def cpu_frequency_transition_rate(self, cpu: int) -> _pelton.Table:
        """Arrivals of a CPU at each frequency, 1/s."""
        return self._made("cpu_frequency_transition_rate", cpu=cpu)

    def cpus_signal(self, signal: str = "util", cpu: int | None = None) -> _pelton.Table:
        """A signal of all CPUs, or of one: util, load, enqueued, capacity; not in LISA: runnable, rt, dl, irq, hw."""
        return self._made("cpus_signal", signal=signal, cpu=cpu)

    def tasks_signal(self, signal: str = "util") -> _pelton.Table:
        """A signal of all tasks: util, load, enqueued; not in LISA: runnable."""
        return self._made("tasks_signal", signal=signal)

    def task_signal(self, task: Task, signal: str = "util") -> _pelton.Table:
        """A signal of one task."""
        return self._made("task_signal", task=task, signal=signal)

    def cpus_idle(self) -> _pelton.Table:
        """Every change of an idle state: cpu, state; -1: the CPU leaves idle."""
        return self._made("cpus_idle")

    def cpu_idle(self, cpu: int) -> _pelton.Table:
        """Those of one CPU."""
        return self._made("cpu_idle", cpu=cpu)

    def cpu_active(self, cpu: int) -> _pelton.Table:
        """1 from when a CPU is not idle, 0 from when it is (LISA's signal_cpu_active)."""
        return self._made("cpu_active", cpu=cpu)

    def cpus_wakeups(self) -> _pelton.Table:
        """Times at which CPUs leave idle states."""
        return self._made("cpus_wakeups")

    def cpu_idle_state_residency(self, cpu: int) -> _pelton.Table:
        """Time of a CPU in each idle state, s; -1: not idle."""
        return self._made("cpu_idle_state_residency", cpu=cpu)

    def tasks_states(self) -> _pelton.Table:
        """Every change of a task's state. The kernel's numbers, 0x200 for woken, 0x2000 for running; delta: s."""
        return self._made("tasks_states")

    def task_states(self, task: Task) -> _pelton.Table:
        """Those of one task."""
        return self._made("task_states", task=task)

    def tasks_runtime(self) -> _pelton.Table:
        """Time executing by task, s."""
        return self._made("tasks_runtime")

    def task_activation(self, task: Task) -> _pelton.Table:
        """When a task executes (active 1) and sleeps (0), how long, and its duty cycle."""
        return self._made("task_activation", task=task)

    def task_total_residency(self, task: Task) -> _pelton.Table:
        """Time of a task on each CPU, s."""
        return self._made("task_total_residency", task=task)

    def tasks_wakeups(self) -> _pelton.Table:
        """Wake-ups by task."""
        return self._made("tasks_wakeups")

    def rt_tasks(self) -> _pelton.Table:
        """Tasks that ran with a real-time or deadline priority."""
        return self._made("rt_tasks")

    def context_switches(self) -> _pelton.Table:
        """Switches by CPU."""
        return self._made("context_switches")

    def latency_wakeup(self, task: Task) -> _pelton.Table:
        """Time from each wake-up of a task to its first instruction, s."""
        return self._made("latency_wakeup", task=task)

    def latency_preemption(self, task: Task) -> _pelton.Table:
        """Time that each preemption of a task took, s."""
        return self._made("latency_preemption", task=task)

    def activations(self, task: Task) -> _pelton.Table:
        """Time from each wake-up of a task to the one before, s."""
        return self._made("activations", task=task)

    def runtimes(self, task: Task) -> _pelton.Table:
        """Time executing since the last wake-up, at each stop of a task, s."""
        return self._made("runtimes", task=task)

    def rtapp_stats(self, task: Task | None = None) -> _pelton.Table:
        """Activations as rt-app reports them, us, of all tasks or of one; perf_index: slack by the time that work
        leaves."""
        return self._made("rtapp_stats", task=task)

    def thermal_zones_temperature(self) -> _pelton.Table:
        """Readings of thermal zones, thousandths of a degree Celsius."""
        return self._made("thermal_zones_temperature")

    def cpufreq_cooling_state(self) -> _pelton.Table:
        """Cooling states of frequency domains and the limits that they stand for."""
        return self._made("cpufreq_cooling_state")

    def overutilized(self) -> _pelton.Table:
        """When the machine is over-utilized, and how long, s."""
        return self._made("overutilized")
