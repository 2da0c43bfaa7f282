//! The auxiliary weighted reward of the paper's appendix D: one number over several kinds of systems, for reporting.
//!
//! R_aux = Σₑ ωₑ·R(e) / Σₑ ωₑ,  each R(e) with weights (5, 1, 8, 0) and the best η of the paper's grid

use super::evaluation::evaluate;
use super::profile::{Profile, Weights};
use super::score::Protocol;
use super::step::{PAPER_GRID, StepRule};
use crate::problem::{Family, FamilyError, InstanceSet, Leverage, Scale};
use crate::program::Program;

/// Which systems are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Auxiliary {
    /// Heavy-tailed left singular vectors, so uneven leverage: `ht` in the paper.
    HeavyTailed,
    /// Even leverage: `non_ht` in the paper.
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

    /// The systems with their weights, at the sizes of the curricula, scaled as the released code leaves them.
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

/// The auxiliary reward on `instances` instances of each system. Where the program's shapes do not fit, it earns 0.
pub fn auxiliary(
    program: &Program,
    profile: Auxiliary,
    instances: u64,
    seed: u64,
) -> Result<f64, FamilyError> {
    let weights = Weights::new(5.0, 1.0, 8.0, 0.0);
    let reward = Profile::Paper { weights, ungated: false, condition_only: false };
    let protocol = Protocol::new(reward, StepRule::Best(PAPER_GRID.to_vec()));
    let (mut sum, mut total) = (0.0, 0.0);
    for (weight, family) in profile.environments() {
        let draw = |i| family.for_set(InstanceSet::Final).draw(&InstanceSet::Final.stream(seed, i));
        let drawn = (0..instances).map(draw).collect::<Result<Vec<_>, _>>()?;
        sum += weight * evaluate(program, &drawn, &protocol, seed).reward().mean;
        total += weight;
    }
    Ok(sum / total)
}
