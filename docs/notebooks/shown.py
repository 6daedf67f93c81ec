# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables and charts of the notebooks beside this file. A chart's title is what its picture is called for those who do not see it."""

from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt
import pandas as pd
import pelton
from IPython.display import HTML

WIDTH = 400


COLUMNS = {"id": "row", "published": "published", "simulated": "simulated", "unit": "unit", "role": "role", "verdict": "verdict",
           "no_effect": "no effect", "no_effect_verdict": "it would"}


def digits(value: float) -> str:
    """A number with four digits, or all before the point."""
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def plain(table: pd.DataFrame) -> HTML:
    """A table without numbers of its rows; `-` where a value is not known."""
    return HTML(table.convert_dtypes().to_html(index=False, na_rep="-", border=0, justify="left", float_format=digits))


def rows(result: pelton.Result) -> HTML:
    """Rows of a published table beside ours, and beside a world in which the change does nothing."""
    return plain(result.table().to_pandas()[list(COLUMNS)].rename(columns=COLUMNS))


def missed(result: pelton.Result) -> HTML:
    """Rows outside of their tolerance."""
    table = result.table().to_pandas()
    return plain(table[table.verdict == "differs"][["id", "published", "simulated", "unit", "tolerance", "role"]])


def claims(result: pelton.Result, holds: bool) -> list[str]:
    """Statements that hold, or do not."""
    return [claim["text"] for claim in result["claims"] if claim["holds"] == holds]


def ratios(result: pelton.Result) -> alt.Chart:
    """Simulated numbers in units of the published ones."""
    points = [{"row": row["id"], "ratio": row["simulated"] / row["published"], "verdict": row["verdict"]}
              for row in result["rows"] if row["published"] and row["simulated"] is not None]
    one = alt.Chart(alt.Data(values=[{"one": 1}])).mark_rule(color="gray").encode(x="one:Q")
    return one + alt.Chart(alt.Data(values=points), title="Simulated / published", width=WIDTH * 2 // 3).mark_point(filled=True, size=60).encode(
        x=alt.X("ratio:Q", title=None), y=alt.Y("row:N", title=None, axis=alt.Axis(labelLimit=WIDTH // 2)), **marks("verdict"))


def beside(result: pelton.Result) -> alt.Chart:
    """Simulated against published changes, with the line on which both are equal."""
    points = [{"published": row["published"], "simulated": row["simulated"], "of": row["id"].split(".")[0], "verdict": row["verdict"]}
              for row in result["rows"]]
    ends = [find(point["published"] for point in points) for find in (min, max)]
    both = alt.Data(values=[{"published": end, "simulated": end} for end in ends])
    line = alt.Chart(both).mark_line(color="gray").encode(x="published:Q", y="simulated:Q")
    return line + scatter(points, "published", "simulated", "Simulated against published changes", **marks("verdict"))


def marks(name: str) -> dict[str, alt.Color | alt.Shape]:
    """Color and shape by a column, so that neither is needed alone."""
    return {"color": alt.Color(f"{name}:N"), "shape": alt.Shape(f"{name}:N")}


def scatter(points: list[dict[str, Any]], x: str, y: str, title: str, **encodings: Any) -> alt.Chart:
    """A point for each row; axes begin where the points do."""
    close = alt.Scale(zero=False)
    return alt.Chart(alt.Data(values=points), title=title, width=WIDTH, height=WIDTH * 2 // 3).mark_point(filled=True, size=60).encode(
        x=alt.X(f"{x}:Q", scale=close), y=alt.Y(f"{y}:Q", scale=close), **encodings)


def frequencies(runs: Mapping[str, pelton.Run], cpu: int, begin: float, end: float, title: str) -> alt.Chart:
    """Frequency of a CPU in several runs, one above the other."""
    points = [{"run": name, "time": time, "MHz": khz / 1000} for name, run in runs.items() for time, khz in changes(run, cpu, begin, end)]
    return alt.Chart(alt.Data(values=points), title=title, width=WIDTH, height=WIDTH // 4).mark_line(interpolate="step-after").encode(
        x=alt.X("time:Q", title="time [s]", scale=alt.Scale(zero=False)), y="MHz:Q", row=alt.Row("run:N", title=None, sort=None))


def changes(run: pelton.Run, cpu: int, begin: float, end: float) -> Iterable[tuple[float, int]]:
    """Changes of a CPU's frequency between two times, s, and what it has at both."""
    table = run.df.cpu_frequency(cpu).to_dict()
    both = list(zip(table["Time"], table["frequency"], strict=True))
    before = [khz for time, khz in both if time <= begin][-1]
    inside = [(time, khz) for time, khz in both if begin < time < end]
    return [(begin, before), *inside, (end, (inside or [(begin, before)])[-1][1])]


def variants(result: pelton.Result, workload: str, names: Iterable[str], duration: str = "1s") -> dict[str, pelton.Run]:
    """Runs of a workload of a published table, one for each variant."""
    about = result["run"]
    return {name: pelton.run(about["platform"], about["workloads"][workload], about["profile"], duration=duration,
                             set=[f"{key}={value}" for key, value in (about["set"] | about["variants"][name]["set"]).items()])
            for name in names}
