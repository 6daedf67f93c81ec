// SPDX-License-Identifier: GPL-2.0-or-later
//! The core as scheduler of boards of four small and two large CPUs, and of two in between besides, beside the kernel's
//! own scheduler on the same board: where tasks ran, and which frequencies CPUs had. `make test-live` counts both in a
//! guest; without its recordings this says that nothing was measured.

use std::path::PathBuf;

use serde_json::Value;

/// Loads that both ran; all but the first only where every load is counted (PELTON_LIVE_CYCLES).
const LOADS: [&str; 8] = ["both", "small", "idle", "fifth", "most", "rotate", "hog", "hogs"];
/// Folders of the boards, and the first CPU of each cluster but the smallest; it has two.
const BOARDS: [(&str, &[usize]); 2] = [("scheduler-board", &[4]), ("scheduler-three-clusters", &[4, 6])];
/// Most points by which the share of run time on a cluster differs.
const POINTS: f64 = 3.0;
/// Most by which mean frequencies of small CPUs differ, MHz; a target that is stuck at the highest makes 1200.
const SMALL_MHZ: f64 = 150.0;
/// Counts of a load.
struct Counted(Value);

impl Counted {
    fn of(name: &str) -> Option<Counted> {
        Counted::on(BOARDS[0].0, name)
    }

    fn on(board: &str, name: &str) -> Option<Counted> {
        let folder = PathBuf::from(std::env::var_os("PELTON_LIVE_SCHEDULED")?);
        let path = folder.join(board).join("recordings").join(format!("{name}.residency.json"));
        let text = std::fs::read_to_string(path).ok()?;
        Some(Counted(serde_json::from_str(&text).unwrap_or_else(|why| panic!("{name}: {why}: {text}"))))
    }

    fn numbers(value: &Value) -> Vec<f64> {
        value.as_array().expect("a list").iter().map(|n| n.as_f64().expect("a number")).collect()
    }

    /// Run time on some CPUs, percent.
    fn share(&self, cpus: std::ops::Range<usize>) -> f64 {
        let busy = Counted::numbers(&self.0["busy_ns"]);
        100.0 * busy[cpus].iter().sum::<f64>() / busy.iter().sum::<f64>()
    }

    /// Mean frequency of the largest CPUs, MHz, and how often it changed.
    fn large(&self) -> (f64, u64) {
        self.domain(self.0["policies"].as_array().expect("a list").len() - 1)
    }

    fn domain(&self, number: usize) -> (f64, u64) {
        let policy = &self.0["policies"][number];
        let (khz, ns) = (Counted::numbers(&policy["khz"]), Counted::numbers(&policy["ns"]));
        let sum: f64 = khz.iter().zip(&ns).map(|(khz, ns)| khz * ns).sum();
        (sum / ns.iter().sum::<f64>() / 1000.0, policy["changes"].as_u64().expect("a number"))
    }

    fn count(&self, name: &str) -> u64 {
        self.0["scheduler"][name].as_u64().unwrap_or(0)
    }
}

fn say(name: &str, of: &Counted) {
    let (mhz, changes) = of.large();
    let (asked, largest) = (of.count("evaluated"), 4..of.0["busy_ns"].as_array().expect("a list").len());
    let share = of.share(largest);
    println!("board: {name}: {share:.1} % on large CPUs, {mhz:.0} MHz, {changes} changes, {asked} evaluations");
}

/// Counts of a load under the kernel's own scheduler and under the core.
fn both(board: &str, load: &str) -> Option<[Counted; 2]> {
    let all = ["kernel", "core"].map(|by| Counted::on(board, &format!("{by}-{load}")));
    let [Some(kernel), Some(core)] = all else { return None };
    say(&format!("kernel-{load}"), &kernel);
    say(&format!("core-{load}"), &core);
    Some([kernel, core])
}

