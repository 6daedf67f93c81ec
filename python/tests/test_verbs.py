# SPDX-License-Identifier: GPL-2.0-or-later
"""What the command line does, as functions."""

import doctest
import importlib
import json
import math
import os
import resource
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import pelton
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pelton import _ask

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


@pytest.mark.filterwarnings("ignore:left out")
def test_every_verb_answers_as_its_type_says(tmp_path: Path) -> None:
    log = tmp_path / "run.plog"
    pelton.run(BOARD, LOAD, "6.1", duration="200ms").write_log(log)

    def policy(text: str) -> Any:
        return json.loads(pelton._pelton.policy_spec(text))

    part = {"platform": BOARD, "workload": LOAD, "duration_ns": 200_000_000}
    hot = {**part, "workload": "busy", "duration_ns": 2_000_000_000}
    asked: dict[str, dict[str, Any]] = {
        "run": {"input": part},
        "compare": {"input": part, "policies": ["7.2"], "seeds": 1},
        "check": {"behaviour": "small-tasks", "boards": [BOARD], "seeds": 1},
        "front": {
            "platforms": [BOARD],
            "workloads": [LOAD],
            "policies": ["7.2", "6.1"],
            "seeds": 1,
            "duration_ns": 200_000_000,
        },
        "why": {"input": part, "from": "6.6", "to": "7.2", "seeds": 1, "metric": "transitions"},
        "explain": {"input": part},
        "explain-placement": {"input": part},
        "explain-balance": {"input": {**part, "workload": "busy:threads=9"}},
        "explain-walk": {"input": part},
        "explain-thermal": {"input": hot, "policy": policy("7.2,thermal=step_wise")},
        "explain-diff": {"input": part, "policies": [policy("6.1"), policy("7.2")]},
        "replay": {"trace": log, "policies": ["6.1"], "seeds": 1},
        "reproduce": {"name": "rt-utilization", "seeds": 1, "only": ["transitions.without"]},
        "validate": {"trace": os.fsencode(log)},
        "trace-info": {"trace": log},
        "workload-from-trace": {"trace": log},
        "platform": {"platform": BOARD},
    }
    for verb in pelton._pelton.verbs():
        answer = pelton.ask(verb, asked.get(verb, {}))
        if verb in get_args(_ask.OneResult):
            assert isinstance(answer, pelton.Result) and repr(answer).startswith(f"<pelton {answer.kind}:"), verb
        elif verb in get_args(_ask.ManyResults):
            assert isinstance(answer, list) and {one.kind for one in answer} == {verb}
        else:
            assert verb in get_args(_ask.PlainText) and isinstance(answer, str)
            path = tmp_path / "load.json"
            path.write_text(answer, encoding="utf-8")
            assert pelton.run(BOARD, path, duration="50ms").result.kind == "run"
    with pytest.warns(pelton.InputWarning, match="left out"):
        pelton.ask("workload-from-trace", {"trace": log})


def test_one_text_is_one_text() -> None:
    given: dict[str, Any] = {"seeds": 1, "duration": "50ms"}
    compared = pelton.compare(
        BOARD, LOAD, "7.2", set="rate_limit_us=500", workloads="busy:cpus=0", only="energy_mj", **given
    )
    assert compared.request["sets"] == ["rate_limit_us=500"] and compared.request["workloads"] == ["busy:cpus=0"]
    assert {row["quantity"] for row in compared["rows"]} == {"energy_mj"}
    front = pelton.front(BOARD, LOAD, ["7.2", "6.1"], set="util_est=off", **given)
    assert front.kind == "front"
    why = pelton.why(BOARD, LOAD, ("6.6", "7.2"), set="rate_limit_us=500", metric="transitions", **given)
    assert why.kind == "why"
    assert pelton.report(BOARD, LOAD, "7.2", set="rate_limit_us=500", duration="50ms").startswith("<!DOCTYPE html>")


def test_paths_stand_where_names_do(tmp_path: Path) -> None:
    file, log = tmp_path / "load.json", tmp_path / "run.plog"
    pelton.wl.busy(0.05).to_rt_app(file)
    compared = pelton.compare(BOARD, file, "7.2", workloads=file, seeds=1, duration="50ms")
    assert compared.request["workloads"] == [str(file)]
    pelton.run(BOARD, LOAD, "6.1", duration="200ms").write_log(log)
    assert pelton.replay(os.fsencode(log), "6.1", tasks="periodic-0", set="rate_limit_us=500").kind == "replay"


