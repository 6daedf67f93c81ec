// SPDX-License-Identifier: GPL-2.0-or-later
//! Every kind of file from outside, and every argument that takes one: declared once. The fuzz targets are generated
//! from it (`cargo xtask generate`), the smoke tests of fuzzing, the damage tests and the hostile files of the command
//! line go through it, and `cargo xtask tidy` (rule `readers`) compares it with the arguments that can be typed.

/// A kind of file from outside.
pub struct Reader {
    /// Name; that of its fuzz target, too.
    pub name: &'static str,
    /// Content.
    pub what: &'static str,
    /// Place of the input below a folder, and argument that stands for `@` in a verb. A bundle has several files; see
    /// `Bundle`.
    pub place: &'static str,
    /// The input is a bundle of files.
    pub is_bundle: bool,
    /// Source of the inputs to start from.
    pub seeds: Seeds,
    /// Pieces of the format, inserted now and then.
    pub words: &'static [&'static str],
    /// Calls that read it: `@` is the file, `%` a folder for outputs.
    pub verbs: &'static [&'static str],
    /// Factor by which there are fewer inputs than for a reader that takes microseconds.
    pub cost: u64,
}

/// Inputs to start from.
pub enum Seeds {
    /// Files of the repository: folder, and how their names end.
    Files(&'static str, &'static str),
    /// Tables with the machine beside them, by what their names begin with.
    Tables(&'static [&'static str]),
    /// Made by `seeds.rs`.
    Made,
}

/// Use of an argument.
pub enum Takes {
    /// Files of these readers.
    Files(&'static [&'static str]),
    /// A place to write to.
    Output,
    /// Words: no file is opened by them.
    Words,
    /// A file that no attack reaches, and why.
    Unreached(&'static str),
}

use Takes::{Files, Output, Unreached, Words};

/// Readers of traces, of every form.
const TRACES: &[&str] = &["trace_text", "trace_csv", "trace_log", "trace_perfetto", "trace_dat"];
/// Traces and tables, which `validate` reads.
const VALIDATED: &[&str] = &[
    "trace_text",
    "trace_csv",
    "trace_log",
    "trace_perfetto",
    "trace_dat",
    "placements_csv",
    "balances_csv",
    "gates_csv",
    "clamps_csv",
    "decisions_csv",
];
/// Sources of `platform import`.
const IMPORTED: &[&str] = &[
    "import_dts",
    "import_dtb",
    "import_plat_info",
    "import_wattson",
    "import_sysfs",
    "import_energy_model",
    "import_pasted",
];
const WORKLOADS: &[&str] = &["rtapp_json", "load_series"];

