// SPDX-License-Identifier: GPL-2.0-or-later
//! Columns as text in a page: differences, gzip, base64. A page unpacks them itself.

use crate::columns::Series;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;

/// All series one behind the other: of each its times, then its values, as differences to the one before, 32 bits each,
/// little-endian.
pub fn columns(all: &[Series]) -> String {
    let mut bytes = Vec::new();
    for series in all {
        let mut before = 0;
        for &(time_us, _) in series.points() {
            bytes.extend(time_us.wrapping_sub(before).to_le_bytes());
            before = time_us;
        }
        let mut before = 0;
        for &(_, value) in series.points() {
            bytes.extend(value.wrapping_sub(before).to_le_bytes());
            before = value;
        }
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let packed = gzip.write_all(&bytes).and_then(|()| gzip.finish());
    STANDARD.encode(packed.expect("memory takes everything"))
}

/// JSON that may stand in a script element: nothing in it can end the element.
pub fn json(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(value).expect("numbers and texts are JSON");
    // `<` stands in texts only.
    text.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Series;
    use flate2::read::GzDecoder;
    use std::io::Read;

    #[test]
    fn columns_are_differences() {
        let mut series = Series::new("a", "x", 1.0, 1000);
        [(5, 100), (7, 90), (1_000_000, 90), (4_000_000_000, -3)].iter().for_each(|&(t, v)| series.push(t, v));
        let packed = STANDARD.decode(columns(&[series])).expect("base64");
        let mut bytes = Vec::new();
        GzDecoder::new(&packed[..]).read_to_end(&mut bytes).expect("gzip");
        let words: Vec<i32> =
            bytes.chunks(4).map(|four| i32::from_le_bytes(four.try_into().expect("four bytes"))).collect();
        assert_eq!(words[..2], [5, 2]);
        assert_eq!(words[2] as u32, 3_999_999_993);
        assert_eq!(words[3..], [100, -10, -93], "a value that stays has one point");
    }

    #[test]
    fn no_text_ends_the_script() {
        assert_eq!(json(&"</script><!--"), "\"\\u003c/script>\\u003c!--\"");
    }
}