def test_phases_are_refused_where_requests_carry_names_alone() -> None:
    work: Any = pelton.wl.busy(1)
    calls: list[Callable[[], object]] = [
        lambda: pelton.compare(BOARD, LOAD, "7.2", workloads=work),
        lambda: pelton.compare(BOARD, LOAD, "7.2", workloads=["busy", work]),
        lambda: pelton.front(BOARD, work),
        lambda: pelton.front(BOARD, [work]),
    ]
    for call in calls:
        with pytest.raises(pelton.InputError, match="cannot stand here") as raised:
            call()
        assert raised.value.hint and "to_rt_app" in raised.value.hint


def test_two_are_compared() -> None:
    wrongs: list[Any] = ["7.2", ("7.2",), ("6.1", "6.6", "7.2"), ()]
    for wrong in wrongs:
        for verb in (pelton.difference, pelton.why):
            with pytest.raises(pelton.InputError, match="policies: there are"):
                verb(BOARD, LOAD, wrong)
    with pytest.raises(pelton.InputError, match="seeds: there are 3"):
        pelton.difference(BOARD, LOAD, ("6.1", "7.2"), seeds=(1, 2, 3))  # type: ignore[arg-type]


class TestWorkloads:
    """Workloads put together."""

    def test_they_run_and_last_as_long_as_they_say(self) -> None:
        ramp = pelton.wl.ramp(5, 75, steps=3, step_s=0.16)
        w = pelton.wl.periodic(20, 16, duration_s=0.32) + ramp + 3 * pelton.wl.sleep("10ms")
        run = pelton.run(BOARD, w.named("ui").with_cpus(0), duration="2s")
        runtime = dict(zip(run.df.tasks_runtime()["comm"], run.df.tasks_runtime()["runtime"], strict=True))
        at_least = 0.2 * 0.32 + (0.05 + 0.40 + 0.75) * 0.16
        assert at_least < sum(time for name, time in runtime.items() if name.startswith("ui")) < 1.1

    def test_they_are_rt_app_files(self, tmp_path: Path) -> None:
        other = pelton.wl.run("4ms").named("a").scheduled("SCHED_FIFO", 10).forever()
        both = pelton.wl.busy(0.1).named("a").clamped(max=300) | other
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

    @pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, -4, 0, 1e300])
    def test_what_is_no_amount_is_refused_with_what_is(self, wrong: float) -> None:
        wl = pelton.wl
        wrongs: list[Callable[[], object]] = [
            lambda: wl.periodic(wrong, 16),
            lambda: wl.periodic(20, wrong),
            lambda: wl.periodic(20, 16, duration_s=wrong),
            lambda: wl.ramp(wrong, 75),
            lambda: wl.ramp(5, wrong),
            lambda: wl.ramp(5, 75, period_ms=wrong),
            lambda: wl.ramp(5, 75, step_s=wrong),
            lambda: wl.ramp(5, 75, steps=wrong),  # type: ignore[arg-type]
            lambda: wl.busy(wrong),
        ]
        for number, call in enumerate(wrongs):
            with pytest.raises(pelton.InputError) as raised:
                call()
            assert raised.value.allowed, number

    def test_more_periods_than_rt_app_counts_are_refused(self) -> None:
        with pytest.raises(pelton.InputError, match="2592000000 periods"):
            pelton.wl.periodic(50, 1, duration_s=2_592_000)

    def test_a_ramp_ends_at_its_end(self) -> None:
        # 13 + 21 * (87 / 21) is a little above 100.
        for start, end, steps in ((13, 100, 22), (100, 13, 22), (6, 100, 24)):
            phases = json.loads(pelton.wl.ramp(start, end, steps=steps).to_rt_app())["tasks"]["task"]["phases"]
            assert phases[f"p{steps - 1}"]["run"] == 160 * end

    def test_parts_of_a_number_are_refused(self) -> None:
        wrongs: list[Callable[[], object]] = [
            lambda: pelton.wl.run("4ms").clamped(min=0.5),  # type: ignore[arg-type]
            lambda: pelton.wl.run("4ms").with_cpus("0"),  # type: ignore[arg-type]
            lambda: pelton.wl.run("4ms").scheduled("SCHED_FIFO", math.nan),  # type: ignore[arg-type]
        ]
        for wrong in wrongs:
            with pytest.raises(TypeError):
                wrong()


