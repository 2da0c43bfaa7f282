//! The sweeps that items need, each named by its setting, so that items can share them.

use super::way::label;
use crate::curriculum::Curriculum;
use crate::discovery::Approach;
use crate::experiment::ExperimentError;
use crate::experiment::Sweep;
use crate::experiment::{LearnedPolicy, PolicySettings, SearchSettings};
use crate::experiment::{Tally, tallies};
use crate::search::Method;
use std::collections::BTreeMap;

/// Size of a reproduction.
#[derive(Clone, Copy)]
pub struct Scope {
    /// Whether it is a small one, for a first look.
    pub quick: bool,
    /// Number of seeds per sweep.
    pub seeds: u64,
    /// The first seed.
    pub first_seed: u64,
}

impl Scope {
    /// The size as requested.
    pub fn new(quick: bool, seeds: Option<u64>, first_seed: u64) -> Scope {
        Scope { quick, seeds: seeds.unwrap_or(if quick { 2 } else { 20 }), first_seed }
    }

    /// Number of seeds for sweeps whose runs mostly find nothing and use their whole budget.
    pub fn fewer(self) -> u64 {
        self.seeds.div_ceil(2)
    }
}

/// The settings under which a curriculum is searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setting {
    /// The paper's curricula with the constants and the backup rule of its released code.
    Released,
    /// The paper's curricula with one exploration constant for all methods and our backup rule.
    Matched,
    /// Our curricula, where the target is the best program of every stage.
    Repaired,
    /// Our curricula with this many evaluations per stage, the same for every method.
    Capped(u64),
    /// With this many playouts per stage.
    Playouts(u64),
    /// The paper's curricula, with every stage starting from the previous target.
    Transitions,
    /// With this many evaluations and playouts per run, the same for every curriculum; a stage may use all that is
    /// left, or keeps its own budget.
    Equal {
        /// Evaluations of a run.
        evaluations: u64,
        /// Playouts of a run.
        playouts: u64,
        /// Whether a stage keeps its own budget.
        own: bool,
    },
    /// With these changes to the search.
    Changed(Changes),
    /// Our curricula, with every stage starting from the previous target, and edits proposed this way.
    Proposed(EditProposal),
}

/// Who proposes the edits of a search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EditProposal {
    /// Nobody: all legal edits are equally likely.
    Uniform,
    /// A policy that has learned nothing from the curriculum nor from searches that found one of its targets.
    Learned,
    /// The same, and nothing from any task but linear systems.
    LinearOnly,
}

/// The curricula of other tasks than linear systems.
pub const OTHER_TASKS: [&str; 2] = ["eigenvalue", "newton-sketch"];

impl EditProposal {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            EditProposal::Uniform => "uniform",
            EditProposal::Learned => "learned",
            EditProposal::LinearOnly => "learned on linear systems",
        }
    }

    /// The policy for a curriculum.
    fn policy(self, curriculum: &Curriculum) -> Result<Option<PolicySettings>, ExperimentError> {
        let without = match self {
            EditProposal::Uniform => return Ok(None),
            EditProposal::Learned => vec![curriculum.clone()],
            EditProposal::LinearOnly => {
                let others: Result<Vec<_>, _> = OTHER_TASKS.iter().map(builtin).collect();
                others?.into_iter().chain([curriculum.clone()]).collect()
            }
        };
        Ok(Some(LearnedPolicy::shipped_without(&without)?.settings(curriculum)))
    }
}

/// Changes to a Monte Carlo search, independent of each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Changes {
    /// Skip closed children.
    pub skip_closed: bool,
    /// Return to the root when a subtree is exhausted.
    pub return_to_root: bool,
    /// A budget per decision, after which the leader is taken.
    pub decision: Option<u64>,
}

impl Setting {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Setting::Released => "released",
            Setting::Matched => "matched",
            Setting::Repaired => "repaired",
            Setting::Capped(_) => "capped",
            Setting::Playouts(_) => "playouts",
            Setting::Transitions => "from targets",
            Setting::Equal { .. } => "equal budgets",
            Setting::Changed(_) => "changed",
            Setting::Proposed(proposing) => proposing.name(),
        }
    }

    /// The paper's settings.
    pub const PAPER: [Setting; 2] = [Setting::Released, Setting::Matched];

    fn approach(self, method: Method) -> Approach {
        let usual = Approach::new(method);
        match self {
            Setting::Released => Approach { released: true, patient: true, ..usual },
            Setting::Matched => Approach { patient: true, ..usual },
            Setting::Repaired => usual,
            Setting::Capped(evaluations) => Approach { evaluations: Some(evaluations), ..usual },
            Setting::Playouts(playouts) => Approach { budget: Some(playouts), ..usual },
            Setting::Transitions => Approach { from_targets: true, ..usual },
            Setting::Equal { evaluations, playouts, own } => Approach {
                budget: (!own).then_some(playouts),
                run_evaluations: Some(evaluations),
                run_playouts: Some(playouts),
                ..usual
            },
            Setting::Changed(Changes { skip_closed, return_to_root, decision }) => Approach {
                skip_closed,
                return_to_root,
                budget_per_decision: decision.is_some(),
                budget: decision,
                ..usual
            },
            // The exploration constant was chosen on seeds 100-102 of `subsampled-ls-gd` and `precond-weighted-sgd`: with
            // the curricula's, mcgs-puct stops too early.
            Setting::Proposed(_) => Approach {
                budget: Some(5_000),
                evaluations: Some(2_000),
                exploration: (method == Method::McgsPuct).then_some(3.0),
                from_targets: true,
                ..usual
            },
        }
    }

    fn file(self, curriculum: &str) -> String {
        match self {
            Setting::Released | Setting::Matched | Setting::Transitions => format!("paper/{curriculum}"),
            _ => curriculum.into(),
        }
    }
}