/// Every argument that takes text or a path: `Type.field` of `crates/cli/src/args*`.
pub const ARGUMENTS: &[(&str, Takes)] = &[
    ("InputArgs.platform", Files(&["platform_toml"])),
    ("InputArgs.workload", Files(WORKLOADS)),
    ("OptionArgs.defines", Words),
    ("OptionArgs.group", Words),
    ("PolicyArgs.policy", Files(&["policy_toml"])),
    ("PolicyArgs.profile", Words),
    ("PolicyArgs.sets", Words),
    ("ShowPolicyArgs.name", Words),
    ("RunArgs.trace", Output),
    ("RunArgs.log", Output),
    ("RunArgs.rt_app_log", Output),
    ("RunArgs.plot", Output),
    ("CompareArgs.platform", Files(&["platform_toml"])),
    ("CompareArgs.workloads", Files(WORKLOADS)),
    ("CompareArgs.policies", Files(&["policy_toml"])),
    ("CompareArgs.sets", Words),
    ("CompareArgs.only", Words),
    ("CompareArgs.plot", Output),
    ("SweepArgs.platforms", Files(&["platform_toml"])),
    ("SweepArgs.workloads", Files(WORKLOADS)),
    ("SweepArgs.policies", Files(&["policy_toml"])),
    ("SweepArgs.sets", Words),
    ("SweepArgs.output", Output),
    ("ServeArgs.file", Files(TRACES)),
    ("ReportArgs.result", Files(&["result_json"])),
    ("ReportArgs.platform", Files(&["platform_toml"])),
    ("ReportArgs.workloads", Files(WORKLOADS)),
    ("ReportArgs.policies", Files(&["policy_toml"])),
    ("ReportArgs.sets", Words),
    ("ReportArgs.output", Output),
    ("FrontArgs.platforms", Files(&["platform_toml"])),
    ("FrontArgs.workloads", Files(WORKLOADS)),
    ("FrontArgs.policies", Files(&["policy_toml"])),
    ("FrontArgs.sets", Words),
    ("FrontArgs.defines", Words),
    ("WhyArgs.from", Files(&["policy_toml"])),
    ("WhyArgs.to", Files(&["policy_toml"])),
    ("WhyArgs.sets", Words),
    ("WhyArgs.metric", Words),
    ("WhyArgs.resume", Files(&["finished_runs"])),
    ("WhyArgs.plot", Output),
    ("ReproduceArgs.name", Files(&["experiment_toml"])),
    ("ReproduceArgs.only", Words),
    ("CheckArgs.behaviour", Files(&["behaviour_toml"])),
    ("CheckArgs.boards", Files(&["platform_toml"])),
    ("CheckArgs.policy", Files(&["policy_toml"])),
    ("CheckArgs.sets", Words),
    ("CheckArgs.trace", Files(TRACES)),
    ("CheckArgs.rt_app", Files(&["platform_toml"])),
    ("CheckArgs.output", Output),
    ("ExplainArgs.platform", Files(&["platform_toml"])),
    ("ExplainArgs.workload", Files(WORKLOADS)),
    ("ExplainArgs.placement", Words),
    ("ExplainArgs.recorded", Files(&["decisions_csv"])),
    ("ExplainArgs.diff", Files(&["policy_toml"])),
    ("PlatformVerb::Show.platform", Files(&["platform_toml"])),
    ("PlatformVerb::Check.file", Files(&["platform_toml"])),
    ("ImportArgs.source", Files(IMPORTED)),
    ("ImportArgs.with", Files(IMPORTED)),
    ("ImportArgs.name", Words),
    ("ImportArgs.output", Output),
    ("ResultVerb::Schema.kind", Words),
    ("ShellVerb::Man.verb", Words),
    ("ShellVerb::Man.all", Output),
    ("KernelVerb::Show.name", Words),
    ("KernelVerb::Remove.name", Words),
    ("KernelDiffArgs.name", Words),
    ("KernelDiffArgs.against", Words),
    ("KernelBuildArgs.tree", Unreached("the kernel's own make reads it; here its Makefile and C text")),
    ("KernelBuildArgs.name", Words),
    ("KernelBuildArgs.source", Words),
    ("KernelBuildArgs.patches", Unreached("`patch` reads it; only names and line numbers are looked at here")),
    ("KernelBuildArgs.since", Words),
    ("PartArgs.platform", Files(&["platform_toml"])),
    ("PartArgs.recorded_on", Files(&["platform_toml"])),
    ("PartArgs.tasks", Words),
    ("WorkloadVerb::Show.model", Words),
    ("FromTraceArgs.trace", Files(TRACES)),
    ("FromTraceArgs.output", Output),
    ("ReplayArgs.traces", Files(TRACES)),
    ("ReplayArgs.policies", Files(&["policy_toml"])),
    ("ReplayArgs.profile", Words),
    ("ReplayArgs.sets", Words),
    ("ReplayArgs.trace", Output),
    ("ReplayArgs.log", Output),
    ("ValidateArgs.traces", Files(VALIDATED)),
    ("ValidateArgs.profile", Words),
    ("ValidateArgs.platform", Files(&["platform_toml"])),
    ("ValidateArgs.with", Files(TRACES)),
    ("RecordArgs.output", Output),
    ("RecordArgs.perfetto", Output),
    ("RecordArgs.placements", Output),
    ("RecordArgs.clamps", Output),
    ("RecordArgs.balances", Output),
    ("RecordArgs.gates", Output),
    ("RecordArgs.events", Words),
    ("RecordArgs.load", Words),
    ("RecordArgs.btf", Unreached("libbpf reads it, for root only, and the kernel checks what comes of it")),
    ("RecordArgs.command", Words),
    ("LiveStartArgs.policy", Files(&["policy_toml"])),
    ("LiveStartArgs.sets", Words),
    ("LiveStartArgs.platform", Files(&["platform_toml"])),
    ("LiveStartArgs.record", Output),
    ("LiveArgs.socket", Unreached("a socket: `pelton_live::control` reads at most a line from root or its own user")),
    ("LiveAsk::Boost.cgroup", Words),
    ("LiveAsk::Clamp.cgroup", Words),
    ("LiveAsk::Set.setting", Words),
    ("TraceInfoArgs.file", Files(TRACES)),
    ("ExportArgs.file", Files(TRACES)),
    ("ExportArgs.output", Output),
    ("ExportArgs.events", Words),
    ("ExportArgs.tasks", Words),
];

