//! Settings of a run.

use crate::curriculum::Curriculum;
use crate::discovery::{Approach, Policy};
use crate::record::PolicyRecord;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// The settings of a run besides curriculum, method and seed, as stored.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SearchSettings {
    /// Search method and options.
    pub approach: Approach,
    /// Whether the hints of the stages are used.
    pub hints: bool,
    /// Whether programs are checked for units and affine types.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub typed: bool,
    /// The proposer, if not the grammar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposer: Option<ProposerSettings>,
    /// The learned policy, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicySettings>,
}

/// A learned policy, as stored: its table is copied, so that a run can be resumed without its file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PolicySettings {
    /// The digest of the table.
    pub digest: String,
    /// Whether it was trained on the curriculum of the run, or on a stage with one of its targets.
    pub trained_here: bool,
    /// The table.
    pub weights: Policy,
}

/// An external proposer, as stored. The API key is not stored.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProposerSettings {
    /// URL of its endpoint.
    pub url: String,
    /// Name of the model.
    pub model: String,
    /// The environment variable with the API key.
    pub key_env: String,
    /// The sampling temperature.
    pub temperature: f64,
    /// Timeout of an answer in seconds.
    pub timeout: u64,
    /// File of the transcript, if not next to the store.
    pub transcript: Option<PathBuf>,
}

impl SearchSettings {
    /// Stages with their hints, searched this way.
    pub fn new(approach: Approach) -> SearchSettings {
        SearchSettings { approach, hints: true, typed: false, proposer: None, policy: None }
    }

    /// The curriculum with these settings applied.
    pub fn apply(&self, curriculum: Curriculum) -> Curriculum {
        let curriculum = if self.hints { curriculum } else { curriculum.without_hints() };
        if self.typed { curriculum.with_units() } else { curriculum }
    }

    /// Search method and options.
    pub fn approach(&self) -> &Approach {
        &self.approach
    }

    /// The learned policy.
    pub fn policy(&self) -> Option<Arc<Policy>> {
        self.policy.as_ref().map(|policy| policy.weights.clone().into())
    }

    /// The learned policy in the words of a result.
    pub fn policy_record(&self) -> Option<PolicyRecord> {
        let PolicySettings { digest, trained_here, .. } = self.policy.as_ref()?;
        Some(PolicyRecord { digest: digest.clone(), trained_here: *trained_here })
    }

    /// The settings as stored.
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
