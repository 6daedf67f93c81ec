// SPDX-License-Identifier: GPL-2.0-or-later
//! The bytes of a trace: from a file, from standard input, packed or not.
//!
//! Packed files are recognised by their first bytes, unpacked while they are read, and hold at most the window their
//! format needs. Formats that must be read in another order than they are stored are first unpacked into a temporary
//! file that has no name, so nothing is left behind whatever happens.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::stop::{Stop, Stoppable, is_stop};
use super::{Damage, ImportError, Source, Timed, TraceInfo};

/// Number of first bytes that decide the kind of a file.
const HEAD_BYTES: usize = 64 << 10;
/// Memory an xz stream may ask for: what the strongest preset needs, and some.
const XZ_MEMORY_MAX: u64 = 128 << 20;
/// Largest window of a zstd stream, as a power of two: 128 MiB.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;
/// Traces shrink by 5 to 30; a file that grows by more than this is no trace.
pub(super) const GROWTH_MAX: u64 = 400;
/// Length up to which a file may grow whatever its packed size.
const GROWTH_FREE_BYTES: u64 = 64 << 20;

/// Packing of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Gzip,
    Xz,
    Zstd,
    /// Output of `atrace -z`: a line, then a zlib stream.
    Atrace,
}

/// The line before what Android's `atrace` prints, and the first byte of a zlib stream.
const ATRACE_MAGIC: &[u8] = b"TRACE:\n\x78";

impl Packing {
    const ALL: [Packing; 4] = [Packing::Gzip, Packing::Xz, Packing::Zstd, Packing::Atrace];

    fn of_head(head: &[u8]) -> Option<Packing> {
        Self::ALL.into_iter().find(|packing| head.starts_with(packing.magic()))
    }

    fn magic(self) -> &'static [u8] {
        match self {
            Packing::Gzip => &[0x1f, 0x8b],
            Packing::Xz => &[0xfd, b'7', b'z', b'X', b'Z', 0],
            Packing::Zstd => &[0x28, 0xb5, 0x2f, 0xfd],
            Packing::Atrace => ATRACE_MAGIC,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Xz => "xz",
            Packing::Zstd => "zstd",
            Packing::Atrace => "atrace -z",
        }
    }

    fn unpack(self, packed: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
        let mut packed = BufReader::with_capacity(HEAD_BYTES, packed);
        Ok(match self {
            Packing::Atrace => {
                packed.read_exact(&mut [0; ATRACE_MAGIC.len() - 1])?;
                Box::new(flate2::bufread::ZlibDecoder::new(packed))
            }
            Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
            Packing::Xz => {
                let flags = liblzma::stream::CONCATENATED;
                let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY_MAX, flags)?;
                Box::new(liblzma::bufread::XzDecoder::new_stream(packed, stream))
            }
            Packing::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
        })
    }
}

/// A trace's bytes, opened and unpacked, its first ones known.
pub(super) struct Input {
    /// The first bytes: 64 KiB unless the trace is shorter.
    pub head: Vec<u8>,
    /// The file itself, when it can be read in any order and is not packed.
    file: Option<File>,
    /// Bytes after the head.
    rest: Box<dyn Read>,
    packing: Option<Packing>,
    packed_bytes: PackedBytes,
}

/// Length of a packed file.
#[derive(Clone)]
enum PackedBytes {
    /// A file's length.
    Known(u64),
    /// A stream: what was read of it so far.
    SoFar(Arc<AtomicU64>),
}

impl PackedBytes {
    /// Most bytes that may come out.
    fn contents_max(&self) -> u64 {
        let packed = match self {
            PackedBytes::Known(bytes) => *bytes,
            PackedBytes::SoFar(bytes) => bytes.load(Ordering::Relaxed),
        };
        GROWTH_FREE_BYTES.max(packed.saturating_mul(GROWTH_MAX))
    }
}

