//! The auxiliary weighted reward of the paper's appendix D: one number over several families, for reporting.
//!
//! R_aux = Σₑ ωₑ·R(e) / Σₑ ωₑ,  each R(e) with weights (5, 1, 8, 0) and the best η of the paper's grid

use super::evaluation::evaluate;
use super::profile::Profile;
use super::score::Protocol;
use super::step_rule::{PAPER_GRID, StepRule};
use super::weights::Weights;
use crate::problem::{Family, FamilyError, InstanceSet, Leverage, Scale};
use crate::program::Program;

/// The set of families that is averaged over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Auxiliary {
    /// Heavy-tailed left singular vectors, hence nonuniform leverage: `ht` in the paper.
    HeavyTailed,
    /// Uniform leverage: `non_ht` in the paper.
    Even,
}

impl Auxiliary {
    /// Both profiles.
    pub const ALL: [Auxiliary; 2] = [Auxiliary::HeavyTailed, Auxiliary::Even];

    /// The paper's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Auxiliary::HeavyTailed => "ht",
            Auxiliary::Even => "non_ht",
        }
    }

    /// The families with their weights, at the sizes of the curricula, scaled as in the released code.
    pub fn environments(self) -> [(f64, Family); 3] {
        let leverage = match self {
            Auxiliary::HeavyTailed => Leverage::High,
            Auxiliary::Even => Leverage::Low,
        };
        let family = |name: &str, leverage| {
            let mut family = Family::named(name).expect("a family of the table");
            (family.leverage, family.scale) = (leverage, Scale::Raw);
            family
        };
        [
            (1.0, family("psd", Leverage::Low)),
            (5.0, family("low-cond", leverage)),
            (10.0, family("mid-cond", leverage)),
        ]
    }
}

impl std::str::FromStr for Auxiliary {
    type Err = String;
    fn from_str(name: &str) -> Result<Auxiliary, String> {
        let names = Auxiliary::ALL.map(Auxiliary::name).join(" or ");
        Auxiliary::ALL.into_iter().find(|a| a.name() == name).ok_or(format!("expected {names}"))
    }
}

/// The protocol for the auxiliary reward: that of the stage that found the program, including its sampling rule and
/// the gate of the complexity term, but with the appendix's term weights and step-size grid. The formulas are always
/// the paper's, so that all programs are measured on one scale.
pub fn auxiliary_protocol(stage: &Protocol) -> Protocol {
    let weights = Weights::new(5.0, 1.0, 8.0, 0.0);
    let ungated = matches!(stage.profile, Profile::Paper { ungated: true, .. });
    let profile = Profile::Paper { weights, ungated, condition_only: false };
    Protocol { profile, step: StepRule::Best(PAPER_GRID.to_vec()), ..stage.clone() }
}

/// The auxiliary reward of a program of this stage on `instances` instances of each family. On families whose shape
/// the program does not fit it scores 0.
pub fn auxiliary(
    program: &Program,
    profile: Auxiliary,
    stage: &Protocol,
    instances: u64,
    seed: u64,
) -> Result<f64, FamilyError> {
    let protocol = auxiliary_protocol(stage);
    let (mut sum, mut total) = (0.0, 0.0);
    for (weight, family) in profile.environments() {
        let draw = |i| family.for_set(InstanceSet::Final).draw(&InstanceSet::Final.stream(seed, i));
        let drawn = (0..instances).map(draw).collect::<Result<Vec<_>, _>>()?;
        sum += weight * evaluate(program, &drawn, &protocol, seed).reward().mean;
        total += weight;
    }
    Ok(sum / total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::{Sampling, SketchKind};
    use crate::program::{Entry, LiveOut};

    #[test]
    fn everything_but_weights_and_steps_is_the_stages() {
        let paper = |ungated| Profile::Paper {
            weights: Weights::new(1.0, 10.0, 8.0, 1.0),
            ungated,
            condition_only: true,
        };
        let stage = Protocol {
            iterations: 30,
            sketch: SketchKind::Gaussian,
            sketch_factor: 3.0,
            batch: 17,
            sampling: Sampling::Released,
            live_out: LiveOut::Partial(Default::default()),
            ..Protocol::new(paper(true), StepRule::Fixed(0.2))
        };
        let used = auxiliary_protocol(&stage);
        let weights = Weights::new(5.0, 1.0, 8.0, 0.0);
        let profile = Profile::Paper { weights, ungated: true, condition_only: false };
        let step = StepRule::Best(PAPER_GRID.to_vec());
        assert_eq!(used, Protocol { profile, step, ..stage.clone() });
        let gated = auxiliary_protocol(&Protocol { profile: paper(false), ..stage });
        assert!(matches!(gated.profile, Profile::Paper { ungated: false, .. }));
    }

    #[test]
    fn a_program_found_under_released_sampling_is_measured_under_it() {
        let program = &Entry::named("subsampled-ls-gd").unwrap().document.program;
        let stage = |sampling| Protocol { sampling, ..Protocol::new(Profile::paper(), StepRule::Fixed(0.2)) };
        let reward = |sampling| auxiliary(program, Auxiliary::HeavyTailed, &stage(sampling), 1, 0).unwrap();
        let (released, unbiased) = (reward(Sampling::Released), reward(Sampling::Unbiased));
        assert!(released > 0.15 && unbiased < 0.05, "{released} {unbiased}");
    }
}
