// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares an image with the core without the rest of the program: diff DATA NAME [RULES [STATES]]

use pelton_kernel::diff::{DiffRequest, diff, kind, rules};
use pelton_kernel::store::Store;
use std::sync::atomic::AtomicBool;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [data, name, more @ ..] = words.as_slice() else {
        eprintln!("diff DATA NAME [RULES [STATES]]");
        return;
    };
    let states = more.get(1).and_then(|states| states.parse().ok()).unwrap_or(20_000);
    let request = DiffRequest { name: name.clone(), against: more.first().cloned(), states, seed: 1 };
    match diff(&Store::at(data), &request, &mut |line| eprintln!("{line}"), &AtomicBool::new(false)) {
        Ok(found) => {
            let moved = || found.operations.iter().filter(|op| !op.is_equal());
            println!("moves {:?}", kind::all_of(moved().map(|op| op.operation.as_str())));
            moved().for_each(|op| println!("{op:?}"));
            for explained in &found.explained {
                println!("equal to {}, but for {:?}", rules(&found.against, &explained.settings), explained.others);
            }
        }
        Err(error) => eprintln!("error: {error}"),
    }
}
