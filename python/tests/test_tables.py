# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables: what DataFrame libraries see, and that nothing is copied on the way."""

from pathlib import Path
from typing import Any

import pelton
import pytest

BOARD = "pixel6-gs101"


@pytest.fixture(scope="module")
def run() -> pelton.Run:
    return pelton.run(BOARD, "ui-frames", duration="2s", events=["sched_switch", "cpu_frequency", "cpu_idle"])


def test_every_library_sees_the_same_rows(run: pelton.Run) -> None:
    table = run.events("sched_switch")
    rows = {"lists": (len(table), sum(table["next_tid"]))}
    if pl := _optional("polars"):
        frame = pl.DataFrame(table)
        rows["polars"] = (frame.height, int(frame["next_tid"].sum()))
    if pa := _optional("pyarrow"):
        arrow = pa.table(table)
        rows["pyarrow"] = (arrow.num_rows, sum(arrow["next_tid"].to_pylist()))
        assert arrow.schema.field("time_ns").metadata[b"unit"] == b"ns"
    if _optional("pandas"):
        frame = table.to_pandas()
        rows["pandas"] = (len(frame), int(frame["next_tid"].sum()))
    rows_of_it = table
    if duckdb := _optional("duckdb"):
        rows["duckdb"] = duckdb.sql("select count(*), sum(next_tid)::bigint from rows_of_it").fetchall()[0]
    print(f"read by {', '.join(rows)}")
    assert len(set(rows.values())) == 1, rows


def _optional(name: str):  # type: ignore[no-untyped-def]
    try:
        return __import__(name)
    except ImportError:
        print(f"not measured: {name} is not installed")
        return None


def test_nothing_is_copied(run: pelton.Run) -> None:
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    table = run.events("sched_switch")

    def address(taken: object) -> int:
        return int(pa.table(taken)["time_ns"].chunk(0).buffers()[1].address)

    first = address(table)
    assert address(table) == first == address(run.events("sched_switch"))
    assert pl.DataFrame(table)["time_ns"].to_arrow().buffers()[1].address == first


def test_a_table_outlives_its_run() -> None:
    pa = pytest.importorskip("pyarrow")
    taken = pa.table(pelton.run(BOARD, "ui-frames", duration="1s").events("sched_switch"))
    whole = taken.to_pydict()
    for _ in range(20):
        pelton.run(BOARD, "ui-frames", duration="100ms").events("sched_switch")
    assert taken.to_pydict() == whole


def test_a_missing_column_and_event_are_named(run: pelton.Run) -> None:
    with pytest.raises(KeyError):
        run.events("sched_switch")["nothing"]
    with pytest.raises(pelton.InputError, match="no event is called `nothing`"):
        run.events("nothing")
    with pytest.raises(pelton.InputError, match="there are Time, cpu, frequency"):
        run.df.cpus_frequency().thinned("Time", "nothing")


def test_every_event_and_frame_has_a_table(run: pelton.Run) -> None:
    for name in pelton.EVENTS:
        assert run.events(name).column_names[0] == "time_ns"
    frames = {name for name in dir(pelton.Frames) if not name.startswith("_")}
    assert frames == set(pelton._pelton.FRAMES)
    for name in sorted(frames):
        method = getattr(run.df, name)
        words = method.__code__.co_varnames[1 : method.__code__.co_argcount]
        given = {word: {"cpu": 4, "task": "ui", "signal": "util"}[word] for word in words}
        table = method(**given)
        assert table.column_names and all(table.docs.values()), name


class TestFrames:
    """Numbers of frames are those of the result."""

    def test_residencies_are_those_of_the_summary(self, run: pelton.Run) -> None:
        for cpu, domain in ((0, 0), (4, 1), (6, 2)):
            name = run.result["residency"]
            ours = run.df.cpu_frequency_residency(cpu)
            domains = list(dict.fromkeys(row["domain"] for row in name))
            theirs = {row["khz"]: row["ms"] for row in name if row["domain"] == domains[domain] and row["ms"]}
            made = dict(zip(ours["frequency"], ours["total_time"], strict=True))
            assert made.keys() == theirs.keys()
            assert all(abs(made[khz] * 1e3 - theirs[khz]) < 1e-3 for khz in made)

    def test_idle_residencies_are_those_of_the_summary(self, run: pelton.Run) -> None:
        ours = run.df.cpu_idle_state_residency(4)
        idle = sum(time for state, time in zip(ours["idle_state"], ours["time"], strict=True) if state >= 0)
        theirs = sum(row["ms"] for row in run.result["idle_residency"] if row["cpu"] == 4)
        assert abs(idle * 1e3 - theirs) < 0.02 * theirs + 1

    def test_time_executing_is_that_of_the_tasks(self, run: pelton.Run) -> None:
        tasks = [row for row in run.result["rows"] if row["scope"] == "task" and row["quantity"] == "run_ms"]
        theirs = {row["of"]: row["value"] for row in tasks}
        table = run.df.tasks_runtime()
        ours = dict(zip(table["comm"], table["runtime"], strict=True))
        assert theirs
        for name, ms in theirs.items():
            assert abs(ours[name] * 1e3 - ms) < 0.02 * ms + 0.5, name
            assert abs(sum(run.df.task_total_residency(name)["runtime"]) - ours[name]) < 1e-9

    def test_latencies_are_those_of_the_summary(self, run: pelton.Run) -> None:
        longest = max(max(run.df.latency_wakeup(task)["wakeup_latency"]) for task in ("ui", "ui-render"))
        known = run.summary["wakeup_us_max"]
        # From the wake-up, not from when the task is on the queue.
        assert known is not None and 0.5 * known < longest * 1e6 <= known

    def test_a_task_is_named_or_numbered(self, run: pelton.Run) -> None:
        number = next(tid for tid, name in run.tasks.items() if name == "ui")
        assert run.df.task_states("ui").to_dict() == run.df.task_states(number).to_dict()
        with pytest.raises(pelton.InputError, match="no task of that name"):
            run.df.task_states("nobody")
        with pytest.raises(pelton.InputError, match="allowed: 0..=7"):
            run.df.cpu_frequency(8)
        with pytest.raises(pelton.InputError, match="known are util"):
            run.df.cpus_signal("nothing")


