//! What a fresh random block shows of the part of a matrix that is orthogonal to the pairs found.
//!
//! An iteration can converge to k pairs that are not the k leading ones: it sees an eigenvalue of multiplicity μ at most
//! as often as its block has columns, and nothing at all of a vector that its start is orthogonal to. A second start
//! that is independent of the first finds what is there. How large an eigenvalue can be that is still hidden from it is
//! known: Lanczos steps from a random vector satisfy b − θ ≤ g·(b − a) for a spectrum in [a, b], except with
//! probability 1.648·√n·exp(−√g·(2s − 1)) after s of them (Kuczyński and Woźniakowski 1992). Every column of a block is
//! such a start.

/// Probability that the bound does not hold.
pub const RISK: f64 = 1e-6;

/// The result of such a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SecondStart {
    /// By how much the last of the k values rises with what was found.
    pub rise: f64,
    /// No value left out is larger than this in size, except with probability [`RISK`]; infinite if nothing is known.
    pub bound: f64,
}

impl SecondStart {
    /// From the Ritz values of the rest, after s steps of a block of p columns.
    pub fn of_eigenvalues(rise: f64, rest: &[f64], s: usize, p: usize, n: usize) -> SecondStart {
        // Either end of the spectrum can be missed.
        let g = hidden(s, p, n, RISK / 2.0);
        let [least, most] = ends(rest);
        let bound = match g < 0.5 {
            true => most.max(-least) + g * (most - least) / (1.0 - 2.0 * g),
            false => f64::INFINITY,
        };
        SecondStart { rise, bound }
    }

    /// The same for singular values: AᵀA has no negative eigenvalue.
    pub fn of_singular_values(rise: f64, rest: &[f64], s: usize, p: usize, n: usize) -> SecondStart {
        let g = hidden(s, p, n, RISK);
        let [_, most] = ends(rest);
        SecondStart { rise, bound: if g < 1.0 { most / (1.0 - g).sqrt() } else { f64::INFINITY } }
    }

    /// Whether no value takes a place among those found, up to this error.
    pub fn is_clear(&self, error: f64) -> bool {
        self.rise <= error
    }
}

fn ends(values: &[f64]) -> [f64; 2] {
    values.iter().fold([0.0, 0.0], |[least, most], value| [value.min(least), value.max(most)])
}

/// The g that holds for at least one of p columns, except with this probability.
fn hidden(s: usize, p: usize, n: usize, risk: f64) -> f64 {
    let risk = risk.powf(1.0 / p as f64);
    ((1.648 * (n as f64).sqrt() / risk).ln().max(0.0) / (2 * s).saturating_sub(1).max(1) as f64).powi(2)
}
