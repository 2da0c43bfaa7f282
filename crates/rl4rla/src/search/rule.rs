//! Selection rules: how much an edge deserves to be tried because little is known of it.

/// The counts a rule may look at, for an edge s → s'.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Statistics {
    /// N(s, a), the visits of the edge; at least 1.
    pub edge: u32,
    /// N(s'), the visits of the child by any edge; at least as many.
    pub child: u32,
    /// The prior of the edge.
    pub prior: f64,
}

/// A selection rule: an edge's score is Q(s') + c·bonus.
pub trait SelectionRule: Sync {
    /// What the bonus needs of N(s), the visits of the parent: found once for all its edges.
    fn parent(&self, visits: u32) -> f64;

    /// The bonus.
    fn bonus(&self, parent: f64, counts: Statistics) -> f64;
}

/// √(ln N(s) / N(s, a)): counts what was tried from here.
pub struct Uct;

/// √(ln N(s) / N(s')): counts what is known of the child, from wherever it was reached.
pub struct Ucd;

/// P(s, a)·√N(s) / (1 + N(s, a)): trusts the prior first.
pub struct Puct;

impl SelectionRule for Uct {
    fn parent(&self, visits: u32) -> f64 {
        f64::from(visits.max(1)).ln()
    }

    fn bonus(&self, parent: f64, counts: Statistics) -> f64 {
        (parent / f64::from(counts.edge)).sqrt()
    }
}

impl SelectionRule for Ucd {
    fn parent(&self, visits: u32) -> f64 {
        Uct.parent(visits)
    }

    fn bonus(&self, parent: f64, counts: Statistics) -> f64 {
        (parent / f64::from(counts.child)).sqrt()
    }
}

impl SelectionRule for Puct {
    fn parent(&self, visits: u32) -> f64 {
        f64::from(visits).sqrt()
    }

    fn bonus(&self, parent: f64, counts: Statistics) -> f64 {
        counts.prior * parent / (1.0 + f64::from(counts.edge))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas() {
        let counts = Statistics { edge: 4, child: 25, prior: 0.5 };
        let bonus = |rule: &dyn SelectionRule, counts| rule.bonus(rule.parent(100), counts);
        assert!((bonus(&Uct, counts) - (100f64.ln() / 4.0).sqrt()).abs() < 1e-15);
        assert!((bonus(&Ucd, counts) - (100f64.ln() / 25.0).sqrt()).abs() < 1e-15);
        assert_eq!(bonus(&Puct, counts), 1.0);
        let alone = Statistics { child: 4, ..counts };
        assert_eq!(bonus(&Uct, alone), bonus(&Ucd, alone), "without transpositions they are one rule");
    }
}