def test_a_log_that_is_read_has_the_tables_of_its_run(run: pelton.Run, tmp_path: Path) -> None:
    path = tmp_path / "run.plog"
    run.write_log(path)
    read = pelton.read(path)
    assert read.info["events"]["sched_switch"] == len(run.events("sched_switch"))
    for name in ("sched_switch", "pelt_cfs", "freq_decision"):
        assert read.events(name).to_dict() == run.events(name).to_dict()
    assert read.df.tasks_states().to_dict() == run.df.tasks_states().to_dict()
    assert read.df.tasks_signal("util").to_dict() == run.df.tasks_signal("util").to_dict()


def test_rows_of_results_are_tables(run: pelton.Run) -> None:
    rows = run.rows()
    assert rows.column_names[:4] == ["scope", "of", "quantity", "unit"]
    assert len(rows) == len(run.result["rows"])
    assert run.result.table("residency").column_names == ["domain", "khz", "ms", "pct"]
    with pytest.raises(pelton.InputError, match="it has"):
        run.result.table("nothing")


def test_every_list_of_a_result_is_a_table(run: pelton.Run) -> None:
    compared = pelton.compare(BOARD, "busy", ["6.1", "7.2"], seeds=2, duration="50ms", values=True)
    seen = set()
    for result in (run.result, compared, pelton.board(BOARD), pelton.policies(), pelton.ask("tables", {})):
        for name, rows in result.items():
            if isinstance(rows, list):
                table = result.table(name)
                cells = sum(len(row.get("cells", [row])) if isinstance(row, dict) else 1 for row in rows)
                assert len(table) == cells, (result.kind, name)
                seen.add("objects" if rows and isinstance(rows[0], dict) else "scalars" if rows else "none")
    assert seen == {"objects", "scalars", "none"}
    assert compared.table("policies").to_dict() == {"value": ["6.1", "7.2"]}
    assert compared.table("seeds")["value"] == [1, 2]
    assert pelton.Result({"result": "made", "mixed": [1, {"a": 2}]}).table("mixed").column_names == ["value"]


def test_an_empty_list_is_an_empty_table() -> None:
    table = pelton.Result({"result": "made", "rows": []}).table()
    assert len(table) == 0 and table.column_names == [] and table.to_dict() == {}


def test_frames_may_be_followed(run: pelton.Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.df is run.df
    long = pelton.run(BOARD, "bursts:run_us=100,sleep_us=100,threads=8", duration="20s")
    seen: list[tuple[str, int, int]] = []
    pelton.Frames(long, lambda *now: seen.append(now)).cpus_frequency()
    assert seen
    pelton.Frames(long, progress=True).tasks_runtime()
    said = capsys.readouterr().err
    assert said.startswith("\r") and said.endswith("\n")


def test_numbers_of_other_libraries_are_numbers(run: pelton.Run) -> None:
    class Whole:
        def __index__(self) -> int:
            return 4

    cpu: Any = Whole()
    assert run.df.cpu_frequency(cpu).to_dict() == run.df.cpu_frequency(4).to_dict()


def test_damage_of_a_trace_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "whole.plog"
    # Long enough that half of the file has whole blocks of events.
    pelton.run(BOARD, "bursts:run_us=100,sleep_us=300,threads=4", duration="5s").write_log(path)
    half = tmp_path / "half.plog"
    half.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.warns(pelton.InputWarning, match="damage") as caught:
        pelton.read(half).df.tasks_runtime()
    assert Path(caught[0].filename) == Path(__file__)
    with pytest.warns(pelton.InputWarning, match="damage"):
        pelton.read(half).events("sched_switch")
