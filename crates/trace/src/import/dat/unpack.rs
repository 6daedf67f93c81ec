// SPDX-License-Identifier: GPL-2.0-or-later
//! Packed parts of a `trace.dat`.

use std::io::Read;

/// Packing of the parts of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    None,
    Zlib,
    Zstd,
}

impl Packing {
    /// By the name in the file.
    pub fn of_name(name: &str) -> Option<Packing> {
        match name {
            "none" | "" => Some(Packing::None),
            "zlib" => Some(Packing::Zlib),
            "zstd" => Some(Packing::Zstd),
            _ => None,
        }
    }

    /// Unpacks a part that says it has `length` bytes. No more is made room for than really comes out.
    pub fn unpack(self, packed: &[u8], length: usize) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        let limit = length as u64 + 1;
        let result = match self {
            Packing::None => return Err("a packed part in a file that is not packed".to_owned()),
            Packing::Zlib => flate2::read::ZlibDecoder::new(packed).take(limit).read_to_end(&mut out),
            Packing::Zstd => zstd::stream::read::Decoder::with_buffer(packed).and_then(|mut decoder| {
                decoder.window_log_max(27)?;
                decoder.take(limit).read_to_end(&mut out)
            }),
        };
        match result {
            Ok(_) if out.len() == length => Ok(out),
            Ok(_) => Err("a packed part has not the length it says".to_owned()),
            Err(error) => Err(format!("a packed part is damaged: {error}")),
        }
    }
}
