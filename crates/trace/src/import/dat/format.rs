// SPDX-License-Identifier: GPL-2.0-or-later
//! The text of an event's `format` file, and of `header_page`: where each field stands.

/// Contents of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number, or something else of 1, 2, 4 or 8 bytes.
    Number { signed: bool },
    /// Text of at most the field's size.
    Text,
    /// Offset and length of text, counted from the start of the record.
    TextAt,
    /// Text whose place is counted from the end of the field.
    TextAfter,
}

/// A field of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub name: String,
    pub offset: u32,
    pub size: u32,
    pub kind: Kind,
}

/// An event's format file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct EventFormat {
    pub name: String,
    pub id: u16,
    pub fields: Vec<Field>,
    /// Its text calls the task state 64 parked, as since 4.14.
    pub parked: bool,
}

/// Fields of an event that are looked at.
const FIELDS_MAX: usize = 64;
/// Largest offset or size of a field, bytes: a record fits a page.
const FIELD_BYTES_MAX: u32 = 1 << 16;

impl EventFormat {
    /// Reads a format file; `None` when it has no name or number. Lines that are no field are passed over.
    pub fn parse(text: &str) -> Option<EventFormat> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let name = value("name:").filter(|name| !name.is_empty() && name.len() <= 128)?.to_owned();
        let id = value("ID:")?.parse().ok()?;
        let fields = parse_fields(text);
        let print = value("print fmt:").unwrap_or("");
        let parked = ["0x00000040, \"P\"", "0x40, \"P\"", "64, \"P\""].iter().any(|mark| print.contains(mark));
        Some(EventFormat { name, id, fields, parked })
    }

    /// The place of a field.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}

/// Every field line of a text.
pub(super) fn parse_fields(text: &str) -> Vec<Field> {
    text.lines().filter_map(parse_field).take(FIELDS_MAX).collect()
}

/// `field:TYPE NAME[COUNT]; offset:N; size:N; signed:N;`
fn parse_field(line: &str) -> Option<Field> {
    let mut parts = line.trim().split(';');
    let declaration = parts.next()?.strip_prefix("field:")?.trim();
    let (mut offset, mut size, mut signed) = (None, None, false);
    for part in parts {
        match part.trim().split_once(':') {
            Some(("offset", number)) => offset = bounded(number),
            Some(("size", number)) => size = bounded(number),
            Some(("signed", number)) => signed = number == "1",
            _ => {}
        }
    }
    let (kind, name) = parse_declaration(declaration, signed)?;
    Some(Field { name: name.to_owned(), offset: offset?, size: size?, kind })
}

fn bounded(number: &str) -> Option<u32> {
    number.parse().ok().filter(|&number: &u32| number <= FIELD_BYTES_MAX)
}

fn parse_declaration(declaration: &str, signed: bool) -> Option<(Kind, &str)> {
    let bare = declaration.split('[').next()?.trim_end();
    let is_array = declaration.ends_with(']');
    if declaration.starts_with("__data_loc") || declaration.starts_with("__rel_loc") {
        // The brackets belong to the type: `__data_loc char[] name`.
        let name = declaration.rsplit(|c: char| c.is_whitespace() || c == ']').next()?;
        let kind = if declaration.starts_with("__rel_loc") { Kind::TextAfter } else { Kind::TextAt };
        return Some((kind, name)).filter(|(_, name)| !name.is_empty());
    }
    let name = bare.rsplit(|c: char| c.is_whitespace() || c == '*').next().filter(|name| !name.is_empty())?;
    let kind = if is_array { Kind::Text } else { Kind::Number { signed } };
    Some((kind, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIGRATE: &str = "name: sched_migrate_task\nID: 94\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\
        \tfield:__data_loc char[] path;\toffset:28;\tsize:4;\tsigned:0;\n\
        \tfield:__rel_loc char[] tail;\toffset:32;\tsize:4;\tsigned:0;\n\
        \tfield:const void *ptr;\toffset:40;\tsize:8;\tsigned:0;\n\
        print fmt: \"{ 0x00000040, \"P\" }\", REC->pid\n";

    #[test]
    fn fields_stand_where_the_file_says() {
        let format = EventFormat::parse(MIGRATE).expect("a format");
        let found: Vec<_> = format.fields.iter().map(|f| (f.name.as_str(), f.offset, f.size, f.kind)).collect();
        let expected = [
            ("common_type", 0, 2, Kind::Number { signed: false }),
            ("comm", 8, 16, Kind::Text),
            ("pid", 24, 4, Kind::Number { signed: true }),
            ("path", 28, 4, Kind::TextAt),
            ("tail", 32, 4, Kind::TextAfter),
            ("ptr", 40, 8, Kind::Number { signed: false }),
        ];
        assert_eq!((format.name.as_str(), format.id, format.parked), ("sched_migrate_task", 94, true));
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_no_format_is_refused() {
        for text in ["", "name: x\n", "ID: 3\n", "name: x\nID: 70000\n", "name: \nID: 1\n"] {
            assert_eq!(EventFormat::parse(text), None, "{text:?}");
        }
        assert!(parse_fields("field:int a;\toffset:9999999999;\tsize:4;\nfield:;offset:1;size:1;").is_empty());
    }
}
