//! Crossovers: the sizes from which, or up to which, a program is the cheaper one.

use serde::Serialize;

/// The sizes at which a program is cheaper.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "cheaper", rename_all = "kebab-case")]
pub enum Region {
    /// All sizes considered.
    Always,
    /// None of them.
    Never,
    /// From this size on.
    From {
        /// The first size.
        from: u64,
    },
    /// Up to this size.
    UpTo {
        /// The last size.
        to: u64,
    },
    /// Between these sizes.
    Between {
        /// The first size.
        from: u64,
        /// The last size.
        to: u64,
    },
}

/// Sizes tested per factor of two.
const PER_DOUBLING: f64 = 4.0;

impl Region {
    /// The sizes between these ends at which `cheaper` holds. Costs are polynomials with few terms, so a condition
    /// that holds at two neighbours of a fine grid is assumed to hold between them.
    ///
    /// ```
    /// use rl4rla::analysis::Region;
    /// assert_eq!(Region::of([1, 1_000_000], |n| n * n > 5000), Region::From { from: 71 });
    /// ```
    pub fn of([low, high]: [u64; 2], cheaper: impl Fn(u64) -> bool) -> Region {
        let doublings = (high.max(low) as f64 / low.max(1) as f64).log2();
        let steps = (doublings * PER_DOUBLING).ceil() as u32;
        let at = |i: u32| (low.max(1) as f64 * (f64::from(i) / PER_DOUBLING).exp2()).min(high as f64) as u64;
        let grid: Vec<u64> = (0..=steps).map(at).collect();
        let holds: Vec<bool> = grid.iter().map(|size| cheaper(*size)).collect();
        let (Some(first), Some(last)) = (holds.iter().position(|h| *h), holds.iter().rposition(|h| *h))
        else {
            return Region::Never;
        };
        let from = (first > 0).then(|| edge(grid[first - 1], grid[first], &cheaper));
        let to = (last + 1 < grid.len()).then(|| edge(grid[last + 1], grid[last], &cheaper));
        match (from, to) {
            (None, None) => Region::Always,
            (Some(from), None) => Region::From { from },
            (None, Some(to)) => Region::UpTo { to },
            (Some(from), Some(to)) => Region::Between { from, to },
        }
    }

    /// The region in words, for a size called `name`.
    pub fn words(self, name: &str) -> String {
        match self {
            Region::Always => format!("at every {name}"),
            Region::Never => format!("at no {name}"),
            Region::From { from } => format!("from {name} = {from} on"),
            Region::UpTo { to } => format!("up to {name} = {to}"),
            Region::Between { from, to } => format!("from {name} = {from} to {to}"),
        }
    }
}

/// The last size at which `cheaper` holds, going from `yes` towards `no`, by bisection.
fn edge(mut no: u64, mut yes: u64, cheaper: &impl Fn(u64) -> bool) -> u64 {
    while no.abs_diff(yes) > 1 {
        let middle = no.midpoint(yes);
        if cheaper(middle) { yes = middle } else { no = middle }
    }
    yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_ends_are_found() {
        assert_eq!(Region::of([1, 1 << 40], |_| true), Region::Always);
        assert_eq!(Region::of([1, 1 << 40], |_| false), Region::Never);
        assert_eq!(Region::of([1, 1 << 40], |n| n < 777), Region::UpTo { to: 776 });
        assert_eq!(Region::of([5, 5], |n| n == 5), Region::Always);
        assert_eq!(
            Region::of([1, 10_000], |n| (100..2000).contains(&n)),
            Region::Between { from: 100, to: 1999 }
        );
        assert_eq!(Region::From { from: 7 }.words("m"), "from m = 7 on");
    }

    proptest! {
        #[test]
        fn a_threshold_is_found_exactly(threshold in 2_u64..1_000_000_000) {
            prop_assert_eq!(Region::of([1, 1 << 40], |n| n >= threshold), Region::From { from: threshold });
        }
    }
}