const OF_TRACES: &[&str] = &[
    "trace info @",
    "trace info @ --format json",
    "validate @",
    "validate @ --platform juno-r0 --profile 6.6",
    "replay @ --recorded-on juno-r0 --to 2s",
    "replay @ --recorded-on hikey-6220 --platform juno-r0 --to 2s --format json --log %/log --trace %/trace",
    "workload from-trace @ --recorded-on juno-r0",
    "workload from-trace @ --recorded-on juno-r0 --model -o %/model.json",
    "check small-tasks --board juno-r0 --trace @",
    "trace export @ --to csv -o %/csv/",
    "trace export @ --to json -o %/json",
    "trace export @ --to parquet -o %/parquet/",
    "trace export @ --to text -o %/text",
    "trace export @ --to log -o %/log",
    "trace export @ --to perfetto -o %/perfetto",
];
const OF_TABLES: &[&str] = &[
    "validate @",
    "validate @ --profile 6.12",
    "validate @ --profile 7.2 --format json",
    "trace info @",
    "trace export @ --to csv -o %/csv/",
];
const OF_PLATFORMS: &[&str] = &[
    "platform check @",
    "platform show @",
    "run --platform @ --workload busy --duration 5ms",
    "run --platform @ --workload periodic:run_us=300,period_us=2000 --duration 10ms --format json",
    "front --platform @ --workload busy --duration 5ms --policy 7.2 --seeds 1",
];
const OF_IMPORTS: &[&str] = &[
    "platform import @",
    "platform import @ -o %/imported.toml",
    "platform import @ --with @ --format json",
    "platform import @ --cpus 4 --name board",
];
const TOML: &[&str] = &[
    "=",
    "[",
    "]]",
    "[[perf_domain]]",
    "opps=[{khz=1}]",
    "capacity=1024",
    "cpus=[0,1023]",
    "{}",
    "'''",
    "[set]",
    "\"\u{1b}\"",
    "1e999",
    "nan",
    "é",
    "\n",
];
const TREE: &[&str] = &[
    "{ };",
    "<&L0>",
    "<0xffffffff>",
    "/bits/ 64 <1>",
    "/delete-node/ ",
    "#include \"b.dtsi\"\n",
    "/include/ \"/etc/passwd\"",
    "#define A A\n",
    "cpu-map {",
    "(1 << 40)",
    "\\\n",
    "\"\u{1b}[2J\"",
];
const COLUMNS: &[&str] = &[",", "\"", ",,", "-1", "18446744073709551615", "\n", "# ", "{", "[", "0x"];
const SYS: &[&str] = &[
    "\n%% devices/system/cpu/cpu1023/cpu_capacity\n1024\n",
    "cpu4294967295",
    "0-4095",
    "0-3,",
    "-1",
    "\u{1b}[2J",
    "/",
    ":",
    "\n",
];

