//! Templates: helper functions that are copied into an exported file if it calls them. They are kept as source files
//! in their own language, split at comment lines of the form `% NAME`.

use crate::execute::{SketchKind, SketchLaw};

/// The templates of one file.
pub struct Pieces {
    comment: &'static str,
    pieces: Vec<(&'static str, String)>,
}

impl Pieces {
    /// Splits a file with this comment marker.
    pub fn new(text: &'static str, comment: &'static str) -> Pieces {
        let mark = format!("{comment}% ");
        let mut pieces: Vec<(&str, String)> = Vec::new();
        for line in text.lines() {
            match (line.strip_prefix(&mark), pieces.last_mut()) {
                (Some(name), _) => pieces.push((name, String::new())),
                (None, Some((_, piece))) => *piece += &format!("{line}\n"),
                // Text before the first template describes the file itself.
                (None, None) => {}
            }
        }
        pieces.iter_mut().for_each(|(_, piece)| *piece = format!("{}\n", piece.trim_end()));
        Pieces { comment, pieces }
    }

    /// The template of this name.
    ///
    /// # Panics
    /// If there is none, which is a bug in the file.
    pub fn get(&self, name: &str) -> &str {
        let piece = self.pieces.iter().find(|(other, _)| *other == name);
        &piece.unwrap_or_else(|| panic!("there is no piece `{name}`")).1
    }

    /// The template that draws a sketch of this kind.
    pub fn sketch(&self, kind: SketchKind) -> String {
        let (name, words) = match kind.law() {
            SketchLaw::Sparse(1) => ("countsketch", None),
            SketchLaw::Sparse(nonzeros) => ("sjlt", Some((nonzeros, kind.summary()))),
            SketchLaw::Normal | SketchLaw::Hadamard => (kind.name(), None),
        };
        let piece = self.get(&format!("sketch-{name}")).to_string();
        let Some((nonzeros, summary)) = words else { return piece };
        let count = summary.split(' ').next().unwrap_or_default();
        let piece = piece.replace("$name", kind.name()).replace("$nonzeros", &nonzeros.to_string());
        piece.replace("$count", count)
    }

    /// The template without the lines whose condition, given after `?` in a trailing comment, is not met.
    pub fn when(&self, name: &str, met: impl Fn(&str) -> bool) -> String {
        let kept = |line: &str| match line.rsplit_once(&format!("{}? ", self.comment)) {
            Some((line, condition)) => met(condition).then(|| line.trim_end().to_string()),
            None => Some(line.to_string()),
        };
        self.get(name).lines().filter_map(kept).map(|line| line + "\n").collect()
    }

    /// The named templates that the code calls, directly or indirectly, in the order given.
    pub fn called(&self, names: &[&str], code: &str) -> Vec<&str> {
        let calls = |code: &str, name: &str| code.contains(&format!("{name}("));
        let mut called: Vec<bool> = names.iter().map(|name| calls(code, name)).collect();
        for _ in names {
            for i in 0..names.len() {
                let by = |j: usize| called[j] && j != i && calls(self.get(names[j]), names[i]);
                called[i] = called[i] || (0..names.len()).any(by);
            }
        }
        names.iter().zip(called).filter(|(_, called)| *called).map(|(name, _)| self.get(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_and_found() {
        let pieces =
            Pieces::new("# About.\n#% f\ndef f(): return g()\n\n#% g\ndef g(): pass\n#% h\nx\n", "#");
        assert_eq!(pieces.get("f"), "def f(): return g()\n");
        assert_eq!(pieces.called(&["f", "g", "h"], "y = f(1)").len(), 2);
        assert!(pieces.called(&["f", "g", "h"], "y = 1").is_empty());
        let pieces = Pieces::new("#% f\na  #? one\nb  #? two\nc # why?\n", "#");
        assert_eq!(pieces.when("f", |condition| condition == "one"), "a\nc # why?\n");
    }
}
