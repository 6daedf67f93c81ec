# SPDX-License-Identifier: GPL-2.0-or-later
"""What the command line does, as functions."""

import doctest
import importlib
import json
from collections.abc import Callable
from pathlib import Path

import pelton
import pytest

BOARD = "hikey-6220"
LOAD = "periodic:run_us=3000,period_us=10000"


def test_a_comparison_is_a_table_a_mail_a_chart_and_a_page(tmp_path: Path) -> None:
    compared = pelton.compare(BOARD, LOAD, ["7.2", "7.2,rate_limit_us=20000"], seeds=6, duration="500ms")
    table = compared.table()
    assert {"policy", "median", "change_pct", "change_ci95_pct_low"} <= set(table.column_names)
    assert len(table) == 2 * len(compared["rows"])
    mail = compared.to_lkml()
    assert max(map(len, mail.splitlines())) <= 75 and "energy_mj" in mail
    page = compared.report(tmp_path / "page.html")
    assert page == (tmp_path / "page.html").read_text(encoding="utf-8") and page.startswith("<!DOCTYPE html>")
    pytest.importorskip("altair")
    assert "change_pct" not in json.dumps(compared.plot("energy_mj").to_dict())


def test_a_kept_result_is_a_page(tmp_path: Path) -> None:
    result = pelton.run(BOARD, LOAD, duration="100ms").result
    text = result.to_json(tmp_path / "run.json")
    assert json.loads(text) == result and result.report().startswith("<!DOCTYPE html>")


def test_charts_are_drawn_of_few_points() -> None:
    pytest.importorskip("altair")
    run = pelton.run("pixel6-gs101", "ui-frames + bursts:run_us=100,sleep_us=300,threads=4", duration="2s")
    for chart in (
        run.plot.cpus_frequencies(),
        run.plot.cpu_frequencies(4),
        run.plot.cpus_signals("util"),
        run.plot.tasks_signals("util"),
        run.plot.cpu_frequency_residency(4),
        run.plot.cpu_idle_state_residency(4),
        run.plot.latencies(run.tasks[1]),
    ):
        shown = chart.to_dict()
        assert 0 < len(shown["data"]["values"]) <= 4 * 801 * 12


def test_explanations_have_their_run() -> None:
    run = pelton.run(BOARD, LOAD, duration="500ms")
    assert run.explain(at="300ms", changed=True).kind == "explain"
    assert run.explain_placement().kind == "explain-placement"
    apart = pelton.difference(BOARD, LOAD, ("6.1", "7.2"), duration="500ms")
    assert apart.kind == "explain-diff" and [run["profile"] for run in apart["runs"]] == ["6.1", "7.2"]
    why = pelton.why(BOARD, LOAD, ("6.6", "7.2"), seeds=1, metric="transitions", duration="200ms")
    assert why.kind == "why"


def test_lists_say_what_there_is() -> None:
    assert BOARD in pelton.boards() and pelton.board(BOARD)["name"] == BOARD
    assert "uclamp-sum" in pelton.tables() and "ui-frames" in pelton.workloads()
    assert "energy_mj" in pelton.quantities()["quantity"]
    assert pelton.policies()["switches"][0]["defaults"].keys() >= set(pelton.PROFILES)


def test_a_recording_is_validated_and_replayed(tmp_path: Path) -> None:
    log = tmp_path / "run.plog"
    pelton.run(BOARD, LOAD, "6.1", duration="1s").write_log(log)
    assert pelton.validate(log).kind == "validate"
    replayed = pelton.replay(log, ["6.1", "7.2"], seeds=2)
    assert replayed.kind == "replay" and len(replayed["plans"]) == 2
    with pytest.raises(pelton.InputError):
        pelton.validate(log, input_format="nothing")


def test_a_published_table_is_reproduced() -> None:
    table = pelton.reproduce("rt-utilization", seeds=1, only="transitions.without")[0]
    assert table.kind == "reproduce" and len(table.table()) == len(table["rows"])


def test_anything_else_is_asked_for_by_its_verb() -> None:
    assert pelton.ask("tables", {}).kind == "tables"
    with pytest.raises(pelton.InputError, match="known are run, compare"):
        pelton.ask("nothing", {})
    with pytest.raises(pelton.InputError, match="unknown field `inptu`"):
        pelton.ask("run", {"inptu": {}})


