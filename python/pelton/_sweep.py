# SPDX-License-Identifier: GPL-2.0-or-later
"""Many runs over a grid: local threads, or any `concurrent.futures` executor, into a folder of Parquet files."""

from __future__ import annotations

import json
from collections.abc import Set as AbstractSet
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from pathlib import Path
from typing import Any

from . import _ask, _pelton
from ._ask import Board, File, Progress, Time, Work
from ._runs import Summary, run
from ._verbs import Policy
from .errors import InputError
from .wl import Workload


class Sweep:
    """A folder of finished chunks: one Parquet file for each point of the grid and block of seeds.

    Rows: plan, board, workload, policy, a column for each axis (text), seed, scope, of, quantity, value, unit, note; a
    value that is not known is null. `counts`: points, runs, chunks, found (there before), ran (now).
    """

    def __init__(self, folder: Path, counts: Mapping[str, int]) -> None:
        self.folder = folder
        self.counts = dict(counts)

    @property
    def files(self) -> list[Path]:
        """Files of the chunks, by name."""
        return sorted(self.folder.glob("part-*.parquet"))

    def scan(self) -> Any:
        """The rows as a lazy polars frame."""
        # Named one by one: a folder's name may have letters that stand for others in a pattern.
        return _ask.optional("polars", "polars").scan_parquet(self._found(), glob=False)

    def to_polars(self) -> Any:
        """The rows as a polars DataFrame."""
        return self.scan().collect()

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        pandas = _ask.optional("pandas", "pandas")
        return pandas.concat([pandas.read_parquet(file) for file in self._found()], ignore_index=True)

    def _found(self) -> list[Path]:
        files = self.files
        if not files:
            hint = "run the sweep again, into this folder"
            raise InputError(f"{self.folder}: there are no files of a sweep", hint=hint)
        return files

    def __repr__(self) -> str:
        return f"<pelton.Sweep in {self.folder}: {self.counts['points']} points, {self.counts['runs']} runs>"


def _chunk(folder: str, number: int) -> int:
    """Runs one chunk; what executors are given."""
    _pelton.sweep_chunk(folder, number)
    return number


def sweep(
    board: Board | Iterable[Board],
    workload: Work | Iterable[Work],
    policy: Policy | Iterable[Policy] = "7.2",
    *,
    out: File,
    axes: Mapping[str, Sequence[object]] | None = None,
    seeds: int = 10,
    first_seed: int = 1,
    block: int = 10,
    duration: Time | None = None,
    set: str | Iterable[str] = (),
    hz: int | None = None,
    rate_limit_us: int | None = None,
    group: str | None = None,
    defines: Mapping[str, object] | None = None,
    all: bool = False,
    executor: Executor | None = None,
    jobs: int = 0,
    progress: Progress | bool = False,
) -> Sweep:
    """Runs every combination of boards, workloads, policies and values of `axes` (switches and numbers by name) with
    every seed, a file for each point and `block` of seeds.

    Files that are in `out` are not made again: a sweep that was killed goes on where it was. A folder of another sweep,
    or of other rules, is refused. `executor`: processes, Dask (`client.get_executor()`), MPI and others that speak
    `concurrent.futures`; all of them have to see the folder `out`, and files that boards, workloads and policies name,
    under the same names. Without one threads of this process do the work, `jobs` at a time (0 = one for each CPU).
    `all` keeps numbers of domains and tasks, too.

    When a chunk fails, its error is raised, and chunks that have not begun are not run.
    """
    if executor is not None and not isinstance(executor, Executor):
        raise TypeError(f"executor is a concurrent.futures.Executor, not {executor!r}")
    works, texts = _named(_ask.names(workload))
    request = {
        "boards": _ask.texts(board),
        "workloads": works,
        "workload_texts": texts,
        "defines": {name: str(value) for name, value in (defines or {}).items()},
        "policies": _ask.texts(policy),
        "sets": _ask.texts(set),
        "axes": [{"name": name, "values": _axis(name, values)} for name, values in (axes or {}).items()],
        "duration_ns": _ask.time_ns(duration),
        "group": group,
        **_ask.counts(hz=hz, rate_limit_us=rate_limit_us, seeds=seeds, first_seed=first_seed, block=block),
        "all": all,
    }
    text, folder = _ask.written(request), Path(_ask.text(out)).absolute()
    with _ask.followed(progress) as follower:
        if executor is not None:
            return _submitted(text, folder, executor, follower, seeds)
        counts, _, warned = _pelton.sweep(text, folder, _ask.counts(jobs=jobs)["jobs"] or 0, follower)
    _ask.warn(warned)
    swept = json.loads(counts)
    return Sweep(folder, {name: swept[name] for name in ("points", "runs", "chunks", "found", "ran")})


