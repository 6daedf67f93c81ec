# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests and results: dictionaries in, dictionaries out."""

from __future__ import annotations

import datetime
import html
import importlib
import json
import operator
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, overload

from . import _files, _pelton
from .errors import InputError, InputWarning, Unavailable
from .wl import Workload

#: A time: text with its unit ("250ms", "1.5s") or a timedelta.
Time = str | datetime.timedelta
#: Follows work: called with what is done, how much of it, and of how much (ns; the last is 0 where it is not known).
Progress = Callable[[str, int, int], object]
#: A file.
File = str | bytes | os.PathLike[str] | os.PathLike[bytes]
#: A platform: a built-in name or a file.
Board = str | os.PathLike[str]
#: A workload: what `pelton run --workload` takes, a file, or one made with `pelton.wl`.
Work = str | os.PathLike[str] | Workload
#: Verbs whose answer is one result.
OneResult = Literal[
    "run",
    "compare",
    "check",
    "front",
    "why",
    "explain",
    "explain-placement",
    "explain-balance",
    "explain-walk",
    "explain-thermal",
    "explain-diff",
    "replay",
    "validate",
    "trace-info",
    "tables",
    "behaviours",
    "platforms",
    "platform",
    "workloads",
    "policies",
    "quantities",
]
#: Verbs whose answer is a list of results.
ManyResults = Literal["reproduce"]
#: Verbs whose answer is a text.
PlainText = Literal["workload-from-trace"]
#: Largest whole number of a request.
COUNT_MAX = 2**64 - 1


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
        """A list of the result as a table: `rows`, and what else it has (`residency`, `placement`, …).

        A list of texts or numbers is one column, `value`; of an empty list nothing is known, not even its columns.
        """
        lists = [key for key, value in self.items() if isinstance(value, list)]
        if name not in lists:
            hint = f"it has {', '.join(lists) or 'no lists'}"
            raise InputError(f"a result `{self.kind}` has no list `{name}`", hint=hint)
        return rows_table(self[name])

    def to_json(self, path: File | None = None) -> str:
        """Its text; also written to `path`, where one is given. `pelton report` reads it."""
        return page(json.dumps(self, indent=2, ensure_ascii=False) + "\n", path)

    def report(self, path: File | None = None) -> str:
        """A page, HTML, with its facts and tables; also written to `path`, where one is given."""
        return page(_pelton.result_html(json.dumps(self)), path)

    def __repr__(self) -> str:
        return f"<pelton {self.get('result', 'result')}: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        facts = [(key, value) for key, value in self.items() if isinstance(value, str | int | float | bool)]
        rows = (f"<tr><th>{html.escape(key)}</th><td>{html.escape(str(value))}</td></tr>" for key, value in facts)
        return f"<table>{''.join(rows)}</table>"


def page(text: str, path: File | None) -> str:
    """Writes a text, where it shall go."""
    if path is not None:
        _files.write(path, text)
    return text


def rows_table(rows: list[Any]) -> _pelton.Table:
    """Rows as a table, columns in the order in which they come; rows that are no objects are one column, `value`."""
    if not all(isinstance(row, dict) for row in rows):
        rows = [{"value": row} for row in rows]
    order: dict[str, None] = {}
    for row in rows:
        for key, value in row.items():
            # Cells of a comparison are rows of their own.
            if key == "cells" and isinstance(value, list) and all(isinstance(cell, dict) for cell in value):
                order.update(dict.fromkeys(name for cell in value for name in cell))
            else:
                order[key] = None
    return _pelton.rows(json.dumps(rows), list(order))


@overload
def ask(verb: OneResult, request: Mapping[str, Any], progress: Progress | bool = False) -> Result: ...
@overload
def ask(verb: ManyResults, request: Mapping[str, Any], progress: Progress | bool = False) -> list[Result]: ...
@overload
def ask(verb: PlainText, request: Mapping[str, Any], progress: Progress | bool = False) -> str: ...
@overload
def ask(
    verb: str, request: Mapping[str, Any], progress: Progress | bool = False
) -> Result | list[Result] | str: ...
def ask(verb: str, request: Mapping[str, Any], progress: Progress | bool = False) -> Result | list[Result] | str:
    """Answers a request by the name of its verb: fields are those of the requests in `pelton_lab::verbs`.

    For what has no function here: `pelton.ask("trace-info", {"trace": "a.dat"})`. A `Result`; of `reproduce` a list of
    them; of `workload-from-trace` the text of an rt-app file, whose notes are passed on as warnings.

    >>> pelton.ask("tables", {}).kind
    'tables'
    """
    with followed(progress) as follower:
        text, notes, warned = _pelton.ask_json(verb, written(request), follower)
    warn(warned)
    # An rt-app file is for other programs, which shall get every byte; a text has no place for notes.
    if verb == "workload-from-trace":
        warn(notes)
        return text
    answer = json.loads(text)
    return [Result(one, notes) for one in answer] if isinstance(answer, list) else Result(answer, notes)


