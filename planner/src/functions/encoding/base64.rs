//! Base64 of RFC 4648 with padding, as `java.util.Base64` has it.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends the text of bytes.
pub(super) fn encode(bytes: &[u8], out: &mut String) {
    for group in bytes.chunks(3) {
        let bits = group.iter().enumerate().fold(0_u32, |bits, (i, byte)| bits | u32::from(*byte) << (16 - 8 * i));
        for i in 0..4 {
            let digit = ALPHABET[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i > group.len() { '=' } else { char::from(digit) });
        }
    }
}

/// Appends the bytes of a text; `None` if it is malformed. Padding may be left out.
pub(super) fn decode(text: &str, out: &mut Vec<u8>) -> Option<()> {
    let digits = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text).as_bytes();
    let padding = text.len() - digits.len();
    if digits.len() % 4 == 1 || (padding > 0 && !(digits.len() + padding).is_multiple_of(4)) {
        return None;
    }
    for group in digits.chunks(4) {
        let mut bits = 0_u32;
        for (i, digit) in group.iter().enumerate() {
            bits |= value(*digit)? << (18 - 6 * i);
        }
        out.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(())
}

fn value(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}
