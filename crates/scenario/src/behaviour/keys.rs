// SPDX-License-Identifier: GPL-2.0-or-later
//! Every key of a behaviour file: names, units, ranges and meanings.

use crate::tree::{Key, Kind, Spec};

/// Most seeds of a behaviour.
pub const SEEDS_MAX: i64 = 100;
/// Longest run, ms.
pub const DURATION_MS_MAX: i64 = 60_000;
/// Most threads of all tasks.
pub const THREADS_MAX: usize = 256;

const PERCENT: Kind = Kind::Real(0.0, 100.0);
const UTIL: Kind = Kind::Real(0.1, 1000.0);
const TIME_MS: Kind = Kind::Int(0, DURATION_MS_MAX);
const OF: Kind = Kind::Choice(&["smallest", "largest"]);

/// The top level.
pub static BEHAVIOUR: Spec = Spec {
    title: "",
    doc: "One file describes one behaviour.",
    open: false,
    keys: &[
        Key::new("schema", Kind::Int(1, 1), "", "version of this format").required(),
        Key::new("name", Kind::Text, "", "short name: lower case, digits, `-`").required(),
        Key::new("question", Kind::Text, "", "the question in one line").required(),
        Key::new("sources", Kind::Texts(16), "", "where it was asked or posted: URLs, names of tests"),
        Key::new(
            "boards",
            Kind::Texts(64),
            "",
            "names of built-in platforms; `unequal` stands for all that have CPUs of unequal capacity and an Energy Model",
        )
        .required(),
        Key::new("policy", Kind::Text, "", "profile with switches, as after `--policy`; absent: 7.2"),
        Key::new("duration_ms", Kind::Int(10, DURATION_MS_MAX), "ms", "length of one run").required(),
        Key::new("seeds", Kind::Int(1, SEEDS_MAX), "", "runs, each with a seed of its own; absent: 5"),
        Key::new("task", Kind::Tables(&TASK, 16), "", "what runs").required(),
        Key::new("claim", Kind::Tables(&CLAIM, 64), "", "what shall hold; the first is the main one").required(),
        Key::new("wrong_world", Kind::Tables(&WRONG_WORLD, 16), "", "worlds in which some claim must fail"),
    ],
};

static TASK: Spec = Spec {
    title: "[[task]]",
    doc: "Threads that compute for a share of each period. Sizes are in percent of the capacity of a class of CPUs.",
    open: false,
    keys: &[
        Key::new("name", Kind::Text, "", "1 to 10 characters: lower case, digits, `-`; its end is a letter").required(),
        Key::new("count", Kind::Int(1, 64), "", "threads; absent: 1"),
        Key::new("count_per", OF, "", "a thread for each CPU of this class, in place of `count`"),
        Key::new("util_pct", UTIL, "%", "work per time, of the capacity of one CPU of the class `of`"),
        Key::new("of", OF, "", "class that `util_pct` counts in; absent: `smallest`"),
        Key::new("period_ms", Kind::Int(1, 1000), "ms", "one activation begins in each period; absent: 16"),
        Key::new(
            "phase",
            Kind::Tables(&PHASE, 64),
            "",
            "work that changes, in place of `util_pct`; repeated to the end",
        ),
        Key::new("util_min_pct", PERCENT, "%", "lower utilization clamp, of the capacity of the class `clamp_of`"),
        Key::new("util_max_pct", PERCENT, "%", "upper utilization clamp, of the same"),
        Key::new("clamp_of", OF, "", "class that clamps count in; absent: `largest`"),
        Key::new("nice", Kind::Int(-20, 19), "", "nice value; absent: 0"),
        Key::new("start_ms", TIME_MS, "ms", "starts so much later; absent: 0"),
    ],
};

static PHASE: Spec = Spec {
    title: "[[task.phase]]",
    doc: "A stretch of equal activations.",
    open: false,
    keys: &[
        Key::new("util_pct", UTIL, "%", "as that of a task").required(),
        Key::new("of", OF, "", "class that it counts in; absent: `smallest`"),
        Key::new("for_ms", Kind::Int(1, DURATION_MS_MAX), "ms", "length").required(),
    ],
};

/// Words for classes of CPUs that claims name.
pub(super) const CLASSES: &[&str] =
    &["smallest", "largest", "not-smallest", "not-largest", "fits-util-min", "fits-util-max"];
/// Words for measures.
pub(super) const MEASURES: &[&str] = &[
    "residency_pct",
    "placed_pct",
    "capacity_pct",
    "above_clamp_pct",
    "below_clamp_pct",
    "late_pct",
    "first_on_ms",
    "energy_over_best_pct",
];

static CLAIM: Spec = Spec {
    title: "[[claim]]",
    doc: "A number that lies in a range on every board and in every run.",
    open: false,
    keys: &[
        Key::new("id", Kind::Text, "", "unique in the file").required(),
        Key::new("text", Kind::Text, "", "the claim, for people").required(),
        Key::new("measure", Kind::Choice(MEASURES), "", "the number").required(),
        Key::new("task", Kind::Text, "", "task that is measured; absent: all"),
        Key::new("on", Kind::Choice(CLASSES), "", "CPUs that the measure is about, where it is about some"),
        Key::new("min", Kind::Real(-1e6, 1e6), "", "least value with which it holds"),
        Key::new("max", Kind::Real(-1e6, 1e6), "", "greatest value with which it holds"),
        Key::new("from_ms", TIME_MS, "ms", "begin of what is measured, after the tasks appear; absent: 0"),
        Key::new("to_ms", TIME_MS, "ms", "end of it; absent: `duration_ms`"),
    ],
};

static WRONG_WORLD: Spec = Spec {
    title: "[[wrong_world]]",
    doc: "The same with one thing wrong on purpose: a claim that holds in it as well says nothing about that thing.",
    open: false,
    keys: &[
        Key::new("name", Kind::Text, "", "name").required(),
        Key::new("why", Kind::Text, "", "what is wrong in it").required(),
        Key::new("set", Kind::Table(&SET), "", "switches that make it so").required(),
    ],
};

static SET: Spec =
    Spec { title: "[wrong_world.set]", doc: "`switch = \"value\"`, as after `--set`.", open: true, keys: &[] };
