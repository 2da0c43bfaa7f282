//! What a run was asked for.

use crate::curriculum::Curriculum;
use crate::discovery::Approach;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a run was asked for besides curriculum, method and seed, as the store keeps it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SearchSettings {
    /// How stages are searched.
    pub approach: Approach,
    /// Whether stages are read with the hints they give.
    pub hints: bool,
    /// Who proposes programs, if not the grammar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposer: Option<ProposerSettings>,
}

/// Who is to be asked for programs, as the store keeps it. The key is not kept.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProposerSettings {
    /// The address of its endpoint.
    pub url: String,
    /// The model that answers there.
    pub model: String,
    /// The environment variable that holds the key.
    pub key_env: String,
    /// The sampling temperature.
    pub temperature: f64,
    /// Seconds that an answer may take.
    pub timeout: u64,
    /// Where answers are kept, if not beside the store.
    pub transcript: Option<PathBuf>,
}

impl SearchSettings {
    /// Stages as they are, searched this way.
    pub fn new(approach: Approach) -> SearchSettings {
        SearchSettings { approach, hints: true, proposer: None }
    }

    /// The curriculum as these settings read it.
    pub fn apply(&self, curriculum: Curriculum) -> Curriculum {
        if self.hints { curriculum } else { curriculum.without_hints() }
    }

    /// How its stages are searched.
    pub fn approach(&self) -> &Approach {
        &self.approach
    }

    /// As the store keeps them.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("settings are plain data")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_older_runs_are_read_and_written_as_they_were() {
        let text = r#"{"approach":{"method":"best","merge":null,"released":false,"patient":false,"budget":null,"exploration":null,"delta":0.05},"hints":true}"#;
        let settings: SearchSettings = serde_json::from_str(text).unwrap();
        assert_eq!((settings.json().as_str(), settings.approach.evaluations), (text, None));
    }
}
