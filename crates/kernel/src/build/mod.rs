// SPDX-License-Identifier: GPL-2.0-or-later
//! An image from a kernel's source: copied, patched, configured and compiled in a work folder of the store, and kept
//! when all is done.

pub mod change;
mod comparison;
mod copy;
mod cover;
mod embedded;
mod git;
mod patches;
mod process;
mod tools;
pub mod tree;
mod work;

use crate::store::{About, Operation, SHAPE, Source, Store, check_name};
use crate::{Error, hash};
use cover::{Before, Folders};
use git::Git;
use patches::PatchFile;
pub(crate) use process::check;
use process::program;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tree::Release;
use work::Work;

/// Source of an image's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Folder of a kernel's source, which is only read.
    Tree(PathBuf),
    /// Series of the distribution's package linux-source, as 6.12.
    Archive(String),
}

/// Request for an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildRequest {
    /// Name in the store; an image of that name is replaced.
    pub name: String,
    /// Source.
    pub origin: Origin,
    /// Patches, applied in this order.
    pub patches: Vec<PathBuf>,
    /// Commit that changes of the tree are counted from; none: the one that is checked out.
    pub since: Option<String>,
    /// Keep the work folder.
    pub keep_work: bool,
    /// Make the program that compares the image with the core, too.
    pub compares: bool,
    /// Names of profiles, as 6.12.
    pub profiles: Vec<String>,
}

/// An image that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// Description, as it is kept.
    pub about: About,
    /// Work folder, if it was to be kept.
    pub work: Option<PathBuf>,
}

/// Lines of a log that a message shows.
const TAIL: usize = 12;

/// Makes an image and puts it into the store. `progress` takes a line for each step; the build ends soon after `stop`
/// is set. Until the end an image of the same name is the one from before.
///
/// # Errors
/// When the request, the machine, the tree or a patch does not allow it, or the flag was set.
pub fn build(
    store: &Store,
    request: &BuildRequest,
    progress: &mut dyn FnMut(&str),
    stop: &AtomicBool,
) -> Result<Built, Error> {
    let begin = Instant::now();
    check_name(&request.name)?;
    check_origin(request)?;
    let patches = request.patches.iter().map(|path| PatchFile::read(path)).collect::<Result<Vec<_>, _>>()?;
    let sources = store.data().join("sources");
    let is_archive = matches!(request.origin, Origin::Archive(_));
    let are_unpacked = is_archive || sources.join("env").metadata().is_ok_and(|meta| meta.len() > 0);
    tools::Place::here().check(are_unpacked, is_archive)?;
    let mut work = Work::new(store, &request.name)?;
    let mut builder = Builder { request, patches, sources, work: work.path().to_owned(), before: Before::new(), stop };
    let result = builder.run(store, begin, progress);
    if matches!(result, Err(Error::Stopped)) {
        progress("interrupted: removing what was begun");
    }
    work.keep = request.keep_work && !matches!(result, Err(Error::Stopped));
    let kept = work.keep.then(|| work.path().to_owned());
    match (result, kept) {
        (Ok(about), work) => Ok(Built { about, work }),
        (Err(error), None) => Err(error),
        (Err(error), Some(work)) => Err(error.with(&format!("the work folder is {}", work.display()))),
    }
}

/// Refuses what is no source, before anything is done.
fn check_origin(request: &BuildRequest) -> Result<(), Error> {
    match &request.origin {
        Origin::Tree(folder) => tree::nearest(&request.profiles, &tree::recognise(folder)?).map(drop),
        Origin::Archive(_) if request.since.is_some() => {
            Err(Error::request("--since names a commit of a TREE; a package has none", "leave out --since"))
        }
        Origin::Archive(series) => tree::check_series(series),
    }
}

/// A build under way.
struct Builder<'a> {
    request: &'a BuildRequest,
    patches: Vec<PatchFile>,
    /// Packages that were fetched, and tools that were unpacked.
    sources: PathBuf,
    work: PathBuf,
    before: Before,
    stop: &'a AtomicBool,
}

