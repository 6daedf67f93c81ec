// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernel code that warns, crashes, calls what is not there or does not return ends with a message, not the program.

use pelton_core::kernel::{HookCall, KernelCode, Operation};
use pelton_core::{CpuState, IdleNow, IdleTable, Menu, Placement, SugovCpu, SugovPolicy, Teo};
use pelton_kernel::{Image, Linked};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The image of `bad_image.c`, made as `crates/kernel/image/build.sh` makes one.
fn bad_image() -> &'static Linked {
    static MADE: OnceLock<Linked> = OnceLock::new();
    MADE.get_or_init(|| {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let (object, image) = (out.join("bad_image.o"), out.join("bad_image"));
        let includes = [here.join("../../core/include"), here.join("../core/src")];
        let mut compiler = Command::new("gcc");
        compiler.args(["-std=gnu11", "-O2", "-ffreestanding", "-fno-pie", "-mcmodel=kernel", "-fcf-protection=none"]);
        compiler.args(includes.iter().flat_map(|folder| ["-I".into(), folder.clone().into_os_string()]));
        run(compiler.arg("-c").arg(here.join("tests/bad_image.c")).arg("-o").arg(&object));
        let mut linker = Command::new("ld");
        linker.args(["-static", "-N", "--emit-relocs", "-e", "image_entry", "-Ttext=0x20000000", "-z", "noexecstack"]);
        run(linker.arg("--no-warn-rwx-segments").arg("-o").arg(&image).arg(&object));
        Linked::read(&std::fs::read(&image).expect("it was made")).expect("it is an image")
    })
}

fn run(command: &mut Command) {
    let ran = command.output().expect("the tools of a C compiler are here");
    assert!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// Failure of an operation, at 1.5 s; afterwards nothing is answered.
fn failure(ask: impl FnOnce(&mut Image, &Placement) -> bool) -> String {
    let mut image = Image::open(bad_image()).expect("it starts");
    image.at(1_500_000_000, 0);
    let place = Placement::default();
    assert!(!ask(&mut image, &place), "an answer");
    let said = image.failure().expect("it failed");
    assert!(!hook(&mut image).0, "an answer after a failure");
    assert_eq!(image.failure().as_ref(), Some(&said));
    said
}

/// Answer of the hook: is there one, and the frequency that the driver was given.
fn hook(image: &mut Image) -> (bool, u32) {
    let (mut sp, mut sc) = (SugovPolicy::default(), [SugovCpu::default()]);
    let call = HookCall { domain: 0, place: 0, exec_cpu: 0, now: 1, flags: 0, states: &[CpuState::default()] };
    let answered = image.sugov_hook(&call, &mut sp, &mut sc);
    (answered.is_some(), answered.unwrap_or_default().khz)
}

#[test]
fn a_warning_is_counted_and_the_call_goes_on() {
    let mut image = Image::open(bad_image()).expect("it starts");
    image.at(7, 0);
    assert_eq!(hook(&mut image), (true, 9));
    image.at(8, 0);
    assert_eq!(hook(&mut image), (true, 9));
    let said: Vec<_> = image.warnings().into_iter().map(|one| (one.place, one.first_ns, one.count)).collect();
    assert_eq!(said, [("kernel/sched/fair.c:11".into(), 7, 2), ("kernel/sched/core.c:33".into(), 7, 2)]);
    assert_eq!((image.failure(), image.calls(Operation::SugovHook), image.cpus()), (None, 2, 8));
}

#[test]
fn an_operation_that_is_not_there_is_not_answered() {
    let mut image = Image::open(bad_image()).expect("it starts");
    assert_eq!(image.select_task_rq_fair(&Placement::default()), None);
    assert_eq!((image.failure(), image.calls(Operation::SelectTaskRqFair)), (None, 0));
}

#[test]
fn a_bug_ends_with_its_place() {
    let said = failure(|image, _| image.sugov_work(0, &mut SugovPolicy::default()).is_some());
    assert_eq!(said, "BUG at kernel/sched/fair.c:22, in the governor's worker at 1.500000 s of simulated time");
}

#[test]
fn a_bad_access_ends_with_its_address() {
    let said = failure(|image, s| image.util_fits_cpu(s, 5, (0, 1024), 1).is_some());
    assert!(said.starts_with("bad access to 0x10 at image address 0x2") && said.contains("util_fits_cpu"), "{said}");
}

#[test]
fn a_call_of_a_null_pointer_ends() {
    let said = failure(|image, _| {
        image.sugov_limits(0, &mut SugovPolicy::default());
        image.failure().is_none()
    });
    assert!(said.starts_with("bad access to") && said.contains("in sugov_limits"), "{said}");
}

#[test]
fn a_division_by_zero_ends() {
    let said = failure(|image, s| image.cpu_overutilized(s, 1).is_some());
    assert!(said.starts_with("division by zero at image address"), "{said}");
}

#[test]
fn a_function_that_is_not_there_is_named() {
    let (table, now) = (IdleTable::default(), IdleNow::default());
    let said = failure(|image, _| image.menu_select(&mut Menu::default(), &table, &now).is_some());
    assert!(said.starts_with("call of ktime_get_real_seconds(), which is not there, in menu_select"), "{said}");
}

#[test]
fn data_that_is_not_there_is_named() {
    let (table, now) = (IdleTable::default(), IdleNow::default());
    let said = failure(|image, _| image.teo_select(&mut Teo::default(), &table, &now).is_some());
    assert!(said.starts_with("use of cpuset_mems_enabled, which is not there"), "{said}");
}

#[test]
fn a_call_that_does_not_return_is_ended() {
    let said = failure(|image, s| image.misfit_load(s, 0, 1024).is_some());
    assert!(said.starts_with("kernel code did not return within 1 s"), "{said}");
}

#[test]
fn load_tracking_that_crashes_ends_as_well() {
    let mut image = Image::open(bad_image()).expect("it starts");
    image.track_load();
    // Not the newest kernel's, which is compiled in.
    let policy = pelton_core::Policy::profile("6.12").expect("exists");
    pelton_core::Avg::default().publish(&policy, 1);
    image.release();
    assert!(image.failure().is_some_and(|said| said.contains("get_pelt_divider")));
}

/// Each run has an image for itself, at another place.
#[test]
fn images_stand_side_by_side() {
    let kept = Image::open(bad_image()).expect("it starts");
    let ran: Vec<_> =
        (0..4).map(|_| std::thread::spawn(|| hook(&mut Image::open(bad_image()).expect("room")))).collect();
    ran.into_iter().for_each(|one| assert_eq!(one.join().expect("ran"), (true, 9)));
    drop(kept);
}

#[test]
fn what_is_no_image_is_refused() {
    let said = |bytes: &[u8]| Linked::read(bytes).expect_err("no image").to_string();
    assert!(said(b"").starts_with("this is no image of kernel code"));
    assert!(said(&[0x7f; 4096]).starts_with("this is no image of kernel code"));
    let own = std::fs::read(std::env::current_exe().expect("known")).expect("readable");
    assert!(said(&own).contains("it is no program for x86-64") || said(&own).contains("too large"));
    let object = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bad_image");
    let _ = bad_image();
    let whole = std::fs::read(object).expect("made");
    (0..whole.len()).step_by(97).for_each(|length| drop(Linked::read(&whole[..length])));
}
