//! Reduction: applies the rules of algebra to a product until none applies.

use super::rule::{NormalisationWork, Rule};
use super::word::{Letter, MatrixAtom, Word};
use crate::program::Dim;

/// Applies the rules until none applies.
pub fn reduce(mut letters: Vec<Letter>, work: &mut NormalisationWork) -> Vec<Letter> {
    while work.go_on(letters.len()) {
        let Some((at, length, replacement, rule)) = find(&letters, work) else { break };
        work.used(rule);
        letters.splice(at..at + length, replacement);
    }
    letters
}

/// The first place where a rule applies: position, length, replacement, and the rule.
fn find(letters: &[Letter], work: &NormalisationWork) -> Option<(usize, usize, Vec<Letter>, Rule)> {
    // Rules tried in the search are not part of the derivation.
    let mut tried = NormalisationWork::new(work.geometry);
    (0..letters.len()).find_map(|i| {
        let found = pair(&letters[i..], &mut tried).or_else(|| gram_and_inverse(&letters[i..], &mut tried));
        found.map(|(length, replacement, rule)| (i, length, replacement, rule))
    })
}

/// Rules for two adjacent factors.
fn pair(letters: &[Letter], work: &mut NormalisationWork) -> Option<(usize, Vec<Letter>, Rule)> {
    let [first, second, ..] = letters else { return None };
    // The R of a matrix such as A·Aᵀ is singular apart from rounding, so its inverse is undefined.
    let dividable = |n: &Word| n.cols == Dim::Cols || n.is_invertible();
    if first.factor().is_some_and(|(n, ..)| !dividable(n)) {
        return None;
    }
    if first.inverts(second) {
        return Some((2, vec![], Rule::Cancel));
    }
    let (n, inverted, transposed) = first.factor()?;
    let (other, second_inverted, second_transposed) = second.factor()?;
    if n != other {
        return None;
    }
    match (inverted, transposed, second_inverted, second_transposed) {
        (false, true, false, false) => Some((2, n.letters.clone(), Rule::FactorSquared)),
        (true, false, true, true) => Some((2, n.inverse(work).letters, Rule::FactorInverted)),
        _ => None,
    }
}

/// Rules for a Gram matrix N, its inverse, and its factor R, which may span several letters.
fn gram_and_inverse(letters: &[Letter], work: &mut NormalisationWork) -> Option<(usize, Vec<Letter>, Rule)> {
    let first = &letters[0];
    // R·N⁻¹ = R⁻ᵀ and R⁻ᵀ·N = R. If N may be singular, R⁻¹R⁻ᵀ becomes N⁺, and N⁺·N must not be cancelled in either
    // order.
    if let Some((n, inverted, transposed)) = first.factor() {
        let (known, result) = match (inverted, transposed) {
            (false, false) if n.is_invertible() => {
                (n.inverse(work).letters, Letter { inverted: true, transposed: true, ..first.clone() })
            }
            (true, true) if n.is_invertible() => {
                (n.letters.clone(), Letter { inverted: false, transposed: false, ..first.clone() })
            }
            _ => (vec![], first.clone()),
        };
        if !known.is_empty() && letters[1..].starts_with(&known) {
            return Some((1 + known.len(), vec![result], Rule::FactorAgainstGram));
        }
        // R⁻ᵀ·Mᵀ = R·M⁻¹ for square M.
        if inverted
            && transposed
            && let Some((left, right)) = n.halves().filter(|(_, right)| right.is_invertible())
            && letters[1..].starts_with(&left.letters)
        {
            let factor = Letter { inverted: false, transposed: false, ..first.clone() };
            let result = [vec![factor], right.inverse(work).letters].concat();
            return Some((1 + left.letters.len(), result, Rule::FactorAgainstGram));
        }
    }
    // N⁻¹·N = I; N⁺·N·N⁺ = N⁺.
    if let MatrixAtom::Inverse(n) = &first.atom {
        let after = &letters[1..];
        if after.starts_with(&n.letters) {
            let rest = &after[n.letters.len()..];
            if n.is_invertible() {
                return Some((1 + n.letters.len(), vec![], Rule::Cancel));
            }
            if rest.first() == Some(first) {
                return Some((2 + n.letters.len(), vec![first.clone()], Rule::Penrose));
            }
            // N⁺·N·U = U for N = UUᵀ.
            if let Some((u, _)) = n.halves()
                && rest.starts_with(&u.letters)
            {
                return Some((1 + 3 * u.letters.len(), u.letters, Rule::Penrose));
            }
        }
        // N⁺·N⁺·N = N⁺ for symmetric N.
        if after.first() == Some(first) && after[1..].starts_with(&n.letters) && n.mirrors(n) {
            return Some((2 + n.letters.len(), vec![first.clone()], Rule::Penrose));
        }
    }
    // A product that starts with N: look for an inverse or a factor after every prefix.
    for length in 1..letters.len() {
        let next = &letters[length];
        match &next.atom {
            MatrixAtom::Inverse(n) if letters[..length] == n.letters => {
                if n.is_invertible() {
                    return Some((length + 1, vec![], Rule::Cancel));
                }
                if letters[length + 1..].starts_with(&n.letters) {
                    return Some((2 * length + 1, n.letters.clone(), Rule::Penrose));
                }
            }
            // U·(UᵀU)⁺ = (UUᵀ)⁺·U: the inverse moves to the left.
            MatrixAtom::Inverse(n)
                if n.letters.len() == 2 * length && n.letters[length..] == letters[..length] =>
            {
                let Some((left, right)) = n.halves().filter(|_| !n.is_invertible()) else { continue };
                let inverse = right.times(&left, work).inverse(work);
                let result = [&inverse.letters[..], &right.letters].concat();
                return Some((length + 1, result, Rule::PushThrough));
            }
            MatrixAtom::Factor(n) => {
                let (known, result) = match (next.inverted, next.transposed) {
                    // N·R⁻¹ = Rᵀ and N⁻¹·Rᵀ = R⁻¹.
                    (true, false) if n.letters.len() <= 2 * length && n.is_invertible() => {
                        (n.letters.clone(), Letter { inverted: false, transposed: true, ..next.clone() })
                    }
                    (false, true) if n.is_invertible() => (
                        n.inverse(work).letters,
                        Letter { inverted: true, transposed: false, ..next.clone() },
                    ),
                    _ => continue,
                };
                if letters[..length] == known[..] {
                    return Some((length + 1, vec![result], Rule::FactorAgainstGram));
                }
                // M·R⁻¹ = M⁻ᵀ·Rᵀ for square M.
                if next.inverted
                    && let Some((left, right)) = n.halves().filter(|(_, right)| right.is_invertible())
                    && letters[..length] == right.letters
                {
                    let result = [left.inverse(work).letters, vec![result]].concat();
                    return Some((length + 1, result, Rule::FactorAgainstGram));
                }
            }
            _ => {}
        }
    }
    None
}
