# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux's scheduler-driven CPU power and performance control: simulate, compare, validate, explain.

>>> import pelton
>>> c = pelton.compare("pixel6-gs101", "ui-frames", ["7.2", "7.2,uclamp=sum"], seeds=3, duration="1s")
>>> c.table().column_names[:5]
['scope', 'of', 'quantity', 'unit', 'note']
"""

from . import core, wl
from ._ask import Result, ask
from ._pelton import CORE_HASH, EVENTS, PROFILES, Table, __version__
from .errors import Bug, Error, InputError, InputWarning, Interrupted, Misfit, Unavailable
from ._frames import Frames
from ._plot import Plots
from ._runs import Run, Summary, Trace, read, run
from ._sweep import Sweep, optuna_objective, sweep
from ._verbs import (
    Comparison,
    board,
    boards,
    compare,
    difference,
    front,
    policies,
    quantities,
    replay,
    report,
    reproduce,
    tables,
    validate,
    why,
    workloads,
)

__all__ = [
    "CORE_HASH",
    "EVENTS",
    "PROFILES",
    "Bug",
    "Comparison",
    "Error",
    "Frames",
    "InputError",
    "InputWarning",
    "Interrupted",
    "Misfit",
    "Plots",
    "Result",
    "Run",
    "Summary",
    "Sweep",
    "Table",
    "Trace",
    "Unavailable",
    "__version__",
    "ask",
    "board",
    "boards",
    "compare",
    "core",
    "difference",
    "front",
    "optuna_objective",
    "policies",
    "quantities",
    "read",
    "replay",
    "report",
    "reproduce",
    "run",
    "sweep",
    "tables",
    "validate",
    "why",
    "wl",
    "workloads",
]