def _named(works: list[Work]) -> tuple[list[str], dict[str, str]]:
    """Workloads as text, and the rt-app files of those that were put together, under names that no other one has."""
    given = {_ask.text(work) for work in works if not isinstance(work, Workload)}
    names: list[str] = []
    texts: dict[str, str] = {}
    for number, work in enumerate(works):
        if isinstance(work, Workload):
            name = f"workload-{number}.json"
            while name in given:
                name = f"pelton-{name}"
            texts[name] = work.to_rt_app()
            names.append(name)
        else:
            names.append(_ask.text(work))
    return names, texts


def _axis(name: str, values: Any) -> list[str]:
    """Values of an axis; one value is one value."""
    # Sets have another order in each interpreter, and what was begun would not be known again.
    if not isinstance(values, str | Iterable) or isinstance(values, (AbstractSet, Mapping)):
        raise TypeError(f"axes: `{name}` is a list of values, not {values!r}")
    return [str(value) for value in _ask.names(values)]


def _submitted(request: str, folder: Path, executor: Executor, progress: Progress | None, seeds: int) -> Sweep:
    missing, chunks, points, warned = _pelton.sweep_missing(request, folder)
    _ask.warn(warned)
    futures: list[Future[int]] = []
    try:
        # An executor that breaks may refuse chunks after it took others.
        for number in missing:
            futures.append(executor.submit(_chunk, str(folder), number))
        for done, future in enumerate(as_completed(futures), 1):
            future.result()
            if progress is not None:
                progress("chunks", done, len(missing))
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    counts = {"points": points, "runs": points * seeds, "chunks": chunks}
    return Sweep(folder, {**counts, "found": chunks - len(missing), "ran": len(missing)})


def optuna_objective(
    board: Board,
    workload: Work,
    policy: str,
    space: Mapping[str, tuple[float, float] | Sequence[object]],
    quantities: str | Sequence[str] = ("energy_mj", "late", "driver_calls"),
    *,
    seeds: int = 3,
    duration: Time | None = None,
) -> Callable[[Any], Any]:
    """An objective for `optuna.Study.optimize()`: means over seeds of the quantities, to be minimised.

    `space`: by switch or number either (lowest, highest), whole numbers where both are, or a list of choices. Optuna is
    no dependency of this package.
    """
    wanted = _ask.texts(quantities)
    if not wanted:
        raise InputError("there is no quantity", hint="pelton.quantities() lists those that are known")
    if not _ask.counts(seeds=seeds)["seeds"]:
        raise InputError("seeds 0 is out of range", allowed="at least 1")

    def objective(trial: Any) -> Any:
        sets = [f"{name}={_suggested(trial, name, values)}" for name, values in space.items()]
        runs = [run(board, workload, policy, set=sets, seed=seed, duration=duration) for seed in range(1, seeds + 1)]
        means = [_mean([one.summary for one in runs], name) for name in wanted]
        return means[0] if isinstance(quantities, str) else means

    return objective


def _suggested(trial: Any, name: str, values: Any) -> object:
    # True and False are choices, though Python counts them among the whole numbers.
    is_number = [isinstance(value, int | float) and not isinstance(value, bool) for value in values]
    if isinstance(values, tuple) and is_number == [True, True]:
        is_whole = all(isinstance(value, int) for value in values)
        return (trial.suggest_int if is_whole else trial.suggest_float)(name, *values)
    return trial.suggest_categorical(name, _ask.names(values))


def _mean(summaries: Sequence[Summary], name: str) -> float:
    if any(name not in summary for summary in summaries):
        raise InputError(f"no quantity is called `{name}`", hint=f"there are {', '.join(summaries[0])}")
    known = [value for summary in summaries if (value := summary[name]) is not None]
    if len(known) < len(summaries):
        raise InputError(f"`{name}` is not known of these runs", hint="choose another quantity, or another board")
    return sum(known) / len(known)
