// SPDX-License-Identifier: GPL-2.0-or-later
//! Charts of one run: time at frequencies and in idle states, how long activations took, and frequency, utilization and
//! busy time over the run.

use super::blocks::{bar, spark};
use super::canvas::{Anchor, Canvas, GRID, INK, PALE, SERIES, cut};
use super::timeline::{Track, Warmth};
use pelton_lab::measure::summary::RunSummary;
use pelton_lab::number::{human_ns, number};
use pelton_sim::Report;
use std::fmt::Write as _;

/// Letters of a bar in the terminal.
const BAR: usize = 30;
/// Columns of the number beside a bar, and the spaces.
const VALUE: usize = 12;
/// Width of a picture and of its bars, and where they begin.
const WIDTH: f64 = 900.0;
const LEFT: f64 = 150.0;
const LONG: f64 = 620.0;

/// A label, a share of 0..=1, and the number behind it.
type Bar = (String, f64, String);

/// Data of a run's charts.
pub struct Ran {
    title: String,
    groups: Vec<(String, Vec<Bar>)>,
    tracks: Vec<Track>,
    warmth: Vec<Warmth>,
}

impl Ran {
    /// From the numbers of a run.
    pub fn new(summary: &RunSummary, report: &Report, (tracks, warmth): (Vec<Track>, Vec<Warmth>)) -> Ran {
        let about = &summary.run.about;
        let title = format!("{} on {}, policy {}", about.workload, about.platform, summary.run.policy.policy);
        let mut groups = frequencies(summary);
        groups.extend(idle(summary));
        groups.extend(activations(report));
        Ran { title, groups, tracks, warmth }
    }

    /// For a terminal of this many columns.
    pub fn blocks(&self, width: usize) -> String {
        let mut out = String::new();
        for (heading, bars) in &self.groups {
            let widest = bars.iter().map(|(label, ..)| label.chars().count()).max().unwrap_or(0);
            let long = BAR.min(width.saturating_sub(widest + VALUE));
            let _ = writeln!(out, "\n{heading}");
            for (label, share, value) in bars {
                let _ = writeln!(out, " {label:>widest$} {:<long$} {value}", bar(*share, long));
            }
        }
        if let Some(track) = self.tracks.first() {
            let _ = writeln!(out, "\nover time: 0 to {}", human_ns(track.length_ns));
        }
        self.tracks.iter().for_each(|track| out += &track_blocks(track, width));
        self.warmth.iter().for_each(|zone| out += &warmth_blocks(zone, width));
        out
    }

    /// As a picture.
    pub fn picture(&self) -> Canvas {
        let mut canvas = Canvas::new(WIDTH as u32);
        canvas.heading((16.0, 28.0), cut(&self.title, 92));
        let mut y = 44.0;
        for track in &self.tracks {
            y = track_picture(&mut canvas, track, y);
        }
        for zone in &self.warmth {
            y = warmth_picture(&mut canvas, zone, y);
        }
        for (heading, bars) in &self.groups {
            y += 22.0;
            canvas.text((16.0, y), heading, INK, Anchor::Start);
            y += 6.0;
            for (label, share, value) in bars {
                y += 16.0;
                canvas.text((LEFT - 8.0, y), cut(label, 22), PALE, Anchor::End);
                canvas.rect([LEFT, y - 10.0, (share * LONG).max(1.0), 12.0], SERIES[0]);
                canvas.text((LEFT + share * LONG + 6.0, y), value, PALE, Anchor::Start);
            }
        }
        canvas.size.1 = (y + 20.0) as u32;
        canvas
    }
}

/// A quantity over time: what it is, its values, the top of its scale, and what that is.
type Line<'a> = (&'static str, &'a [Option<f64>], f64, String);

/// Lines of a domain over time.
fn lines(track: &Track) -> [Line<'_>; 3] {
    let mhz = format!("{} MHz", number(track.khz_max / 1e3));
    [
        ("frequency", &track.khz, track.khz_max, mhz),
        ("utilization", &track.util, track.util_max, format!("{}, its fullest CPU", number(track.util_max))),
        ("busy", &track.busy, 1.0, "all its CPUs".to_owned()),
    ]
}

/// A domain over time as lines of letters; in a narrow terminal what they are stands above them.
fn track_blocks(track: &Track, width: usize) -> String {
    let name = cut(&track.name, 16);
    let lines = lines(track);
    let widest = lines.iter().map(|(.., scale)| scale.chars().count()).max().unwrap_or(0);
    let beside = track.khz.len() + 16 + " utilization || of ".len() + 1 + widest;
    let letters = width.saturating_sub(3).min(track.khz.len());
    let line = |(at, (what, values, most, scale)): (usize, &Line<'_>)| {
        let name = if at == 0 { &*name } else { "" };
        if beside <= width {
            return format!(" {name:<16} {what:<11} |{}| of {scale}\n", spark(values, *most));
        }
        let heading =
            if name.is_empty() { format!(" {what} of {scale}") } else { format!(" {name}: {what} of {scale}") };
        format!("{heading}\n |{}|\n", spark(&fewer(values, letters), *most))
    };
    lines.iter().enumerate().map(line).collect()
}

