# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons, published tables, recordings: what the command line does, as functions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _ask, _pelton, _plot
from ._ask import Board, File, Progress, Result, Time, Work

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

    def report(self, path: File | None = None) -> str:
        """A report page, HTML, with one run of each policy over time; also written to `path`, where one is given."""
        return _ask.page(_page({"compare": self.request}, False), path)


def _page(request: Mapping[str, Any], progress: Progress | bool) -> str:
    with _ask.followed(progress) as follower:
        text, _, warned = _pelton.report_html(_ask.written(request), follower)
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
    set: str | Iterable[str] = (),
    only: str | Iterable[str] = (),
    values: bool = False,
    hz: int | None = None,
    rate_limit_us: int | None = None,
    group: str | None = None,
    defines: Mapping[str, object] | None = None,
    workloads: Board | Iterable[Board] = (),
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
        "workloads": _ask.texts(workloads),
        "policies": _ask.texts(policies),
        "sets": _ask.texts(set),
        **_ask.counts(seeds=seeds, first_seed=first_seed, jobs=jobs),
        "only": _ask.texts(only),
        "values": values,
    }
    with _ask.followed(progress) as follower:
        result, mail, notes, warned = _pelton.compare(_ask.written(request), follower)
    _ask.warn(warned)
    return Comparison(json.loads(result), notes, request, mail)


def report(
    board: Board | None = None,
    workload: Work | None = None,
    policies: Policy | Iterable[Policy] = (),
    *,
    path: File | None = None,
    seeds: int = 1,
    first_seed: int = 1,
    duration: Time | None = None,
    set: str | Iterable[str] = (),
    decisions: int | None = None,
    progress: Progress | bool = False,
) -> str:
    """A report page, HTML: one file that loads nothing; also written to `path`, where one is given."""
    compared = {
        "input": _ask.input_of(board, workload, duration=duration),
        "policies": _ask.texts(policies),
        "sets": _ask.texts(set),
        **_ask.counts(seeds=seeds, first_seed=first_seed),
    }
    request: dict[str, Any] = {"compare": compared}
    if decisions is not None:
        request |= _ask.counts(decisions=decisions)
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
        "policies": [_ask.policy_of(policy, ()) for policy in _ask.pair("policies", policies)],
        "seeds": [_ask.counts(seeds=seed)["seeds"] for seed in _ask.pair("seeds", seeds)],
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
    set: str | Iterable[str] = (),
    progress: Progress | bool = False,
) -> Result:
    """Shares of the switches between two policies in the change of a number."""
    first, second = map(_ask.text, _ask.pair("policies", policies))
    request = {
        "input": _ask.input_of(board, workload, duration=duration),
        "from": first,
        "to": second,
        "sets": _ask.texts(set),
        "metric": metric,
        **_ask.counts(seeds=seeds, first_seed=first_seed),
    }
    return _ask.ask("why", request, progress)


def front(
    boards: Board | Iterable[Board],
    workloads: Board | Iterable[Board],
    policies: Policy | Iterable[Policy] = (),
    *,
    seeds: int = 10,
    first_seed: int = 1,
    duration: Time | None = None,
    set: str | Iterable[str] = (),
    progress: Progress | bool = False,
) -> Result:
    """Energy, step latency and driver calls of policies beside the best that could be; without policies all gates and
    filters."""
    request = {
        "platforms": _ask.texts(boards),
        "workloads": _ask.texts(workloads),
        "policies": _ask.texts(policies),
        "sets": _ask.texts(set),
        "duration_ns": _ask.time_ns(duration),
        **_ask.counts(seeds=seeds, first_seed=first_seed),
    }
    return _ask.ask("front", request, progress)


def reproduce(
    name: str | os.PathLike[str],
    *,
    only: str | Iterable[str] = (),
    seeds: int | None = None,
    all_seeds: bool = False,
    sensitivity: bool = False,
    wrong_worlds: bool = False,
    jobs: int = 0,
    progress: Progress | bool = False,
) -> list[Result]:
    """A published table (`pelton.tables()`), or an experiment file, with our numbers beside the published ones.

    Each run has as many seeds as its verdicts need, `seeds` of them, or all that the file names.
    """
    request = {
        "name": _ask.text(name),
        "only": _ask.texts(only),
        **_ask.counts(seeds=seeds, jobs=jobs),
        "all_seeds": all_seeds,
        "sensitivity": sensitivity,
        "wrong_worlds": wrong_worlds,
    }
    return _ask.ask("reproduce", request, progress)


def validate(
    trace: File,
    *,
    profile: str | None = None,
    board: Board | None = None,
    also: File | Iterable[File] = (),
    input_format: str | None = None,
    self_test: bool = False,
    progress: Progress | bool = False,
) -> Result:
    """Whether a kernel did what the core computes: `["verdict"]`, and the first place where it did not."""
    request = {
        "trace": _ask.text(trace),
        "profile": profile,
        "platform": None if board is None else _ask.text(board),
        "with": _ask.texts(also),
        "input_format": input_format,
        "self_test": self_test,
    }
    return _ask.ask("validate", request, progress)


def replay(
    trace: File,
    policies: Policy | Iterable[Policy] = (),
    *,
    board: Board | None = None,
    recorded_on: Board | None = None,
    tasks: str | Iterable[str] = (),
    start: Time | None = None,
    end: Time | None = None,
    pin: bool = False,
    seeds: int = 1,
    set: str | Iterable[str] = (),
    check: bool = False,
    frequencies_given: bool = False,
    progress: Progress | bool = False,
) -> Result:
    """The recorded workload under other policies, or on another board, beside the recorded numbers."""
    part = {
        "platform": None if board is None else _ask.text(board),
        "recorded_on": None if recorded_on is None else _ask.text(recorded_on),
        "tasks": _ask.texts(tasks),
        "from_ns": _ask.time_ns(start),
        "to_ns": _ask.time_ns(end),
        "pin": pin,
    }
    request = {
        "trace": _ask.text(trace),
        "part": part,
        "policies": _ask.texts(policies),
        "sets": _ask.texts(set),
        **_ask.counts(seeds=seeds),
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
