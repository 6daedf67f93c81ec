# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons, published tables, recordings: what the command line does, as functions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _ask, _pelton, _plot
from ._ask import Board, Progress, Result, Time, Work

#: A policy: what `--policy` takes, or a file.
Policy = str | os.PathLike[str]


class Comparison(Result):
    """Policies side by side: medians over seeds, changes against the first one, 95 % intervals."""

    def __init__(self, value: Mapping[str, Any], notes: Iterable[str], request: Mapping[str, Any], mail: str) -> None:
        super().__init__(value, notes)
        self.request = request
        self._mail = mail

    def to_lkml(self) -> str:
        """Its answers as plain text for a mail: at most 75 columns."""
        return self._mail

    def plot(self, *quantities: str) -> Any:
        """Changes with their intervals; of all quantities of whole runs, or of those that are named."""
        return _plot.changes(self["rows"], quantities)

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """A report page, HTML, with one run of each policy over time; also written to `path`, where one is given."""
        return _ask.page(_page({"compare": self.request}, False), path)


def _page(request: Mapping[str, Any], progress: Progress | bool) -> str:
    text, _, warned = _pelton.report_html(json.dumps(request), _ask.follower(progress))
    _ask.warn(warned)
    return text


def compare(
    board: Board | None = None,
    workload: Work | None = None,
    policies: Policy | Iterable[Policy] = (),
    *,
    seeds: int = 10,
    first_seed: int = 1,
    duration: Time | None = None,
    set: Iterable[str] = (),
    only: Iterable[str] = (),
    values: bool = False,
    hz: int | None = None,
    rate_limit_us: int | None = None,
    group: str | None = None,
    defines: Mapping[str, object] | None = None,
    workloads: Iterable[str] = (),
    jobs: int = 0,
    progress: Progress | bool = False,
) -> Comparison:
    """Runs every policy with the same seeds; the first one is the base of every change.

    A range in an option of a workload ("util_min=0..1024/256") is a workload for each of its values. `values` keeps the
    number of each seed. `jobs`: runs at the same time, 0 = one for each CPU; it never changes a result.

    >>> pelton.compare("hikey-6220", "busy:cpus=0", ["6.1", "7.2"], seeds=2, duration="100ms")["policies"]
    ['6.1', '7.2']
    """
    request = {
        "input": _ask.input_of(
            board, workload, duration=duration, hz=hz, rate_limit_us=rate_limit_us, group=group, defines=defines
        ),
        "workloads": list(workloads),
        "policies": [_ask.text(policy) for policy in _ask.names(policies)],
        "sets": list(set),
        "seeds": seeds,
        "first_seed": first_seed,
        "jobs": jobs,
        "only": _ask.names(only),
        "values": values,
    }
    result, mail, notes, warned = _pelton.compare(json.dumps(request), _ask.follower(progress))
    _ask.warn(warned)
    return Comparison(json.loads(result), notes, request, mail)


def report(
    board: Board | None = None,
    workload: Work | None = None,
    policies: Policy | Iterable[Policy] = (),
    *,
    path: str | os.PathLike[str] | None = None,
    seeds: int = 1,
    first_seed: int = 1,
    duration: Time | None = None,
    set: Iterable[str] = (),
    decisions: int | None = None,
    progress: Progress | bool = False,
) -> str:
    """A report page, HTML: one file that loads nothing; also written to `path`, where one is given."""
    compared = {
        "input": _ask.input_of(board, workload, duration=duration),
        "policies": [_ask.text(policy) for policy in _ask.names(policies)],
        "sets": list(set),
        "seeds": seeds,
        "first_seed": first_seed,
    }
    request: dict[str, Any] = {"compare": compared}
    if decisions is not None:
        request["decisions"] = decisions
    return _ask.page(_page(request, progress), path)


def difference(
    board: Board | None = None,
    workload: Work | None = None,
    policies: tuple[Policy, Policy] = ("", ""),
    *,
    seeds: tuple[int, int] = (1, 1),
    duration: Time | None = None,
    progress: Progress | bool = False,
) -> Result:
    """The first decision in which two runs differ, with the terms of both sides, and what it cost later."""
    request = {
        "input": _ask.input_of(board, workload, duration=duration),
        "policies": [_ask.policy_of(policy, ()) for policy in policies],
        "seeds": list(seeds),
    }
    return _ask.ask("explain-diff", request, progress)