/// The ends of a zone's axis, degrees Celsius: from the coolest reading to the last trip, or the hottest reading.
fn warmth_range(zone: &Warmth) -> (f64, f64) {
    let known = || zone.c.iter().flatten().copied();
    let low = known().fold(f64::INFINITY, f64::min).min(zone.trips_c.first().copied().unwrap_or(0.0));
    let high = known().fold(zone.trips_c.last().copied().unwrap_or(0.0), f64::max);
    (low.floor(), high.ceil().max(low.floor() + 1.0))
}

/// Temperature of a zone as a line of letters.
fn warmth_blocks(zone: &Warmth, width: usize) -> String {
    let (low, high) = warmth_range(zone);
    let above: Vec<Option<f64>> = zone.c.iter().map(|c| c.map(|c| c - low)).collect();
    let name = cut(&zone.name, 16);
    let what = format!("{} to {} C", number(low), number(high));
    if above.len() + 16 + " frequency |".len() * 2 + what.len() <= width {
        return format!(" {name:<16} {:<11} |{}| {what}\n", "temperature", spark(&above, high - low));
    }
    let letters = width.saturating_sub(3).min(above.len());
    format!(" {name}: {what}\n |{}|\n", spark(&fewer(&above, letters), high - low))
}

/// Temperature of a zone, its trips as lines.
fn warmth_picture(canvas: &mut Canvas, zone: &Warmth, top: f64) -> f64 {
    let (from, to) = warmth_range(zone);
    let (high, low) = (top + 18.0, top + 68.0);
    let trips: Vec<String> = zone.trips_c.iter().map(|c| number(*c)).collect();
    let what = format!("{}: {} to {} C, trips at {} C", zone.name, number(from), number(to), trips.join(", "));
    canvas.text((LEFT, top + 12.0), what, PALE, Anchor::Start);
    let height = |c: f64| low - ((c - from) / (to - from)).clamp(0.0, 1.0) * (low - high);
    canvas.line(vec![(LEFT, low), (LEFT + LONG, low)], GRID);
    for &c in &zone.trips_c {
        canvas.line(vec![(LEFT, height(c)), (LEFT + LONG, height(c))], GRID);
    }
    let step = LONG / zone.c.len().max(1) as f64;
    let at = |(at, c): (usize, &Option<f64>)| Some((LEFT + (at as f64 + 0.5) * step, height((*c)?)));
    let points: Vec<(f64, f64)> = zone.c.iter().enumerate().filter_map(at).collect();
    if !points.is_empty() {
        canvas.line(points, SERIES[2]);
    }
    top + 74.0
}

