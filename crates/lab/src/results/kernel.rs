// SPDX-License-Identifier: GPL-2.0-or-later
//! Results about images of kernels' own code.

use schemars::JsonSchema;
use serde::Serialize;

/// Images that are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Kernels {
    /// In the order of their names.
    pub kernels: Vec<KernelRow>,
}

/// Image in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelRow {
    /// Name: `--policy kernel:NAME`.
    pub name: String,
    /// Description; null where it cannot be read.
    pub kernel: Option<KernelImage>,
    /// Reason why the description cannot be read.
    pub damage: Option<String>,
}

/// Description of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelImage {
    /// Name: `--policy kernel:NAME`.
    pub name: String,
    /// Release as the kernel has it, UTS_RELEASE.
    pub release: String,
    /// Profile that has what the image lacks: the newest that is not newer than the release.
    pub profile: String,
    /// Hash of its bytes.
    pub hash: String,
    /// Origin of its code.
    pub source: KernelSource,
    /// Patches, in the order in which they were applied.
    pub patches: Vec<KernelPatch>,
    /// Operations of the interface.
    pub operations: Vec<KernelOperation>,
    /// Parts of the change that no operation reaches: a run under the image shows nothing of them.
    pub not_covered: Vec<KernelPart>,
    /// Time that it took to make it, s.
    pub built_s: u64,
    /// Reason why `pelton kernel diff` cannot compare it; null where it can.
    pub no_diff: Option<String>,
}

/// Origin of an image's code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelSource {
    /// Folder of the tree, or name and version of the distribution's package.
    pub place: String,
    /// Commit that was checked out; null where git does not have the tree.
    pub commit: Option<String>,
    /// Commit that changes are counted from, if it was named.
    pub since: Option<String>,
    /// Files that differ from that commit.
    pub changed: Vec<String>,
}

/// Patch that was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelPatch {
    /// Name of the file.
    pub name: String,
    /// Hash of its bytes.
    pub hash: String,
}

/// Operation of the interface between simulator and image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelOperation {
    /// Name.
    pub operation: String,
    /// The image has it; if not, it is the profile's.
    pub present: bool,
    /// Reason why it is missing.
    pub reason: Option<String>,
}

/// Part of a change that no operation reaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelPart {
    /// File, below the tree.
    pub file: String,
    /// Kind: function, macro, type, initialiser, declaration, condition, file.
    pub kind: &'static str,
    /// Name of the function, macro, type or variable; null for a file.
    pub name: Option<String>,
    /// Reason.
    pub reason: String,
}

/// Image that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelBuilt {
    /// Description.
    pub kernel: KernelImage,
    /// Folder that it was made in, if it was to be kept.
    pub work: Option<String>,
}

/// Image that was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelRemoved {
    /// Its name.
    pub removed: String,
}

/// Kernel's own code compared with the core, operation by operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelDiff {
    /// Name of the image.
    pub kernel: String,
    /// Release as the kernel has it.
    pub release: String,
    /// Rules of the core that it is compared with: a profile, and switches behind it.
    pub against: String,
    /// States of each operation; of some that take long a part of them.
    pub states: u64,
    /// Seed of the states.
    pub seed: u64,
    /// No operation differs, and all could be compared.
    pub equal: bool,
    /// Decisions that differ, in words.
    pub decisions: Vec<String>,
    /// Operations that were compared.
    pub operations: Vec<KernelDifference>,
    /// Switches of the core that explain what differs, the best first.
    pub explained: Vec<KernelExplained>,
    /// Parts of the comparison that do not compile with the tree: their operations are not compared.
    pub left_out: Vec<KernelLeftOut>,
}

/// Operation that was compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelDifference {
    /// Functions of the kernel.
    pub operation: String,
    /// Decision that it is a part of, in words.
    pub decision: &'static str,
    /// States.
    pub states: u64,
    /// States in which the answers differ.
    pub differ: u64,
    /// Warnings of the kernel's code.
    pub warnings: u64,
    /// Reason why it was not compared to the end.
    pub failed: Option<String>,
    /// Smallest state that was found in which the answers differ.
    pub smallest: Option<KernelState>,
}

/// State in which the answers differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelState {
    /// Fields that are not 0.
    pub fields: Vec<KernelField>,
    /// Fields of the answers that differ.
    pub answers: Vec<KernelAnswer>,
    /// Machine, where the question is one of placement or balance.
    pub machine: Option<KernelMachine>,
}

/// Field and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelField {
    /// Name, as the core has it.
    pub name: String,
    /// Value.
    pub value: i64,
}

/// Field of two answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelAnswer {
    /// Name; `ret` is the function's value.
    pub name: String,
    /// Answer of the kernel's code.
    pub kernel: i64,
    /// Answer of the core.
    pub core: i64,
}

/// Machine on which a question of placement or balance is asked; fields that are not listed have nothing to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelMachine {
    /// Facts about the machine and the call.
    pub facts: Vec<KernelField>,
    /// Task that is placed.
    pub task: Vec<KernelField>,
    /// Task that wakes it.
    pub waker: Vec<KernelField>,
    /// CPUs, by their numbers.
    pub cpus: Vec<Vec<KernelField>>,
    /// Performance domains: a set of CPUs, then frequencies and powers.
    pub models: Vec<Vec<KernelField>>,
}

/// Switches of the core with which all operations that differ are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelExplained {
    /// Rules: `--policy` takes them.
    pub policy: String,
    /// Other operations, which differ with them.
    pub others: Vec<String>,
}

/// Part of the comparison that does not compile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelLeftOut {
    /// File of the comparison's drivers.
    pub part: String,
    /// First error.
    pub reason: String,
}
