//! The character sets that every Java has.

/// A character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    Ascii,
    Latin1,
    Utf8,
    Utf16Be,
    Utf16Le,
    /// Big endian with a byte-order mark; reads either order by the mark.
    Utf16,
}

impl Charset {
    /// The set of that name, in any case. The error is a sentence.
    pub fn parse(name: &str) -> Result<Charset, String> {
        match name.to_ascii_uppercase().as_str() {
            "US-ASCII" | "ASCII" => Ok(Charset::Ascii),
            "ISO-8859-1" | "LATIN1" => Ok(Charset::Latin1),
            "UTF-8" | "UTF8" => Ok(Charset::Utf8),
            "UTF-16BE" => Ok(Charset::Utf16Be),
            "UTF-16LE" => Ok(Charset::Utf16Le),
            "UTF-16" => Ok(Charset::Utf16),
            _ => Err(format!(
                "unknown character set '{name}'; there are US-ASCII, ISO-8859-1, UTF-8, UTF-16BE, UTF-16LE and UTF-16"
            )),
        }
    }

    /// Appends the bytes of a text; a character that the set lacks becomes `?`.
    pub fn encode(self, text: &str, out: &mut Vec<u8>) {
        let one_byte = |last: u32| move |c: char| if u32::from(c) <= last { u32::from(c) as u8 } else { b'?' };
        match self {
            Charset::Ascii => out.extend(text.chars().map(one_byte(0x7f))),
            Charset::Latin1 => out.extend(text.chars().map(one_byte(0xff))),
            Charset::Utf8 => out.extend_from_slice(text.as_bytes()),
            Charset::Utf16Be => out.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            Charset::Utf16Le => out.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
            Charset::Utf16 => {
                out.extend_from_slice(&[0xfe, 0xff]);
                Charset::Utf16Be.encode(text, out);
            }
        }
    }

    /// Appends the text of bytes; what is malformed becomes U+FFFD.
    pub fn decode(self, bytes: &[u8], out: &mut String) {
        let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16, out: &mut String| {
            let units = bytes.chunks(2).map(|pair| match pair {
                [high, low] => unit([*high, *low]),
                _ => 0xfffd,
            });
            out.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        };
        match (self, bytes) {
            (Charset::Ascii, _) => {
                out.extend(
                    bytes.iter().map(|b| if b.is_ascii() { char::from(*b) } else { char::REPLACEMENT_CHARACTER }),
                );
            }
            (Charset::Latin1, _) => out.extend(bytes.iter().map(|b| char::from(*b))),
            (Charset::Utf8, _) => out.push_str(&String::from_utf8_lossy(bytes)),
            (Charset::Utf16Be, _) => utf16(bytes, u16::from_be_bytes, out),
            (Charset::Utf16Le, _) | (Charset::Utf16, [0xff, 0xfe, ..]) => {
                let marked = self == Charset::Utf16;
                utf16(if marked { &bytes[2..] } else { bytes }, u16::from_le_bytes, out);
            }
            (Charset::Utf16, [0xfe, 0xff, rest @ ..]) => utf16(rest, u16::from_be_bytes, out),
            (Charset::Utf16, _) => utf16(bytes, u16::from_be_bytes, out),
        }
    }
}
