//! `FEED name [how …]`: the record's other lines become a file of the script's directory.
//!
//! `FEED bids` writes `bids.csv`, `FEED bids/1` writes `bids/1.csv`, `FEED log.json` writes `log.json`. A file that is
//! there is replaced. What sqllogictest's lines cannot say is said by words behind the name: `crlf` ends lines with CR LF,
//! `bom` begins with a byte-order mark, `unterminated` leaves out the last line's end; a line `(blank)` is an empty line.

use std::fs;
use std::path::Path;

/// Writes the file.
pub fn write(dir: &Path, directive: &str) -> Result<(), String> {
    let (head, body) = directive.split_once('\n').unwrap_or((directive, ""));
    let mut words = head.split_whitespace().skip(1);
    let name = words.next().ok_or("FEED needs a name")?;
    let has_extension = Path::new(name).extension().is_some();
    let path = dir.join(if has_extension { name.to_string() } else { format!("{name}.csv") });
    let text = text(body, words)?;
    let parent = path.parent().ok_or("FEED needs a name")?;
    fs::create_dir_all(parent).and_then(|()| fs::write(&path, text)).map_err(|e| format!("{}: {e}", path.display()))
}

fn text<'w>(body: &str, how: impl Iterator<Item = &'w str>) -> Result<String, String> {
    let (mut line_end, mut start, mut is_terminated) = ("\n", "", true);
    for word in how {
        match word {
            "crlf" => line_end = "\r\n",
            "bom" => start = "\u{feff}",
            "unterminated" => is_terminated = false,
            other => return Err(format!("FEED does not know '{other}'")),
        }
    }
    let lines: Vec<&str> = body.lines().map(|line| if line == "(blank)" { "" } else { line }).collect();
    let end = if is_terminated && !lines.is_empty() { line_end } else { "" };
    Ok(format!("{start}{}{end}", lines.join(line_end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_their_ends() {
        let text = |body, how: &str| text(body, how.split_whitespace());
        assert_eq!(text("1,a\n2,b", ""), Ok("1,a\n2,b\n".into()));
        assert_eq!(text("1,a\n(blank)\n2,b", "crlf unterminated"), Ok("1,a\r\n\r\n2,b".into()));
        assert_eq!(text("1", "bom"), Ok("\u{feff}1\n".into()));
        assert_eq!(text("", ""), Ok(String::new()));
        assert!(text("1", "lf").is_err());
    }
}