def written(request: Mapping[str, Any]) -> str:
    """A request as JSON, paths as text; numbers of other libraries are taken for what they count."""
    return json.dumps(request, default=_plain)


def _plain(value: Any) -> str | int:
    return os.fsdecode(value) if isinstance(value, bytes | os.PathLike) else operator.index(value)


def warn(texts: Iterable[str]) -> None:
    """Passes on warnings about inputs, with the line of the caller of this package."""
    for text in texts:
        warnings.warn(text, InputWarning, stacklevel=_level_outside())


def _level_outside() -> int:
    """Level, for `warnings.warn` in the caller, of the first frame that is not of this package."""
    package = os.path.dirname(__file__) + os.sep
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    return level


def check_progress(progress: object) -> None:
    """Refuses what cannot follow work."""
    if not isinstance(progress, bool) and not callable(progress):
        raise TypeError(f"progress is True, False or a function, not {progress!r}")


@contextmanager
def followed(progress: Progress | bool) -> Iterator[Progress | None]:
    """What is called during the work; True writes a line to standard error, which ends when the work does."""
    check_progress(progress)
    if isinstance(progress, bool):
        line = _Line()
        try:
            yield line if progress else None
        finally:
            line.close()
    else:
        yield progress


class _Line:
    """A line on standard error that is written again and again; each part of the work has one of its own."""

    def __init__(self) -> None:
        self._what: str | None = None
        self._length = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        if not what:
            # No part of the work has begun.
            return
        if what != self._what:
            self.close()
        share = f"{min(done / total, 1):4.0%}" if total else f"{done} events"
        text = f"{what}: {share}"
        # Blanks cover the end of a longer text that was there.
        print(f"\r{text:<{self._length}}", end="", file=sys.stderr, flush=True)
        self._what, self._length = what, len(text)

    def close(self) -> None:
        """Ends the line, where one was begun."""
        if self._what is not None:
            self._what, self._length = None, 0
            print(file=sys.stderr, flush=True)


def time_ns(time: Time | None) -> int | None:
    """Nanoseconds of a time."""
    if time is None:
        return None
    if isinstance(time, datetime.timedelta):
        return (time.days * 86_400 + time.seconds) * 1_000_000_000 + time.microseconds * 1_000
    # A letter that has no bytes is in no time.
    if isinstance(time, str) and time.isprintable():
        return _pelton.time_ns(time)
    raise InputError(f"{time!r} is no time", hint="write its unit: '10s', '250ms'")


def names(value: Any) -> list[Any]:
    """One or several as a list: a text is one text, not its letters."""
    return [value] if isinstance(value, str | bytes | os.PathLike | Workload) else list(value)


def text(value: Any) -> str:
    """A name or a path as text."""
    if isinstance(value, Workload):
        raise InputError(f"{value!r} cannot stand here", hint="write it to a file: to_rt_app('load.json')")
    return os.fsdecode(value)


def texts(value: Any) -> list[str]:
    """One or several names or paths."""
    return [text(one) for one in names(value)]


def pair(name: str, value: Any) -> tuple[Any, Any]:
    """Two of something."""
    found = names(value)
    if len(found) != 2:
        raise InputError(f"{name}: there are {len(found)}", allowed="two")
    return found[0], found[1]


def counts(**values: int | None) -> dict[str, int | None]:
    """Whole numbers of a request, by the names of their arguments."""
    return {name: None if value is None else _count(name, value) for name, value in values.items()}


def _count(name: str, value: int) -> int:
    try:
        # True is a number to Python, and none to whoever reads the call.
        whole = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        whole = None
    if whole is None:
        raise TypeError(f"{name} is a whole number, not {value!r}")
    if not 0 <= whole <= COUNT_MAX:
        raise InputError(f"{name} {whole} is out of range", allowed=f"0..={COUNT_MAX}")
    return whole


def optional(name: str, extra: str) -> Any:
    """A library that is no dependency of the package.

    Raises `Unavailable` where it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as why:
        hint = f"pip install 'pelton[{extra}]'"
        raise Unavailable(f"{name} is not installed", hint=hint) from why


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
        hint = f"give {missing}=; pelton.{missing}s() lists those that are known"
        raise InputError(f"there is no {missing}", hint=hint)
    made: dict[str, Any] = {
        "platform": text(board),
        "duration_ns": time_ns(duration),
        **counts(hz=hz, rate_limit_us=rate_limit_us),
        "group": group,
        "defines": {name: str(value) for name, value in (defines or {}).items()},
    }
    if isinstance(workload, Workload):
        made |= {"workload": "workload.json", "workload_text": workload.to_rt_app()}
    else:
        made["workload"] = text(workload)
    return made


def policy_of(policy: str | os.PathLike[str] | None, sets: str | Iterable[str]) -> dict[str, Any]:
    """A policy as requests have it."""
    spec: dict[str, Any] = json.loads(_pelton.policy_spec(text(policy))) if policy is not None else {}
    spec["sets"] = [*spec.get("sets", []), *texts(sets)]
    return spec