class TestWorkloads:
    """Workloads put together."""

    def test_they_run_and_last_as_long_as_they_say(self) -> None:
        w = pelton.wl.periodic(20, 16, duration_s=0.32) + pelton.wl.ramp(5, 75, steps=3, step_s=0.16) + 3 * pelton.wl.sleep("10ms")
        run = pelton.run(BOARD, w.named("ui").with_cpus(0), duration="2s")
        runtime = dict(zip(run.df.tasks_runtime()["comm"], run.df.tasks_runtime()["runtime"], strict=True))
        at_least = 0.2 * 0.32 + (0.05 + 0.40 + 0.75) * 0.16
        assert at_least < sum(time for name, time in runtime.items() if name.startswith("ui")) < 1.1

    def test_they_are_rt_app_files(self, tmp_path: Path) -> None:
        both = pelton.wl.busy(0.1).named("a").clamped(max=300) | pelton.wl.run("4ms").named("a").scheduled("SCHED_FIFO", 10).forever()
        assert both.tasks == ("a", "a-2")
        path = tmp_path / "both.json"
        text = both.to_rt_app(path)
        assert json.loads(text)["tasks"]["a"]["util_max"] == 300
        from_file, direct = (pelton.run(BOARD, given, duration="300ms") for given in (path, both))
        assert from_file.summary == direct.summary

    def test_wrong_amounts_are_refused(self) -> None:
        wrongs: list[Callable[[], object]] = [
            lambda: pelton.wl.periodic(0, 16),
            lambda: pelton.wl.periodic(20, 0),
            lambda: pelton.wl.ramp(5, 75, steps=1),
            lambda: pelton.wl.run("0s"),
            lambda: pelton.wl.run("4") * 2,
            lambda: 0 * pelton.wl.run("4ms"),
            lambda: pelton.wl.run("4ms").clamped(min=1025),
            lambda: pelton.wl.run("4ms").scheduled("FIFO"),
            lambda: (pelton.wl.run("4ms") | pelton.wl.run("4ms")) + pelton.wl.run("4ms"),
        ]
        for wrong in wrongs:
            with pytest.raises(pelton.InputError):
                wrong()


class TestCore:
    """Single rules."""

    def test_a_task_that_runs_for_a_half_life_has_half(self) -> None:
        table = pelton.core.pelt([(32_000, "running"), (32_000, "sleeping")], step_us=32_000)
        up, down = table["util_avg"]
        assert abs(up - 512) < 20 and abs(down - 256) < 20

    def test_a_frequency_has_a_quarter_more_than_the_utilization(self) -> None:
        chosen = pelton.core.sugov([500_000, 1_000_000, 2_000_000], util=300)
        assert (chosen["perf"], chosen["raw_khz"], chosen["khz"]) == (375, 732_421, 1_000_000)

    def test_energy_is_power_by_time(self) -> None:
        little = [(500_000, 40_000), (800_000, 75_000), (1_100_000, 130_000), (1_400_000, 210_000)]
        assert pelton.core.energy(little, max_util=200, sum_util=300, capacity=346) == 4797 * 300

    def test_wrong_amounts_are_refused(self) -> None:
        wrongs: list[Callable[[], object]] = [
            lambda: pelton.core.pelt([(1, "flying")]),
            lambda: pelton.core.pelt([(10**12, "running")], step_us=1),
            lambda: pelton.core.pelt([(1, "running")], weight=0),
            lambda: pelton.core.pelt([(1, "running")], policy="9.9"),
            lambda: pelton.core.sugov([]),
            lambda: pelton.core.sugov([2, 1]),
            lambda: pelton.core.sugov([1], util=1025),
            lambda: pelton.core.energy([(1, 1)], max_util=5000, sum_util=1),
        ]
        for wrong in wrongs:
            with pytest.raises(pelton.InputError):
                wrong()


@pytest.mark.parametrize("name", ["pelton", "pelton._runs", "pelton._verbs", "pelton.wl"])
def test_examples_of_the_docstrings_hold(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name), extraglobs={"pelton": pelton})
    assert tried and not failed
