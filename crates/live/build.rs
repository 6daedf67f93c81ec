// SPDX-License-Identifier: GPL-2.0-or-later
//! Compiles the recorder's BPF programs with clang, against the helper headers that libbpf-sys brings along.

use std::path::PathBuf;
use std::process::Command;

/// Name that clang and the helper headers give to the machine the program will run on.
fn target_macro(arch: &str) -> &str {
    match arch {
        "x86_64" | "x86" => "x86",
        "aarch64" => "arm64",
        "riscv64" => "riscv",
        "powerpc64" => "powerpc",
        "s390x" => "s390",
        "loongarch64" => "loongarch",
        other => other,
    }
}

/// Files that the programs are made of.
const SOURCES: [&str; 38] = [
    "clamp.bpf.c",
    "clamp.h",
    "decide.bpf.c",
    "decide.h",
    "decide_energy.h",
    "decide_group.h",
    "decide_idle.h",
    "balance.h",
    "balance_programs.h",
    "gate.h",
    "gate_programs.h",
    "observer.bpf.c",
    "recorder.bpf.c",
    "place.bpf.c",
    "calls.h",
    "common.h",
    "compared.h",
    "compared_programs.h",
    "compared_words.h",
    "kernel.h",
    "kernel_ext.h",
    "kernel_place.h",
    "live.h",
    "live_core.h",
    "live_freq.h",
    "live_order.h",
    "live_park.h",
    "live_place.h",
    "live_record.h",
    "live_share.h",
    "live_state.h",
    "live_usual.h",
    "lockless.h",
    "metered.h",
    "place.h",
    "record.h",
    "scheduler.bpf.c",
    "vars.h",
];

/// Folder of the policy core, as its sources write it.
const CORE: &str = "../../core/include";

fn main() {
    for file in SOURCES {
        println!("cargo:rerun-if-changed=src/bpf/{file}");
    }
    println!("cargo:rerun-if-changed={CORE}/pelton");
    println!("cargo:rerun-if-env-changed=CLANG");
    compile("recorder", "v2", None);
    compile("place", "v2", None);
    compile("clamp", "v2", None);
    compile("decide", "v3", None);
    compile("scheduler", "v3", None);
    compile("scheduler", "v3", Some("usual"));
    compile("observer", "v3", None);
}

/// Compiles one program for processors of this version: 3 has instructions for 32 bits, as the core's words have.
/// `form` is defined as LIVE_FORM in it.
fn compile(name: &str, version: &str, form: Option<&str>) {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let (of_form, defined) =
        form.map_or_else(Default::default, |form| (format!("_{form}"), format!("-DLIVE_{}", form.to_uppercase())));
    let out = PathBuf::from(variable("OUT_DIR")).join(format!("{name}{of_form}.bpf.o"));
    let clang = Some(variable("CLANG")).filter(|c| !c.is_empty()).unwrap_or_else(|| "clang".to_owned());
    let endian = if variable("CARGO_CFG_TARGET_ENDIAN") == "big" { "bpfeb" } else { "bpfel" };
    let status = Command::new(&clang)
        .args(["-target", endian, &format!("-mcpu={version}"), "-O2", "-g", "-ffreestanding", "-Wall", "-Werror"])
        .arg(format!("-D__TARGET_ARCH_{}", target_macro(&variable("CARGO_CFG_TARGET_ARCH"))))
        .arg(format!("-I{}", variable("DEP_BPF_INCLUDE")))
        .arg(format!("-I{CORE}"))
        .args(form.map(|_| defined))
        .args(["-c", &format!("src/bpf/{name}.bpf.c"), "-o"])
        .arg(&out)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{clang} could not compile the recorder's BPF program ({status}); see its messages above"),
        Err(error) => panic!(
            "the recorder needs clang with the bpf target, and `{clang}` could not be started: {error}. \
             Install it (scripts/setup.sh test, or apt-get install clang), name one with CLANG=..., \
             or build without `pelton record`: cargo build --no-default-features -p pelton-cli"
        ),
    }
}
