// SPDX-License-Identifier: GPL-2.0-or-later
//! Operations of the entry function and calls of them.

/// Words of a call: opcode and seven arguments.
pub const CALL_WORDS: usize = 8;

/// Declares [`Op`] in the order of `ops.h`; a test compares the two lists.
macro_rules! ops {
    ($($variant:ident = $name:literal,)+) => {
        /// An operation; see `tests/conformance/ops.h`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u64)]
        pub enum Op {
            $(#[doc = $name] $variant,)+
        }

        impl Op {
            /// All of them, in the order of their opcodes.
            pub const ALL: &[(Op, &str)] = &[$((Op::$variant, $name)),+];
        }
    };
}

ops! {
    Decay = "DECAY",
    Accumulate = "ACCUMULATE",
    UpdateSe = "UPDATE_SE",
    UpdateCfsRq = "UPDATE_CFS_RQ",
    UpdateLoadAvg = "UPDATE_LOAD_AVG",
    Attach = "ATTACH",
    Detach = "DETACH",
    Reweight = "REWEIGHT",
    GroupShares = "GROUP_SHARES",
    TgContrib = "TG_CONTRIB",
    RefreshShares = "REFRESH_SHARES",
    WalkGroup = "WALK_GROUP",
    GroupIsDecayed = "GROUP_IS_DECAYED",
    UtilEstEnqueue = "UTIL_EST_ENQUEUE",
    UtilEstDequeue = "UTIL_EST_DEQUEUE",
    UtilEstUpdate = "UTIL_EST_UPDATE",
    TaskUtilEst = "TASK_UTIL_EST",
    SeInit = "SE_INIT",
    PostInit = "POST_INIT",
    DlBw = "DL_BW",
    CpuBwDl = "CPU_BW_DL",
    FitsCapacity = "FITS_CAPACITY",
    FreqScale = "FREQ_SCALE",
    Ramp = "RAMP",
    TimeTo = "TIME_TO",
    Poke = "POKE",
    EnqueueEntity = "ENQUEUE_ENTITY",
    UpdateAncestor = "UPDATE_ANCESTOR",
    DequeueEntity = "DEQUEUE_ENTITY",
    SetNextEntity = "SET_NEXT_ENTITY",
    PutPrevEntity = "PUT_PREV_ENTITY",
    TickEntity = "TICK_ENTITY",
    RqEnqueueTask = "RQ_ENQUEUE_TASK",
    RqDequeueTask = "RQ_DEQUEUE_TASK",
    RqEstimateLast = "RQ_ESTIMATE_LAST",
    RqDelayTask = "RQ_DELAY_TASK",
    RqEnqueueDelayed = "RQ_ENQUEUE_DELAYED",
    RqSwitchFair = "RQ_SWITCH_FAIR",
    RqSwitchIdle = "RQ_SWITCH_IDLE",
    RqTickFair = "RQ_TICK_FAIR",
    RqUpdateBlocked = "RQ_UPDATE_BLOCKED",
    ClockUpdate = "CLOCK_UPDATE",
    ClockEnterIdle = "CLOCK_ENTER_IDLE",
    Throttle = "THROTTLE",
    Unthrottle = "UNTHROTTLE",
    UpdateRt = "UPDATE_RT",
    UpdateDl = "UPDATE_DL",
    UpdateHw = "UPDATE_HW",
    UpdateOthers = "UPDATE_OTHERS",
    CapacityOf = "CAPACITY_OF",
    RtShareAge = "RT_SHARE_AGE",
    MigrateSleeping = "MIGRATE_SLEEPING",
    RemoveSleeping = "REMOVE_SLEEPING",
    SwitchedFromFair = "SWITCHED_FROM_FAIR",
    SwitchedToFair = "SWITCHED_TO_FAIR",
    GroupOnline = "GROUP_ONLINE",
    CpuStateFill = "CPU_STATE_FILL",
    HookEvent = "HOOK_EVENT",
    HookSwitch = "HOOK_SWITCH",
    GateInit = "GATE_INIT",
    SugovKeepUtil = "SUGOV_KEEP_UTIL",
    SugovBegin = "SUGOV_BEGIN",
    SugovEvaluate = "SUGOV_EVALUATE",
    SugovCommitPerf = "SUGOV_COMMIT_PERF",
    SugovWorkStart = "SUGOV_WORK_START",
    SugovWorkDone = "SUGOV_WORK_DONE",
    SugovLimits = "SUGOV_LIMITS",
    RateLimit = "RATE_LIMIT",
    PerfEval = "PERF_EVAL",
    MenuWoke = "MENU_WOKE",
    MenuSelect = "MENU_SELECT",
    TeoWoke = "TEO_WOKE",
    TeoSelect = "TEO_SELECT",
    WakeAffine = "WAKE_AFFINE",
    WakeWide = "WAKE_WIDE",
    RtLimit = "RT_LIMIT",
    DlWake = "DL_WAKE",
    DlRan = "DL_RAN",
    DlRoom = "DL_ROOM",
    DlServer = "DL_SERVER",
    Newidle = "NEWIDLE",
    IdleWalk = "IDLE_WALK",
    EmState = "EM_STATE",
    EmEnergy = "EM_ENERGY",
    BlockedDue = "BLOCKED_DUE",
    NewidleDice = "NEWIDLE_DICE",
    NewidleCount = "NEWIDLE_COUNT",
    CacheLook = "CACHE_LOOK",
    CacheMove = "CACHE_MOVE",
    FairLook = "FAIR_LOOK",
    FairPlace = "FAIR_PLACE",
    FairLeave = "FAIR_LEAVE",
    FairRun = "FAIR_RUN",
    FairWake = "FAIR_WAKE",
    FairReweight = "FAIR_REWEIGHT",
    FairIdle = "FAIR_IDLE",
    FairCfs = "FAIR_CFS",
    FairDelta = "FAIR_DELTA",
    BoostMargin = "BOOST_MARGIN",
    BoostFilter = "BOOST_FILTER",
    BoostState = "BOOST_STATE",
    BoostGroups = "BOOST_GROUPS",
    PreferIdle = "PREFER_IDLE",
    SchedDvfs = "SCHED_DVFS",
    Sampling = "SAMPLING",
    Interactive = "INTERACTIVE",
    ClampLargest = "CLAMP_LARGEST",
    ClampScript = "CLAMP_SCRIPT",
    ClampEffective = "CLAMP_EFFECTIVE",
    ClampSums = "CLAMP_SUMS",
    TakeBias = "TAKE_BIAS",
    GroupThrottled = "GROUP_THROTTLED",
    CfsBandwidth = "CFS_BANDWIDTH",
}

/// One call of the entry function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Operation to execute.
    pub op: Op,
    /// Its arguments; records are named by the index of their first word.
    pub args: [u64; CALL_WORDS - 1],
}

