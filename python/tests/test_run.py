# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs from Python: the same as those of the command line, byte for byte."""

import datetime
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pelton
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

BOARD = "hikey-6220"
LOAD = "periodic:run_us=3000,period_us=10000,cpus=0 + busy:cpus=1"
#: The command line's program, and how many random scenarios are compared with it.
PROGRAM = os.environ.get("PELTON_PROGRAM")
COUNT = int(os.environ.get("PELTON_PYTHON_COUNT", "200"))

loads = st.one_of(
    st.builds(
        "periodic:run_us={},period_us={},threads={}".format,
        st.integers(100, 9_000),
        st.integers(9_500, 30_000),
        st.integers(1, 5),
    ),
    st.builds("busy:cpus={}".format, st.integers(0, 3)),
    st.builds("bursts:run_us={},sleep_us={}".format, st.integers(100, 9_000), st.integers(100, 9_000)),
    st.just("ui-frames"),
)


@pytest.mark.skipif(PROGRAM is None, reason="not measured: PELTON_PROGRAM names no program")
@settings(
    max_examples=COUNT,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    board=st.sampled_from(["hikey-6220", "pixel6-gs101", "intel-i7-6700", "juno-r2"]),
    load=st.lists(loads, min_size=1, max_size=2).map(" + ".join),
    policy=st.sampled_from([*pelton.PROFILES, "7.2,rate_limit_us=2000", "7.2,uclamp=sum"]),
    ms=st.integers(20, 200),
    seed=st.integers(0, 2**32),
)
def test_logs_are_those_of_the_command_line(
    tmp_path: Path, board: str, load: str, policy: str, ms: int, seed: int
) -> None:
    ours, theirs = tmp_path / "ours.plog", tmp_path / "theirs.plog"
    pelton.run(board, load, policy, duration=f"{ms}ms", seed=seed).write_log(ours)
    words = ["--platform", board, "--workload", load, "--policy", policy, "--duration", f"{ms}ms", "--seed", str(seed)]
    subprocess.run([str(PROGRAM), "run", "--quiet", *words, "--log", str(theirs)], check=True, capture_output=True)
    assert ours.read_bytes() == theirs.read_bytes()


def test_a_summary_has_what_is_not_known_as_none() -> None:
    run = pelton.run("intel-lunar-lake-226v", "busy:cpus=0", duration="100ms")
    whole = [row for row in run.result["rows"] if row["scope"] == "run"]
    assert list(run.summary) == [row["quantity"] for row in whole]
    unknown = [name for name, value in run.summary.items() if value is None]
    assert all(run.summary.notes[name] for name in unknown)


def test_a_time_has_a_unit() -> None:
    short = pelton.run(BOARD, LOAD, duration=datetime.timedelta(milliseconds=50))
    assert short.result["run"]["duration_ns"] == 50_000_000
    for wrong in (10, 1.5, "10", "10 s", "-1s"):
        with pytest.raises(pelton.InputError):
            pelton.run(BOARD, LOAD, duration=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "place", "words"),
    [
        ({"board": "pixel9", "workload": "busy"}, ("--platform", 1, 1), "no such platform"),
        ({"board": BOARD, "workload": "busy + busy:cps=0"}, ("--workload", 1, 13), "did you mean `cpus`"),
        ({"board": BOARD, "workload": "busy", "policy": "7.2,rate_limt_us=1"}, ("--policy", 1, 5), "rate_limit_us"),
        ({"board": BOARD, "workload": "busy:cpus=77"}, ("--workload", 1, 11), "allowed: CPUs 0..=7"),
    ],
)
def test_wrong_input_is_raised_with_its_place(
    arguments: dict[str, str], place: tuple[str, int, int], words: str
) -> None:
    with pytest.raises(pelton.InputError) as raised:
        pelton.run(**arguments)  # type: ignore[arg-type]
    assert (raised.value.file, raised.value.line, raised.value.column) == place
    assert words in str(raised.value)


def test_a_file_is_named_with_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "wrong.json"
    file.write_text('{"tasks": {"é": {"run": 5,\n "loop": 1, "util_min": 5000}}}', encoding="utf-8")
    with pytest.raises(pelton.InputError) as raised:
        pelton.run(BOARD, file)
    assert raised.value.allowed and raised.value.file == str(file)
    assert (raised.value.line, raised.value.column) == (2, 25)
    with pytest.raises(FileNotFoundError):
        pelton.read(tmp_path / "nothing.dat")