/// Every kind of file.
pub const READERS: &[Reader] = &[
    Reader {
        name: "trace_text",
        what: "text of ftrace, systrace and `perf script`",
        place: "in.txt",
        is_bundle: false,
        seeds: Seeds::Files("crates/trace/tests/fixtures/ftrace", ".txt"),
        words: &[
            " [001] ",
            ": sched_switch: ",
            "prev_pid=",
            " ==> ",
            "cpu_id=",
            "pid=-1",
            "<script class=\"trace-data\">",
            "\u{1b}[2J",
            "\u{202e}",
            "\n",
        ],
        verbs: OF_TRACES,
        cost: 1,
    },
    Reader {
        name: "trace_csv",
        what: "a table of calls, decisions, a signal or activations",
        place: "in.csv",
        is_bundle: false,
        seeds: Seeds::Files("tests/seeds", ".table.csv"),
        words: &[",", "\"", "SE", "CLK", "tp_rt", "# cpu=1 signal=rt_util_avg", "18446744073", "-1", "=cmd", "\n"],
        verbs: OF_TRACES,
        cost: 1,
    },
    Reader {
        name: "trace_log",
        what: "a log of ours",
        place: "in.plog",
        is_bundle: false,
        seeds: Seeds::Files("crates/trace/tests/fixtures", ".plog"),
        words: &["PELTONLG", "E", "F"],
        verbs: OF_TRACES,
        cost: 1,
    },
    Reader {
        name: "trace_perfetto",
        what: "a Perfetto trace",
        place: "in.pftrace",
        is_bundle: false,
        seeds: Seeds::Made,
        words: &["\n", "\u{80}", "\u{8}"],
        verbs: OF_TRACES,
        cost: 1,
    },
    Reader {
        name: "trace_dat",
        what: "a `trace.dat` of trace-cmd",
        place: "in.dat",
        is_bundle: false,
        seeds: Seeds::Made,
        words: &["7\0", "options  \0", "flyrecord\0", "field:", "offset:"],
        verbs: OF_TRACES,
        cost: 1,
    },
    Reader {
        name: "placements_csv",
        what: "a table of placements, with its `.topo.json`",
        place: "in/t.csv",
        is_bundle: true,
        seeds: Seeds::Tables(&["kernel-placement/arm64-three-domains-rt-leaves", "kernel-placement/x86-idle-states"]),
        words: COLUMNS,
        verbs: OF_TABLES,
        cost: 40,
    },
    Reader {
        name: "balances_csv",
        what: "a table of searches of balances, with its `.topo.json`",
        place: "in/t.csv",
        is_bundle: true,
        seeds: Seeds::Tables(&["kernel-balances/arm64-searches"]),
        words: COLUMNS,
        verbs: OF_TABLES,
        cost: 40,
    },
    Reader {
        name: "gates_csv",
        what: "a table of gates of balances, with its `.topo.json`",
        place: "in/t.csv",
        is_bundle: true,
        seeds: Seeds::Tables(&["kernel-balances/arm64-gates"]),
        words: COLUMNS,
        verbs: OF_TABLES,
        cost: 40,
    },
    Reader {
        name: "clamps_csv",
        what: "a table of clamps",
        place: "in/t.csv",
        is_bundle: true,
        seeds: Seeds::Tables(&["kernel-clamps/x86-7.2", "kernel-clamps/x86-6.18"]),
        words: COLUMNS,
        verbs: OF_TABLES,
        cost: 40,
    },
    Reader {
        name: "decisions_csv",
        what: "a recording of `pelton live`: `live.json` and its tables",
        place: "in/live.json",
        is_bundle: true,
        seeds: Seeds::Made,
        words: COLUMNS,
        verbs: &[
            "validate @",
            "validate @ --format json",
            "validate @ --self-test",
            "explain --recorded @",
            "explain --recorded @ --cpu 1 --changed --format json",
            "explain --recorded @ --placement",
        ],
        cost: 80,
    },
    Reader {
        name: "rtapp_json",
        what: "an rt-app file",
        place: "in.json",
        is_bundle: false,
        seeds: Seeds::Files("scenarios/workloads/rt-app", ".json"),
        words: &[
            "\"run\"",
            "\"loop\"",
            "\"timer\"",
            "\"phases\"",
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "/*",
            "*/",
            "//",
            "\"\\u001b\"",
            "\"\\u12",
            "\"a\":",
            "-1",
            "é",
            "\n",
        ],
        verbs: &[
            "run --platform juno-r0 --workload @ --duration 20ms",
            "run --platform hikey-6220 --workload @ --duration 20ms --format json --log %/log --trace %/trace",
            "run --platform juno-r0 --workload @ --duration 20ms --format csv --define RUN=100",
            "compare --platform juno-r0 --workload @ --duration 10ms --policy 7.2 --policy 4.16 --seeds 2",
            "report --platform juno-r0 --workload @ --duration 10ms --policy 7.2 --seeds 1 -o %/page.html",
            "explain --platform juno-r0 --workload @ --duration 10ms --format markdown",
        ],
        cost: 1,
    },
    Reader {
        name: "load_series",
        what: "a series of loads of frames (`ui-frames:loads=FILE`)",
        place: "in.json",
        is_bundle: false,
        seeds: Seeds::Files("tests/seeds", "loads.json"),
        words: &["[", "]", "{", ",", "1e999", "-1", "null", "\"renderLoad\":", "[[1,2,3],4]"],
        verbs: &["run --platform juno-r0 --workload ui-frames:loads=@ --duration 50ms"],
        cost: 40,
    },
    Reader {
        name: "platform_toml",
        what: "a platform file, down to the machine",
        place: "in.toml",
        is_bundle: false,
        seeds: Seeds::Files("scenarios/platforms", ".toml"),
        words: TOML,
        verbs: OF_PLATFORMS,
        cost: 1,
    },
    Reader {
        name: "policy_toml",
        what: "a policy file",
        place: "in.toml",
        is_bundle: false,
        seeds: Seeds::Files("tests/seeds", "policy.toml"),
        words: TOML,
        verbs: &[
            "run --policy @ --platform juno-r0 --workload busy --duration 5ms",
            "explain --platform juno-r0 --workload busy --duration 5ms --diff @",
            "compare --platform juno-r0 --workload busy --duration 5ms --policy @ --policy 7.2 --seeds 2",
            "why @ 7.2 --platform juno-r0 --workload busy --duration 5ms --seeds 1 --orders 2",
        ],
        cost: 1,
    },
    Reader {
        name: "finished_runs",
        what: "finished runs that `why --resume` keeps",
        place: "in.txt",
        is_bundle: false,
        seeds: Seeds::Made,
        words: &["\t", "\n", "-", "null", "\"\\u001b[2J\"", "1e999", "nan", "0000000000000000", "18446744073709551616"],
        verbs: &["why 7.2 7.2 --platform juno-r0 --workload busy --duration 5ms --resume @"],
        cost: 40,
    },
    Reader {
        name: "result_json",
        what: "a result that `--format json` printed (`report RESULT`)",
        place: "in.json",
        is_bundle: false,
        seeds: Seeds::Files("tests/seeds", "result.json"),
        words: &[
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "null",
            "\"result\":\"run\",",
            "[{}]",
            "1e999",
            "\"</script>\"",
            "\"\\u001b\"",
        ],
        verbs: &["report @ -o %/page.html", "report @ -o -"],
        cost: 4,
    },
    Reader {
        name: "experiment_toml",
        what: "a file for `reproduce FILE`: every plan of it is made, and its runs begin",
        place: "in.toml",
        is_bundle: false,
        seeds: Seeds::Made,
        words: TOML,
        verbs: &["reproduce @ --seeds 1", "reproduce @ --seeds 1 --format json"],
        cost: 4,
    },
    Reader {
        name: "behaviour_toml",
        what: "a behaviour file, down to its tasks on a board",
        place: "in.toml",
        is_bundle: false,
        seeds: Seeds::Files("scenarios/behaviours", ".toml"),
        words: TOML,
        verbs: &[
            "check @ --board juno-r0 --seeds 1",
            "check @ --rt-app juno-r0 -o %/tasks.json",
            "check @ --board juno-r0 --instructions",
        ],
        cost: 40,
    },
    Reader {
        name: "import_dts",
        what: "source of a device tree, with what it includes, thermal zones too",
        place: "in/board.dts",
        is_bundle: true,
        seeds: Seeds::Files("tests/seeds", ".dts.bundle"),
        words: TREE,
        verbs: OF_IMPORTS,
        cost: 40,
    },
    Reader {
        name: "import_dtb",
        what: "a flattened device tree",
        place: "in.dtb",
        is_bundle: false,
        seeds: Seeds::Files("tests/seeds", ".dtb"),
        words: &["\0\0\0\u{1}", "\0\0\0\u{2}", "\0\0\0\u{3}", "\0\0\0\u{9}", "cpus\0", "cpu@0\0"],
        verbs: OF_IMPORTS,
        cost: 40,
    },
    Reader {
        name: "import_plat_info",
        what: "LISA's platform information",
        place: "in.yml",
        is_bundle: false,
        seeds: Seeds::Files("tests/seeds", "plat_info.yml"),
        words: &["- ", ": ", "&a ", "*a", "<<: *a", "[", "{", "!!float 1", "\"\\e[2J\"", "\n  ", "1e999"],
        verbs: OF_IMPORTS,
        cost: 40,
    },
    Reader {
        name: "import_wattson",
        what: "power curves of Wattson",
        place: "in.csv",
        is_bundle: false,
        seeds: Seeds::Files("tests/seeds", "wattson.csv"),
        words: &[",", "\n", "policy", "-1", "1e999", "nan", "device,policy,freq_khz,static,active\n"],
        verbs: &[
            "platform import @ --from wattson",
            "platform import @ --cpus 3",
            "platform import @ --cpus 8 --with @",
        ],
        cost: 40,
    },
    Reader {
        name: "import_sysfs",
        what: "a folder like `/sys`, with or without an Energy Model",
        place: "in",
        is_bundle: true,
        seeds: Seeds::Files("tests/seeds", "sys.bundle"),
        words: SYS,
        verbs: OF_IMPORTS,
        cost: 400,
    },
    Reader {
        name: "import_energy_model",
        what: "a folder like `/sys/kernel/debug/energy_model`",
        place: "in",
        is_bundle: true,
        seeds: Seeds::Files("tests/seeds", "energy_model.bundle"),
        words: SYS,
        verbs: &[
            "platform import @ --from energy-model",
            "platform import @",
            "platform import @ --from energy-model --milliwatts",
        ],
        cost: 200,
    },
    Reader {
        name: "import_pasted",
        what: "what `grep -r .` shows of such folders",
        place: "in.txt",
        is_bundle: false,
        seeds: Seeds::Files("tests/seeds", "pasted.txt"),
        words: &["/sys/devices/system/cpu/cpu9/cpufreq/", "energy_model/cpu0/ps:1/frequency:", ":", "0-1023", "\n"],
        verbs: OF_IMPORTS,
        cost: 40,
    },
];

