// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables of numbers and texts as Parquet files.
//!
//! Written by hand: `parquet` and `arrow` bring about a hundred crates along. What is written is small: columns of 64
//! bits or of text that may have nothing in a row, plain encoding, pages packed with zstd, one page per column and row
//! group.
//! `tests/trace/check_tables.py` reads the files with pyarrow, polars, pandas and DuckDB.
//!
//! ```text
//! file   = "PAR1" (page of each column)* metadata length:u32le "PAR1"
//! page   = header (Thrift, compact) zstd(length:u32le levels (value:i64le* | (length:u32le text)*))
//! levels = (run << 1:varint level:u8)*                 1 = there is a value
//! ```
//!
//! Source of the numbers below: parquet.thrift of the Parquet format 2.11, and the Thrift compact protocol.

use std::io;

use crate::varint;

const MAGIC: &[u8; 4] = b"PAR1";
/// Rows whose values are held until their pages are written.
const GROUP_ROWS: usize = 1 << 17;
/// Level of zstd: its own default.
const ZSTD_LEVEL: i32 = 3;

/// `Type.INT64`, `DOUBLE` and `BYTE_ARRAY`.
const TYPE_INT64: i64 = 2;
const TYPE_DOUBLE: i64 = 5;
const TYPE_BYTE_ARRAY: i64 = 6;
/// `ConvertedType.UTF8`, `UINT_64` and `INT_64`.
const CONVERTED_UTF8: i64 = 0;
const CONVERTED_UINT_64: i64 = 14;
const CONVERTED_INT_64: i64 = 18;
/// `CompressionCodec.ZSTD`.
const CODEC_ZSTD: i64 = 6;
/// `Encoding.PLAIN` and `RLE`.
const ENCODING_PLAIN: i64 = 0;
const ENCODING_RLE: i64 = 3;

/// `FieldRepetitionType.OPTIONAL`.
const REPETITION_OPTIONAL: i64 = 1;

/// Types of the Thrift compact protocol.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A Thrift struct being written.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    last: u8,
}

impl Thrift {
    /// Field ids here are less than 16 apart and rise.
    fn field(&mut self, id: u8, kind: u8) {
        self.bytes.push((id - self.last) << 4 | kind);
        self.last = id;
    }

    fn number(&mut self, id: u8, kind: u8, value: i64) {
        self.field(id, kind);
        zigzag(&mut self.bytes, value);
    }

    fn text(&mut self, id: u8, text: &str) {
        self.field(id, BINARY);
        put_text(&mut self.bytes, text);
    }