def test_inputs_that_do_not_go_together_are_a_misfit() -> None:
    with pytest.raises(pelton.Error) as raised:
        pelton.run("intel-i7-6700", "limits:domain=99,max_khz=1")
    assert "99" in str(raised.value)


def test_warnings_are_warnings(tmp_path: Path) -> None:
    file = tmp_path / "odd.json"
    file.write_text('{"tasks": {"a": {"run": 5000, "rn": 3, "sleep": 5000}}}')
    with pytest.warns(pelton.InputWarning, match="did you mean `run`"):
        pelton.run(BOARD, file, duration="50ms")
    with pytest.warns(pelton.InputWarning, match="did you mean `run`"):
        pelton.compare(BOARD, file, "7.2", seeds=1, duration="50ms")
    run = pelton.run(BOARD, LOAD, duration="50ms")
    run.request["input"]["workload"] = str(file)
    for warns in (
        lambda: pelton.run(BOARD, file, duration="50ms"),
        lambda: pelton.report(BOARD, file, "7.2", duration="50ms"),
        lambda: pelton.difference(BOARD, file, ("6.1", "7.2"), duration="50ms"),
        run.explain,
    ):
        with pytest.warns(pelton.InputWarning) as caught:
            warns()
        assert {Path(warning.filename) for warning in caught} <= {Path(__file__), Path(pytest.__file__)}


