// SPDX-License-Identifier: GPL-2.0-or-later
//! Images that were made, by name: `kernels/NAME/image` below the data folder, with `about.json` beside it.

use crate::build::change::NotCovered;
use crate::{Error, hash};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Shape of `about.json`; another number is of another version of this program.
pub const SHAPE: u32 = 1;
/// Longest name of an image.
const NAME_CHARS_MAX: usize = 64;
/// Largest image that is read, bytes; those made so far have half a million.
const IMAGE_BYTES_MAX: u64 = 64 << 20;
/// Largest description that is read, bytes.
const ABOUT_BYTES_MAX: u64 = 16 << 20;

/// Description of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// [`SHAPE`].
    pub shape: u32,
    /// Name in the store.
    pub name: String,
    /// Release as the kernel has it, UTS_RELEASE.
    pub release: String,
    /// Release as a number: 612 for 6.12.
    pub version: u32,
    /// Newest profile that is not newer than the release; what the image lacks is the profile's.
    pub profile: String,
    /// Hash of the image's bytes.
    pub hash: String,
    /// Origin of the code.
    pub source: Source,
    /// Patches, in the order in which they were applied.
    pub patches: Vec<Patch>,
    /// Operations of the interface.
    pub operations: Vec<Operation>,
    /// Parts of the change that no operation reaches.
    pub not_covered: Vec<NotCovered>,
    /// Seconds that it took to make it.
    pub built: u64,
    /// Program that compares its code with the core.
    #[serde(default)]
    pub comparison: Comparison,
}

/// Program `oracle` beside an image, which compares its code with the core, operation by operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Hash of its bytes, if it was made.
    pub hash: Option<String>,
    /// Reason why it was not.
    pub reason: Option<String>,
    /// Parts that do not compile with this tree, and why: their operations are not compared.
    pub left_out: Vec<LeftOut>,
}

/// Part of the comparison that does not compile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// File of a driver, without its ending.
    pub part: String,
    /// First error.
    pub reason: String,
}

/// Origin of an image's code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Folder of the tree, or name and version of the distribution's package.
    pub place: String,
    /// Commit that was checked out.
    pub commit: Option<String>,
    /// Commit that changes are counted from, if it was named.
    pub since: Option<String>,
    /// Files that differ from that commit.
    pub changed: Vec<String>,
}

/// Patch that was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// Name of the file.
    pub name: String,
    /// Hash of its bytes.
    pub hash: String,
}

/// Operation of the interface between simulator and image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// Name.
    pub name: String,
    /// The image has it; if not, it is the profile's.
    pub present: bool,
    /// Reason why it is missing.
    pub reason: Option<String>,
}

/// Image that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Description.
    pub about: About,
    /// The image itself, which has the hash of the description.
    pub image: Vec<u8>,
    /// File that it was read from.
    pub path: PathBuf,
}

/// Entry of the list: a description, or why there is none.
pub type Entry = (String, Result<About, Error>);

/// Folder of images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    data: PathBuf,
}

impl Store {
    /// The user's: below `$PELTON_DATA_HOME`, `$XDG_DATA_HOME/pelton` or `~/.local/share/pelton`.
    ///
    /// # Errors
    /// When none of the three is known.
    pub fn open() -> Result<Store, Error> {
        Self::of(|name| std::env::var_os(name))
    }

    /// Store of an environment.
    fn of(variable: impl Fn(&str) -> Option<OsString>) -> Result<Store, Error> {
        let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let data = absolute("PELTON_DATA_HOME")
            .or_else(|| Some(absolute("XDG_DATA_HOME")?.join("pelton")))
            .or_else(|| Some(absolute("HOME")?.join(".local/share/pelton")));
        data.map(Self::at).ok_or_else(|| {
            let hint = "set PELTON_DATA_HOME to a folder, by its whole path";
            Error::machine("no folder is known to keep images in: HOME is not set", hint)
        })
    }

