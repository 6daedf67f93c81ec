// SPDX-License-Identifier: GPL-2.0-or-later
//! Chart of shares: a bar for each switch that has one, left and right of 0, and one for the whole change.

use super::canvas::{Anchor, Canvas, Colour, GRID, INK, PALE, SERIES, cut};
use pelton_lab::number::number;
use pelton_lab::why::{Estimate, Moved, Share, Why};

/// Width of the picture; where its bars begin and end.
const WIDTH: f64 = 900.0;
const LEFT: f64 = 300.0;
const RIGHT: f64 = 740.0;
/// Height of a bar and of its line.
const BAR_HEIGHT: f64 = 14.0;
const STEP: f64 = 20.0;
/// Letters of the names beside bars, and of a line of words.
const NAME: usize = 40;
const WORDS: usize = 125;

/// A bar.
struct Bar {
    name: String,
    of: Estimate,
    words: String,
    colour: Colour,
}

/// As a picture, under the sentence that answers.
pub fn picture(why: &Why, moved: &Moved, sentence: &str) -> Canvas {
    let mut canvas = Canvas::new(WIDTH as u32);
    let run = &why.run;
    canvas.heading((16.0, 28.0), cut(&format!("{} on {}", run.workload, run.platform), 92));
    let mut y = 48.0;
    for line in super::compared::wrapped(sentence, WORDS) {
        canvas.text((16.0, y), line, INK, Anchor::Start);
        y += 18.0;
    }
    let (seeds, length) = (why.seeds.len(), number(run.duration_s));
    let what = format!(
        "shares of the change of {}, {}; means of {seeds} seeds of {length} s; thin lines: 95 % over seeds",
        moved.quantity, moved.unit
    );
    canvas.text((16.0, y), what, PALE, Anchor::Start);
    let bars = bars(why, moved);
    let (low, high) = bars.iter().map(|bar| ends(bar.of)).fold((0.0f64, 0.0f64), |(a, b), (c, d)| (a.min(c), b.max(d)));
    let scale = if high > low { (RIGHT - LEFT) / (high - low) } else { 0.0 };
    let x = |value: f64| LEFT + (value - low) * scale;
    let top = y + 10.0;
    y = top;
    for bar in &bars {
        y += STEP;
        canvas.text((LEFT - 12.0, y), cut(&bar.name, NAME), INK, Anchor::End);
        let (from, to) = (x(bar.of.mean.min(0.0)), x(bar.of.mean.max(0.0)));
        canvas.rect([from, y - 11.0, (to - from).max(1.0), BAR_HEIGHT], bar.colour);
        if let Some((low, high)) = bar.of.ci95 {
            let middle = y - 11.0 + BAR_HEIGHT / 2.0;
            canvas.line(vec![(x(low), middle), (x(high), middle)], INK);
        }
        canvas.text((x(ends(bar.of).1.max(0.0)) + 8.0, y), &bar.words, INK, Anchor::Start);
    }
    canvas.line(vec![(x(0.0), top), (x(0.0), y + 6.0)], GRID);
    canvas.size.1 = (y + 20.0) as u32;
    canvas
}

/// The mean with its interval.
fn ends(of: Estimate) -> (f64, f64) {
    let (low, high) = of.ci95.unwrap_or((of.mean, of.mean));
    (low.min(of.mean), high.max(of.mean))
}

fn bars(why: &Why, moved: &Moved) -> Vec<Bar> {
    let words = |of: Estimate, pct: Option<f64>| {
        let sign = if of.mean > 0.0 { "+" } else { "" };
        format!(
            "{sign}{}{}",
            number(of.mean),
            pct.map(|pct| format!("  {:.0} %", pct.round() + 0.0)).unwrap_or_default()
        )
    };
    let has_share = |share: &&Share| share.share.mean != 0.0;
    let bar = |share: &Share| Bar {
        name: share.player.clone(),
        of: share.share,
        words: words(share.share, share.of_change_pct),
        colour: if share.share.mean < 0.0 { SERIES[2] } else { SERIES[5] },
    };
    let shares = moved.sorted().into_iter().filter(has_share).map(bar);
    let total = Bar {
        name: format!("{} to {}", why.from, why.to),
        of: moved.change,
        words: words(moved.change, None),
        colour: SERIES[0],
    };
    shares.chain([total]).collect()
}