/// Fuzz targets behind the readers, or across them: name, and what the input is.
pub const BEHIND: &[(&str, &str)] = &[
    ("trace_files", "our log and a Perfetto trace of ours, by the readers that tests use"),
    ("validate", "events (`tests/src/made_events.rs`): no check sum stands before the code behind the readers"),
    ("workload_from_trace", "events, made a workload"),
    ("packed_trace", "a trace packed with gzip, xz or zstd, damaged before or after it was packed"),
    ("read_then_simulate", "events, read and then run"),
    ("rtapp_then_simulate", "an rt-app file, read and then run"),
];

/// Several files in one input: each begins behind a line `%% PATH`, below the folder they go to.
pub struct Bundle;

impl Bundle {
    /// Begins a line with a path.
    pub const MARK: &'static str = "%% ";

    /// The files of an input: their paths stay below a folder, whatever the input says.
    pub fn files(input: &[u8]) -> Vec<(String, &[u8])> {
        let mark = Self::MARK.as_bytes();
        let begins = |&at: &usize| input[at..].starts_with(mark) && (at == 0 || input[at - 1] == b'\n');
        let starts: Vec<usize> = (0..input.len()).filter(begins).collect();
        let ends = starts.iter().skip(1).copied().chain([input.len()]);
        let file = |(start, end): (&usize, usize)| {
            let part = &input[start + mark.len()..end];
            let line = part.iter().position(|&byte| byte == b'\n')?;
            Some((Self::inside(&part[..line])?, &part[line + 1..]))
        };
        starts.iter().zip(ends).filter_map(file).collect()
    }

