# SPDX-License-Identifier: GPL-2.0-or-later
"""The compiled part of the package: requests as JSON, results as JSON, columns as Arrow tables."""

import os
from collections.abc import Callable, Sequence
from typing import Any, final

from ._runs import Governor

_Progress = Callable[[str, int, int], object] | None
_Path = str | os.PathLike[str]

__all__ = [
    "CORE_HASH",
    "EVENTS",
    "FRAMES",
    "PROFILES",
    "Asked",
    "Subject",
    "Table",
    "__version__",
    "ask_json",
    "compare",
    "energy",
    "pelt",
    "place",
    "policy_spec",
    "prototype",
    "read",
    "report_html",
    "result_html",
    "rows",
    "run",
    "sugov",
    "sweep",
    "sweep_chunk",
    "sweep_missing",
    "time_ns",
    "verbs",
]
__version__: str
CORE_HASH: str
PROFILES: tuple[str, ...]
EVENTS: tuple[str, ...]
FRAMES: tuple[str, ...]

@final
class Table:
    """Columns of equal length, each with a name, a unit and a sentence; DataFrame libraries take it without copying."""

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""
    @property
    def units(self) -> dict[str, str]:
        """Unit of each column; empty for names, ids, codes and counts."""
    @property
    def docs(self) -> dict[str, str]:
        """Meaning of each column."""
    def __len__(self) -> int: ...
    def __getitem__(self, name: str, /) -> list[Any]: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def to_dict(self) -> dict[str, list[Any]]:
        """Every column as a list; None where a value is not known."""
    def to_polars(self) -> Any:
        """The table as a polars DataFrame."""
    def to_pandas(self, index: str | None = None) -> Any:
        """The table as a pandas DataFrame; `index` names the column that becomes its index."""
    def to_pyarrow(self) -> Any:
        """The table as a pyarrow Table."""
    def thinned(self, x: str, y: str, *, by: str | None = None, width: int = 1200) -> Table:
        """Fewer rows that look the same on `width` pixels: of each step of `x`, by value of `by`, the first and the
        last row, and those with the least and the greatest `y`."""

@final
class Asked:
    """Request of a CPU when its domain is evaluated: signals are 0..1024; `iowait` and `perf` are None where the policy
    computes no such terms."""

    @property
    def cpu(self) -> int: ...
    @property
    def capacity(self) -> int: ...
    @property
    def util(self) -> int: ...
    @property
    def runnable(self) -> int: ...
    @property
    def util_est(self) -> int: ...
    @property
    def rt(self) -> int: ...
    @property
    def dl(self) -> int: ...
    @property
    def irq(self) -> int: ...
    @property
    def uclamp_min(self) -> int: ...
    @property
    def uclamp_max(self) -> int: ...
    @property
    def nr_running(self) -> int: ...
    @property
    def rt_nr_running(self) -> int: ...
    @property
    def iowait(self) -> int | None: ...
    @property
    def perf(self) -> int | None: ...

@final
class Subject:
    """A run or a trace."""

    @property
    def tasks(self) -> dict[int, str]: ...
    def events(self, names: Sequence[str], progress: _Progress = None) -> tuple[list[Table], list[str]]:
        """Tables of these events, and what is damaged of a trace."""
    def frame(self, name: str, question: str, progress: _Progress = None) -> tuple[Table, list[str]]:
        """A table in LISA's words, and what is damaged of a trace."""
    def write_log(self, path: _Path, progress: _Progress = None) -> None: ...