impl Builder<'_> {
    fn run(&mut self, store: &Store, begin: Instant, progress: &mut dyn FnMut(&str)) -> Result<About, Error> {
        let [root, tree, obj, out] = ["root", "tree", "obj", "out"].map(|name| self.work.join(name));
        embedded::unpack(&root)?;
        let host = self.request.compares.then(|| comparison::Host::begin(store, &root));
        let source = self.copy(&root, &tree, progress)?;
        let release = tree::recognise(&tree)?;
        let profile = tree::nearest(&self.request.profiles, &release)?;
        let left_out = self.patch(&tree, &release, progress)?;
        progress(&format!("configuring Linux {}", release.text));
        self.configure(&root, &tree, &obj)?;
        progress("compiling its scheduler");
        self.compile(&root, &tree, &obj, &out)?;
        let operations = operations(&out.join("operations"))?;
        progress("looking for what of the change no operation reaches");
        let folders = Folders { work: &self.work, root: &root, tree: &tree, obj: &obj, out: &out };
        let not_covered = cover::not_covered(&folders, &self.before, &left_out, &operations, self.stop)?;
        let file = out.join("image");
        let image = fs::read(&file).map_err(Error::file("read", &file))?;
        let compared = self.comparison(&folders, host, progress)?;
        let about = About {
            shape: SHAPE,
            name: self.request.name.clone(),
            release: uts_release(&obj).unwrap_or(release.text),
            version: release.version,
            profile,
            hash: hash(&image),
            source,
            patches: self.patches.iter().map(|patch| patch.about.clone()).collect(),
            operations,
            not_covered,
            built: begin.elapsed().as_secs(),
            comparison: compared.about,
        };
        process::check(self.stop)?;
        store.keep(&about, &image, compared.program.as_deref())?;
        Ok(about)
    }

    /// Copies the tree, or what the distribution's package has.
    fn copy(&mut self, root: &Path, to: &Path, progress: &mut dyn FnMut(&str)) -> Result<Source, Error> {
        let (from, mut source) = match &self.request.origin {
            Origin::Tree(folder) => {
                let folder = folder.canonicalize().map_err(Error::file("read", folder))?;
                (folder.clone(), Source { place: folder.display().to_string(), ..Source::default() })
            }
            Origin::Archive(series) => self.fetch(root, series, progress)?,
        };
        let git = Git::of(&from).filter(|_| matches!(self.request.origin, Origin::Tree(_)));
        if git.is_none() && self.request.since.is_some() {
            return Err(Error::request("--since names a commit, and the tree is not one of git", "leave out --since"));
        }
        if from.join(".git").exists() && git.is_none() {
            progress("git does not answer for this tree: what differs from its commit is not known");
        }
        progress(&format!("copying {}", source.place));
        let files = copy::files(&from, git.as_ref(), self.stop)?;
        copy::copy(&from, &files, to, self.stop)?;
        if let Some(git) = git {
            self.changes(&git, &mut source)?;
        }
        Ok(source)
    }

    /// Notes what differs in a working tree.
    fn changes(&mut self, git: &Git, source: &mut Source) -> Result<(), Error> {
        let since = self.request.since.as_ref().map(|name| git.commit_of(name)).transpose()?;
        let commit = since.clone().unwrap_or_else(|| git.commit.clone());
        for file in git.changed(&commit)? {
            let text = git.text(&commit, &file, self.stop)?;
            self.before.insert(file, text);
        }
        let is_source = |file: &String| ![".orig", ".rej", "~"].iter().any(|ending| file.ends_with(ending));
        for file in git.new_files(copy::PARTS)?.into_iter().filter(is_source) {
            self.before.entry(file).or_insert(None);
        }
        source.changed = self.before.keys().cloned().collect();
        source.commit = Some(git.commit.clone());
        source.since = since;
        Ok(())
    }

    /// Fetches and unpacks a package of the distribution, once.
    fn fetch(&self, root: &Path, series: &str, progress: &mut dyn FnMut(&str)) -> Result<(PathBuf, Source), Error> {
        fs::create_dir_all(&self.sources).map_err(Error::file("make", &self.sources))?;
        let _lock = work::lock(&self.sources, progress, self.stop)?;
        progress(&format!("linux-source-{series} of the distribution's archive, if it is not here: some 150 MB"));
        let mut command = program("bash", root);
        command.arg(root.join("scripts/oracle/fetch.sh")).arg(&self.sources).arg(series);
        let ended = process::run(&mut command, self.stop, &mut |line| progress(line))?;
        let folder = self.sources.join(series);
        let package = fs::read_to_string(folder.join("package")).unwrap_or_default();
        let version = package.split(' ').next().filter(|version| !version.is_empty());
        match (ended.status.success(), version) {
            (true, Some(version)) => {
                let place = format!("linux-source-{series} {version}");
                Ok((folder.join("tree"), Source { place, ..Source::default() }))
            }
            (true, None) => {
                let carried = fs::read_to_string(self.sources.join("carried")).unwrap_or_default();
                let carried = carried.split_whitespace().collect::<Vec<_>>().join(", ");
                let reason = format!("the archive has no linux-source-{series}; it has: {carried}");
                Err(Error::request(reason, "name another series, or the folder of a tree"))
            }
            (false, _) => {
                let reason = format!("linux-source-{series} cannot be fetched:\n{}", ended.tail(TAIL));
                Err(Error::machine(reason, "name the folder of a tree instead of --source"))
            }
        }
    }

    /// Applies the patches; returns files of theirs that are not among those that were copied.
    fn patch(&mut self, tree: &Path, release: &Release, progress: &mut dyn FnMut(&str)) -> Result<Vec<String>, Error> {
        let mut left_out = Vec::new();
        for patch in &self.patches {
            progress(&format!("applying {}", patch.about.name));
            for file in patch.files() {
                if !self.before.contains_key(file) && (copy::is_part(file) || tree.join(file).is_file()) {
                    self.before.insert(file.to_owned(), fs::read(tree.join(file)).ok());
                }
            }
            let applied = patch.apply(tree, &self.work, &release.text, self.stop)?;
            for line in &applied.fuzzy {
                progress(&format!("{}: {line}", patch.about.name));
            }
            left_out.extend(applied.left_out);
        }
        Ok(left_out)
    }

    /// Folder whose `env` names the tools.
    fn prepared(&self) -> Result<PathBuf, Error> {
        if self.sources.join("env").is_file() {
            return Ok(self.sources.clone());
        }
        let env = self.work.join("env");
        fs::write(&env, "").map_err(Error::file("write", &env))?;
        Ok(self.work.clone())
    }

    fn configure(&self, root: &Path, tree: &Path, obj: &Path) -> Result<(), Error> {
        let fragment = root.join("tests/oracle/kernel/config.fragment");
        let mut command = program("bash", root);
        command.arg(root.join("scripts/oracle/configure.sh")).arg(self.prepared()?).args([tree, obj, &fragment]);
        let ended = process::run(command.env("KCFLAGS", flags(root)), self.stop, &mut |_| ())?;
        if ended.status.success() {
            return Ok(());
        }
        let log = fs::read_to_string(self.work.join("obj.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let words = lines[lines.len().saturating_sub(TAIL)..].join("\n");
        Err(Error::input(format!("the tree cannot be configured:\n{words}{}", ended.tail(TAIL)), MAKE_HINT))
    }

    fn compile(&self, root: &Path, tree: &Path, obj: &Path, out: &Path) -> Result<(), Error> {
        let mut command = program("bash", root);
        command.args(["-c", r#". "$1/env" && exec "${@:2}""#, "bash"]).arg(self.prepared()?);
        command.arg(root.join("crates/kernel/image/build.sh")).args([root, tree, obj, out]);
        let ended = process::run(command.env("KCFLAGS", flags(root)), self.stop, &mut |_| ())?;
        if ended.status.success() {
            return self.strip(out);
        }
        let reason = format!("the tree's scheduler does not compile to an image:\n{}", ended.tail(TAIL));
        Err(Error::input(reason, MAKE_HINT))
    }

    /// The program that compares the image with the core; a tree that it does not compile with still has an image.
    fn comparison(
        &self,
        folders: &Folders<'_>,
        host: Option<comparison::Host>,
        progress: &mut dyn FnMut(&str),
    ) -> Result<comparison::Compared, Error> {
        let Some(host) = host else { return Ok(comparison::Compared::none("--no-diff left it out")) };
        progress("compiling the program that compares it with the core");
        comparison::make(folders, &self.prepared()?, host, self.stop)
    }

    /// Takes out of an image what debuggers need: it has names of this work folder.
    fn strip(&self, out: &Path) -> Result<(), Error> {
        let ended = process::run(program("objcopy", out).args(["--strip-debug", "image"]), self.stop, &mut |_| ())?;
        match ended.status.success() {
            true => Ok(()),
            false => Err(Error::input(format!("objcopy: {}", ended.tail(TAIL)), MAKE_HINT)),
        }
    }
}

/// Flags for compilers, so that an image has no name of the folder that it was made in: the same code has the same
/// hash.
fn flags(root: &Path) -> String {
    format!("-ffile-prefix-map={}/=", root.display())
}

/// Way out where make fails.
const MAKE_HINT: &str =
    "--keep-work keeps the folder that it was tried in; does `make kernel/sched/` work in the tree?";

/// Release that the kernel has for itself.
fn uts_release(obj: &Path) -> Option<String> {
    let text = fs::read_to_string(obj.join("include/generated/utsrelease.h")).ok()?;
    text.split('"').nth(1).map(str::to_owned)
}

/// Operations that were compiled, and why others were not.
fn operations(file: &Path) -> Result<Vec<Operation>, Error> {
    let text = fs::read_to_string(file).map_err(Error::file("read", file))?;
    let operations: Vec<Operation> = text.lines().filter_map(operation).collect();
    if operations.iter().any(|operation| operation.present) {
        return Ok(operations);
    }
    let reasons = operations.iter().map(|operation| {
        format!("\n  {}: {}", operation.name, operation.reason.as_deref().unwrap_or("no reason is known"))
    });
    let reason = format!("no operation compiles with this tree:{}", reasons.collect::<String>());
    Err(Error::input(reason, "its scheduler is in another form than those of 5.10 to 7.2"))
}

/// Line of the list of operations: name, `present` or `missing`, reason.
fn operation(line: &str) -> Option<Operation> {
    let mut words = line.splitn(3, '\t');
    let (name, state) = (words.next()?.trim(), words.next()?);
    let reason = words.next().map(str::trim).filter(|reason| !reason.is_empty()).map(str::to_owned);
    Some(Operation { name: name.to_owned(), present: state.trim() == "present", reason })
}

#[cfg(test)]
mod tests;
