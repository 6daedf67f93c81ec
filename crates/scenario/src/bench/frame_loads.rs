// SPDX-License-Identifier: GPL-2.0-or-later
//! Recorded loads of a user interface: the frames that were drawn, and how busy each CPU was in short windows. The form
//! is that of the load series that were published for tuning governors: `renderLoad` has rows of [time, percent of a
//! frame's time], `windowedLoad` rows of [largest, one percentage per CPU, ..., input], all at one fixed frequency.

use std::path::Path;

use serde_json::Value;

use crate::diagnostic::{Diagnostics, SourceFile};

/// Most frames and most windows.
const ROWS_MAX: usize = 20_000;
const PERCENT_MAX: u64 = 100;

/// One recording.
pub(super) struct FrameLoads {
    /// Frames: gap to the one before in frame times (1 = the next one), and work, ns at full load.
    pub frames: Vec<(u64, u64)>,
    /// Work of each CPU in each window without that of the frames, ns.
    pub others: Vec<Vec<u64>>,
    /// Length of a window, ns.
    pub window_ns: u64,
}

impl FrameLoads {
    /// Reads a file of at most a mebibyte or so.
    pub fn read(path: &str) -> Result<FrameLoads, Diagnostics> {
        let file = SourceFile::read(Path::new(path))?;
        let wrong = |why: String| Diagnostics::from(file.about(why).help("see docs/guide/workloads.md"));
        let root: Value = serde_json::from_str(file.text()).map_err(|e| wrong(e.to_string()))?;
        FrameLoads::of(&root).map_err(|key| wrong(format!("`{key}` is missing or not in its form")))
    }

    fn of(root: &Value) -> Result<FrameLoads, &'static str> {
        let quantum_ns = match root.get("quantumSec").and_then(Value::as_f64) {
            Some(s) if (1e-6..=1.0).contains(&s) => (s * 1e9).round() as u64,
            _ => return Err("quantumSec"),
        };
        let quanta = |key| root.get(key).and_then(Value::as_u64).filter(|n| (1..=1000).contains(n)).ok_or(key);
        let (frame, window) = (quanta("frameQuantum")?, quanta("windowQuantum")?);
        let drawn = rows(root, "renderLoad", 2)?;
        let cpus = root.get("coreNum").and_then(Value::as_u64).filter(|n| (1..=64).contains(n)).ok_or("coreNum")?;
        let mut windows = rows(root, "windowedLoad", cpus as usize + 1)?;
        let frame_ns = frame * quantum_ns;
        let mut before = drawn.first().map_or(0, |row| row[0]).saturating_sub(frame);
        let mut frames = Vec::with_capacity(drawn.len());
        for row in &drawn {
            let gap = row[0].checked_sub(before).filter(|_| row[1] <= PERCENT_MAX).ok_or("renderLoad")?;
            frames.push((((gap + frame / 2) / frame).max(1), frame_ns * row[1] / 100));
            take_frame(&mut windows, row[0] / window, frame * row[1] / window);
            before = row[0];
        }
        let window_ns = window * quantum_ns;
        let of_cpu = |cpu: usize| windows.iter().map(|row| window_ns * row[1 + cpu].min(PERCENT_MAX) / 100).collect();
        Ok(FrameLoads { frames, others: (0..cpus as usize).map(of_cpu).collect(), window_ns })
    }
}

/// Rows of at least so many numbers.
fn rows(root: &Value, key: &'static str, columns: usize) -> Result<Vec<Vec<u64>>, &'static str> {
    let rows =
        root.get(key).and_then(Value::as_array).filter(|rows| (1..=ROWS_MAX).contains(&rows.len())).ok_or(key)?;
    let row = |row: &Value| row.as_array()?.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>();
    let rows: Option<Vec<_>> = rows.iter().map(|r| row(r).filter(|r| r.len() >= columns)).collect();
    rows.ok_or(key)
}

/// A frame's work, in percent of a window, is part of what the busiest CPU did from its window on; it is listed once.
fn take_frame(windows: &mut [Vec<u64>], first: u64, mut percent: u64) {
    for row in windows.iter_mut().skip(first as usize).take(2) {
        let busiest = row[1..].iter_mut().max().expect("a row has a CPU");
        let part = percent.min(*busiest);
        *busiest -= part;
        percent -= part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<FrameLoads, &'static str> {
        FrameLoads::of(&serde_json::from_str(text).expect("JSON"))
    }

    #[test]
    fn frames_keep_their_gaps_and_are_not_told_twice() {
        let head = r#""quantumSec":0.001,"windowQuantum":10,"frameQuantum":16,"coreNum":2"#;
        let loads = of(&format!(
            r#"{{{head},"renderLoad":[[20,50],[36,25],[84,100]],
               "windowedLoad":[[9,9,1,0],[0,0,0,0],[90,90,10,1],[40,40,20,0],[0,0,0,0]]}}"#
        ));
        let loads = loads.expect("good");
        assert_eq!(loads.frames, [(1, 8_000_000), (1, 4_000_000), (3, 16_000_000)]);
        // The first frame is 80 % of the third window, the second 40 % of the fourth; the last lies behind all windows.
        assert_eq!(loads.others[0], [900_000, 0, 1_000_000, 0, 0]);
        assert_eq!(loads.others[1], [100_000, 0, 1_000_000, 2_000_000, 0]);
        assert_eq!(loads.window_ns, 10_000_000);
    }

    #[test]
    fn what_is_missing_is_named() {
        let text = r#"{"quantumSec":0.001,"windowQuantum":10,"frameQuantum":16,"coreNum":2,"renderLoad":[[20,500]],
                       "windowedLoad":[[9,9,1,0]]}"#;
        assert_eq!(of(text).err(), Some("renderLoad"));
        assert_eq!(of("{}").err(), Some("quantumSec"));
        assert_eq!(of(&text.replace("500", "50").replace("[9,9,1,0]", "[9,9]")).err(), Some("windowedLoad"));
    }
}