/// Counts what is read.
struct Counted<R> {
    from: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.from.read(buffer)?;
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

/// A trace's bytes in any order.
pub(super) struct Whole {
    /// The file, or an unnamed copy of what was unpacked.
    pub file: File,
    /// Its length, bytes.
    pub bytes: u64,
    /// Reason why not everything could be unpacked.
    pub fault: Option<String>,
}

impl Input {
    /// Opens `path`; `-` is standard input.
    pub fn open(path: &Path, stop: Stop) -> Result<Input, ImportError> {
        if path.as_os_str() == "-" {
            let stdin = Stoppable::stdin(stop).map_err(|error| ImportError::io(path, error))?;
            return Input::of_stream(path, Box::new(stdin), None, None);
        }
        let failed = |error| cannot_open(path, error);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            let error = ImportError::content(path, "is a directory, not a trace");
            return Err(error.help("name one file in it"));
        }
        if !metadata.is_file() {
            return Input::of_stream(path, Box::new(Stoppable::new(file, true, stop)), None, None);
        }
        let copy = file.try_clone().map_err(failed)?;
        let stream = Box::new(Stoppable::new(copy, false, stop));
        Input::of_stream(path, stream, Some(file), Some(metadata.len()))
    }

    fn of_stream(
        path: &Path,
        mut stream: Box<dyn Read>,
        file: Option<File>,
        bytes: Option<u64>,
    ) -> Result<Input, ImportError> {
        let head = read_head(&mut stream).map_err(|error| ImportError::io(path, error))?;
        let so_far = Arc::new(AtomicU64::new(head.len() as u64));
        let packed_bytes = bytes.map_or_else(|| PackedBytes::SoFar(so_far.clone()), PackedBytes::Known);
        if head.is_empty() {
            return Err(ImportError::content(path, "is empty").help("record the trace again"));
        }
        let Some(packing) = Packing::of_head(&head) else {
            let head = without_mark(head);
            return Ok(Input { head, file, rest: stream, packing: None, packed_bytes });
        };
        let fault = |error: io::Error| {
            if is_stop(&error) {
                return ImportError::io(path, error);
            }
            ImportError::content(path, format!("cannot unpack this {} file: {error}", packing.name()))
                .help("copy or record the trace again")
        };
        let rest = Counted { from: stream, bytes: so_far };
        let mut unpacked = packing.unpack(Box::new(Cursor::new(head).chain(rest))).map_err(fault)?;
        let head = read_head(&mut unpacked).map_err(fault)?;
        if head.is_empty() {
            return Err(ImportError::content(path, "is empty once unpacked").help("record the trace again"));
        }
        let head = without_mark(head);
        Ok(Input { head, file: None, rest: unpacked, packing: Some(packing), packed_bytes })
    }

    /// The bytes in order. A packed file that cannot be unpacked to its end, or grows beyond measure, ends early, and
    /// [`Fault`] says why.
    pub fn into_stream(self) -> (Box<dyn BufRead>, Fault) {
        self.streamed(true)
    }

    /// Unpacks a format that a flood of nothing is not valid in, without a limit of growth: our logs of runs that
    /// repeat pack without measure.
    pub fn into_checked_stream(self) -> (Box<dyn BufRead>, Fault) {
        self.streamed(false)
    }

    fn streamed(self, is_limited: bool) -> (Box<dyn BufRead>, Fault) {
        let fault = Fault::default();
        let limit = is_limited.then_some(self.packed_bytes);
        let bytes = Cursor::new(self.head).chain(self.rest);
        let stream: Box<dyn Read> = match self.packing {
            Some(packing) => Box::new(Unpacked { bytes, read: 0, limit, packing, fault: fault.clone() }),
            None => Box::new(bytes),
        };
        (Box::new(BufReader::with_capacity(HEAD_BYTES, stream)), fault)
    }