def ask_json(verb: str, request: str, progress: _Progress = None) -> tuple[str, list[str], list[str]]: ...
def compare(request: str, progress: _Progress = None) -> tuple[str, str, list[str], list[str]]: ...
def report_html(request: str, progress: _Progress = None) -> tuple[str, list[str], list[str]]: ...
def result_html(result: str) -> str: ...
def sweep(
    request: str, folder: _Path, jobs: int = 0, progress: _Progress = None
) -> tuple[str, list[str], list[str]]: ...
def sweep_missing(request: str, folder: _Path) -> tuple[list[int], int, int, list[str]]: ...
def sweep_chunk(folder: _Path, number: int) -> str: ...
def verbs() -> tuple[str, ...]: ...
def time_ns(text: str) -> int: ...
def policy_spec(text: str) -> str: ...
def rows(list: str, order: Sequence[str]) -> Table: ...
def run(
    request: str, events: Sequence[str], progress: _Progress = None
) -> tuple[Subject, str, list[str], list[str]]: ...
def prototype(
    request: str, governor: Governor, progress: _Progress = None
) -> tuple[Subject, str, list[str], list[str]]: ...
def read(path: _Path, format: str | None = None) -> Subject: ...
def pelt(
    segments: Sequence[tuple[int, str]], *, policy: str | None = None, weight: int = 1024, step_us: int = 1000
) -> Table:
    """Load tracking of one task through (duration in us, "running", "queued" or "sleeping"), a row for each step and
    end.

    Columns: time_ns, util_avg, runnable_avg, load_avg, exactly those of the kernel whose policy it is.
    """

def sugov(
    khz: Sequence[int],
    *,
    util: int = 0,
    util_est: int = 0,
    runnable: int = 0,
    rt: int = 0,
    dl: int = 0,
    irq: int = 0,
    iowait: int = 0,
    uclamp_min: int = 0,
    uclamp_max: int = 1024,
    nr_running: int = 1,
    rt_nr_running: int = 0,
    capacity: int = 1024,
    policy: str | None = None,
) -> dict[str, int]:
    """Choice of schedutil for a CPU with these signals (0..1024): terms, performance target, frequency before the table
    and the one that serves it, kHz."""

def energy(opps: Sequence[tuple[int, int]], *, max_util: int, sum_util: int, capacity: int = 1024) -> int:
    """Energy that placement believes a domain takes: power of the operating point for `max_util` by the share of time
    that `sum_util` is busy. Points: kHz, and uW of a busy CPU."""

def place(
    capacity: Sequence[int],
    *,
    task_util: int,
    prev_cpu: int,
    util: Sequence[int] | None = None,
    nr_running: Sequence[int] | None = None,
    this_cpu: int | None = None,
    allowed: Sequence[int] | None = None,
    uclamp_min: int = 0,
    uclamp_max: int = 1024,
    perf_domains: Sequence[tuple[Sequence[int], Sequence[tuple[int, int]]]] | None = None,
    caches: Sequence[Sequence[int]] | None = None,
    overutilized: bool | None = None,
    sync: bool = False,
    policy: str | None = None,
) -> dict[str, Any]:
    """CPU that a waking fair task gets, and what was compared: the kernel's select_task_rq_fair() and, where energy
    decides, find_energy_efficient_cpu() (kernel/sched/fair.c).

    A machine of up to 64 CPUs without threads; lists have a value for each CPU, or numbers of CPUs from 0 on.

    capacity: of each CPU at its highest frequency, 1..1024. util: util_avg of each CPU, 0..1024, that of prev_cpu with
    the task's (default: 0). nr_running: runnable tasks of each, of nice 0 and always busy; 0 is an idle CPU (default).
    task_util: util_avg of the task, 0..1024. prev_cpu: where it ran. this_cpu: where it is woken (default: prev_cpu);
    sync: the waker is about to sleep. allowed: CPUs that it may use (default: all). uclamp_min, uclamp_max: its clamps.
    perf_domains: (CPUs, [(kHz, uW of a busy CPU), ...]) of each performance domain, kHz rising, CPUs of one capacity;
    without them, or on equal CPUs, no energies are compared. caches: CPUs that share a last-level cache (default: one
    cache). overutilized: as the kernel last noted (default: whether a CPU has more to do than it can). policy: as
    `--policy` takes it (default: the newest kernel).

    Result: cpu; how, the rule that decided; target, the CPU from which an idle one is searched, or None; overutilized;
    energies, a row for each comparison: perf_domain (its CPUs), cpu (with the task there; None: nowhere), max_util and
    busy (with the task), energy (only ratios mean something: cost of the operating point times busy).

    Raises pelton.InputError for lists of different lengths, values out of range, CPUs that are not there, and domains
    or caches in which a CPU stands twice or never.
    """
