// SPDX-License-Identifier: GPL-2.0-or-later
//! Benchmarks and primitives as workloads: `name:key=value,key=value`.
//!
//! Each one is a model in the same task language that rt-app files become. Times are microseconds of work at capacity
//! 1024 where they say `run` or `event`, and microseconds of the clock elsewhere.

mod boost;
mod bursts;
mod busy;
pub mod calls;
pub mod cyclictest;
pub mod ebizzy;
mod frame_loads;
mod group;
pub mod hackbench;
mod io;
mod limits;
mod merge;
pub mod original;
mod periodic;
mod rt_app_start;
pub mod schbench;
pub mod sched_pipe;
mod sections;
mod spec;
pub mod sysbench;
mod ui_frames;

pub use merge::merge;
pub use rt_app_start::RtAppStart;

use pelton_model::{Machine, Workload};

use self::hackbench::Shape;
use self::original::Program;
use self::spec::Spec;
use crate::diagnostic::{Diagnostic, Diagnostics, SourceFile, hint_for};

const MESSAGING_OPTIONS: &str = "groups=10,fds=20,loops=100,bytes=100,mode=processes,channel=sockets,runs=1,cpus=all,nice=0,\
                                 write_ns=300,read_ns=300,fork_us=100,exit_us=60,pause_us=0";

/// Every model: name, one line about it, options, constructor.
pub struct Model {
    /// Name before the colon.
    pub name: &'static str,
    /// Description, in one line.
    pub about: &'static str,
    /// Options with defaults, for help.
    pub options: &'static str,
    make: fn(&mut Spec) -> Made,
}

/// Options that every model has: the task group of its tasks, and whether the run waits for their end.
const GROUP: &str = "group";
const BACKGROUND: &str = "background";
const EVERY_MODEL: [&str; 2] = [GROUP, "background=no|yes"];

impl Model {
    /// Names of options, each with what counts where it is left out, if anything does.
    pub fn options(&self) -> impl Iterator<Item = (&'static str, Option<&'static str>)> + use<> {
        let own = self.options.split(',').map(|option| option.trim());
        own.chain(EVERY_MODEL).map(|option| option.split_once('=').map_or((option, None), |(name, v)| (name, Some(v))))
    }
}

/// Options that are work: how long it takes depends on the CPU and its frequency.
const WORK: &[&str] = &["run_us", "event_us", "ui_us", "render_us", "record_us"];

/// Unit of an option, which its name ends with; `None` for words and lists.
pub fn unit(option: &str) -> Option<&'static str> {
    if WORK.contains(&option) {
        return Some("us of work");
    }
    let ends = |&&(ending, _): &&(&str, &str)| option.ends_with(ending);
    UNITS.iter().find(ends).map(|&(_, unit)| unit)
}

/// Endings of names, and what they mean.
const UNITS: &[(&str, &str)] = &[
    ("_us", "us"),
    ("_ms", "ms"),
    ("_ns", "ns"),
    ("_s", "s"),
    ("_hz", "Hz"),
    ("percent", "%"),
    ("util_min", "of 1024"),
    ("util_max", "of 1024"),
    ("uclamp.min", "%"),
    ("uclamp.max", "%"),
    ("throttle", "of 1024"),
    ("bytes", "bytes"),
    ("cpus", "CPUs"),
];

/// Note on the unit of work, where a model has options of that kind.
pub fn work_note(model: &Model) -> Option<&'static str> {
    let is_work = |(option, _): (&str, Option<&str>)| WORK.contains(&option);
    model.options().any(is_work).then_some(
        "us of work: so long it takes on the biggest CPU at its highest frequency, and longer elsewhere; `run` of an rt-app file \
         counts on the CPU of its calibration, CPU 0 where it names none",
    )
}

/// Result of a specification.
pub(crate) struct Made {
    /// The tasks.
    pub workload: Workload,
    /// The program whose output can be printed.
    pub program: Option<Program>,
    /// Start of all parts.
    pub start: Option<RtAppStart>,
}

impl From<(Workload, Program)> for Made {
    fn from((workload, program): (Workload, Program)) -> Self {
        Made { workload, program: Some(program), start: None }
    }
}

impl From<((Workload, Shape), fn(Shape) -> Program)> for Made {
    fn from(((workload, shape), program): ((Workload, Shape), fn(Shape) -> Program)) -> Self {
        (workload, program(shape)).into()
    }
}

impl From<Workload> for Made {
    fn from(workload: Workload) -> Self {
        Made { workload, program: None, start: None }
    }
}