    /// A store below this data folder.
    pub fn at(data: impl Into<PathBuf>) -> Store {
        Store { data: data.into() }
    }

    /// Folder of everything that is kept.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Folder of the images.
    pub fn kernels(&self) -> PathBuf {
        self.data.join("kernels")
    }

    /// Folder of one image.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.kernels().join(name)
    }

    /// Names that are there, ascending.
    ///
    /// # Errors
    /// When the folder is there and cannot be read.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let kernels = self.kernels();
        let entries = match fs::read_dir(&kernels) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(Error::file("read", &kernels))?,
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| check_name(name).is_ok()).collect();
        names.sort();
        Ok(names)
    }

    /// Descriptions of all images, by name; of a damaged one the reason. Images themselves are not read.
    ///
    /// # Errors
    /// When the folder is there and cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>, Error> {
        let names = self.names()?;
        Ok(names.into_iter().map(|name| (name.clone(), self.about(&name))).collect())
    }

    /// Description of an image.
    ///
    /// # Errors
    /// When there is no image of that name, or its description cannot be read.
    pub fn about(&self, name: &str) -> Result<About, Error> {
        self.check_known(name)?;
        let path = self.folder(name).join("about.json");
        let damaged = |why: String| Error::input(format!("kernel {name}: {}: {why}", path.display()), &again(name));
        let text = read(&path, ABOUT_BYTES_MAX).map_err(|error| damaged(error.to_string()))?;
        let about: About = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        match (about.shape, &about.name) {
            (SHAPE, known) if known == name => Ok(about),
            (SHAPE, known) => Err(damaged(format!("it describes the kernel {known}"))),
            (shape, _) => Err(damaged(format!("its shape is {shape}, allowed: {SHAPE}"))),
        }
    }

    /// An image and its description.
    ///
    /// # Errors
    /// When there is no image of that name, it cannot be read, or it is not the one that was made.
    pub fn load(&self, name: &str) -> Result<Kept, Error> {
        let about = self.about(name)?;
        let path = self.folder(name).join("image");
        let damaged = |why: String| Error::input(format!("kernel {name}: {}: {why}", path.display()), &again(name));
        let image = read(&path, IMAGE_BYTES_MAX).map_err(|error| damaged(error.to_string()))?;
        let found = hash(&image);
        if found != about.hash {
            return Err(damaged(format!("its hash is {found}, that of the image that was made {}", about.hash)));
        }
        Ok(Kept { about, image, path })
    }

    /// Removes an image; what cannot be read is removed, too.
    ///
    /// # Errors
    /// When there is no image of that name, or it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        self.check_known(name)?;
        let folder = self.folder(name);
        fs::remove_dir_all(&folder).map_err(Error::file("remove", &folder))
    }

    /// Program that compares an image's code with the core, which has the hash of the description.
    ///
    /// # Errors
    /// When there is no image of that name, or it has no such program, or not the one that was made.
    pub fn comparison(&self, name: &str) -> Result<(About, PathBuf), Error> {
        let about = self.about(name)?;
        let Some(made) = &about.comparison.hash else {
            let older = "it was made by a version that made none";
            let why = about.comparison.reason.as_deref().unwrap_or(older);
            let reason = format!("kernel {name} has no program that compares it with the core: {why}");
            return Err(Error::input(reason, &format!("build it again: `pelton kernel build ... --name {name}`")));
        };
        let path = self.folder(name).join("oracle");
        let damaged = |why: String| Error::input(format!("kernel {name}: {}: {why}", path.display()), &again(name));
        let found = hash(&read(&path, IMAGE_BYTES_MAX).map_err(|error| damaged(error.to_string()))?);
        match found == *made {
            true => Ok((about, path)),
            false => Err(damaged(format!("its hash is {found}, that of the program that was made {made}"))),
        }
    }

    /// Puts an image, and the program that compares it with the core if there is one, in the place of one of its name:
    /// all files are complete, or nothing has changed.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn keep(&self, about: &About, image: &[u8], comparison: Option<&[u8]>) -> Result<(), Error> {
        check_name(&about.name)?;
        let to = self.folder(&about.name);
        let beside = |what| self.kernels().join(format!(".{what}-{}-{}", about.name, std::process::id()));
        let (new, old) = (beside("new"), beside("old"));
        let kept = (|| {
            clear(&new)?;
            clear(&old)?;
            fs::create_dir_all(&new)?;
            fs::write(new.join("image"), image)?;
            if let Some(program) = comparison {
                let path = new.join("oracle");
                fs::write(&path, program)?;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
            }
            fs::write(new.join("about.json"), serde_json::to_string_pretty(about)? + "\n")?;
            if to.exists() {
                fs::rename(&to, &old)?;
            }
            fs::rename(&new, &to).inspect_err(|_| drop(fs::rename(&old, &to)))
        })();
        let _ = clear(&new);
        let _ = clear(&old);
        kept.map_err(Error::file("write", &to))
    }

    /// Refuses a name that no image can have, and one that none has.
    fn check_known(&self, name: &str) -> Result<(), Error> {
        check_name(name)?;
        if self.folder(name).is_dir() {
            return Ok(());
        }
        let names = self.names()?;
        let hint = match (near(name, &names), names.len()) {
            (_, 0) => format!("there is none; `pelton kernel build TREE --name {name}` makes one"),
            (Some(near), _) => format!("did you mean `{near}`? `pelton kernel list` has all"),
            (None, 1..=8) => format!("there is: {}", names.join(", ")),
            (None, _) => "`pelton kernel list` has all".to_owned(),
        };
        Err(Error::request(format!("no kernel is called `{name}`"), &hint))
    }
}

