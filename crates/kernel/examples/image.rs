// SPDX-License-Identifier: GPL-2.0-or-later
//! Makes an image without the rest of the program: image DATA NAME TREE|SERIES [PATCH...]

use pelton_kernel::build::{BuildRequest, Origin, build};
use pelton_kernel::store::Store;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [data, name, from, patches @ ..] = words.as_slice() else {
        eprintln!("image DATA NAME TREE|SERIES [PATCH...]");
        return;
    };
    let is_folder = PathBuf::from(from).is_dir();
    let request = BuildRequest {
        name: name.clone(),
        origin: if is_folder { Origin::Tree(from.into()) } else { Origin::Archive(from.clone()) },
        patches: patches.iter().map(PathBuf::from).collect(),
        since: std::env::var("SINCE").ok(),
        keep_work: std::env::var_os("KEEP").is_some(),
        compares: std::env::var_os("NODIFF").is_none(),
        profiles: ["5.10", "6.1", "6.12", "7.2"].map(str::to_owned).to_vec(),
    };
    match build(&Store::at(data), &request, &mut |line| eprintln!("{line}"), &AtomicBool::new(false)) {
        Ok(built) => println!("{built:#?}"),
        Err(error) => eprintln!("error: {error}"),
    }
}
