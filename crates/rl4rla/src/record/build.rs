//! The build that computed a result: two builds of the same version may compute different numbers.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A build of this library.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Build {
    /// Its version.
    pub version: String,
    /// Digest of everything that can change results: sources, built-in programs and curricula, versions of
    /// dependencies. Missing in version 0.2.0 and before.
    pub digest: Option<String>,
}

impl Build {
    /// The build of the running program. Registered extensions, such as a user's tasks, are not in the digest.
    pub fn current() -> Build {
        Build { version: crate::VERSION.into(), digest: Some(env!("RL4RLA_DIGEST").into()) }
    }

    /// Whether this build may resume a run begun by the other: both compute the same numbers.
    pub fn continues(&self, other: &Build) -> bool {
        other.digest.is_some() && self.digest == other.digest
    }
}

/// The version, with the digest as its build metadata.
impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.version)?;
        self.digest.iter().try_for_each(|digest| write!(f, "+{digest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_continued_by_its_own_build_alone() {
        let build = |version: &str, digest: Option<&str>| Build {
            version: version.into(),
            digest: digest.map(String::from),
        };
        let current = Build::current();
        assert!(current.continues(&current));
        assert!(!current.continues(&build("0.2.0", None)));
        assert!(!current.continues(&build(&current.version, None)));
        assert!(!current.continues(&build(&current.version, Some("0123456789abcdef"))));
        assert_eq!(build("0.2.0", None).to_string(), "0.2.0");
        assert_eq!(build("0.2.0", Some("ab")).to_string(), "0.2.0+ab");
    }

    #[test]
    fn the_digest_is_sixteen_hexadecimal_digits() {
        let digest = Build::current().digest.unwrap();
        assert!(digest.len() == 16 && digest.chars().all(|c| c.is_ascii_hexdigit()), "{digest}");
    }
}