/// Way out of a damaged image.
fn again(name: &str) -> String {
    format!("build it again, or `pelton kernel remove {name}`")
}

/// The name that is most like this one, if one is.
fn near<'a>(name: &str, names: &'a [String]) -> Option<&'a str> {
    let likeness = |known: &&String| (strsim::jaro_winkler(name, known) * 1000.0) as u32;
    names.iter().max_by_key(likeness).filter(|known| likeness(known) >= 700).map(String::as_str)
}

/// Refuses names that are no word of small letters, digits, dots, dashes and underscores.
///
/// # Errors
/// When the name is none.
pub fn check_name(name: &str) -> Result<(), Error> {
    let is_first = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_further = |c: char| is_first(c) || matches!(c, '.' | '_' | '-');
    if name.starts_with(is_first) && name.chars().all(is_further) && name.len() <= NAME_CHARS_MAX {
        return Ok(());
    }
    let hint = format!(
        "allowed: 1 to {NAME_CHARS_MAX} of a-z, 0-9, `.`, `_` and `-`, the first a letter or a digit, as 6.12-hold"
    );
    Err(Error::request(format!("`{name}` cannot be the name of a kernel"), &hint))
}

/// Reads a regular file of at most so many bytes.
fn read(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let invalid = |why: String| std::io::Error::new(ErrorKind::InvalidData, why);
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(invalid("not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(invalid(format!("more than {most} bytes")));
    }
    Ok(bytes)
}

/// Removes a folder that need not be there.
pub(crate) fn clear(folder: &Path) -> std::io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tempfile::TempDir;

    pub(crate) fn about(name: &str, image: &[u8]) -> About {
        About {
            shape: SHAPE,
            name: name.to_owned(),
            release: "6.12.118".to_owned(),
            version: 612,
            profile: "6.12".to_owned(),
            hash: hash(image),
            source: Source::default(),
            patches: vec![Patch { name: "a.patch".to_owned(), hash: hash(b"a") }],
            operations: vec![Operation { name: "sugov_hook".to_owned(), present: true, reason: None }],
            not_covered: Vec::new(),
            built: 40,
            comparison: Comparison::default(),
        }
    }

    fn store() -> (TempDir, Store) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path());
        (folder, store)
    }

    #[test]
    fn names_are_words() {
        for good in ["mine", "6.12", "6.12-hold_2", "a"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        let long = "a".repeat(65);
        for bad in ["", ".a", "..", "-a", "A", "a/b", "a b", "ä", "a:b", &long] {
            let words = check_name(bad).expect_err(bad).to_string();
            assert!(words.contains("1 to 64 of a-z"), "{words}");
        }
    }

    #[test]
    fn an_image_comes_back_as_it_was_kept_and_is_replaced_and_removed() {
        let (_folder, store) = store();
        assert_eq!(store.names(), Ok(Vec::new()));
        store.keep(&about("mine", b"one"), b"one", None).expect("kept");
        store.keep(&about("mine", b"two"), b"two", None).expect("replaced");
        let kept = store.load("mine").expect("an image");
        assert_eq!((kept.about, kept.image), (about("mine", b"two"), b"two".to_vec()));
        let entries = fs::read_dir(store.kernels()).expect("a folder").count();
        assert_eq!((store.names(), entries), (Ok(vec!["mine".to_owned()]), 1));
        store.remove("mine").expect("removed");
        assert_eq!(store.list(), Ok(Vec::new()));
    }

    #[test]
    fn an_unknown_name_is_answered_with_a_near_one() {
        let (_folder, store) = store();
        let none = store.load("mine").expect_err("nothing is there").to_string();
        assert!(none.contains("there is none"), "{none}");
        for name in ["headroom", "other"] {
            store.keep(&about(name, b""), b"", None).expect("kept");
        }
        let near = store.load("hedroom").expect_err("unknown").to_string();
        assert!(near.contains("did you mean `headroom`?"), "{near}");
        let far = store.remove("zzz").expect_err("unknown").to_string();
        assert!(far.contains("there is: headroom, other"), "{far}");
    }

    #[test]
    fn damage_is_named_with_a_way_out() {
        let (_folder, store) = store();
        store.keep(&about("mine", b"one"), b"one", None).expect("kept");
        let failure = |of: &dyn Fn(&Path)| {
            of(&store.folder("mine"));
            store.load("mine").expect_err("damaged").to_string()
        };
        let changed = failure(&|folder| fs::write(folder.join("image"), b"onE").expect("written"));
        assert!(changed.contains("its hash is") && changed.contains("build it again"), "{changed}");
        let missing = failure(&|folder| fs::remove_file(folder.join("image")).expect("removed"));
        assert!(missing.contains("No such file"), "{missing}");
        let text = failure(&|folder| fs::write(folder.join("about.json"), b"{}").expect("written"));
        assert!(text.contains("about.json") && text.contains("missing field"), "{text}");
        assert!(store.list().expect("a list")[0].1.is_err());
        let other = About { shape: 9, ..about("mine", b"") };
        let shape = failure(&|folder| {
            fs::write(folder.join("about.json"), serde_json::to_vec(&other).expect("JSON")).expect("written");
        });
        assert!(shape.contains("its shape is 9"), "{shape}");
        store.remove("mine").expect("what is damaged can be removed");
    }

    #[test]
    fn the_first_folder_that_the_environment_names_is_taken() {
        let of = |variables: &[(&str, &str)]| {
            let found = Store::of(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).into()));
            found.map(|store| store.data.display().to_string())
        };
        let home = ("HOME", "/h");
        assert_eq!(of(&[home]), Ok("/h/.local/share/pelton".to_owned()));
        assert_eq!(of(&[home, ("XDG_DATA_HOME", "/x")]), Ok("/x/pelton".to_owned()));
        assert_eq!(of(&[home, ("XDG_DATA_HOME", "/x"), ("PELTON_DATA_HOME", "/p")]), Ok("/p".to_owned()));
        assert_eq!(of(&[home, ("PELTON_DATA_HOME", "p")]), Ok("/h/.local/share/pelton".to_owned()));
        assert!(of(&[]).is_err_and(|error| error.to_string().contains("PELTON_DATA_HOME")));
    }
}