impl Call {
    /// A call with these arguments, the others 0.
    pub fn new(op: Op, args: &[u64]) -> Self {
        let mut all = [0; CALL_WORDS - 1];
        all[..args.len()].copy_from_slice(args);
        Self { op, args: all }
    }

    /// As the entry function reads it.
    pub fn words(&self) -> [u64; CALL_WORDS] {
        let mut words = [0; CALL_WORDS];
        words[0] = self.op as u64;
        words[1..].copy_from_slice(&self.args);
        words
    }
}

/// A row of `ops.h`.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    /// The list it stands in.
    pub list: &'static str,
    /// The operation's name.
    pub name: &'static str,
}

/// A page of rules for each list of operations.
const PAGES: [(&str, &str); 8] = [
    ("PELTON_TEST_PELT", "docs/rules/load-tracking.md"),
    ("PELTON_TEST_RQ", "docs/rules/load-tracking.md"),
    ("PELTON_TEST_GOVERNOR", "docs/rules/governor.md"),
    ("PELTON_TEST_IDLE", "docs/rules/idle.md"),
    ("PELTON_TEST_PLACE", "docs/rules/placement.md"),
    ("PELTON_TEST_FAIR", "docs/rules/fair.md"),
    ("PELTON_TEST_KNOB", "docs/rules/boost.md"),
    ("PELTON_TEST_CLAMPS", "docs/rules/clamps.md"),
];

/// Rows of `ops.h`, in the order of their opcodes.
pub fn declared() -> Vec<Declared> {
    let mut list = "";
    let mut rows = Vec::new();
    for line in include_str!("../../conformance/ops.h").lines().map(str::trim) {
        if let Some(head) = line.strip_prefix("#define ").and_then(|rest| rest.split_once("(X)")) {
            list = head.0;
        } else if let Some(row) = line.strip_prefix("X(") {
            let name = row.split(',').next().unwrap_or_default();
            rows.push(Declared { list, name });
        }
    }
    rows
}

/// The lists of `ops.h`, in the order of their opcodes.
pub fn lists() -> Vec<&'static str> {
    let mut lists: Vec<&str> = declared().iter().map(|row| row.list).collect();
    lists.dedup();
    lists
}

/// Page of the rules that an operation implements.
pub fn page(op: Op) -> &'static str {
    let list = declared().get(op as usize).map_or("", |row| row.list);
    let (_, page) = PAGES.iter().find(|(of, _)| *of == list).unwrap_or(&("", "docs/rules/README.md"));
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lists_of_operations_agree() {
        let here: Vec<&str> = Op::ALL.iter().map(|row| row.1).collect();
        let there: Vec<&str> = declared().iter().map(|row| row.name).collect();
        assert_eq!(here, there);
        assert!(Op::ALL.iter().enumerate().all(|(i, row)| row.0 as usize == i));
        assert_eq!(lists(), PAGES.map(|(list, _)| list));
    }
}
