//! Quoting of shell commands for users to copy.

use std::ffi::OsStr;

/// An argument quoted for a shell: unchanged if it has no special characters, otherwise in quotes, and in `$'…'`
/// (bash, zsh, ksh) if it is not text or contains control characters.
pub fn quoted(argument: impl AsRef<OsStr>) -> String {
    let argument = argument.as_ref();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%#".contains(c);
    match argument.to_str() {
        Some(text) if !text.is_empty() && !text.starts_with('#') && text.chars().all(plain) => text.into(),
        Some(text) if rl4rla::data::visible(text) == text => format!("'{}'", text.replace('\'', "'\\''")),
        _ => format!(
            "$'{}'",
            argument.as_encoded_bytes().iter().map(|byte| escaped(*byte)).collect::<String>()
        ),
    }
}

/// A byte inside `$'…'`.
fn escaped(byte: u8) -> String {
    match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).into(),
        // Octal escapes have at most three digits; hexadecimal ones could absorb the next character.
        _ => format!("\\{byte:03o}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn arguments_are_quoted_where_they_need_it() {
        for (argument, shown) in [
            ("runs/mine.db", "runs/mine.db"),
            ("run:3f9a#2", "run:3f9a#2"),
            ("my data.csv", "'my data.csv'"),
            ("it's", "'it'\\''s'"),
            ("$(reboot)", "'$(reboot)'"),
            ("", "''"),
            ("#x", "'#x'"),
            ("Größe", "'Größe'"),
            ("a\x1b[31m'", "$'a\\033[31m\\''"),
        ] {
            assert_eq!(quoted(argument), shown);
        }
    }

    /// Bash returns every quoted argument unchanged; skipped if there is no bash.
    #[cfg(unix)]
    #[test]
    fn a_shell_gives_every_argument_back() {
        use rl4rla::rng::Stream;
        use std::os::unix::ffi::OsStrExt;
        let bytes = |i: u64| -> Vec<u8> {
            let draws = Stream::new(i).uniforms(i as usize % 13);
            draws.into_iter().map(|u| 1 + (255.0 * u) as u8).collect()
        };
        let arguments: Vec<Vec<u8>> = (0..300).map(bytes).collect();
        let words: Vec<String> = arguments.iter().map(|bytes| quoted(OsStr::from_bytes(bytes))).collect();
        let script = format!("printf '%s\\0' {}", words.join(" "));
        match Command::new("bash").arg("-c").arg(&script).output() {
            Ok(output) => {
                let back: Vec<&[u8]> = output.stdout.split(|byte| *byte == 0).take(arguments.len()).collect();
                assert!(back.iter().zip(&arguments).all(|(back, given)| back == given), "{script}");
                assert_eq!(back.len(), arguments.len());
            }
            Err(_) => println!("skipped: there is no bash"),
        }
    }
}
