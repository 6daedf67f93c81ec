# SPDX-License-Identifier: GPL-2.0-or-later
"""Sweeps: what was killed goes on, and every way to run one gives the same files."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pelton
import pytest

GRID: dict[str, Any] = {
    "board": ["hikey-6220", "juno-r2"],
    "workload": ["busy:cpus=0", "periodic:run_us=3000,period_us=10000,threads=3"],
    "policy": ["6.12", "7.2"],
    "axes": {"rate_limit_us": [500, 2000]},
    "seeds": 4,
    "block": 2,
    "duration": "100ms",
}
CODE = "import json, pelton, sys; pelton.sweep(**json.loads(sys.argv[1]), out=sys.argv[2], jobs=1)"


def digest(sweep: pelton.Sweep) -> str:
    """Hash of all files and their names."""
    made = hashlib.sha256()
    for file in sweep.files:
        made.update(file.name.encode() + file.read_bytes())
    return made.hexdigest()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> pelton.Sweep:
    return pelton.sweep(**GRID, out=tmp_path_factory.mktemp("whole"))


def test_rows_are_those_of_runs(whole: pelton.Sweep) -> None:
    assert whole.counts == {"points": 16, "runs": 64, "chunks": 32, "found": 0, "ran": 32}
    pl = pytest.importorskip("polars")
    frame = whole.to_polars()
    one = frame.filter(
        (pl.col("board") == "juno-r2") & (pl.col("policy") == "7.2") & (pl.col("rate_limit_us") == "2000")
        & (pl.col("workload") == GRID["workload"][1]) & (pl.col("seed") == 3)
    )
    run = pelton.run("juno-r2", GRID["workload"][1], "7.2", set=["rate_limit_us=2000"], seed=3, duration="100ms")
    assert dict(one.select("quantity", "value").iter_rows()) == run.summary
    assert frame["plan"].n_unique() == 64
    pytest.importorskip("pandas")
    assert len(whole.to_pandas()) == frame.height


def test_what_is_there_is_not_run_again(whole: pelton.Sweep) -> None:
    before = digest(whole)
    again = pelton.sweep(**GRID, out=whole.folder)
    assert again.counts["ran"] == 0 and digest(again) == before


def test_processes_give_the_same_files(whole: pelton.Sweep, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        made = pelton.sweep(**GRID, out=tmp_path, executor=pool, progress=lambda *now: seen.append(now))
    assert digest(made) == digest(whole) and seen[-1] == ("chunks", 32, 32)


def test_a_killed_sweep_goes_on_where_it_was(whole: pelton.Sweep, tmp_path: Path) -> None:
    killed = 0
    for _ in range(50):
        child = subprocess.Popen([sys.executable, "-c", CODE, json.dumps(GRID), str(tmp_path)])
        before = len(list(tmp_path.glob("part-*.parquet")))
        end = time.monotonic() + 60
        while child.poll() is None and len(list(tmp_path.glob("part-*.parquet"))) < before + 3:
            assert time.monotonic() < end
            time.sleep(0.001)
        child.send_signal(signal.SIGKILL)
        if child.wait() == 0:
            break
        killed += 1
    made = pelton.sweep(**GRID, out=tmp_path)
    assert killed > 0 and digest(made) == digest(whole)


def test_two_at_once_on_one_folder(whole: pelton.Sweep, tmp_path: Path) -> None:
    both = [subprocess.Popen([sys.executable, "-c", CODE, json.dumps(GRID), str(tmp_path)]) for _ in range(2)]
    assert [child.wait() for child in both] == [0, 0]
    made = pelton.sweep(**GRID, out=tmp_path)
    assert made.counts["ran"] == 0 and digest(made) == digest(whole)
    assert not list(tmp_path.glob("*.pelton-part"))


def test_dask_workers_one_of_them_killed(whole: pelton.Sweep, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="not measured: distributed is not installed")
    grid = {**GRID, "seeds": 4, "block": 1, "duration": "100ms"}
    local = pelton.sweep(**grid, out=tmp_path / "local")
    with (
        distributed.LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        killed: list[int] = []

        def kills(what: str, done: int, total: int) -> None:
            if done == 5 and not killed:
                killed.append(pids[0])
                os.kill(pids[0], signal.SIGKILL)

        made = pelton.sweep(**grid, out=tmp_path / "dask", executor=client.get_executor(), progress=kills)
    assert killed and digest(made) == digest(local)


def test_the_program_makes_the_same_files(whole: pelton.Sweep, tmp_path: Path) -> None:
    program = os.environ.get("PELTON_PROGRAM")
    if program is None:
        pytest.skip("not measured: PELTON_PROGRAM names no program")
    words = [word for one in GRID["board"] for word in ("--platform", one)]
    words += [word for one in GRID["workload"] for word in ("--workload", one)]
    words += [word for one in GRID["policy"] for word in ("--policy", one)]
    words += ["--axis", "rate_limit_us=500,2000", "--seeds", "4", "--block", "2", "--duration", "100ms"]
    for share in ("1/2", "2/2"):
        command = [program, "sweep", *words, "--chunk", share, "--quiet", "-o", str(tmp_path)]
        subprocess.run(command, check=True, capture_output=True)
    made = pelton.sweep(**GRID, out=tmp_path)
    assert made.counts["ran"] == 0 and digest(made) == digest(whole)


def test_a_folder_of_another_sweep_is_refused(whole: pelton.Sweep, tmp_path: Path) -> None:
    with pytest.raises(pelton.InputError, match="another sweep"):
        pelton.sweep(**{**GRID, "seeds": 5}, out=whole.folder)
    pelton.sweep(**GRID, out=tmp_path)
    about = tmp_path / "sweep.json"
    about.write_text(about.read_text().replace(pelton.CORE_HASH, "0" * 16))
    with pytest.raises(pelton.InputError, match="of core"):
        pelton.sweep(**GRID, out=tmp_path)
    about.write_text("no JSON")
    with pytest.raises(pelton.InputError):
        pelton.sweep(**GRID, out=tmp_path)



def test_a_folder_of_other_inputs_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "load.json"
    pelton.wl.periodic(20, 16).to_rt_app(file)
    pelton.sweep("hikey-6220", file, out=tmp_path / "out", seeds=2, duration="50ms")
    pelton.wl.periodic(40, 16).to_rt_app(file)
    with pytest.raises(pelton.InputError, match="of other inputs"):
        pelton.sweep("hikey-6220", file, out=tmp_path / "out", seeds=2, duration="50ms")
    (tmp_path / "out/sweep.json").unlink()
    with pytest.raises(pelton.InputError, match="files of a sweep and no sweep.json"):
        pelton.sweep("hikey-6220", file, out=tmp_path / "out", seeds=2, duration="50ms")


def test_a_call_that_was_refused_leaves_the_folder_free(tmp_path: Path) -> None:
    with pytest.raises(pelton.InputError):
        pelton.sweep(**{**GRID, "axes": {"nosuch": [1]}}, out=tmp_path)
    assert not list(tmp_path.iterdir())
    assert pelton.sweep(**GRID, out=tmp_path).counts["ran"] == 32


def test_a_file_that_is_torn_is_made_again(whole: pelton.Sweep, tmp_path: Path) -> None:
    made = pelton.sweep(**GRID, out=tmp_path)
    made.files[3].write_bytes(b"")
    made.files[4].write_bytes(made.files[4].read_bytes()[:-9])
    again = pelton.sweep(**GRID, out=tmp_path)
    assert again.counts["ran"] == 2 and digest(again) == digest(whole)


def test_two_sweeps_at_once_on_one_folder_do_not_mix(tmp_path: Path) -> None:
    grids = [{**GRID, "duration": duration} for duration in ("50ms", "60ms")]
    command = [sys.executable, "-c", CODE]
    both = [
        subprocess.Popen([*command, json.dumps(grid), str(tmp_path)], stderr=subprocess.DEVNULL) for grid in grids
    ]
    assert sorted(child.wait() == 0 for child in both) == [False, True]
    pl = pytest.importorskip("polars")
    assert len(pl.scan_parquet(str(tmp_path / "part-*.parquet")).collect()["plan"].unique()) == 64


def test_inputs_are_warned_of_once(tmp_path: Path) -> None:
    file = tmp_path / "odd.json"
    file.write_text('{"tasks": {"a": {"run": 5000, "rn": 3, "sleep": 5000}}}')
    with pytest.warns(pelton.InputWarning, match="did you mean `run`") as seen:
        pelton.sweep("hikey-6220", file, ["6.1", "7.2"], out=tmp_path / "out", seeds=4, block=1, duration="50ms")
    assert len(seen) == 1


def test_ctrl_c_ends_a_sweep_soon(tmp_path: Path) -> None:
    grid = {**GRID, "duration": "720h", "seeds": 1}
    child = subprocess.Popen([sys.executable, "-c", CODE, json.dumps(grid), str(tmp_path)], stderr=subprocess.PIPE)
    end = time.monotonic() + 60
    while not (tmp_path / "sweep.json").exists() and time.monotonic() < end:
        time.sleep(0.01)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=60)[1]
    assert b"KeyboardInterrupt" in said and time.monotonic() - sent < 10
    assert not list(tmp_path.glob("*.pelton-part"))


def test_wrong_points_are_said_before_anything_runs(tmp_path: Path) -> None:
    wrongs: list[dict[str, Any]] = [
        {"board": "pixel9"},
        {"axes": {"nosuch": [1]}},
        {"axes": {"seed": [1]}},
        {"axes": {"rate_limit_us": []}},
        {"seeds": 0},
    ]
    for number, wrong in enumerate(wrongs):
        with pytest.raises(pelton.InputError):
            pelton.sweep(**{**GRID, **wrong}, out=tmp_path / str(number))
        assert not list(tmp_path.glob("*/part-*"))


def test_phases_of_our_own_are_workloads(tmp_path: Path) -> None:
    work = pelton.wl.periodic(20, 16).named("ui")
    made = pelton.sweep("hikey-6220", [work, "busy:cpus=0"], out=tmp_path, seeds=1, duration="50ms", all=True)
    assert made.counts["ran"] == 2
    pytest.importorskip("polars")
    assert set(made.to_polars()["scope"]) >= {"run", "domain", "task"}


def test_an_objective_for_optuna() -> None:
    class Trial:
        def suggest_int(self, name: str, low: int, high: int) -> int:
            return high

        def suggest_categorical(self, name: str, choices: list[object]) -> object:
            return choices[-1]

    space = {"rate_limit_us": (500, 20_000), "util_est": ["off", "u2"]}
    load = "periodic:run_us=3000,period_us=10000"
    found = pelton.optuna_objective("hikey-6220", load, "4.19", space, duration="200ms")(Trial())
    run = pelton.run("hikey-6220", load, "4.19", set=["rate_limit_us=20000"], duration="200ms", seed=1)
    assert len(found) == 3 and all(value >= 0 for value in found) and run.summary["driver_calls"] is not None
    optuna = pytest.importorskip("optuna", reason="not measured: optuna is not installed")
    study = optuna.create_study(directions=["minimize"] * 3)
    limits = {"rate_limit_us": (500, 20_000)}
    study.optimize(pelton.optuna_objective("hikey-6220", load, "7.2", limits, duration="200ms", seeds=1), n_trials=8)
    assert study.best_trials


def test_choices_of_an_objective_are_what_they_look_like() -> None:
    class Trial:
        def __init__(self) -> None:
            self.asked: list[tuple[str, object]] = []

        def suggest_float(self, name: str, low: float, high: float) -> float:
            self.asked.append((name, (low, high)))
            return low

        def suggest_categorical(self, name: str, choices: list[object]) -> object:
            self.asked.append((name, choices))
            return choices[0]

    trial = Trial()
    spaces: dict[str, Any] = {"a": (True, False), "b": "off", "c": (0.5, 1), "d": (1, 2, 3), "e": [1, 2]}
    for name, values in spaces.items():
        pelton._sweep._suggested(trial, name, values)
    assert trial.asked == [("a", [True, False]), ("b", ["off"]), ("c", (0.5, 1)), ("d", [1, 2, 3]), ("e", [1, 2])]


def test_an_objective_of_nothing_is_refused() -> None:
    load = "periodic:run_us=3000,period_us=10000"
    with pytest.raises(pelton.InputError, match="no quantity"):
        pelton.optuna_objective("hikey-6220", load, "7.2", {}, ())
    with pytest.raises(pelton.InputError, match="seeds 0"):
        pelton.optuna_objective("hikey-6220", load, "7.2", {}, seeds=0)
    with pytest.raises(pelton.InputError, match="no quantity is called `engery_mj`"):
        pelton.optuna_objective("hikey-6220", load, "7.2", {}, "engery_mj", seeds=1, duration="50ms")(None)


def test_a_folder_without_files_is_said(whole: pelton.Sweep, tmp_path: Path) -> None:
    pytest.importorskip("polars")
    pytest.importorskip("pandas")
    empty = pelton.Sweep(tmp_path, whole.counts)
    assert empty.files == []
    for taken in (empty.scan, empty.to_polars, empty.to_pandas):
        with pytest.raises(pelton.InputError, match="no files of a sweep"):
            taken()


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    out = tmp_path / "runs[1]*?"
    made = pelton.sweep("hikey-6220", "busy:cpus=0", out=os.fsencode(out), seeds=1, duration="50ms")
    assert len(made.files) == 1 and made.to_polars()["seed"].unique().to_list() == [1]


def test_one_text_is_one_value(tmp_path: Path) -> None:
    given: dict[str, Any] = {"out": tmp_path, "seeds": 1, "duration": "50ms"}
    made = pelton.sweep("hikey-6220", "busy:cpus=0", axes={"rate_limit_us": "500"}, set="uclamp=sum", **given)
    assert made.counts["points"] == 1
    with pytest.raises(TypeError, match="`rate_limit_us` is a list of values, not 500"):
        pelton.sweep("hikey-6220", "busy", out=tmp_path, axes={"rate_limit_us": 500})  # type: ignore[dict-item]


def test_phases_and_files_do_not_share_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("polars")
    monkeypatch.chdir(tmp_path)
    pelton.wl.busy(0.05).named("file").to_rt_app("workload-0.json")
    made = pelton.wl.busy(0.01).named("phases")
    swept = pelton.sweep("hikey-6220", [made, "workload-0.json"], out="out", seeds=1, duration="50ms", all=True)
    tasks = swept.to_polars().filter(scope="task")
    rows = {(row["workload"], row["of"]) for row in tasks.iter_rows(named=True)}
    assert {row for row in rows if not row[1].startswith("sugov")} == {
        ("pelton-workload-0.json", "phases-0"),
        ("workload-0.json", "file-0"),
    }


class Breaking(ThreadPoolExecutor):
    """An executor that takes so many chunks and no more."""

    def __init__(self, most: int) -> None:
        super().__init__(1)
        self.most = most
        self.futures: list[Future[Any]] = []

    def submit(self, call: Any, /, *args: Any, **words: Any) -> Future[Any]:
        if len(self.futures) == self.most:
            raise RuntimeError("broken")
        self.futures.append(super().submit(call, *args, **words))
        return self.futures[-1]


def test_an_executor_that_breaks_leaves_nothing_waiting(tmp_path: Path) -> None:
    with Breaking(20) as pool:
        gate = threading.Event()
        pool.most += 1
        pool.submit(gate.wait)
        with pytest.raises(RuntimeError, match="broken"):
            pelton.sweep(**GRID, out=tmp_path / "broken", executor=pool)
        waiting = [future for future in pool.futures[1:] if not future.cancelled()]
        gate.set()
    assert waiting == []


def test_a_chunk_that_fails_ends_the_sweep(tmp_path: Path) -> None:
    def stops(*_: object) -> None:
        raise LookupError("enough")

    with Breaking(100) as pool:
        with pytest.raises(LookupError, match="enough"):
            pelton.sweep(**GRID, out=tmp_path, executor=pool, progress=stops)
        assert all(future.running() or future.done() for future in pool.futures)
    made = pelton.sweep(**GRID, out=tmp_path)
    assert made.counts["found"] + made.counts["ran"] == 32 and made.counts["ran"] > 0


def test_what_is_no_executor_is_refused(tmp_path: Path) -> None:
    wrongs: list[Any] = [4, "threads", ThreadPoolExecutor]
    for wrong in wrongs:
        with pytest.raises(TypeError, match="executor is a concurrent.futures.Executor"):
            pelton.sweep(**GRID, out=tmp_path, executor=wrong)
    assert not list(tmp_path.iterdir())