class TestFiles:
    """Files that are written."""

    WRITERS: dict[str, Callable[[Any], object]] = {
        "json": lambda path: pelton.Result({"result": "tables", "tables": ["a" * 5000]}).to_json(path),
        "page": lambda path: pelton.Result({"result": "tables", "tables": ["a" * 5000]}).report(path),
        "phases": lambda path: pelton.wl.busy(1).named("a" * 5000).to_rt_app(path),
    }

    @pytest.mark.parametrize("name", WRITERS)
    def test_an_old_file_stays_when_writing_fails(self, name: str, tmp_path: Path) -> None:
        path = tmp_path / "old"
        path.write_text("precious")
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        try:
            with pytest.raises(OSError):
                self.WRITERS[name](path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_text() == "precious" and list(tmp_path.iterdir()) == [path]

    @pytest.mark.parametrize("name", WRITERS)
    def test_an_old_file_is_replaced_as_a_whole(self, name: str, tmp_path: Path) -> None:
        path, link = tmp_path / "old", tmp_path / "link"
        path.write_text("precious")
        path.chmod(0o600)
        link.symlink_to(path)
        text = self.WRITERS[name](os.fsencode(link))
        assert path.read_text(encoding="utf-8") == text and link.is_symlink()
        assert path.stat().st_mode & 0o777 == 0o600 and sorted(tmp_path.iterdir()) == [link, path]

    def test_letters_that_no_file_has_leave_it_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "old"
        path.write_text("precious")
        with pytest.raises(UnicodeEncodeError):
            pelton.Result({"result": "\ud800"}).to_json(path)
        assert path.read_text() == "precious"

    def test_a_folder_that_is_not_there_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            pelton.wl.busy(1).to_rt_app(tmp_path / "nothing" / "a.json")

    def test_a_pipe_is_written_to(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with ThreadPoolExecutor(1) as pool:
            read = pool.submit(pipe.read_text)
            text = pelton.wl.busy(1).to_rt_app(pipe)
            assert read.result(10) == text
        assert list(tmp_path.iterdir()) == [pipe]


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
        place = pelton.core.place
        little = ([0, 1], LITTLE)
        wrongs: list[Callable[[], object]] = [
            lambda: place([], task_util=1, prev_cpu=0),
            lambda: place([1024] * 65, task_util=1, prev_cpu=0),
            lambda: place([1025], task_util=1, prev_cpu=0),
            lambda: place([1024], task_util=1025, prev_cpu=0),
            lambda: place([1024], task_util=1, prev_cpu=1),
            lambda: place([1024], task_util=1, prev_cpu=0, this_cpu=1),
            lambda: place([1024], task_util=1, prev_cpu=0, allowed=[]),
            lambda: place([1024], task_util=1, prev_cpu=0, util=[1, 2]),
            lambda: place([1024], task_util=1, prev_cpu=0, nr_running=[]),
            lambda: place([1024], task_util=1, prev_cpu=0, uclamp_min=2, uclamp_max=1),
            lambda: place([1024, 1024], task_util=1, prev_cpu=0, caches=[[0]]),
            lambda: place([1024, 1024], task_util=1, prev_cpu=0, caches=[[0, 1], [1]]),
            lambda: place([346, 346, 1024], task_util=1, prev_cpu=0, perf_domains=[little]),
            lambda: place([346, 346], task_util=1, prev_cpu=0, perf_domains=[little, ([], LITTLE)]),
            lambda: place([346, 347], task_util=1, prev_cpu=0, perf_domains=[little]),
            lambda: place([346, 346], task_util=1, prev_cpu=0, perf_domains=[([0, 1], [(1_000, 0)])]),
            lambda: place([346, 346], task_util=1, prev_cpu=0, perf_domains=[([0, 1], [(2_000, 1), (1_000, 1)])]),
            lambda: place([1024], task_util=1, prev_cpu=0, policy="9.9"),
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


class TestPlacement:
    """Two small CPUs and a large one: where a task goes, and what that was made of."""

    def test_the_cheapest_place_is_taken(self) -> None:
        # The small CPUs run at 500 MHz for 123 of 1024; with the headroom 100 * 5/4 = 125 asks for 800 MHz. That is
        # 3,807 for each of 100; on the large CPU, whose 600 MHz do for 341, it is 8,797.
        placed = place(task_util=100, prev_cpu=2, util=[0, 0, 100])
        assert placed["cpu"] == 0 and placed["how"] == "energy"
        assert energies(placed) == {
            ((2,), None): 0,
            ((2,), 2): 8_797 * 100,
            ((0, 1), None): 0,
            ((0, 1), 0): 3_807 * 100,
        }

    def test_a_domain_that_needs_a_higher_point_is_dear(self) -> None:
        # 150 and 150 run at 800 MHz (3,807). With 40 more, 190 * 5/4 = 237 asks for 1,100 MHz (4,797), for all 340. The
        # large CPU stays at 600 MHz.
        placed = place(task_util=40, prev_cpu=0, util=[190, 150, 200])
        little = 4_797 * 340 - 3_807 * 300
        assert 8_797 * 40 < little and placed["cpu"] == 2
        found = energies(placed)
        assert found[(0, 1), 0] - found[(0, 1), None] == little
        assert found[(2,), 2] - found[(2,), None] == 8_797 * 40

    @given(
        small=st.lists(st.integers(0, 276), min_size=2, max_size=2),
        large=st.integers(0, 800),
        task=st.integers(1, 250),
        prev=st.integers(0, 2),
    )
    @settings(max_examples=200, deadline=None, derandomize=True)
    def test_energies_are_those_of_the_formula(self, small: list[int], large: int, task: int, prev: int) -> None:
        others = [*small, large]
        util = [own + task * (cpu == prev) for cpu, own in enumerate(others)]
        placed = place(task_util=task, prev_cpu=prev, util=util, overutilized=False)
        added: dict[int, int] = {}
        for row in placed["energies"]:
            cpus, points, capacity = ([2], LARGE, 1024) if row["perf_domain"] == [2] else ([0, 1], LITTLE, 346)
            own = [others[cpu] for cpu in cpus]
            comes = [task * (cpu == row["cpu"]) for cpu in cpus]
            assert row["energy"] == energy(points, capacity, own, comes)
            if row["cpu"] is not None:
                added[row["cpu"]] = row["energy"] - energies(placed)[tuple(cpus), None]
        if placed["how"] == "energy" and placed["cpu"] != prev:
            assert added[placed["cpu"]] == min(added.values())
            assert prev not in added or added[placed["cpu"]] < added[prev]

    def test_clamps_choose_the_cpus(self) -> None:
        # 400 * 5/4 is more than a small CPU has; capped to 150 it fits, where each of its points costs less.
        assert place(task_util=400, prev_cpu=2, util=[0, 0, 400])["cpu"] == 2
        assert place(task_util=400, prev_cpu=2, util=[0, 0, 400], uclamp_max=150)["cpu"] == 0
        # A floor of 600 is kept by the large CPU alone.
        assert place(task_util=50, prev_cpu=0, util=[50, 0, 0])["cpu"] == 0
        assert place(task_util=50, prev_cpu=0, util=[50, 0, 0], uclamp_min=600)["cpu"] == 2

    def test_an_overutilized_machine_looks_for_an_idle_cpu(self) -> None:
        # 900 * 5/4 is more than 1,024.
        busy: dict[str, Any] = {"util": [10, 10, 900], "nr_running": [1, 0, 1]}
        placed = place(task_util=10, prev_cpu=0, **busy)
        assert (placed["overutilized"], placed["energies"], placed["cpu"]) == (True, [], 1)
        assert place(task_util=10, prev_cpu=0, overutilized=False, **busy)["energies"]

    def test_equal_cpus_share_a_cache_or_not(self) -> None:
        four: dict[str, Any] = {"capacity": [1024] * 4, "task_util": 100, "prev_cpu": 2, "util": [0, 500, 500, 500]}
        free = {**four, "nr_running": [0, 1, 1, 1]}
        assert pelton.core.place(**free)["cpu"] == 0
        assert pelton.core.place(**free, caches=[[0, 1], [2, 3]])["cpu"] == 2
        assert pelton.core.place(**free, allowed=[1, 2, 3])["cpu"] == 2
        assert pelton.core.place(**{**four, "prev_cpu": 0})["cpu"] == 0


#: Operating points, kHz and uW, of two CPUs of capacity 346 and one of 1,024.
LITTLE = [(500_000, 40_000), (800_000, 75_000), (1_100_000, 130_000), (1_400_000, 210_000)]
LARGE = [(600_000, 300_000), (1_200_000, 700_000), (1_800_000, 1_500_000)]


def place(**asked: Any) -> dict[str, Any]:
    """Placement on the machine of those three."""
    return pelton.core.place([346, 346, 1024], perf_domains=[([0, 1], LITTLE), ([2], LARGE)], **asked)


def energies(placed: dict[str, Any]) -> dict[tuple[tuple[int, ...], int | None], int]:
    """Energy of each comparison, by domain and CPU."""
    return {(tuple(row["perf_domain"]), row["cpu"]): row["energy"] for row in placed["energies"]}


def energy(points: list[tuple[int, int]], capacity: int, own: list[int], comes: list[int]) -> int:
    """The kernel's formula (em_cpu_energy()): the point that serves the busiest CPU and a quarter more, by the sum."""
    highest = points[-1][0]
    busiest = max(min(sum(both), capacity) for both in zip(own, comes, strict=True))
    wanted = min(busiest + busiest // 4, capacity)
    serving = [(capacity * khz // highest, uw) for khz, uw in points]
    performance, uw = next(one for one in serving if one[0] >= wanted)
    return 10 * uw // performance * min(sum(own) + sum(comes), capacity * len(own))


@pytest.mark.parametrize("name", ["pelton", "pelton._ask", "pelton._runs", "pelton._verbs", "pelton.wl"])
def test_examples_of_the_docstrings_hold(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name), extraglobs={"pelton": pelton})
    assert tried and not failed