def why(
    board: Board | None = None,
    workload: Work | None = None,
    policies: tuple[Policy, Policy] = ("", ""),
    *,
    metric: str = "energy_mj",
    seeds: int = 10,
    first_seed: int = 1,
    duration: Time | None = None,
    set: Iterable[str] = (),
    progress: Progress | bool = False,
) -> Result:
    """Shares of the switches between two policies in the change of a number."""
    first, second = (_ask.text(policy) for policy in policies)
    request = {
        "input": _ask.input_of(board, workload, duration=duration),
        "from": first,
        "to": second,
        "sets": list(set),
        "metric": metric,
        "seeds": seeds,
        "first_seed": first_seed,
    }
    return _ask.ask("why", request, progress)


def front(
    boards: Board | Iterable[Board],
    workloads: str | Iterable[str],
    policies: Policy | Iterable[Policy] = (),
    *,
    seeds: int = 10,
    first_seed: int = 1,
    duration: Time | None = None,
    set: Iterable[str] = (),
    progress: Progress | bool = False,
) -> Result:
    """Energy, step latency and driver calls of policies beside the best that could be; without policies all gates and
    filters."""
    request = {
        "platforms": [_ask.text(board) for board in _ask.names(boards)],
        "workloads": _ask.names(workloads),
        "policies": [_ask.text(policy) for policy in _ask.names(policies)],
        "sets": list(set),
        "duration_ns": _ask.time_ns(duration),
        "seeds": seeds,
        "first_seed": first_seed,
    }
    return _ask.ask("front", request, progress)


def reproduce(
    name: str | os.PathLike[str],
    *,
    only: Iterable[str] = (),
    seeds: int | None = None,
    sensitivity: bool = False,
    wrong_worlds: bool = False,
    jobs: int = 0,
    progress: Progress | bool = False,
) -> list[Result]:
    """A published table (`pelton.tables()`), or an experiment file, with our numbers beside the published ones."""
    request = {
        "name": _ask.text(name),
        "only": _ask.names(only),
        "seeds": seeds,
        "sensitivity": sensitivity,
        "wrong_worlds": wrong_worlds,
        "jobs": jobs,
    }
    tables, notes = _ask.ask_any("reproduce", request, progress)
    return [Result(table, notes) for table in tables]


def validate(
    trace: str | os.PathLike[str],
    *,
    profile: str | None = None,
    board: Board | None = None,
    also: Iterable[str | os.PathLike[str]] = (),
    input_format: str | None = None,
    self_test: bool = False,
    progress: Progress | bool = False,
) -> Result:
    """Whether a kernel did what the core computes: `["verdict"]`, and the first place where it did not."""
    request = {
        "trace": os.fspath(trace),
        "profile": profile,
        "platform": None if board is None else _ask.text(board),
        "with": [os.fspath(path) for path in _ask.names(also)],
        "input_format": input_format,
        "self_test": self_test,
    }
    return _ask.ask("validate", request, progress)


def replay(
    trace: str | os.PathLike[str],
    policies: Policy | Iterable[Policy] = (),
    *,
    board: Board | None = None,
    recorded_on: Board | None = None,
    tasks: Iterable[str] = (),
    start: Time | None = None,
    end: Time | None = None,
    pin: bool = False,
    seeds: int = 1,
    set: Iterable[str] = (),
    check: bool = False,
    frequencies_given: bool = False,
    progress: Progress | bool = False,
) -> Result:
    """The recorded workload under other policies, or on another board, beside the recorded numbers."""
    part = {
        "platform": None if board is None else _ask.text(board),
        "recorded_on": None if recorded_on is None else _ask.text(recorded_on),
        "tasks": _ask.names(tasks),
        "from_ns": _ask.time_ns(start),
        "to_ns": _ask.time_ns(end),
        "pin": pin,
    }
    request = {
        "trace": os.fspath(trace),
        "part": part,
        "policies": [_ask.text(policy) for policy in _ask.names(policies)],
        "sets": list(set),
        "seeds": seeds,
        "check": check,
        "frequencies_given": frequencies_given,
    }
    return _ask.ask("replay", request, progress)


def boards() -> list[str]:
    """Names of the built-in platforms that can be simulated; `board(name)` describes one."""
    return [row["name"] for row in _ask.ask("platforms", {})["platforms"] if row["simulated"]]


def board(name: Board) -> Result:
    """A platform: CPUs, operating points, power, idle states, each with its source."""
    return _ask.ask("platform", {"platform": _ask.text(name)})


def workloads() -> dict[str, str]:
    """Benchmark models by name, with what each one runs."""
    return {row["model"]: row["what"] for row in _ask.ask("workloads", {})["models"]}


def policies() -> Result:
    """Every switch and number of the policies, and its value in every kernel."""
    return _ask.ask("policies", {})


def tables() -> list[str]:
    """Names of the published tables."""
    return list(_ask.ask("tables", {})["tables"])


def quantities() -> _pelton.Table:
    """Every number that results have, with unit and meaning."""
    return _ask.rows_table(_ask.ask("quantities", {})["quantities"])
