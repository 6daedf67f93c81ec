// SPDX-License-Identifier: GPL-2.0-or-later
//! Behaviour files: the built-in ones, and the tasks that come of one on boards.

use pelton_model::Machine;
use pelton_scenario::behaviour::{self, Behaviour, Class, Classes, task_of_thread};
use pelton_scenario::platform::{self, PlatformOptions};
use pelton_scenario::rtapp::RtAppOptions;
use pelton_scenario::{SourceFile, workload};

fn machine(board: &str) -> Machine {
    platform::load(board).and_then(|file| file.machine(&PlatformOptions::new("7.2"))).unwrap()
}

fn behaviour(tasks: &str) -> Behaviour {
    let text = format!(
        "schema = 1\nname = \"mine\"\nquestion = \"?\"\nboards = [\"juno-r0\"]\nduration_ms = 1000\n{tasks}\n\
         [[claim]]\nid = \"c\"\ntext = \"c\"\nmeasure = \"late_pct\"\nmax = 1\n"
    );
    Behaviour::parse(&SourceFile::new("mine.toml", text)).unwrap()
}

#[test]
fn every_built_in_behaviour_is_good_and_is_named_as_its_file() {
    for name in behaviour::names() {
        let behaviour = behaviour::load(name).unwrap();
        assert_eq!(behaviour.name, name);
        assert!(!behaviour.wrong_worlds.is_empty(), "{name}: a claim that no world misses claims nothing");
        assert!(!behaviour.sources.is_empty(), "{name}");
    }
    assert!(behaviour::names().count() >= 5);
}

#[test]
fn sizes_follow_the_board() {
    let mine = behaviour(
        "[[task]]\nname = \"small\"\ncount_per = \"smallest\"\nutil_pct = 50\nperiod_ms = 10\nutil_max_pct = 25\n\
         [[task]]\nname = \"big\"\nutil_pct = 50\nof = \"largest\"\nperiod_ms = 20\nnice = -5\nstart_ms = 40\n",
    );
    for (board, littles, capacity) in [("juno-r0", 4, 446), ("hikey960", 4, 462)] {
        let sized = mine.sized(&machine(board)).unwrap();
        let [small, big] = &sized.tasks[..] else { panic!("two tasks") };
        assert_eq!((small.threads, small.clamps), (littles, (None, Some(256))), "{board}");
        assert_eq!(small.phases[0].run_us, (f64::from(capacity) / 2.0 / 1024.0 * 10_000.0).round() as u32, "{board}");
        assert_eq!((big.threads, big.phases[0].run_us, big.phases[0].rounds), (1, 10_000, 48), "{board}");
        assert_eq!(big.phase_at(2_000_000_000), big.phases.last());
        assert!((550.0..580.0).contains(&big.peak(&big.phases[0])), "{}", big.peak(&big.phases[0]));
        for part in ["\"instance\": 4", "\"util_max\": 256", "\"priority\": -5", "\"delay\": 40000"] {
            assert!(sized.rtapp.contains(part), "{part}\n{}", sized.rtapp);
        }
    }
}

#[test]
fn phases_are_repeated_to_the_end_of_the_run() {
    let phase = |util: u32, ms: u32| format!("[[task.phase]]\nutil_pct = {util}\nfor_ms = {ms}\n");
    let mine = behaviour(&format!("[[task]]\nname = \"a\"\nperiod_ms = 10\n{}{}", phase(10, 200), phase(40, 150)));
    let sized = mine.sized(&machine("juno-r0")).unwrap();
    let rounds: Vec<u32> = sized.tasks[0].phases.iter().map(|phase| phase.rounds).collect();
    assert_eq!(rounds, [20, 15, 20, 15, 20, 10], "1000 ms of 10 ms each");
    let changes: Vec<u64> = sized.tasks[0].changes_ns().map(|ns| ns / 1_000_000).collect();
    assert_eq!(changes, [200, 350, 550, 700, 900, 1000]);
    let utils = [0, 199, 200, 349, 350].map(|ms| sized.tasks[0].phase_at(ms * 1_000_000).unwrap().util.round() as u32);
    assert_eq!(utils, [45, 45, 178, 178, 45]);
}

#[test]
fn the_rt_app_text_of_every_behaviour_is_read_without_a_warning() {
    for name in behaviour::names() {
        for board in platform::names() {
            let Ok(machine) = platform::load(board).and_then(|file| file.machine(&PlatformOptions::new("7.2"))) else {
                continue;
            };
            let Ok(sized) = behaviour::load(name).unwrap().sized(&machine) else { continue };
            let text = SourceFile::new("tasks.json", &sized.rtapp);
            let loaded = workload::load_text(&text, &machine, &RtAppOptions::default());
            let loaded = loaded.unwrap_or_else(|found| panic!("{name} on {board}: {found}"));
            assert!(loaded.warnings.is_empty(), "{name} on {board}: {}", loaded.warnings);
            let names = || sized.tasks.iter().map(|task| task.name.as_str());
            for task in &loaded.workload.tasks {
                assert!(task_of_thread(&task.name, names()).is_some() && task.name.len() < 16, "{}", task.name);
            }
        }
    }
}

#[test]
fn work_that_does_not_fit_a_board_is_said() {
    let mine = behaviour("[[task]]\nname = \"small\"\nutil_pct = 300\n");
    assert!(mine.sized(&machine("juno-r0")).unwrap_err().contains("more work than the largest CPU"));
    assert!(mine.sized(&machine("pixel6-gs101")).is_ok(), "its smallest CPUs are smaller");
}

#[test]
fn classes_go_by_capacity() {
    let classes = Classes::of(&machine("pixel6-gs101"));
    let count = |class| classes.count(class, (500, 200));
    assert_eq!([Class::Smallest, Class::Largest, Class::NotSmallest, Class::NotLargest].map(count), [4, 2, 4, 6]);
    assert!(classes.are_unequal() && !Classes::of(&machine("intel-i7-6700")).are_unequal());
    assert!((0..8).all(|cpu| classes.has(Class::FitsUtilMax, cpu, (0, 0))) && !classes.has(Class::Largest, 99, (0, 0)));
}
