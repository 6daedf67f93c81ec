# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of recordings: what is not recorded is not known, and nothing is dropped in silence."""

from pathlib import Path

import pelton
import pytest

HEAD = "# tracer: nop\n#\n"


def written(path: Path, *lines: str) -> pelton.Trace:
    """A trace of text; a line is CPU, time in s, event."""
    made = []
    for line in lines:
        cpu, time, event = line.split(" ", 2)
        made.append(f"  x-1     [{int(cpu):03}] ..... {time}: {event}")
    path.write_text(HEAD + "\n".join(made) + "\n")
    return pelton.read(path)


def switch(cpu: int, time: str, prev: int, state: str, following: int) -> str:
    """A switch; tasks are named t and their number, all from 20 on kw."""
    name = [f"t{pid}" if pid < 20 else "kw" for pid in (prev, following)]
    return (
        f"{cpu} {time} sched_switch: prev_comm={name[0]} prev_pid={prev} prev_prio=120 prev_state={state} ==> "
        f"next_comm={name[1]} next_pid={following} next_prio=120"
    )


def wakeup(cpu: int, time: str, pid: int) -> str:
    """A wake-up."""
    return f"{cpu} {time} sched_wakeup: comm=t{pid} pid={pid} prio=120 target_cpu=000"


def test_a_task_that_is_woken_while_it_runs_runs_on(tmp_path: Path) -> None:
    trace = written(
        tmp_path / "a.txt",
        switch(0, "1.001000", 0, "R", 5),
        wakeup(1, "1.003000", 5),
        switch(0, "1.010000", 5, "S", 0),
        wakeup(1, "1.011000", 5),
        switch(0, "1.012000", 0, "R", 5),
    )
    assert trace.df.tasks_runtime().to_dict() == {"pid": [5], "comm": ["t5"], "runtime": [0.009]}
    assert trace.df.runtimes(5)["running_time"] == [0.009]
    activation = trace.df.task_activation(5)
    assert activation["active"] == [1, 0, 1] and activation["duration"][2] is None
    assert activation["duty_cycle"] == [pytest.approx(9 / 11), None, None]


def test_equal_names_are_told_apart(tmp_path: Path) -> None:
    trace = written(tmp_path / "c.txt", switch(0, "1.001000", 20, "S", 21), switch(0, "1.002000", 21, "S", 20))
    with pytest.raises(pelton.InputError, match=r"2 tasks have that name: \[20, 21\]"):
        trace.df.task_states("kw")
    assert len(trace.df.task_states(21)) == 2
    for wrong, words in ((0, "idle task of every CPU"), (99, "no task 99"), ("nobody", "no task of that name")):
        with pytest.raises(pelton.InputError, match=words):
            trace.df.task_states(wrong)


def test_what_is_not_recorded_is_not_0(tmp_path: Path) -> None:
    first, second = (f"cpu_frequency: state={khz} cpu_id=0" for khz in (500_000, 900_000))
    trace = written(tmp_path / "e.txt", f"0 1.000000 {first}", f"0 1.500000 {second}")
    residency = trace.df.cpu_frequency_residency(0)
    assert residency["total_time"] == [0.5, 0.0] and residency["active_time"][0] is None
    for frame in (trace.df.context_switches, trace.df.tasks_states, trace.df.cpus_idle, trace.df.tasks_signal):
        with pytest.raises(pelton.InputError, match="the trace has no event of"):
            frame()
    with pytest.raises(pelton.InputError, match="which CPUs share a clock is not known"):
        trace.df.domain_frequency_residency(0)
    single = written(tmp_path / "f.txt", f"0 1.000000 {first}")
    assert single.df.cpu_frequency_transition_rate(0)["transitions"] == [None]


def test_columns_that_a_trace_does_not_have_are_none(tmp_path: Path) -> None:
    lines = (f"0 {time} sched_pelt_cfs: cpu=0 path=/ util={util}" for time, util in (("1.000000", 7), ("1.100000", 9)))
    trace = written(tmp_path / "g.txt", *lines)
    assert trace.df.cpus_signal("util")["util"] == [7, 9]
    assert trace.df.cpus_signal("load")["load"] == [None, None]


def test_every_table_of_a_log_is_that_of_its_run(tmp_path: Path) -> None:
    run = pelton.run("pixel6-gs101", "ui-frames", duration="1s")
    run.write_log(tmp_path / "run.plog")
    log = pelton.read(tmp_path / "run.plog")
    # Names of zones, and the work that is configured, stand in no log.
    plans = {"rtapp_stats", "thermal_zones_temperature", "cpufreq_cooling_state"}
    for name in sorted(set(pelton._pelton.FRAMES) - plans):
        method = getattr(run.df, name)
        words = method.__code__.co_varnames[1 : method.__code__.co_argcount]
        given = {word: {"cpu": 4, "task": "ui", "signal": "util"}[word] for word in words}
        ours = method(**given)
        if len(ours):
            assert getattr(log.df, name)(**given).to_dict() == ours.to_dict(), name


def test_damage_is_said(tmp_path: Path) -> None:
    whole = tmp_path / "whole.plog"
    pelton.run("hikey-6220", "periodic:run_us=300,period_us=1000", duration="2s").write_log(whole)
    half = tmp_path / "half.plog"
    half.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.warns(pelton.InputWarning, match="damaged: 1 places"):
        pelton.read(half).events("sched_switch")
    with pytest.warns(pelton.InputWarning, match="damaged: 1 places"):
        pelton.read(half).df.tasks_runtime()


def test_what_can_be_read_once_only_is_refused() -> None:
    with pytest.raises(pelton.InputError, match="save it first"):
        pelton.read("-")


def test_text_for_readers_of_ftrace_comes_back(tmp_path: Path) -> None:
    import os
    import subprocess

    program = os.environ.get("PELTON_PROGRAM")
    if program is None:
        pytest.skip("not measured: PELTON_PROGRAM names no program")
    run = pelton.run("intel-i7-6700", "ui-frames", duration="1s")
    run.write_log(tmp_path / "run.plog")
    words = ["trace", "export", str(tmp_path / "run.plog"), "--to", "ftrace", "-o", str(tmp_path / "run.txt")]
    subprocess.run([program, *words], check=True, capture_output=True)
    text = pelton.read(tmp_path / "run.txt")
    ours, theirs = run.df.tasks_states().to_dict(), text.df.tasks_states().to_dict()
    assert [pid + 1000 * (pid > 0) for pid in ours.pop("pid")] == theirs.pop("pid")
    assert ours == theirs
    assert text.df.cpus_frequency().to_dict() == run.df.cpus_frequency().to_dict()
