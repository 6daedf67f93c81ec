# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts by Altair (`pip install 'pelton[plot]'`): time lines thinned to what a screen shows, summaries as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import _ask, _pelton

if TYPE_CHECKING:
    from ._frames import Frames, Task

#: Pixels that time lines are thinned to.
WIDTH = 800


def altair() -> Any:
    """The library, which is no dependency of the package.

    Raises `Unavailable` where it is not installed.
    """
    return _ask.optional("altair", "plot")


def data(table: _pelton.Table, names: Iterable[str] = ()) -> Any:
    """Some columns of a table, or all, as data of a chart."""
    columns = table.to_dict()
    chosen = {name: columns[name] for name in (tuple(names) or columns)}
    rows = [dict(zip(chosen, row, strict=True)) for row in zip(*chosen.values(), strict=True)]
    return altair().Data(values=rows)


def lines(table: _pelton.Table, y: str, by: str, title: str, unit: str) -> Any:
    """Values over `Time`, a line for each value of `by`, each value held until the next."""
    alt = altair()
    thin = table.thinned("Time", y, by=by, width=WIDTH)
    chart = alt.Chart(data(thin, ("Time", y, by)), title=title, width=WIDTH, height=180)
    return chart.mark_line(interpolate="step-after").encode(
        x=alt.X("Time:Q", title="time [s]"),
        y=alt.Y(f"{y}:Q", title=f"{y} [{unit}]" if unit else y),
        color=alt.Color(f"{by}:N", title=by),
        tooltip=["Time:Q", f"{y}:Q", f"{by}:N"],
    )


def bars(table: _pelton.Table, x: str, y: str, title: str, unit: str) -> Any:
    """A bar for each row."""
    alt = altair()
    chart = alt.Chart(data(table), title=title, width=WIDTH // 2, height=180)
    names = [alt.Tooltip(f"{name}:Q") for name in table.column_names]
    return chart.mark_bar().encode(x=alt.X(f"{x}:O"), y=alt.Y(f"{y}:Q", title=f"{y} [{unit}]"), tooltip=names)


class Plots:
    """Charts of a run or a trace, under the names of LISA's `plot_*` methods."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames

    def cpu_frequencies(self, cpu: int) -> Any:
        """Frequency of a CPU over time."""
        return lines(self._frames.cpu_frequency(cpu), "frequency", "cpu", f"Frequency of CPU {cpu}", "kHz")

    def cpus_frequencies(self) -> Any:
        """Frequencies of all CPUs over time."""
        return lines(self._frames.cpus_frequency(), "frequency", "cpu", "Frequencies", "kHz")

    def cpus_signals(self, signal: str = "util", cpu: int | None = None) -> Any:
        """A signal of CPUs over time."""
        table = self._frames.cpus_signal(signal, cpu)
        return lines(table, signal, "cpu", f"{signal} of CPUs", table.units[signal])

    def tasks_signals(self, signal: str = "util") -> Any:
        """A signal of all tasks over time."""
        table = self._frames.tasks_signal(signal)
        return lines(table, signal, "comm", f"{signal} of tasks", table.units[signal])

    def task_signals(self, task: Task, signal: str = "util") -> Any:
        """A signal of one task over time."""
        table = self._frames.task_signal(task, signal)
        return lines(table, signal, "comm", f"{signal} of {task}", table.units[signal])

    def cpu_frequency_residency(self, cpu: int) -> Any:
        """Time of a CPU at each frequency."""
        table = self._frames.cpu_frequency_residency(cpu)
        return bars(table, "frequency", "total_time", f"Time of CPU {cpu} at each frequency", "s")

    def cpu_idle_state_residency(self, cpu: int) -> Any:
        """Time of a CPU in each idle state."""
        table = self._frames.cpu_idle_state_residency(cpu)
        return bars(table, "idle_state", "time", f"Time of CPU {cpu} in idle states (-1: not idle)", "s")

    def latencies(self, task: Task) -> Any:
        """Wake-up latencies of a task: how many took how long."""
        alt = altair()
        made = data(self._frames.latency_wakeup(task))
        chart = alt.Chart(made, title=f"Wake-up latencies of {task}", width=WIDTH // 2)
        count = alt.Y("count()", title="wake-ups")
        return chart.mark_bar().encode(x=alt.X("wakeup_latency:Q", bin=alt.Bin(maxbins=50), title="s"), y=count)


def changes(rows: list[dict[str, Any]], quantities: Iterable[str]) -> Any:
    """Changes of whole runs against the first policy, with their 95 % intervals where there are some."""
    alt = altair()
    wanted = list(quantities)
    points = []
    for row in rows:
        if row["scope"] != "run" or (wanted and row["quantity"] not in wanted):
            continue
        for cell in row["cells"]:
            if cell["change_pct"] is not None:
                low, high = cell["change_ci95_pct"] or (None, None)
                point = {"quantity": row["quantity"], "policy": cell["policy"], "change": cell["change_pct"]}
                points.append({**point, "low": low, "high": high})
    base = alt.Chart(alt.Data(values=points), title="Change against the first policy", width=WIDTH // 2)
    y = alt.Y("quantity:N", title=None)
    color = alt.Color("policy:N")
    change = alt.X("change:Q", title="change [%]")
    shown = ["policy:N", "change:Q", "low:Q", "high:Q"]
    dots = base.mark_point(filled=True, size=60).encode(x=change, y=y, color=color, tooltip=shown)
    spans = base.mark_rule().encode(x="low:Q", x2="high:Q", y=y, color=color)
    return spans + dots
