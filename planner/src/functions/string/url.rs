//! The parts of URLs, as `java.net.URL` has them.

/// A part of a URL by its name; `None` if the text is no URL or has no such part.
pub(super) fn part<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (protocol, rest) = text.split_once(':')?;
    let letters = |b: u8| b.is_ascii_alphanumeric() || b"+-.".contains(&b);
    if !protocol.starts_with(|c: char| c.is_ascii_alphabetic()) || !protocol.bytes().all(letters) {
        return None;
    }
    let (rest, reference) = split(rest, '#');
    let (hierarchy, query) = split(rest, '?');
    let (authority, path) = match hierarchy.strip_prefix("//") {
        Some(after) => {
            let end = after.find('/').unwrap_or(after.len());
            (Some(&after[..end]), &after[end..])
        }
        None => (None, hierarchy),
    };
    match name {
        "PROTOCOL" => Some(protocol),
        "AUTHORITY" => authority,
        "HOST" => authority.map(host),
        "USERINFO" => authority?.rsplit_once('@').map(|(user, _)| user),
        "PATH" => Some(path),
        "QUERY" => query,
        "REF" => reference,
        // Path and query.
        "FILE" => {
            let start = rest.len() - path.len() - query.map_or(0, |q| q.len() + 1);
            Some(&rest[start..])
        }
        _ => None,
    }
}

/// The value of a key in `k1=v1&k2=v2`.
pub(super) fn query_value<'a>(query: &'a str, key: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
}

fn split(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// The authority without user and port.
fn host(authority: &str) -> &str {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.rfind(':') {
        Some(colon) if !host[colon..].contains(']') => &host[..colon],
        _ => host,
    }
}

/// `application/x-www-form-urlencoded`, appended.
pub(super) fn encode(text: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => {
                out.push('%');
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
}

/// The text behind a form-encoded one, appended; `None` if it is not well formed.
pub(super) fn decode(text: &str, out: &mut String) -> Option<()> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                (digit()? * 16 + digit()?) as u8
            }
            _ => byte,
        });
    }
    out.push_str(&String::from_utf8_lossy(&bytes));
    Some(())
}
