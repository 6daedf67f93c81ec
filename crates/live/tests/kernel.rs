// SPDX-License-Identifier: GPL-2.0-or-later
//! Records the running kernel under each load and reads the files back. `make test-kernel` asks for it; without that,
//! and where recording is not possible, it says that nothing was measured.

use std::collections::BTreeMap;
use std::fs::File;

use pelton_live::loads::LOADS;
use pelton_live::{Capabilities, Options, SETS, Session};
use pelton_schema::{Event, PeltSignal, PeltSource, Sink};
use pelton_trace::{LogReader, PeltonLog};

/// Length of each recording.
const LENGTH_NS: u64 = 2_000_000_000;

fn options() -> Options {
    Options { sets: SETS.map(|(_, set)| set).to_vec(), full: false, buffer_mib: 16, btf: None }
}

/// True when it was asked for and is possible; says so otherwise.
fn can_measure() -> bool {
    let missing = Capabilities::here(None).missing();
    let asked = std::env::var_os("PELTON_TEST_KERNEL").is_some();
    if !asked {
        println!("not measured: recording the running kernel (make test-kernel asks for it)");
    } else if !missing.is_empty() {
        println!("not measured: recording the running kernel: {}", missing.join("; "));
    }
    asked && missing.is_empty()
}

#[test]
fn recordings_of_every_load_read_back_in_order() {
    if !can_measure() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    for (name, load) in LOADS {
        let path = folder.path().join(name);
        let mut log = PeltonLog::new(File::create(&path).expect("a new file"), &pelton_live::header("test", name));
        let mut put = |time_ns: u64, event: &Event| log.event(time_ns, event);
        let mut session = Session::start(&options()).expect("a recording");
        let running = load.start();
        while session.poll(&mut put).elapsed_ns < LENGTH_NS {}
        drop(running);
        let summary = session.finish(&mut put);
        log.finish().expect("a complete file");
        println!("{name}: {} events, {} lost, {} holes", summary.total(), summary.lost, summary.holes);
        assert_eq!(summary.malformed, 0, "{name}");
        check(name, &path, summary.total());
    }
}

/// Every event is there, times do not decrease, and states are states.
fn check(name: &str, path: &std::path::Path, total: u64) {
    let reader = LogReader::open(File::open(path).expect("the file just written")).expect("a log");
    let (mut count, mut last_ns, mut states) = (0, 0, BTreeMap::new());
    for item in reader {
        let (time_ns, event) = item.expect("a good event");
        assert!(time_ns >= last_ns, "{name}: {time_ns} after {last_ns}");
        last_ns = time_ns;
        count += 1;
        if let Event::PeltState { signal, source, period_contrib, util_avg, .. } = event {
            assert!(PeltSource::of_code(source).is_some() && period_contrib < 1024, "{name}: {event:?}");
            assert!(util_avg < 1 << 20, "{name}: {event:?}");
            *states.entry(signal).or_insert(0) += 1;
        }
    }
    assert_eq!(count, total, "{name}");
    for signal in [PeltSignal::Entity, PeltSignal::Queue, PeltSignal::Rt] {
        assert!(states.contains_key(&(signal as u32)), "{name}: no state of {}", signal.name());
    }
}
