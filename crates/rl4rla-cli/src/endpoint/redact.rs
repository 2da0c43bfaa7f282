//! Removal of the API key from answers: some endpoints echo it, in any JSON encoding.

/// Replacement for the key.
const REDACTED: &str = "[key]";

/// The text without the key, in any encoding.
pub fn without(key: &str, text: &str) -> String {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match key.chars().try_fold(rest, after) {
            Some(tail) => {
                said += REDACTED;
                rest = tail;
            }
            None => {
                said.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    said
}

/// The rest of a text that starts with this character: literal, after one or more backslashes as in nested JSON, or
/// as a numeric escape.
fn after(text: &str, c: char) -> Option<&str> {
    let bare = text.trim_start_matches('\\');
    let numbered = || {
        let (digits, tail) = bare.strip_prefix('u')?.split_at_checked(4)?;
        (u32::from_str_radix(digits, 16).ok()? == u32::from(c)).then_some(tail)
    };
    let escaped = || numbered().or_else(|| bare.strip_prefix(c));
    match (bare.len() < text.len()).then(escaped).flatten() {
        Some(tail) => Some(tail),
        // A backslash in the key is escaped by others, or stands alone.
        None if c == '\\' && bare.len() < text.len() => Some(bare),
        None => text.strip_prefix(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_however_json_writes_it() {
        for key in ["sk-a/b+c=", "a\\b/\"c\"", "sesame", "\\/\\/"] {
            let quoted = serde_json::json!(key).to_string();
            let plain = &quoted[1..quoted.len() - 1];
            let numbered: String = key.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
            let ways = [
                key.to_string(),
                plain.into(),
                plain.replace('/', "\\/"),
                plain.replace('\\', "\\\\").replace('/', "\\\\\\/"),
                numbered.clone(),
                numbered.to_uppercase().replace("\\U", "\\u"),
            ];
            for way in ways {
                let said = without(key, &format!("é {way}{way}, \\\" and s/b"));
                assert_eq!(said, "é [key][key], \\\" and s/b", "{way}");
            }
        }
    }

    #[test]
    fn nothing_else_is_touched() {
        for text in ["", "sk-a/b+c", "\\u00", "\\", "é\\ud83d\\ude00 \\/ sk-a", "a\\\\b"] {
            assert_eq!(without("sk-a/b+c=", text), text);
        }
    }
}