#[test]
fn tasks_run_where_the_kernel_runs_them() {
    for (board, clusters) in BOARDS {
        let mut measured = 0;
        for load in LOADS {
            let Some([kernel, core]) = both(board, load) else { continue };
            measured += 1;
            for &first in clusters {
                let far = (kernel.share(first..first + 2) - core.share(first..first + 2)).abs();
                // An idle board has only what the counting itself runs.
                assert!(far <= POINTS || load == "idle", "{board}: {load}: {far} points apart from CPU {first} on");
            }
        }
        if measured == 0 {
            println!("not measured: the core as scheduler of {board} (PELTON_LIVE_CYCLES=30 make test-live counts it)");
        }
    }
}

/// Frequencies of the board of two clusters. A few placements more or less on the cluster in between move its mean.
#[test]
fn frequencies_are_those_under_the_kernel() {
    for load in LOADS {
        let Some([kernel, core]) = both(BOARDS[0].0, load) else { continue };
        let (kernel_mhz, core_mhz) = (kernel.large().0, core.large().0);
        assert!((kernel_mhz - core_mhz).abs() <= 0.1 * kernel_mhz, "{load}: {core_mhz} MHz, the kernel {kernel_mhz}");
        // Where three large tasks take turns the small CPUs keep the frequency that the last of them needed for longer.
        let (kernel_mhz, core_mhz) = (kernel.domain(0).0, core.domain(0).0);
        let far = (kernel_mhz - core_mhz).abs();
        assert!(far <= SMALL_MHZ || load == "rotate", "{load}: small CPUs at {core_mhz} MHz, the kernel {kernel_mhz}");
    }
}

/// Two busy tasks capped to 300 each: the kernel takes the largest clamp, 300 and a quarter, 879 MHz; added up they are
/// 600 and a quarter, 1758 MHz, and the next operating points 1200 and 1800.
#[test]
fn caps_add_up() {
    let (Some(kernel), Some(core)) = (Counted::of("kernel-capped"), Counted::of("core-capped")) else {
        println!("not measured: caps under the core as scheduler (make test-live counts them)");
        return;
    };
    say("kernel-capped", &kernel);
    say("core-capped", &core);
    let (kernel, core) = (kernel.large().0, core.large().0);
    assert!(kernel <= 1250.0 && (1750.0..1850.0).contains(&core), "{kernel} MHz, {core} MHz");
    if let Some(sum) = Counted::of("core-summed") {
        assert!((1750.0..1850.0).contains(&sum.large().0), "{}", sum.large().0);
    }
}

/// A task of a tenth: with a boost of 30 percent 100 + 924 * 0.3 = 377 and a quarter, 1200 MHz; with 60 2400.
#[test]
fn frequencies_follow_the_boost() {
    let mhz = |boost: u32| {
        let of = Counted::of(&format!("core-boost{boost}"))?;
        say(&format!("core-boost{boost}"), &of);
        Some(of.large().0)
    };
    let Some(middle) = mhz(30) else {
        println!("not measured: boosts under the core as scheduler (make test-live counts them)");
        return;
    };
    assert!((1150.0..1300.0).contains(&middle), "{middle} MHz");
    if let (Some(none), Some(most)) = (mhz(0), mhz(60)) {
        assert!((600.0..650.0).contains(&none) && most > 2000.0, "{none}, {most} MHz");
    }
}

#[test]
fn filters_and_gates_save_evaluations_and_calls() {
    let names = ["core-short", "core-short-composite", "core-waves", "core-waves-r2", "core-waves-up-down"];
    let all: Vec<_> = names.iter().filter_map(|name| Some((name, Counted::of(name)?))).collect();
    let [(_, short), (_, composite), (_, plain), (_, r2), (_, up_down)] = &all[..] else {
        println!("not measured: gates under the core as scheduler (PELTON_LIVE_CYCLES=30 make test-live counts them)");
        return;
    };
    all.iter().for_each(|(name, of)| say(name, of));
    for name in [
        "kernel-waves",
        "kernel-fair",
        "core-fair",
        "kernel-beside-fifo",
        "core-beside-fifo",
        "kernel-left",
        "core-left",
    ] {
        Counted::of(name).iter().for_each(|of| say(name, of));
    }
    assert!(composite.count("evaluated") * 2 < short.count("evaluated"), "a filter saves evaluations");
    assert!(r2.large().1 < plain.large().1 && up_down.large().1 < plain.large().1, "gates save calls of the driver");
}