/// All models.
pub const MODELS: &[Model] = &[
    Model {
        name: "sysbench-cpu",
        about: "threads that compute one event after the other; an activation is an event's latency",
        options: "threads=1,event_us=1230,duration_s=10,nice=0,cpus=all",
        make: |spec| (sysbench::workload(spec), Program::Sysbench).into(),
    },
    Model {
        name: "periodic",
        about: "threads that compute for run_us in every period_us",
        options: "run_us,period_us,threads=1,policy=other,priority,nice=0,phase_us=0|random,mode=relative,cpus=all|each,groups,\
                  util_min=0,util_max=1024,budget_us,deadline_us,duration_s,process=one|each,name=periodic",
        make: |spec| periodic::workload(spec).into(),
    },
    Model {
        name: "busy",
        about: "threads that always compute",
        options: "threads=1,policy=other,priority,nice=0,cpus=all|each,util_min=0,util_max=1024,duration_s,process=one|each,name=busy",
        make: |spec| busy::workload(spec).into(),
    },
    Model {
        name: "bursts",
        about: "threads that compute for run_us and sleep for sleep_us, and may go on elsewhere",
        options: "run_us,sleep_us=0,measure=work|wall,loops=0,then_cpus,then_loops=0,threads=1,policy=other,priority,\
                  nice=0,cpus=all|each,util_min=0,util_max=1024,duration_s,process=one|each,name=bursts",
        make: |spec| bursts::workload(spec).into(),
    },
    Model {
        name: "io",
        about: "threads that compute for run_us, then wait for a device that takes service_us (iowait); one device for all of them",
        options: "run_us,service_us,jitter_us=0,depth=1,irq_us=0,loops=0,threads=1,policy=other,priority,nice=0,cpus=all|each,\
                  util_min=0,util_max=1024,duration_s,process=one|each,name=io",
        make: |spec| io::workload(spec).into(),
    },
    Model {
        name: "sched-pipe",
        about: "two tasks that pass a small message back and forth through two pipes (perf bench sched pipe)",
        options: "loops=1000000,mode=processes,cpus=all,nice=0,write_ns=300,read_ns=300,fork_us=100",
        make: |spec| sched_pipe::workload(spec).into(),
    },
    Model {
        name: "cyclictest",
        about: "threads that sleep to a grid and note how late they run",
        options: "threads=1,interval_us=1000,distance_us=500,latency_us=0,priority=0,duration_s,work_us=2,slack_us=0,\
                  create_us=30,cpus=all",
        make: |spec| cyclictest::workload(spec).into(),
    },
    Model {
        name: "hackbench",
        about: "groups of senders and receivers that pass messages",
        options: MESSAGING_OPTIONS,
        make: |spec| (hackbench::workload(spec), Program::Hackbench as fn(Shape) -> Program).into(),
    },
    Model {
        name: "sched-messaging",
        about: "the same as perf prints it (perf bench sched messaging)",
        options: MESSAGING_OPTIONS,
        make: |spec| (hackbench::workload(spec), Program::Messaging as fn(Shape) -> Program).into(),
    },
    Model {
        name: "ebizzy",
        about: "threads that copy chunks of memory and search in them",
        options: "threads,seconds=10,record_us=20,memory_share=0.5,batch=32,cpus=all,nice=0",
        make: |spec| (ebizzy::workload(spec), Program::Ebizzy).into(),
    },
    Model {
        name: "ui-frames",
        about: "a user interface that prepares and draws a frame at each vsync; jank_pct counts the late ones",
        options: "rate_hz=60,ui_us=2000,render_us=3000,heavy_every=20,heavy_percent=300,rare_every=0,rare_percent=1000,\
                  budget_us,sequence=1,loads,loads_percent=100,late_util_min=0,late_frames=60,cpus=all,util_min=0,util_max=1024,duration_s,name=ui",
        make: |spec| ui_frames::workload(spec).into(),
    },
    Model {
        name: "sections",
        about: "a benchmark of sections (Geekbench): work in pieces for one thread or several, then a pause; laps_per_s is a score",
        options: "threads=1,run_us=500000,pieces=64,gap_us=500000,cpus=all,util_min=0,util_max=1024,duration_s,name=sections",
        make: |spec| sections::workload(spec).into(),
    },
    Model {
        name: "schbench",
        about: "message threads that wake workers, and how long that takes",
        options: "message_threads=2,threads=16,runtime_s=30,form=2020,cputime_us=30000,sleeptime_us=30000,\
                  message_cputime_us=30000,cpus=all",
        make: |spec| schbench::workload(spec).into(),
    },
    Model {
        name: "group",
        about: "a task group, its weight among its brothers, its quota, its clamps and its part of each CPU; runs nothing",
        options: "path,cpu.weight=100,cpu.shares=1024,cpu.idle=0,cpu.max=max,cpu.max.burst=0,cpu.uclamp.min=0,cpu.uclamp.max=max,\
                  group_throttle=1024,from_ms=0",
        make: |spec| group::declared(spec).into(),
    },
    Model {
        name: "rt-app-start",
        about: "threads of all parts are made one by one, wait for each other, and then take their clamps and CPUs, as rt-app's do; runs no work",
        options: "create_us=350,setup_us=60",
        make: |spec| {
            let start = Some(rt_app_start::declared(spec));
            Made { workload: Workload::default(), program: None, start }
        },
    },
    Model {
        name: "boost",
        about: "SchedTune's boost of some tasks from a moment on, or of all; runs nothing",
        options: "of,percent,from_ms=0,prefer_idle=0",
        make: |spec| boost::declared(spec).into(),
    },
    Model {
        name: "boostpulse",
        about: "a moment at which the interactive governor goes to hispeed_khz for a while; runs nothing",
        options: "at_ms=0",
        make: |spec| boost::pulse(spec).into(),
    },
    Model {
        name: "limits",
        about: "limits of frequency domains from a moment on; runs nothing",
        options: "cpus=all,min_khz,max_khz,from_ms=0,by=user",
        make: |spec| limits::declared(spec).into(),
    },
];

