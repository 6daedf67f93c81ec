// SPDX-License-Identifier: GPL-2.0-or-later
//! The core alone as a control loop's input: one CPU that runs the tasks which a test chooses, with ticks and nothing
//! else.

use std::fmt::Write as _;

use pelton_core::{CpuState, Policy, Rq, Se, dequeue};

/// Ticks between two periodic balances, which let the other classes' signals decay.
const BALANCE_TICKS: u64 = 4;

/// Load that the CPU runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runs {
    Idle,
    Fair(usize),
    Rt,
}

/// One CPU, its fair tasks, and time.
#[derive(Clone, Debug)]
pub struct Cpu {
    /// Rules.
    pub policy: Policy,
    /// Signals and clocks.
    pub rq: Rq,
    /// Fair tasks.
    pub tasks: Vec<Se>,
    /// Wall time.
    pub now_ns: u64,
    tick_ns: u64,
    next_tick_ns: u64,
    ticks: u64,
    runs: Runs,
}

impl Cpu {
    /// An idle CPU with sleeping tasks of nice 0 and no history. The first tick comes `first_tick_ns` from now.
    pub fn new(profile: &str, tasks: usize, tick_ns: u64, first_tick_ns: u64) -> Self {
        let policy = Policy::profile(profile).expect("the profile exists");
        let rq = Rq::new(&policy, 0, 1024, 1024);
        let task = Se { avg: pelton_core::Avg::default(), ..Se::new(1024) };
        Self {
            policy,
            rq,
            tasks: vec![task; tasks],
            now_ns: 0,
            tick_ns,
            next_tick_ns: first_tick_ns,
            ticks: 0,
            runs: Runs::Idle,
        }
    }

    /// Lets wall time pass; ticks happen on the way. `each_tick` sees the CPU after every one.
    pub fn pass(&mut self, span_ns: u64, mut each_tick: impl FnMut(&Self)) {
        let end = self.now_ns + span_ns;
        while self.next_tick_ns <= end {
            self.now_ns = self.next_tick_ns;
            self.next_tick_ns += self.tick_ns;
            self.tick();
            each_tick(self);
        }
        self.now_ns = end;
    }

    fn tick(&mut self) {
        match self.runs {
            Runs::Fair(task) => self.rq.tick_fair(&self.policy, &mut self.tasks[task], self.now_ns, 0),
            Runs::Rt => self.rq.event_rt(&self.policy, self.now_ns, 0, false, true),
            Runs::Idle => self.rq.update_blocked(&self.policy, self.now_ns, 0, pelton_core::runs::IDLE, 0),
        };
        self.ticks += 1;
        if self.ticks.is_multiple_of(BALANCE_TICKS) && matches!(self.runs, Runs::Fair(_)) {
            self.rq.update_blocked(&self.policy, self.now_ns, 0, pelton_core::runs::FAIR, 0);
        }
    }

    fn is_idle(&self) -> bool {
        self.runs == Runs::Idle
    }

    /// A sleeping task becomes runnable.
    pub fn wake(&mut self, task: usize) {
        let idle = self.is_idle();
        self.rq.enqueue_task(&self.policy, &mut self.tasks[task], self.now_ns, 0, idle);
    }

    /// A queued task takes the CPU from whatever runs.
    pub fn run(&mut self, task: usize) {
        let idle = self.is_idle();
        if self.runs == Runs::Fair(task) {
            return;
        }
        self.put();
        self.rq.switch_fair(&self.policy, None, Some(&mut self.tasks[task]), self.now_ns, 0, idle);
        self.runs = Runs::Fair(task);
    }

    /// The running task sleeps; the CPU goes idle.
    pub fn sleep(&mut self) {
        if let Runs::Fair(task) = self.runs {
            let se = &mut self.tasks[task];
            self.rq.dequeue_task(&self.policy, se, self.now_ns, 0, false, dequeue::SLEEP);
        }
        self.idle();
    }

    /// The CPU goes idle.
    pub fn idle(&mut self) {
        let prev = if let Runs::Fair(task) = self.runs { Some(&mut self.tasks[task]) } else { None };
        self.rq.switch_idle(&self.policy, prev, self.now_ns, 0, self.runs == Runs::Idle);
        self.runs = Runs::Idle;
    }

    /// A real-time task takes the CPU.
    pub fn run_rt(&mut self) {
        let idle = self.is_idle();
        self.put();
        self.rq.event_rt(&self.policy, self.now_ns, 0, idle, false);
        self.runs = Runs::Rt;
    }

    /// The running entity is put back, queued.
    fn put(&mut self) {
        match self.runs {
            Runs::Fair(task) => {
                self.rq.switch_fair(&self.policy, Some(&mut self.tasks[task]), None, self.now_ns, 0, false);
            }
            Runs::Rt => {
                self.rq.event_rt(&self.policy, self.now_ns, 0, false, true);
            }
            Runs::Idle => {}
        }
    }

    /// Inputs of a frequency evaluation now.
    pub fn state(&self) -> CpuState {
        CpuState::fill(&self.rq, 0, u32::from(self.runs == Runs::Rt), 0)
    }
}

/// Rows of named columns, as aligned text or as a chart.
#[derive(Debug)]
pub struct Series {
    columns: &'static [&'static str],
    rows: Vec<Vec<u64>>,
}

impl Series {
    /// An empty table; the first column is time.
    pub fn new(columns: &'static [&'static str]) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<u64>) {
        assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// Aligned text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let widths: Vec<usize> = self.columns.iter().map(|name| name.len().max(6)).collect();
        for (name, &width) in self.columns.iter().zip(&widths) {
            write!(text, "{name:>width$} ").expect("writing to a string");
        }
        for row in &self.rows {
            text.push('\n');
            for (value, &width) in row.iter().zip(&widths) {
                write!(text, "{value:>width$} ").expect("writing to a string");
            }
        }
        text
    }

    /// A chart of all columns over the first.
    pub fn svg(&self) -> String {
        const COLORS: [&str; 6] = ["#1b6ca8", "#c8553d", "#588157", "#7b2d8b", "#c99700", "#444444"];
        let top = |column: usize| self.rows.iter().map(|row| row[column]).max().unwrap_or(0).max(1) as f64;
        let highest = (1..self.columns.len()).map(top).fold(1.0, f64::max);
        let mut svg = String::from("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 420\">\n");
        for (column, name) in self.columns.iter().enumerate().skip(1) {
            let color = COLORS[(column - 1) % COLORS.len()];
            let point = |row: &Vec<u64>| {
                let (x, y) = (row[0] as f64 / top(0), row[column] as f64 / highest);
                format!("{:.1},{:.1}", 10.0 + 780.0 * x, 400.0 - 380.0 * y)
            };
            let points: Vec<String> = self.rows.iter().map(point).collect();
            let line = points.join(" ");
            writeln!(svg, "<polyline fill=\"none\" stroke=\"{color}\" points=\"{line}\"/>")
                .expect("writing to a string");
            let y = 14 * column;
            writeln!(svg, "<text x=\"700\" y=\"{y}\" fill=\"{color}\" font-size=\"12\">{name}</text>")
                .expect("writing to a string");
        }
        svg + "</svg>\n"
    }

    /// Writes the chart into the folder that `PELTON_STEP_CHARTS` names, if it does.
    pub fn chart(&self, name: &str) {
        let Ok(dir) = std::env::var("PELTON_STEP_CHARTS") else { return };
        let path = std::path::Path::new(&dir).join(format!("{name}.svg"));
        if let Err(error) = std::fs::write(&path, self.svg()) {
            println!("not drawn: {}: {error}", path.display());
        }
    }
}