    /// A path of plain names.
    fn inside(path: &[u8]) -> Option<String> {
        let plain = |c: u8| c.is_ascii_alphanumeric() || b"._-:/".contains(&c);
        let text = std::str::from_utf8(path).ok().filter(|text| text.len() < 120 && text.bytes().all(plain))?;
        let names: Vec<&str> = text.split('/').filter(|name| !name.is_empty()).collect();
        (!names.is_empty() && names.iter().all(|name| !name.starts_with('.'))).then(|| names.join("/"))
    }
}

impl Reader {
    /// Puts an input into a folder; the path is what a verb gets.
    ///
    /// # Errors
    /// When there is no room.
    pub fn put(&self, input: &[u8], folder: &std::path::Path) -> std::io::Result<std::path::PathBuf> {
        let place = folder.join(self.place);
        if !self.is_bundle {
            std::fs::write(&place, input)?;
            return Ok(place);
        }
        let root = folder.join("in");
        std::fs::create_dir_all(&root)?;
        for (path, bytes) in Bundle::files(input) {
            let path = root.join(path);
            // A name that is a folder already, or a folder that is a file: that one is left out.
            let made = path.parent().is_some_and(|parent| std::fs::create_dir_all(parent).is_ok());
            if made && !path.is_dir() {
                std::fs::write(path, bytes)?;
            }
        }
        if !place.exists() {
            std::fs::write(&place, b"")?;
        }
        Ok(place)
    }
}

/// The reader of this name.
pub fn reader(name: &str) -> Option<&'static Reader> {
    READERS.iter().find(|reader| reader.name == name)
}
