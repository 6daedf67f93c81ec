# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs and traces: numbers, events, tables, charts."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from . import _ask, _pelton
from ._ask import Board, File, Progress, Result, Time, Work
from ._frames import Frames
from ._plot import Plots
from .errors import InputError

#: Chooses the frequency of a domain, kHz, from (time_ns, domain, requests of its CPUs); None: the kernel's choice.
Governor = Callable[[int, int, list[_pelton.Asked]], int | None]


class Subject:
    """What a run and a trace have in common."""

    def __init__(self, subject: _pelton.Subject) -> None:
        self._subject = subject

    def events(self, name: str, *, progress: Progress | bool = False) -> _pelton.Table:
        """Events of one kind (`pelton.EVENTS`), a row each: pl.DataFrame(…), pd.DataFrame.from_arrow(…), duckdb.

        Those that were not kept are made by running, or reading, again: a run is a value.
        """
        with _ask.followed(progress) as follower:
            tables, notes = self._subject.events([name], follower)
        _ask.warn(notes)
        return tables[0]

    @cached_property
    def df(self) -> Frames:
        """What people look for in events, under LISA's names."""
        return Frames(self)

    @cached_property
    def plot(self) -> Plots:
        """Charts."""
        return Plots(self.df)

    @property
    def tasks(self) -> dict[int, str]:
        """Names of tasks by number; of a trace once something was asked for."""
        return self._subject.tasks


class Summary(dict[str, float | None]):
    """Numbers of the whole run by quantity (`pelton.quantities()`), None where one is not known.

    `notes` says what a number leaves out, or why it is not known; `units` its unit.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        whole = [row for row in rows if row["scope"] == "run"]
        super().__init__({row["quantity"]: row["value"] for row in whole})
        self.units: dict[str, str] = {row["quantity"]: row["unit"] for row in whole}
        self.notes: dict[str, str] = {row["quantity"]: row["note"] for row in whole if row["note"]}


class Run(Subject):
    """A run: `result` is all of it, `summary` the numbers of the whole run."""

    def __init__(
        self, subject: _pelton.Subject, result: Result, request: Mapping[str, Any], *, prototype: bool
    ) -> None:
        super().__init__(subject)
        self.result = result
        self.request = request
        #: A function of the caller chose frequencies: no result for a published table.
        self.prototype = prototype

    @cached_property
    def summary(self) -> Summary:
        """Numbers of the whole run."""
        return Summary(self.result["rows"])

    @property
    def notes(self) -> list[str]:
        """Remarks about the run and its inputs."""
        return [*self.result.notes, *self.result["remarks"]]

    def rows(self) -> _pelton.Table:
        """Every number: of the run, its frequency domains, its tasks."""
        return self.result.table()

    def explain(
        self, *, at: Time | None = None, cpu: int | None = None, changed: bool = False, held: bool = False
    ) -> Result:
        """A frequency decision with every term: the last one up to `at`, of the domain of a CPU, that changed the
        frequency, or that the gate held."""
        asked = {"at_ns": _ask.time_ns(at), **_ask.counts(cpu=cpu), "changed": changed, "held": held}
        return _ask.ask("explain", {**self._again(), **asked})

    def explain_placement(self, *, at: Time | None = None, task: str = "") -> Result:
        """A placement with every CPU that the task could have gone to."""
        return _ask.ask("explain-placement", {**self._again(), "at_ns": _ask.time_ns(at), "task": task})

    def write_log(self, path: File, *, progress: Progress | bool = False) -> None:
        """Writes the log of all events (`.plog`), byte for byte that of `pelton run --log`."""
        self._again()
        with _ask.followed(progress) as follower:
            self._subject.write_log(_ask.text(path), follower)

    def _again(self) -> Mapping[str, Any]:
        """Request of the same run; a prototype has none, since requests carry no function."""
        if self.prototype:
            raise InputError("a prototype is not run again", hint="its function may choose otherwise another time")
        return self.request

    def __repr__(self) -> str:
        about = self.result["run"]
        mark = " (prototype)" if self.prototype else ""
        where = f"{about['workload']} on {about['platform']}"
        return f"<pelton.Run of {where}, {about['policy']}, {about['duration_s']} s{mark}>"

    def _repr_html_(self) -> str:
        rows = "".join(_html_row(name, value, self.summary.units[name]) for name, value in self.summary.items())
        return f"<p>{html.escape(repr(self))}</p><table>{rows}</table>"


def _html_row(name: str, value: float | None, unit: str) -> str:
    cells = (name, "not known" if value is None else f"{value:g}", unit)
    return f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>"


class Trace(Subject):
    """A recorded trace."""

    def __init__(self, subject: _pelton.Subject, path: str, input_format: str | None) -> None:
        super().__init__(subject)
        self.path = path
        self._format = input_format

    @cached_property
    def info(self) -> Result:
        """What the trace is: kind, kernel, length, events, damage."""
        return _ask.ask("trace-info", {"trace": self.path, "input_format": self._format})

    def __repr__(self) -> str:
        return f"<pelton.Trace {self.path}>"


def run(
    board: Board | None = None,
    workload: Work | None = None,
    policy: str | os.PathLike[str] | None = None,
    *,
    duration: Time | None = None,
    seed: int = 1,
    set: str | Iterable[str] = (),
    hz: int | None = None,
    rate_limit_us: int | None = None,
    group: str | None = None,
    defines: Mapping[str, object] | None = None,
    random_phase: bool = True,
    events: str | Iterable[str] = (),
    governor: Governor | None = None,
    progress: Progress | bool = False,
) -> Run:
    """Simulates a workload on a board under a policy.

    `policy` is what `--policy` takes ("7.2", "6.1,rate_limit_us=500", a file); `set` are further switches. Events that
    are named are kept with the run; others are made when they are asked for. `governor` chooses frequencies: a
    prototype, marked so, which keeps all events.

    Raises `InputError` with the place in the input, `Misfit` where inputs do not go together.

    >>> pelton.run("hikey-6220", "busy:cpus=0", "6.1", duration="100ms")
    <pelton.Run of busy:cpus=0 on hikey-6220, 6.1, 0.1 s>
    """
    request = {
        "input": _ask.input_of(
            board, workload, duration=duration, hz=hz, rate_limit_us=rate_limit_us, group=group, defines=defines
        ),
        "policy": _ask.policy_of(policy, set),
        **_ask.counts(seed=seed),
        "random_phase": random_phase,
    }
    text, kept = _ask.written(request), _ask.texts(events)
    with _ask.followed(progress) as follower:
        if governor is None:
            subject, result, notes, warned = _pelton.run(text, kept, follower)
        else:
            subject, result, notes, warned = _pelton.prototype(text, governor, follower)
    _ask.warn(warned)
    return Run(subject, Result(json.loads(result), notes), request, prototype=governor is not None)


def read(path: File, *, input_format: str | None = None) -> Trace:
    """Opens a trace of any kind that Pelton reads: trace.dat, ftrace text, Perfetto, perf script, systrace, logs,
    CSV."""
    name = _ask.text(path)
    return Trace(_pelton.read(name, input_format), name, input_format)