    /// The bytes in any order: the file itself, or a copy without a name.
    pub fn into_whole(mut self, path: &Path) -> Result<Whole, ImportError> {
        let failed = |error| ImportError::io(path, error);
        if let Some(mut file) = self.file.take() {
            // Its place is where the head ended.
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            let bytes = file.metadata().map_err(failed)?.len();
            return Ok(Whole { file, bytes, fault: None });
        }
        let mut unnamed = tempfile::tempfile().map_err(|error| no_room(path, &error))?;
        let (stream, unpacking) = self.into_stream();
        let copied = copy(stream, &mut unnamed);
        let (bytes, fault) = copied
            .map_err(|error| if is_stop(&error) { ImportError::io(path, error) } else { no_room(path, &error) })?;
        let fault = unpacking.take().map(|damage| damage.what).or(fault);
        unnamed.seek(SeekFrom::Start(0)).map_err(failed)?;
        Ok(Whole { file: unnamed, bytes, fault })
    }
}

/// Reason why a packed stream ended before its end, once it has.
#[derive(Clone, Default)]
pub(super) struct Fault(Arc<Mutex<Option<Damage>>>);

impl Fault {
    fn take(&self) -> Option<Damage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, damage: Damage) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(damage);
    }
}

/// An unpacked stream that ends where it cannot be unpacked further.
struct Unpacked<R> {
    bytes: R,
    read: u64,
    /// Length of the packed file, where its contents have a limit.
    limit: Option<PackedBytes>,
    packing: Packing,
    fault: Fault,
}

impl<R> Unpacked<R> {
    /// True when more came out than any trace holds.
    fn is_flood(&self) -> bool {
        self.limit.as_ref().is_some_and(|packed| self.read >= packed.contents_max())
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_flood() {
            let what = format!(
                "the {} file grows beyond {GROWTH_MAX} times its size: the rest is not read",
                self.packing.name()
            );
            self.fault.set(Damage { position: self.read, what });
            return Ok(0);
        }
        match self.bytes.read(buffer) {
            Ok(bytes) => {
                self.read += bytes as u64;
                Ok(bytes)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted || is_stop(&error) => Err(error),
            Err(error) => {
                let (name, read) = (self.packing.name(), self.read);
                let what = format!("the {name} file cannot be unpacked further than {read} bytes of contents: {error}");
                self.fault.set(Damage { position: read, what });
                Ok(0)
            }
        }
    }
}

/// A source over a packed stream: at its end it says what could not be unpacked.
pub(super) struct FromPacked<S> {
    source: S,
    fault: Fault,
    /// Facts known at the end, with the fault.
    end: Option<TraceInfo>,
}

impl<S: Source> FromPacked<S> {
    pub fn new(source: S, fault: Fault) -> FromPacked<S> {
        FromPacked { source, fault, end: None }
    }

    #[cold]
    fn note_fault(&mut self) {
        if let Some(damage) = self.fault.take() {
            let mut info = self.source.info().clone();
            info.ends_at(damage.position, damage.what);
            self.end = Some(info);
        }
    }
}

impl<S: Source> Source for FromPacked<S> {
    fn next(&mut self) -> Result<Option<Timed>, ImportError> {
        let next = self.source.next();
        if matches!(next, Ok(None)) {
            self.note_fault();
        }
        next
    }

    fn info(&self) -> &TraceInfo {
        self.end.as_ref().unwrap_or_else(|| self.source.info())
    }
}

/// A stream that fails where a packed file cannot be unpacked further.
struct Strict<R> {
    bytes: R,
    fault: Fault,
}

impl<R: Read> Read for Strict<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bytes.read(buffer)?;
        match self.fault.take() {
            Some(damage) if bytes == 0 => Err(io::Error::new(io::ErrorKind::InvalidData, damage.what)),
            _ => Ok(bytes),
        }
    }
}

/// The bytes of the file `path` (`-`: standard input), unpacked when it is packed with gzip, xz or zstd.
///
/// # Errors
/// When there is no such file, it is empty, or its beginning cannot be unpacked. Reading fails where a packed file is
/// cut or damaged.
pub fn open_bytes(path: &Path) -> Result<Box<dyn BufRead>, ImportError> {
    let (bytes, fault) = Input::open(path, None)?.into_stream();
    Ok(Box::new(BufReader::with_capacity(HEAD_BYTES, Strict { bytes, fault })))
}