/// The means of neighbours, so many as there is room for.
fn fewer(values: &[Option<f64>], letters: usize) -> Vec<Option<f64>> {
    let at = |letter: usize| letter * values.len() / letters.max(1);
    let mean = |letter: usize| {
        let known: Vec<f64> = values[at(letter)..at(letter + 1)].iter().flatten().copied().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    (0..letters).map(mean).collect()
}

/// A domain over time, one quantity above the other, and the times below.
fn track_picture(canvas: &mut Canvas, track: &Track, top: f64) -> f64 {
    let mut y = top;
    for (at, (what, values, most, scale)) in lines(track).into_iter().enumerate() {
        let (high, low) = (y + 18.0, y + 68.0);
        canvas.text((LEFT, y + 12.0), format!("{}: {what} (top: {scale})", track.name), PALE, Anchor::Start);
        canvas.line(vec![(LEFT, low), (LEFT + LONG, low)], GRID);
        canvas.line(vec![(LEFT, high), (LEFT + LONG, high)], GRID);
        let step = LONG / values.len().max(1) as f64;
        let mut points = Vec::new();
        for (at, value) in values.iter().enumerate() {
            let Some(value) = value else { continue };
            let height = if most > 0.0 { low - (value / most).min(1.0) * (low - high) } else { low };
            points.extend([(LEFT + at as f64 * step, height), (LEFT + (at + 1) as f64 * step, height)]);
        }
        if !points.is_empty() {
            canvas.line(points, SERIES[at % SERIES.len()]);
        }
        y += 74.0;
    }
    canvas.text((LEFT, y + 8.0), "0 s", PALE, Anchor::Start);
    canvas.text((LEFT + LONG, y + 8.0), human_ns(track.length_ns), PALE, Anchor::End);
    y + 14.0
}

fn pct(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// One group per domain; operating points that were used.
fn frequencies(summary: &RunSummary) -> Vec<(String, Vec<Bar>)> {
    let mut groups: Vec<(String, Vec<Bar>)> = Vec::new();
    for row in summary.residency.iter().filter(|row| row.ms > 0.0) {
        let heading = format!("time at frequency: {}", row.domain);
        let one = (format!("{} MHz", number(f64::from(row.khz) / 1e3)), row.pct / 100.0, pct(row.pct / 100.0));
        match groups.last_mut() {
            Some((same, bars)) if *same == heading => bars.push(one),
            _ => groups.push((heading, vec![one])),
        }
    }
    groups
}

/// Idle states over all CPUs.
fn idle(summary: &RunSummary) -> Option<(String, Vec<Bar>)> {
    let cpus = summary.idle_residency.iter().map(|row| row.cpu + 1).max()?;
    let mut states: Vec<(String, f64)> = Vec::new();
    for row in &summary.idle_residency {
        match states.iter_mut().find(|(name, _)| *name == row.state) {
            Some((_, sum)) => *sum += row.pct,
            None => states.push((row.state.clone(), row.pct)),
        }
    }
    let bars = states.into_iter().filter(|(_, sum)| *sum > 0.0).map(|(name, sum)| {
        let share = sum / 100.0 / cpus as f64;
        (name, share, pct(share))
    });
    let bars: Vec<Bar> = bars.collect();
    (!bars.is_empty()).then(|| ("time in idle states, of all CPUs".to_owned(), bars))
}

/// Histogram of activations by their length, with steps of 1, 2, 5.
fn activations(report: &Report) -> Option<(String, Vec<Bar>)> {
    let samples = || report.tasks.iter().flat_map(|task| task.activation_ns.iter());
    let total: u64 = samples().map(|(_, count)| count).sum();
    let most = samples().map(|(ns, _)| ns).max()?;
    let mut edges = vec![1_000u64];
    while edges.last().is_some_and(|&last| last <= most) {
        let last = edges[edges.len() - 1];
        edges.push(if last.to_string().starts_with('2') { last / 2 * 5 } else { last * 2 });
    }
    let mut counts = vec![0u64; edges.len()];
    for (ns, count) in samples() {
        counts[edges.partition_point(|&edge| edge <= ns)] += count;
    }
    let first = counts.iter().position(|&count| count > 0)?;
    let largest = *counts.iter().max()?;
    let last = counts.iter().rposition(|&count| count > 0)?;
    let bars = (first..=last).map(|at| {
        let label = format!("< {}", human_ns(edges[at]));
        (label, counts[at] as f64 / largest as f64, counts[at].to_string())
    });
    Some((format!("how long {total} activations took"), bars.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran() -> Ran {
        let values: Vec<Option<f64>> = (0..60).map(|at| (at > 3).then_some(f64::from(at) * 30_000.0)).collect();
        let busy = values.iter().map(|v| v.map(|v| v / 2e6)).collect();
        let util = values.iter().map(|v| v.map(|v| v / 2e3)).collect();
        let track = Track {
            name: "little".into(),
            khz: values,
            khz_max: 1_803_000.0,
            util_max: 1024.0,
            util,
            busy,
            length_ns: 2_000_000_000,
        };
        let c = (0..60).map(|at| (at > 0).then_some(40.0 + f64::from(at))).collect();
        let zone = Warmth { name: "soc".into(), trips_c: vec![65.0, 75.0], c };
        let bars = vec![("1803 MHz".to_owned(), 1.0, "100.0 %".to_owned()), ("300 MHz".into(), 0.2, "20.0 %".into())];
        Ran {
            title: String::new(),
            groups: vec![("time at frequency: little".to_owned(), bars)],
            tracks: vec![track],
            warmth: vec![zone],
        }
    }

    #[test]
    fn charts_fit_their_terminal() {
        for width in [40, 60, 80, 120] {
            let text = ran().blocks(width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}\n{text}");
            assert!(text.contains("1803 MHz") && text.contains('█'), "{width}\n{text}");
            assert!(text.contains("utilization") && text.contains("over time: 0 to 2 s"), "{width}\n{text}");
        }
    }

    #[test]
    fn fewer_letters_show_means() {
        assert_eq!(fewer(&[Some(1.0), Some(3.0), None, None], 2), [Some(2.0), None]);
        assert_eq!(fewer(&[Some(1.0), None, Some(5.0)], 3), [Some(1.0), None, Some(5.0)]);
    }
}
