//! Upper bound on the reward of a program, from its cost alone, without running it.

use super::judge::work;
use super::profile::Profile;
use super::score::Protocol;
use crate::problem::Family;
use crate::program::{Canonical, Program, ProgramCost};

/// An upper bound on the reward of a program on any instance of a family, assuming perfect convergence at the
/// program's cost.
///
/// ```
/// use rl4rla::{problem::Family, program::Entry};
/// use rl4rla::reward::{Charge, Profile, Protocol, StepRule, Unit, bound};
/// let charge = Charge { unit: Unit::Flops, rows: 1_000_000, cols: 500 };
/// let protocol = Protocol::new(Profile::Tolerance { epsilon: 1e-6, charge }, StepRule::Fixed(1.0));
/// let most = |name: &str| {
///     bound(&Entry::named(name).unwrap().document.program, &Family::named("mid-cond").unwrap(), &protocol)
/// };
/// assert!(most("precond-gd") < 0.5, "who factors all of A cannot be cheaper than doing just that");
/// assert!(most("sketched-precond-gd") > 0.9);
/// ```
pub fn bound(program: &Program, family: &Family, protocol: &Protocol) -> f64 {
    let live = Canonical::new(program, protocol.live_out);
    let (rows, cols) = (family.rows, family.cols);
    let Ok(cost) = ProgramCost::of(&live, family.signature(), protocol.profile.model()) else { return 0.0 };
    let settings = protocol.settings(rows, cols, 0.0);
    let (task, work) =
        (family.kind.info().task, work(&cost, settings.sizes(rows, cols), protocol.iterations));
    match &protocol.profile {
        // Reaching the tolerance costs at least the setup.
        Profile::Tolerance { charge, .. } => charge.reward(task, charge.work(&cost, &settings, cols, 0)),
        profile => {
            profile.weighted(&profile.most(task, &work)).expect("only a tolerance is not made of terms")
        }
    }
}