fn cannot_open(path: &Path, error: io::Error) -> ImportError {
    let help = match error.kind() {
        io::ErrorKind::NotFound => "give the path of a trace, or `-` for standard input",
        io::ErrorKind::PermissionDenied => "traces recorded as root belong to root: change the owner, or copy the file",
        _ => return ImportError::io(path, error),
    };
    ImportError::io(path, error).help(help)
}

fn no_room(path: &Path, error: &io::Error) -> ImportError {
    ImportError::content(path, format!("cannot unpack into a temporary file: {error}"))
        .help("make room in the directory TMPDIR names, or unpack the file yourself")
}

/// Programs that write tables put a byte order mark before the text; no binary format begins like one.
fn without_mark(mut head: Vec<u8>) -> Vec<u8> {
    if head.starts_with(b"\xef\xbb\xbf") {
        head.drain(..3);
    }
    head
}

fn read_head(stream: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    stream.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Copies until the end or a fault of the input. Only a fault of the output is an error.
fn copy(mut from: impl BufRead, to: &mut File) -> io::Result<(u64, Option<String>)> {
    let mut bytes = 0;
    loop {
        let chunk = match from.fill_buf() {
            Ok([]) => return Ok((bytes, None)),
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if is_stop(&error) => return Err(error),
            Err(error) => return Ok((bytes, Some(format!("the file cannot be read further: {error}")))),
        };
        to.write_all(chunk)?;
        let length = chunk.len();
        bytes += length as u64;
        from.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(bytes).expect("room");
        file
    }

    fn packed(packing: Packing, bytes: &[u8]) -> Vec<u8> {
        match packing {
            Packing::Gzip => {
                let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                out.write_all(bytes).and_then(|()| out.finish()).expect("a vector takes everything")
            }
            Packing::Xz => {
                let mut out = liblzma::write::XzEncoder::new(Vec::new(), 1);
                out.write_all(bytes).and_then(|()| out.finish()).expect("a vector takes everything")
            }
            Packing::Zstd => zstd::encode_all(bytes, 1).expect("a vector takes everything"),
            Packing::Atrace => {
                let mut out = flate2::write::ZlibEncoder::new(b"TRACE:\n".to_vec(), flate2::Compression::default());
                out.write_all(bytes).and_then(|()| out.finish()).expect("a vector takes everything")
            }
        }
    }

    fn contents(packing: Packing) -> Vec<u8> {
        (0..200_000u32).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> packing as u32).to_le_bytes()).collect()
    }

    #[test]
    fn packed_files_give_their_contents_in_order_and_whole() {
        for packing in Packing::ALL {
            let bytes = contents(packing);
            let file = written(&packed(packing, &bytes));
            let mut streamed = Vec::new();
            Input::open(file.path(), None).expect("opens").into_stream().0.read_to_end(&mut streamed).expect("unpacks");
            assert!(streamed == bytes, "{packing:?}");
            let mut whole = Input::open(file.path(), None).expect("opens").into_whole(file.path()).expect("unpacks");
            let mut copied = Vec::new();
            whole.file.read_to_end(&mut copied).expect("reads");
            assert!(copied == bytes && whole.bytes == bytes.len() as u64 && whole.fault.is_none(), "{packing:?}");
        }
    }

    #[test]
    fn a_cut_file_gives_what_it_holds_and_says_so() {
        for packing in Packing::ALL {
            let bytes = packed(packing, &contents(packing));
            let file = written(&bytes[..bytes.len() / 2]);
            let whole = Input::open(file.path(), None).expect("opens").into_whole(file.path()).expect("unpacks a part");
            assert!(whole.bytes > 64 << 10 && whole.fault.is_some(), "{packing:?}");
        }
    }

    #[test]
    fn a_cut_stream_is_damage_and_no_error() {
        // One row at a time on each CPU: rows that overlap would be damage of another kind.
        let rows = (0..20_000).map(|i| format!("{}.{:02},0.001,{},{},t,0.5\n", i / 100, i % 100, i % 4, 100 + i % 9));
        let text = "start_s,duration_s,cpu,pid,comm,duty_cycle\n".to_owned() + &rows.collect::<String>();
        for packing in Packing::ALL {
            let bytes = packed(packing, text.as_bytes());
            let whole = read_all(&bytes);
            let cut = read_all(&bytes[..bytes.len() * 3 / 4]);
            assert!(whole.1.is_complete() && cut.0 > 1000 && cut.0 < whole.0, "{packing:?}: {} {}", whole.0, cut.0);
            let told = cut.1.damage.iter().any(|damage| damage.what.contains("cannot be unpacked further"));
            assert!(told && !cut.1.is_complete(), "{packing:?}: {:?}", cut.1.damage);
        }
    }

    fn read_all(bytes: &[u8]) -> (u64, TraceInfo) {
        let file = written(bytes);
        let mut source = super::super::open(file.path(), &Default::default()).expect("opens");
        let mut events = 0;
        while source.next().expect("no error").is_some() {
            events += 1;
        }
        (events, source.info().clone())
    }

    #[test]
    fn a_bomb_stops_growing() {
        let zeros = vec![0; 1 << 20];
        let mut out = liblzma::write::XzEncoder::new(Vec::new(), 1);
        (0..80).for_each(|_| out.write_all(&zeros).expect("a vector takes everything"));
        let file = written(&out.finish().expect("a vector takes everything"));
        let whole = Input::open(file.path(), None).expect("opens").into_whole(file.path()).expect("unpacks a part");
        assert!(whole.bytes <= GROWTH_FREE_BYTES + HEAD_BYTES as u64 && whole.fault.is_some(), "{} bytes", whole.bytes);
    }

    #[test]
    fn a_flood_of_lines_that_mean_nothing_ends_and_is_damage() {
        let mut text = b"# tracer: nop\na-7 [001] 1.000001: cpu_idle: state=1 cpu_id=1\n".to_vec();
        text.extend_from_slice(&b"some line that means nothing at all\n".repeat((GROWTH_FREE_BYTES / 32) as usize));
        for packing in Packing::ALL {
            let bytes = packed(packing, &text);
            let (events, info) = read_all(&bytes);
            let told = info.damage.iter().any(|damage| damage.what.contains("grows beyond 400 times"));
            let grew = text.len() as u64 > GROWTH_FREE_BYTES.max(bytes.len() as u64 * GROWTH_MAX);
            assert_eq!((events, told), (1, grew), "{packing:?}: {} bytes, {:?}", bytes.len(), info.damage);
            let deflated = [Packing::Gzip, Packing::Atrace].contains(&packing);
            assert!(grew || deflated, "{packing:?}: {} bytes are no flood", bytes.len());
        }
    }

    #[test]
    fn a_stream_is_measured_by_what_was_read_of_it() {
        let zeros = packed(Packing::Zstd, &vec![0; (GROWTH_FREE_BYTES + (8 << 20)) as usize]);
        let input = Input::of_stream(Path::new("-"), Box::new(Cursor::new(zeros)), None, None).expect("opens");
        let (mut stream, fault) = input.into_stream();
        let bytes = io::copy(&mut stream, &mut io::sink()).expect("no error");
        assert!(bytes <= GROWTH_FREE_BYTES + HEAD_BYTES as u64 && fault.take().is_some(), "{bytes}");
    }

    #[test]
    fn what_is_no_file_says_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let message = |path: &Path| Input::open(path, None).err().expect("no trace").to_string();
        assert!(message(folder.path()).contains("is a directory"));
        assert!(message(&folder.path().join("missing")).contains("help: give the path"));
        assert!(message(written(b"").path()).contains("is empty"));
        assert!(message(written(&[0x1f, 0x8b, 8, 0]).path()).contains("cannot unpack this gzip file"));
    }
}