/// The workload of one specification, such as `periodic:run_us=900,period_us=10000,cpus=0`.
pub fn load(spec: &str, machine: &Machine) -> Result<Workload, Diagnostics> {
    let file = SourceFile::new("--workload", spec);
    load_part(&file, 0..spec.len(), machine).map(|made| made.workload)
}

/// Loads a specification that is a part of a longer text.
pub(crate) fn load_part(
    file: &SourceFile,
    part: std::ops::Range<usize>,
    machine: &Machine,
) -> Result<Made, Diagnostics> {
    let text = &file.text()[part.clone()];
    let name = text.split(':').next().unwrap_or(text);
    let Some(model) = MODELS.iter().find(|m| m.name == name) else {
        return Err(unknown(file, part.start..part.start + name.len(), text).into());
    };
    let mut spec = Spec::parse(file, part, machine)?;
    let mut made = (model.make)(&mut spec);
    of_every_model(&mut spec, &mut made.workload);
    made.workload.name = spec.text().to_owned();
    let known: Vec<&str> = model.options().map(|(option, _)| option).collect();
    spec.finish(made, &known)
}

/// Reads the options that every model has.
fn of_every_model(spec: &mut Spec, workload: &mut Workload) {
    if let Some(path) = group::path(spec, GROUP) {
        pelton_model::groups::into_group(workload, &path);
    }
    let background = spec.word(BACKGROUND, &[("no", false), ("yes", true)], false);
    workload.tasks.iter_mut().for_each(|task| task.background = background);
}

/// Neither a model nor a file that is recognised as one.
fn unknown(file: &SourceFile, name: std::ops::Range<usize>, text: &str) -> Diagnostic {
    if std::path::Path::new(text).is_file() {
        let d = file.error(name.start..name.start + text.len(), "a file without .json needs a path");
        return d.help(format!("write ./{text}"));
    }
    let word = &file.text()[name.clone()];
    if text.contains('/') {
        let d = file.error(name.start..name.start + text.len(), format!("cannot read `{text}`: no such file"));
        return d.help("rt-app files, and models such as busy or periodic, are workloads");
    }
    let names: Vec<&str> = MODELS.iter().map(|m| m.name).collect();
    let d = file.error(name.clone(), format!("unknown workload `{word}`"));
    d.help(format!("{}\nrt-app files end in .json, or have a path: ./{word}", hint_for(word, names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Their options are printed by `pelton workload show`.
    #[test]
    fn the_guide_names_every_model() {
        let guide = include_str!("../../../../docs/guide/workloads.md");
        let items: Vec<&str> = guide.lines().filter_map(|line| line.strip_prefix("- ")?.split(':').next()).collect();
        for model in MODELS {
            let name = format!("`{}`", model.name);
            assert!(items.iter().any(|item| item.contains(&name)), "{name}");
        }
    }

    /// Options that a model reads, given or not, are those that a list of its options shows. Some are read beside
    /// others only.
    #[test]
    fn every_option_that_a_model_takes_is_listed() {
        let options = crate::platform::PlatformOptions::new("7.2");
        let machine =
            crate::platform::load("intel-i7-6700").expect("it is built in").machine(&options).expect("and right");
        let beside = "run_us=1,period_us=2,policy=deadline,then_cpus=0,loops=1,loads=x";
        for model in MODELS {
            let mut taken: Vec<&str> = Vec::new();
            for options in ["x=1", beside] {
                let text = format!("{}:{options}", model.name);
                let file = SourceFile::new("--workload", &text);
                let mut spec = Spec::parse(&file, 0..text.len(), &machine).expect("a name and options");
                (model.make)(&mut spec);
                of_every_model(&mut spec, &mut Workload::default());
                taken.extend(spec.asked());
            }
            let mut listed: Vec<&str> = model.options().map(|(option, _)| option).collect();
            taken.sort_unstable();
            listed.sort_unstable();
            taken.dedup();
            assert_eq!(taken, listed, "{}", model.name);
        }
    }
}