/// A built-in curriculum by name.
pub fn builtin(name: impl AsRef<str>) -> Result<Curriculum, ExperimentError> {
    let name = name.as_ref();
    let unknown = || ExperimentError::new(format!("there is no curriculum `{name}`"));
    Ok(Curriculum::named(name).ok_or_else(unknown)??)
}

/// The policies fitted so far: the sweeps of all methods share them.
type Policies = BTreeMap<(EditProposal, String), Option<PolicySettings>>;

/// A sweep that an item needs.
pub struct Ask {
    curriculum: String,
    /// The text of the curriculum, if it is not built in.
    text: Option<String>,
    method: Method,
    setting: Setting,
    seeds: u64,
}

impl Ask {
    /// A sweep over a built-in curriculum.
    pub fn new(curriculum: &str, method: Method, setting: Setting, seeds: u64) -> Ask {
        Ask { curriculum: setting.file(curriculum), text: None, method, setting, seeds }
    }

    /// A sweep over another curriculum.
    pub fn text(name: &str, text: String, method: Method, setting: Setting, seeds: u64) -> Ask {
        Ask { curriculum: name.into(), text: Some(text), method, setting, seeds }
    }

    fn policy(
        &self,
        curriculum: &Curriculum,
        known: &mut Policies,
    ) -> Result<Option<PolicySettings>, ExperimentError> {
        let Setting::Proposed(proposing) = self.setting else { return Ok(None) };
        let key = (proposing, self.curriculum.clone());
        if !known.contains_key(&key) {
            known.insert(key.clone(), proposing.policy(curriculum)?);
        }
        Ok(known[&key].clone())
    }

    fn sweep(&self, scope: Scope, policies: &mut Policies) -> Result<Sweep, ExperimentError> {
        let curriculum = match &self.text {
            Some(text) => Curriculum::parse(&self.curriculum, text)?,
            None => builtin(&self.curriculum)?,
        };
        let policy = self.policy(&curriculum, policies)?;
        let settings = SearchSettings { policy, ..SearchSettings::new(self.setting.approach(self.method)) };
        // Times are compared for the settings of the paper's tables.
        let timed = matches!(self.setting, Setting::Released | Setting::Matched | Setting::Repaired);
        Ok(Sweep {
            alone: timed && !scope.quick,
            ..Sweep::new(curriculum, settings, scope.first_seed, self.seeds)
        })
    }
}

/// The sweeps of several items, each once.
pub struct Runs {
    asks: Vec<Ask>,
    /// One per request.
    pub sweeps: Vec<Sweep>,
}

impl Runs {
    /// The sweeps that these items need; of two equal ones, the one with more seeds is kept.
    pub fn new(asks: impl IntoIterator<Item = Ask>, scope: Scope) -> Result<Runs, ExperimentError> {
        let mut kept: Vec<Ask> = Vec::new();
        for ask in asks {
            let same = |old: &&mut Ask| {
                (&old.curriculum, old.method, old.setting) == (&ask.curriculum, ask.method, ask.setting)
            };
            match kept.iter_mut().find(same) {
                Some(old) => old.seeds = old.seeds.max(ask.seeds),
                None => kept.push(ask),
            }
        }
        let mut policies = Policies::new();
        let sweeps = kept.iter().map(|ask| ask.sweep(scope, &mut policies)).collect::<Result<_, _>>()?;
        Ok(Runs { asks: kept, sweeps })
    }

    /// The labels of the sweeps, in order.
    pub fn labels(&self) -> impl Iterator<Item = String> {
        self.asks.iter().map(|ask| label(ask.method, ask.setting))
    }

    /// The sweep of a curriculum with this method and setting.
    pub fn sweep(&self, curriculum: &str, method: Method, setting: Setting) -> Option<&Sweep> {
        let file = setting.file(curriculum);
        let wanted = |ask: &Ask| (&ask.curriculum, ask.method, ask.setting) == (&file, method, setting);
        self.asks.iter().position(wanted).map(|place| &self.sweeps[place])
    }

    /// The results of one of its stages; `None` if no run reached it.
    pub fn stage(
        &self,
        curriculum: &str,
        stage: &str,
        method: Method,
        setting: Setting,
    ) -> Option<Tally<'_>> {
        let sweep = self.sweep(curriculum, method, setting)?;
        let ends = format!("→ {stage}");
        tallies(sweep).into_iter().find(|tally| tally.transition.ends_with(&ends))
    }

    /// The results of the whole curriculum.
    pub fn total(&self, curriculum: &str, method: Method, setting: Setting) -> Option<Tally<'_>> {
        tallies(self.sweep(curriculum, method, setting)?).pop()
    }
}