    fn list(&mut self, id: u8, kind: u8, length: usize, items: impl FnOnce(&mut Vec<u8>)) {
        self.field(id, LIST);
        if length < 15 {
            self.bytes.push((length as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            varint::put(&mut self.bytes, length as u64);
        }
        items(&mut self.bytes);
    }

    fn nested(&mut self, id: u8, inner: Thrift) {
        self.field(id, STRUCT);
        self.bytes.extend(inner.end());
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn zigzag(out: &mut Vec<u8>, value: i64) {
    varint::put(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    varint::put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers from 0.
    Unsigned,
    /// Whole numbers.
    Signed,
    /// Numbers.
    Double,
    /// Texts.
    Text,
}

impl Kind {
    /// `Type`, and `ConvertedType` where there is one.
    fn types(self) -> (i64, Option<i64>) {
        match self {
            Kind::Unsigned => (TYPE_INT64, Some(CONVERTED_UINT_64)),
            Kind::Signed => (TYPE_INT64, Some(CONVERTED_INT_64)),
            Kind::Double => (TYPE_DOUBLE, None),
            Kind::Text => (TYPE_BYTE_ARRAY, Some(CONVERTED_UTF8)),
        }
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParquetColumn {
    /// Name.
    pub name: String,
    /// Type of its values.
    pub kind: Kind,
}

/// One value as it is stored.
pub enum Stored<'a> {
    /// A number, in 64 bits: whole, or those of a double.
    Bits(u64),
    /// A text.
    Text(&'a str),
    /// Not known.
    Nothing,
}

impl Stored<'_> {
    fn put(&self, column: &mut Vec<u8>) {
        match self {
            Stored::Nothing => {}
            Stored::Bits(bits) => column.extend(bits.to_le_bytes()),
            Stored::Text(text) => {
                column.extend((text.len() as u32).to_le_bytes());
                column.extend(text.as_bytes());
            }
        }
    }
}

/// Presence of values in the rows of a column, as runs.
#[derive(Clone, Default)]
struct Levels(Vec<(u64, u8)>);

impl Levels {
    fn push(&mut self, value: &Stored<'_>) {
        let level = u8::from(!matches!(value, Stored::Nothing));
        match self.0.last_mut().filter(|run| run.1 == level) {
            Some(run) => run.0 += 1,
            None => self.0.push((1, level)),
        }
    }

    /// As a page has them, with their length in front.
    fn bytes(&self) -> Vec<u8> {
        let mut runs = Vec::new();
        for &(length, level) in &self.0 {
            varint::put(&mut runs, length << 1);
            runs.push(level);
        }
        [&(runs.len() as u32).to_le_bytes()[..], &runs].concat()
    }
}

/// Place of a page of a column.
struct Chunk {
    offset: u64,
    packed: u64,
    unpacked: u64,
}

/// Writes one table.
pub struct Parquet<W: io::Write> {
    out: W,
    at: u64,
    columns: Vec<ParquetColumn>,
    /// Values of the row group being gathered, a column each, as they are stored.
    values: Vec<Vec<u8>>,
    levels: Vec<Levels>,
    rows: usize,
    groups: Vec<(usize, Vec<Chunk>)>,
    error: Option<io::Error>,
}

impl<W: io::Write> Parquet<W> {
    /// Starts a file with these columns.
    pub fn new(out: W, columns: Vec<ParquetColumn>) -> Self {
        let (values, levels) = (vec![Vec::new(); columns.len()], vec![Levels::default(); columns.len()]);
        let mut parquet = Parquet { out, at: 0, columns, values, levels, rows: 0, groups: Vec::new(), error: None };
        parquet.write(MAGIC);
        parquet
    }

    /// Adds a row.
    pub fn row<'a>(&mut self, values: impl Iterator<Item = Stored<'a>>) {
        for ((column, levels), value) in self.values.iter_mut().zip(&mut self.levels).zip(values) {
            value.put(column);
            levels.push(&value);
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS {
            self.end_group();
        }
    }

    /// Writes the rest and the description; returns the length of the file.
    ///
    /// # Errors
    /// The first error of `out`.
    pub fn finish(mut self) -> io::Result<u64> {
        if self.rows > 0 {
            self.end_group();
        }
        let metadata = self.metadata();
        self.write(&metadata);
        self.write(&(metadata.len() as u32).to_le_bytes());
        self.write(MAGIC);
        match self.error {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.at),
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            self.error = self.out.write_all(bytes).err();
            self.at += bytes.len() as u64;
        }
    }

    fn end_group(&mut self) {
        let mut chunks = Vec::new();
        for column in 0..self.columns.len() {
            let levels = std::mem::take(&mut self.levels[column]).bytes();
            let values = [levels, std::mem::take(&mut self.values[column])].concat();
            match zstd::encode_all(&values[..], ZSTD_LEVEL) {
                Ok(packed) => {
                    let head = page_header(self.rows, values.len(), packed.len());
                    let chunk = Chunk {
                        offset: self.at,
                        packed: (head.len() + packed.len()) as u64,
                        unpacked: (head.len() + values.len()) as u64,
                    };
                    self.write(&head);
                    self.write(&packed);
                    chunks.push(chunk);
                }
                Err(error) => self.error = self.error.take().or(Some(error)),
            }
        }
        self.groups.push((self.rows, chunks));
        self.rows = 0;
    }

    /// `FileMetaData`.
    fn metadata(&self) -> Vec<u8> {
        let rows: usize = self.groups.iter().map(|(rows, _)| rows).sum();
        let mut file = Thrift::default();
        file.number(1, I32, 1);
        file.list(2, STRUCT, self.columns.len() + 1, |out| {
            let mut root = Thrift::default();
            root.text(4, "events");
            root.number(5, I32, self.columns.len() as i64);
            out.extend(root.end());
            self.columns.iter().for_each(|column| out.extend(element(column)));
        });
        file.number(3, I64, rows as i64);
        file.list(4, STRUCT, self.groups.len(), |out| {
            self.groups.iter().for_each(|(rows, chunks)| out.extend(self.group(*rows, chunks)));
        });
        file.text(6, concat!("pelton ", env!("CARGO_PKG_VERSION")));
        file.end()
    }

    /// `RowGroup`.
    fn group(&self, rows: usize, chunks: &[Chunk]) -> Vec<u8> {
        let mut group = Thrift::default();
        group.list(1, STRUCT, chunks.len(), |out| {
            for (column, chunk) in self.columns.iter().zip(chunks) {
                let mut entry = Thrift::default();
                entry.number(2, I64, chunk.offset as i64);
                entry.nested(3, column_metadata(column, chunk, rows));
                out.extend(entry.end());
            }
        });
        group.number(2, I64, chunks.iter().map(|chunk| chunk.unpacked as i64).sum());
        group.number(3, I64, rows as i64);
        group.end()
    }
}

/// `PageHeader` of a data page.
fn page_header(rows: usize, unpacked: usize, packed: usize) -> Vec<u8> {
    let mut data = Thrift::default();
    data.number(1, I32, rows as i64);
    data.number(2, I32, ENCODING_PLAIN);
    data.number(3, I32, ENCODING_RLE);
    data.number(4, I32, ENCODING_RLE);
    let mut page = Thrift::default();
    page.number(1, I32, 0);
    page.number(2, I32, unpacked as i64);
    page.number(3, I32, packed as i64);
    page.nested(5, data);
    page.end()
}

/// `SchemaElement` of a column.
fn element(column: &ParquetColumn) -> Vec<u8> {
    let mut element = Thrift::default();
    let (stored, converted) = column.kind.types();
    element.number(1, I32, stored);
    element.number(3, I32, REPETITION_OPTIONAL);
    element.text(4, &column.name);
    if let Some(converted) = converted {
        element.number(6, I32, converted);
    }
    element.end()
}

/// `ColumnMetaData`.
fn column_metadata(column: &ParquetColumn, chunk: &Chunk, rows: usize) -> Thrift {
    let mut metadata = Thrift::default();
    metadata.number(1, I32, column.kind.types().0);
    metadata.list(2, I32, 1, |out| zigzag(out, ENCODING_PLAIN));
    metadata.list(3, BINARY, 1, |out| put_text(out, &column.name));
    metadata.number(4, I32, CODEC_ZSTD);
    metadata.number(5, I64, rows as i64);
    metadata.number(6, I64, chunk.unpacked as i64);
    metadata.number(7, I64, chunk.packed as i64);
    metadata.number(9, I64, chunk.offset as i64);
    metadata
}
