# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests and results: dictionaries in, dictionaries out."""

from __future__ import annotations

import datetime
import html
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from . import _pelton
from .errors import InputError, InputWarning
from .wl import Workload

#: A time: text with its unit ("250ms", "1.5s") or a timedelta.
Time = str | datetime.timedelta
#: Follows work: called with what is done, how much of it, and of how much (ns; the last is 0 where it is not known).
Progress = Callable[[str, int, int], object]
#: A platform: a built-in name or a file.
Board = str | os.PathLike[str]
#: A workload: what `pelton run --workload` takes, a file, or one made with `pelton.wl`.
Work = str | os.PathLike[str] | Workload


class Result(dict[str, Any]):
    """A result as `pelton … --format json` prints it, its fields in that order.

    `notes` are remarks about it, `kind` is the name of its schema (`pelton result schema KIND`).
    """

    def __init__(self, value: Mapping[str, Any], notes: Iterable[str] = ()) -> None:
        super().__init__(value)
        self.notes = list(notes)

    @property
    def kind(self) -> str:
        """Name of its schema."""
        return str(self["result"])

    def table(self, name: str = "rows") -> _pelton.Table:
        """A list of the result as a table: `rows`, and what else it has (`residency`, `placement`, …)."""
        lists = [key for key, value in self.items() if isinstance(value, list)]
        if name not in lists:
            raise InputError(f"a result `{self.kind}` has no list `{name}`", hint=f"it has {', '.join(lists)}")
        return rows_table(self[name])

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Its text; also written to `path`, where one is given. `pelton report` reads it."""
        text = json.dumps(self, indent=2, ensure_ascii=False) + "\n"
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """A page, HTML, with its facts and tables; also written to `path`, where one is given."""
        return page(_pelton.result_html(self.to_json()), path)

    def __repr__(self) -> str:
        return f"<pelton {self.get('result', 'result')}: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        facts = [(key, value) for key, value in self.items() if isinstance(value, str | int | float | bool)]
        cells = "".join(f"<tr><th>{html.escape(key)}</th><td>{html.escape(str(value))}</td></tr>" for key, value in facts)
        return f"<table>{cells}</table>"


def page(text: str, path: str | os.PathLike[str] | None) -> str:
    """Writes a page, where it shall go."""
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def rows_table(rows: list[dict[str, Any]]) -> _pelton.Table:
    """Rows as a table, columns in the order in which they come."""
    order: dict[str, None] = {}
    for row in rows:
        for key, value in row.items():
            if isinstance(value, list) and any(isinstance(cell, dict) for cell in value):
                order.update(dict.fromkeys(name for cell in value for name in cell))
            else:
                order[key] = None
    return _pelton.rows(json.dumps(rows), list(order))


def ask(verb: str, request: Mapping[str, Any], progress: Progress | bool = False) -> Result:
    """Answers a request by the name of its verb: fields are those of the requests in `pelton_lab::verbs`.

    For what has no function here: `pelton.ask("trace-info", {"trace": "a.dat"})`.
    """
    value, notes = ask_any(verb, request, progress)
    return Result(value, notes)


def ask_any(verb: str, request: Mapping[str, Any], progress: Progress | bool) -> tuple[Any, list[str]]:
    """The answer, whatever it is, and notes."""
    text, notes, warned = _pelton.ask_json(verb, json.dumps(request), follower(progress))
    warn(warned)
    return json.loads(text), notes


def warn(texts: Iterable[str]) -> None:
    """Passes on warnings about inputs."""
    for text in texts:
        warnings.warn(text, InputWarning, stacklevel=4)


def follower(progress: Progress | bool) -> Progress | None:
    """What is called during the work; True writes a line to standard error."""
    if progress is True:
        return _line
    return progress or None


def _line(what: str, done: int, total: int) -> None:
    share = f"{min(done / total, 1):4.0%}" if total else f"{done} events"
    print(f"\r{what}: {share}", end="\n" if total and done >= total else "", file=sys.stderr, flush=True)


def time_ns(time: Time | None) -> int | None:
    """Nanoseconds of a time."""
    if time is None:
        return None
    if isinstance(time, datetime.timedelta):
        return (time.days * 86_400 + time.seconds) * 1_000_000_000 + time.microseconds * 1_000
    if isinstance(time, str):
        return _pelton.time_ns(time)
    raise InputError(f"{time!r} is no time", hint="write its unit: '10s', '250ms'")


def names(value: Any, kind: type = str) -> list[Any]:
    """One or several as a list."""
    if isinstance(value, kind | os.PathLike):
        return [value]
    return list(value)


def text(value: str | os.PathLike[str]) -> str:
    """A name or a path as text."""
    return value if isinstance(value, str) else os.fspath(value)


def input_of(
    board: Board | None,
    workload: Work | None,
    *,
    duration: Time | None = None,
    hz: int | None = None,
    rate_limit_us: int | None = None,
    group: str | None = None,
    defines: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Platform, workload and length of a request."""
    if board is None or workload is None:
        missing = "board" if board is None else "workload"
        raise InputError(f"there is no {missing}", hint=f"give {missing}=; pelton.{missing}s() lists those that are known")
    made: dict[str, Any] = {
        "platform": text(board),
        "duration_ns": time_ns(duration),
        "hz": hz,
        "rate_limit_us": rate_limit_us,
        "group": group,
        "defines": {name: str(value) for name, value in (defines or {}).items()},
    }
    if isinstance(workload, Workload):
        made |= {"workload": "workload.json", "workload_text": workload.to_rt_app()}
    else:
        made["workload"] = text(workload)
    return made


def policy_of(policy: str | os.PathLike[str] | None, sets: Iterable[str]) -> dict[str, Any]:
    """A policy as requests have it."""
    spec: dict[str, Any] = json.loads(_pelton.policy_spec(text(policy))) if policy is not None else {}
    spec["sets"] = [*spec.get("sets", []), *sets]
    return spec
