// SPDX-License-Identifier: GPL-2.0-or-later
//! One suite, many builds: the core computes the same with every compiler, word size and optimisation level, and
//! compiles without a warning everywhere it is meant to run.

use std::path::{Path, PathBuf};
use std::process::Command;

const STRICT: &[&str] = &["-std=gnu11", "-Wall", "-Wextra", "-Wconversion", "-Werror"];

fn core_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core/include")
}

/// Can this compiler produce programs (or objects) with these options here?
fn works(compiler: &str, options: &[&str], link: bool) -> bool {
    let probe = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("probe-{compiler}{}.c", options.join("")));
    let body = if link { "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n" } else { "int probe;\n" };
    std::fs::write(&probe, body).expect("target directory is writable");
    let mut command = Command::new(compiler);
    command.args(options).arg(&probe).arg("-o").arg(probe.with_extension("out"));
    if !link {
        command.arg("-c");
    }
    let works = command.output().is_ok_and(|out| out.status.success());
    if !works {
        println!("not measured: {compiler} {} is not available", options.join(" "));
    }
    works
}

/// Output of the event suite in one build; `None` when the build is not possible here.
fn run(compiler: &str, options: &[&str]) -> Option<String> {
    if !works(compiler, options, true) {
        return None;
    }
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("builds-{compiler}{}", options.join("")));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/builds.c");
    let mut command = Command::new(compiler);
    command.args(STRICT).args(options).arg("-I").arg(core_dir()).arg(source).arg("-o").arg(&program);
    let built = command.output().expect("the compiler was just probed");
    assert!(built.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(&program).output().expect("the program was just built");
    assert!(ran.status.success(), "{compiler} {options:?}\n{}", String::from_utf8_lossy(&ran.stderr));
    Some(String::from_utf8_lossy(&ran.stdout).into_owned())
}

#[test]
fn every_build_computes_the_same() {
    let expected = run("cc", &["-O0"]).expect("a C compiler built this crate");
    assert_eq!(expected.lines().count(), pelton_core::profiles().len());
    let undefined = ["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"];
    let builds: [(&str, &[&str]); 7] = [
        ("cc", &["-O2"]),
        ("gcc", &["-O2", "-m32"]),
        ("gcc", &undefined),
        ("clang", &["-O0"]),
        ("clang", &["-O2"]),
        ("clang", &["-O2", "-m32"]),
        ("clang", &undefined),
    ];
    for (compiler, options) in builds {
        if let Some(output) = run(compiler, options) {
            assert_eq!(output, expected, "{compiler} {options:?}");
        }
    }
}

#[test]
fn the_core_compiles_for_bpf() {
    if !works("clang", &["-target", "bpf", "-O2"], false) {
        return;
    }
    let object = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("core.bpf");
    let source = object.with_extension("c");
    let text = "#include \"pelton/pelton.h\"\n\
                unsigned place(const struct pelton_policy *pol, const struct pelton_placement *s, struct pelton_placed *out);\n\
                unsigned place(const struct pelton_policy *pol, const struct pelton_placement *s, struct pelton_placed *out)\n\
                {\n\treturn pelton_select_task_rq_fair(pol, s, out);\n}\n\
                unsigned long long run(struct pelton_rq *rq, struct pelton_se *se, const struct pelton_policy *pol);\n\
                unsigned long long run(struct pelton_rq *rq, struct pelton_se *se, const struct pelton_policy *pol)\n\
                {\n\treturn pelton_rq_dequeue_task(pol, rq, se, rq->clock.clock_ns + 5000, 0, 0, 1);\n}\n";
    std::fs::write(&source, text).expect("target directory is writable");
    let mut command = Command::new("clang");
    command.args(["-target", "bpf", "-O2"]).args(STRICT).arg("-I").arg(core_dir());
    command.arg("-c").arg(&source).arg("-o").arg(&object);
    let built = command.output().expect("the compiler was just probed");
    assert!(built.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&built.stderr));
}
