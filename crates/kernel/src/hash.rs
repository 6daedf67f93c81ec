// SPDX-License-Identifier: GPL-2.0-or-later
//! Hash of an image, which results carry.

/// FNV-1a of 128 bits, as 32 hexadecimal digits: a name for an image's content, no proof against an adversary.
pub fn hash(bytes: &[u8]) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let sum = bytes.iter().fold(OFFSET, |sum, &byte| (sum ^ u128::from(byte)).wrapping_mul(PRIME));
    format!("{sum:032x}")
}

#[cfg(test)]
mod tests {
    use super::hash;

    /// Values of draft-eastlake-fnv.
    #[test]
    fn the_hash_is_fnv_1a_of_128_bits() {
        assert_eq!(hash(b""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(hash(b"a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(hash(b"foobar"), "343e1662793c64bf6f0d3597ba446f18");
    }
}