def test_ctrl_c_ends_a_run_soon() -> None:
    code = """
        import pelton, sys, time
        print("ready", flush=True)
        begin = time.monotonic()
        try:
            pelton.run("pixel6-gs101", "hackbench:groups=4,loops=1000000", duration="720h")
        except KeyboardInterrupt:
            print("stopped", time.monotonic() - begin)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=60)[0]
    assert said.startswith("stopped") and child.returncode == 0
    assert time.monotonic() - sent < 10


def test_threads_run_beside_each_other() -> None:
    from concurrent.futures import ThreadPoolExecutor

    def energy(seed: int) -> float | None:
        return pelton.run(BOARD, LOAD, duration="200ms", seed=seed).summary["energy_mj"]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(energy, range(8))) == [energy(seed) for seed in range(8)]


def test_progress_is_called_and_may_stop() -> None:
    seen: list[tuple[str, int, int]] = []
    load = "bursts:run_us=100,sleep_us=100,threads=8"
    pelton.run(BOARD, load, duration="20s", progress=lambda *now: seen.append(now))
    assert seen and all(what == "run" and done <= total == 20_000_000_000 for what, done, total in seen if what)

    def stops(*_: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        pelton.run("pixel6-gs101", "hackbench:groups=4,loops=1000000", duration="720h", progress=stops)


def test_a_line_of_progress_ends_with_the_work(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    load = "bursts:run_us=100,sleep_us=100,threads=8"
    run = pelton.run(BOARD, load, duration="20s", progress=True)
    run.write_log(tmp_path / "a.plog", progress=True)
    said = capsys.readouterr().err
    assert "\rrun: " in said and said.endswith("\n") and said.count("\n") == 2
    followed = pelton._ask.followed(True)
    with pytest.raises(LookupError), followed as line:
        assert line is not None
        line("reading", 5, 10)
        line("run", 1, 1000)
        raise LookupError
    assert capsys.readouterr().err == "\rreading:  50%\n\rrun:   0%\n"
    with pelton._ask.followed(True):
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("wrong", [5, "yes", None])
def test_progress_that_cannot_follow_is_refused(wrong: Any, tmp_path: Path) -> None:
    run = pelton.run(BOARD, LOAD, duration="50ms")
    for call in (
        lambda: pelton.run(BOARD, LOAD, duration="50ms", progress=wrong),
        lambda: pelton.compare(BOARD, LOAD, "7.2", seeds=1, duration="50ms", progress=wrong),
        lambda: pelton.ask("tables", {}, wrong),
        lambda: pelton.report(BOARD, LOAD, "7.2", duration="50ms", progress=wrong),
        lambda: pelton.sweep(BOARD, LOAD, out=tmp_path, seeds=1, duration="50ms", progress=wrong),
        lambda: run.events("sched_switch", progress=wrong),
        lambda: run.write_log(tmp_path / "a.plog", progress=wrong),
        lambda: pelton.Frames(run, wrong),
    ):
        with pytest.raises(TypeError, match="progress is True, False or a function"):
            call()


@pytest.mark.parametrize(
    ("name", "wrong"), [("seeds", 1.5), ("seeds", "3"), ("first_seed", True), ("hz", "fast"), ("jobs", [1])]
)
def test_numbers_of_wrong_types_are_named(name: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=f"{name} is a whole number"):
        pelton.compare(BOARD, LOAD, "7.2", **{"duration": "50ms", name: wrong})


def test_numbers_out_of_range_are_refused(tmp_path: Path) -> None:
    for call in (
        lambda: pelton.run(BOARD, LOAD, duration="50ms", seed=-1),
        lambda: pelton.run(BOARD, LOAD, duration="50ms", seed=2**64),
        lambda: pelton.run(BOARD, LOAD, duration="50ms", hz=2**40),
        lambda: pelton.sweep(BOARD, LOAD, out=tmp_path, seeds=1, duration="50ms", jobs=-1),
        lambda: pelton.run(BOARD, LOAD, duration="\udcff"),
    ):
        with pytest.raises(pelton.InputError):
            call()


def test_one_text_is_one_text() -> None:
    one, many = (
        pelton.run(BOARD, LOAD, set=sets, events=events, duration="50ms")
        for sets, events in (("rate_limit_us=500", "sched_switch"), (["rate_limit_us=500"], ["sched_switch"]))
    )
    assert one.request == many.request and one.summary == many.summary


def test_a_path_may_be_bytes(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path / "a.plog")
    pelton.run(BOARD, LOAD, duration="50ms").write_log(path)
    assert pelton.read(path).info.kind == "trace-info" and pelton.read(path).path == os.fsdecode(path)


class TestPrototype:
    """A governor in Python."""

    def test_the_kernels_own_choice_is_the_run_without_it(self) -> None:
        plain = pelton.run(BOARD, LOAD, duration="500ms")
        none = pelton.run(BOARD, LOAD, duration="500ms", governor=lambda *_: None)
        assert none.summary == plain.summary and none.prototype and not plain.prototype
        assert any("prototype" in note for note in none.notes)

    def test_its_frequency_is_the_one_that_is_set(self) -> None:
        # 208 MHz is passed over: it takes more energy than 432 MHz.
        for khz, expected in ((1, 432_000), (729_000, 729_000), (700_000, 729_000), (10**8, 1_200_000)):
            run = pelton.run(BOARD, LOAD, "7.2,rate_limit_us=0", duration="500ms", governor=lambda *_, khz=khz: khz)
            assert set(run.df.cpus_frequency()["frequency"][8:]) <= {expected}, khz
            assert run.df.cpus_frequency()["frequency"][-1] == expected, khz

    def test_it_sees_the_signals(self) -> None:
        seen: list[tuple[int, int, int]] = []

        def governor(time_ns: int, domain: int, asked: list[pelton._pelton.Asked]) -> int | None:
            seen.extend((time_ns, domain, cpu.util) for cpu in asked)
            assert len(asked) == 8 and all(cpu.capacity == 1024 for cpu in asked)
            assert all(cpu.perf is not None and 0 <= cpu.perf <= 1280 for cpu in asked)
            return None

        pelton.run(BOARD, LOAD, duration="500ms", governor=governor)
        assert max(util for _, _, util in seen) > 900

    def test_what_it_raises_is_raised_and_nothing_runs_on(self) -> None:
        def governor(*_: object) -> int:
            raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"):
            pelton.run(BOARD, LOAD, duration="720h", governor=governor)
        with pytest.raises(pelton.InputError, match="the governor gave 'fast'"):
            pelton.run(BOARD, LOAD, duration="720h", governor=lambda *_: "fast")  # type: ignore[arg-type]

    def test_it_is_not_run_again(self, tmp_path: Path) -> None:
        run = pelton.run(BOARD, LOAD, duration="100ms", governor=lambda *_: None)
        assert len(run.events("freq_decision")) > 0 and len(run.df.tasks_states()) > 0
        old = tmp_path / "a.plog"
        old.write_text("precious")
        for again in (lambda: run.write_log(old), run.explain, run.explain_placement):
            with pytest.raises(pelton.InputError, match="a prototype is not run again") as raised:
                again()
            assert raised.value.hint == "its function may choose otherwise another time"
        assert old.read_text() == "precious"
