// SPDX-License-Identifier: GPL-2.0-or-later
use super::*;
use crate::store;
use crate::store::tests::about;
use std::sync::atomic::Ordering;

fn request(tree: &Path) -> BuildRequest {
    BuildRequest {
        name: "mine".to_owned(),
        origin: Origin::Tree(tree.to_owned()),
        patches: Vec::new(),
        since: None,
        keep_work: false,
        compares: true,
        profiles: vec!["5.10".to_owned(), "6.12".to_owned()],
    }
}

#[test]
fn lines_of_operations_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("operations");
    fs::write(&file, "sugov_hook\tpresent\t\nmenu_select\tmissing\terror: no\n").expect("written");
    let found = operations(&file).expect("operations");
    assert_eq!(found.len(), 2);
    assert_eq!((found[1].present, found[1].reason.as_deref()), (false, Some("error: no")));
    fs::write(&file, "menu_select\tmissing\terror: no\n").expect("written");
    assert!(operations(&file).is_err_and(|error| error.to_string().contains("menu_select: error: no")));
}

#[test]
fn a_build_that_is_interrupted_or_fails_leaves_the_image_from_before_and_no_work_folder() {
    let (data, source) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    tree::tests::fake(source.path(), "VERSION = 6\nPATCHLEVEL = 12");
    let store = Store::at(data.path());
    store.keep(&about("mine", b"old"), b"old", None).expect("kept");
    let left = || fs::read_dir(store.kernels()).expect("a folder").count();
    for stops in [true, false] {
        let stop = AtomicBool::new(false);
        let mut progress = |line: &str| stop.store(stops && line.starts_with("copying"), Ordering::Relaxed);
        let result = build(&store, &request(source.path()), &mut progress, &stop);
        // A machine without tools refuses; one with them cannot configure a tree of six files.
        let error = result.expect_err("no kernel");
        assert!(!stops || error == Error::Stopped || error.to_string().contains("not here"), "{error}");
        assert_eq!(store.load("mine").map(|kept| kept.image), Ok(b"old".to_vec()));
        assert_eq!(left(), 1, "{error}");
    }
}

#[test]
fn requests_are_refused_before_anything_is_written() {
    let (data, source) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let store = store::Store::at(data.path());
    let words = |request: &BuildRequest| {
        build(&store, request, &mut |_| (), &AtomicBool::new(false)).expect_err("refused").to_string()
    };
    let good = request(source.path());
    assert!(words(&good).contains("no source tree of a kernel"));
    tree::tests::fake(source.path(), "VERSION = 6\nPATCHLEVEL = 12");
    assert!(words(&BuildRequest { name: "A b".to_owned(), ..good.clone() }).contains("cannot be the name"));
    assert!(words(&BuildRequest { profiles: vec!["7.2".to_owned()], ..good.clone() }).contains("older than every"));
    assert!(words(&BuildRequest { patches: vec!["none.patch".into()], ..good.clone() }).contains("no such file"));
    let archive =
        BuildRequest { origin: Origin::Archive("6.12".to_owned()), since: Some("v6.12".to_owned()), ..good.clone() };
    assert!(words(&archive).contains("a package has none"));
    assert!(words(&BuildRequest { origin: Origin::Archive("x".to_owned()), ..good }).contains("not a series"));
    assert!(!store.kernels().exists());
}
