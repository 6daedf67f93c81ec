// SPDX-License-Identifier: GPL-2.0-or-later
//! Definitions in the headers of the core.

use std::collections::BTreeMap;

use crate::repo::File;
use crate::tidy::c;

const HEADERS: &str = "core/include/pelton/";
const PREFIX: &str = "pelton_";

/// Names without the prefix, each with the path of its header.
#[derive(Default)]
pub struct Core {
    functions: BTreeMap<String, String>,
    /// Tables and constants.
    others: BTreeMap<String, String>,
}

impl Core {
    pub fn of(files: &[File]) -> Core {
        let mut core = Core::default();
        for file in files.iter().filter(|file| file.path.starts_with(HEADERS)) {
            let functions = c::functions(&file.text);
            let names = functions.iter().filter_map(|function| function.name.strip_prefix(PREFIX));
            core.functions.extend(names.map(|name| (name.to_owned(), file.path.clone())));
            let others = file.text.lines().filter_map(|line| constant(line).or_else(|| table(line)));
            core.others.extend(others.map(|name| (name.to_owned(), file.path.clone())));
        }
        core
    }

    /// Header of a function.
    pub fn function(&self, name: &str) -> Option<&str> {
        self.functions.get(name).map(String::as_str)
    }

    /// Header of a function, table or constant.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.function(name).or_else(|| self.others.get(name).map(String::as_str))
    }
}

/// `#define PELTON_NAME 32u`
fn constant(line: &str) -> Option<&str> {
    line.strip_prefix("#define PELTON_")?.split([' ', '(']).next()
}

/// `static const u32 pelton_name[40] = {`
fn table(line: &str) -> Option<&str> {
    let (head, _) = line.split_once('[').filter(|(head, _)| head.contains("static const"))?;
    head.rsplit(' ').next()?.strip_prefix(PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_tables_and_constants_are_found_without_their_prefix() {
        let text = "#define PELTON_LEVELS 40u\nstatic const u32 pelton_weights[PELTON_LEVELS] = { 1 };\n\
                    PELTON_INLINE u32 pelton_fits(u32 a)\n{\n\treturn a;\n}\n";
        let files =
            [File::example("core/include/pelton/a.h", text), File::example("bench/b.h", "void pelton_b(void) { }")];
        let core = Core::of(&files);
        assert_eq!(core.function("fits"), Some("core/include/pelton/a.h"));
        assert!(core.header("weights").is_some() && core.header("LEVELS").is_some() && core.header("fits").is_some());
        assert!(core.function("weights").is_none() && core.header("b").is_none());
    }
}
