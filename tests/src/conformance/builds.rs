// SPDX-License-Identifier: GPL-2.0-or-later
//! Compiled cores: native builds that run in a process of their own.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::episode::Answer;
use super::ops::Call;

/// Something that executes calls of the entry function on its own copy of the state.
pub trait Core {
    /// Replaces the state.
    fn load(&mut self, words: &[u64]) -> Result<(), String>;
    /// Executes calls; one answer each.
    fn run(&mut self, calls: &[Call]) -> Result<Vec<Answer>, String>;
    /// The state now.
    fn dump(&mut self) -> Result<Vec<u64>, String>;
}

/// Command that compiles the entry function for this machine.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// Names the executable.
    pub name: &'static str,
    /// Compiler flags.
    pub flags: &'static [&'static str],
}

/// Checked builds stop where an input left its bounds.
const ASSERT: &str = "-DPELTON_ASSERT(condition)=((condition) ? (void)0 : __builtin_trap())";

/// Not optimized, with the core's own assertions.
pub const O0: Build = Build { name: "o0", flags: &["-O0", ASSERT] };
/// As the simulator uses it.
pub const O2: Build = Build { name: "o2", flags: &["-O2"] };
/// Stops at undefined behaviour.
pub const UBSAN: Build =
    Build { name: "ubsan", flags: &["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", ASSERT] };
/// 32-bit.
pub const M32: Build = Build { name: "m32", flags: &["-O2", "-m32"] };
/// Wrong on purpose: the largest sum is one too small.
pub const CANARY_SUM: Build = Build { name: "canary-sum", flags: &["-O2", "-DPELTON_CANARY=1"] };
/// Wrong on purpose: one of the 32 decay factors is one too small.
pub const CANARY_FACTOR: Build = Build { name: "canary-factor", flags: &["-O2", "-DPELTON_CANARY=2"] };
/// Wrong on purpose: waiting tasks are a demand of capped CPUs, too.
pub const CANARY_CLAMPS: Build = Build { name: "canary-clamps", flags: &["-O2", "-DPELTON_CANARY=4"] };
/// Wrong on purpose: a timer of interactive looks back beyond the one before it.
pub const CANARY_INTERACTIVE: Build = Build { name: "canary-interactive", flags: &["-O2", "-DPELTON_CANARY=5"] };
/// Wrong on purpose: the dice of a CPU that goes idle have a side too few.
pub const CANARY_DICE: Build = Build { name: "canary-dice", flags: &["-O2", "-DPELTON_CANARY=6"] };
/// Wrong on purpose: time makes the share of searches larger twice as fast.
pub const CANARY_RATE: Build = Build { name: "canary-rate", flags: &["-O2", "-DPELTON_CANARY=7"] };

/// Wrong on purpose: a bucket of clamps forgets.
pub const CANARY_FORGETS: Build = Build { name: "canary-forgets", flags: &["-O2", "-DPELTON_CANARY=8"] };
/// Wrong on purpose: buckets of clamps are too narrow by one.
pub const CANARY_ROUNDS: Build = Build { name: "canary-rounds", flags: &["-O2", "-DPELTON_CANARY=9"] };
/// Wrong on purpose: clamps of groups limit no task.
pub const CANARY_UNLIMITED: Build = Build { name: "canary-unlimited", flags: &["-O2", "-DPELTON_CANARY=10"] };
/// Wrong on purpose: no upper clamp is left over.
pub const CANARY_OPENS: Build = Build { name: "canary-opens", flags: &["-O2", "-DPELTON_CANARY=11"] };

/// Folder of the entry function.
pub fn source_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

/// Flags every build needs.
pub fn common_flags() -> Vec<String> {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/include/pelton");
    vec!["-std=gnu11".into(), "-Wall".into(), "-Wextra".into(), format!("-I{}", core.display())]
}

/// Runs a compiler; the error is its output.
pub fn compile(mut command: Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn c_compiler() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".into())
}

/// Can this machine compile and run programs with these flags?
pub fn is_supported(build: Build, dir: &Path) -> Result<(), String> {
    let source = dir.join(format!("probe-{}.c", build.name));
    std::fs::write(&source, "#include <stdio.h>\nint main(void) { return 0; }\n").map_err(|error| error.to_string())?;
    let program = source.with_extension("exe");
    let mut command = Command::new(c_compiler());
    command.args(build.flags).arg(&source).arg("-o").arg(&program);
    compile(command)?;
    let status = Command::new(&program).status().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("the probe ended with {status}")) }
}

/// A running build.
#[derive(Debug)]
pub struct Process {
    child: Child,
    to: Option<ChildStdin>,
    from: ChildStdout,
    words: usize,
}

impl Process {
    /// Compiles a build into `dir` and starts it.
    pub fn start(build: Build, dir: &Path) -> Result<Self, String> {
        let program = dir.join(format!("entry-{}", build.name));
        let mut command = Command::new(c_compiler());
        command.args(common_flags()).args(build.flags).arg("-o").arg(&program);
        command.args(["entry.c", "host.c"].map(|file| source_dir().join(file)));
        compile(command)?;
        let start = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = start.map_err(|error| format!("{}: {error}", program.display()))?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        Ok(Self { child, to, from: from.ok_or("no output")?, words: 0 })
    }

    fn send(&mut self, words: &[u64]) -> Result<(), String> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let to = self.to.as_mut().ok_or("no input")?;
        to.write_all(&bytes).and_then(|()| to.flush()).map_err(|error| format!("the build stopped: {error}"))
    }

    fn receive(&mut self, words: usize) -> Result<Vec<u64>, String> {
        let mut bytes = vec![0; words * 8];
        self.from.read_exact(&mut bytes).map_err(|error| format!("the build stopped: {error}"))?;
        Ok(bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes"))).collect())
    }
}

/// Calls per message: few enough that neither pipe fills while the other side waits.
const BATCH: usize = 512;

impl Core for Process {
    fn load(&mut self, words: &[u64]) -> Result<(), String> {
        self.words = words.len();
        self.send(&[0, words.len() as u64])?;
        self.send(words)
    }

    fn run(&mut self, calls: &[Call]) -> Result<Vec<Answer>, String> {
        let mut answers = Vec::with_capacity(calls.len());
        for batch in calls.chunks(BATCH) {
            let words: Vec<u64> = batch.iter().flat_map(Call::words).collect();
            self.send(&[&[1, batch.len() as u64], &words[..]].concat())?;
            let received = self.receive(2 * batch.len())?;
            answers.extend(received.chunks_exact(2).map(|pair| [pair[0], pair[1]]));
        }
        Ok(answers)
    }

    fn dump(&mut self) -> Result<Vec<u64>, String> {
        self.send(&[2, 0])?;
        self.receive(self.words)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.to.take());
        let _ = self.child.wait();
    }
}
