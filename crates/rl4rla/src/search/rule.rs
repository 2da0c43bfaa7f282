//! Selection rules: the exploration bonus of an edge.

/// Statistics of an edge s → s' for a selection rule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Statistics {
    /// N(s, a), the visits of the edge; at least 1, unless priors rank edges that were never visited.
    pub edge: u32,
    /// N(s'), the visits of the child through any edge; at least N(s, a).
    pub child: u32,
    /// The prior of the edge.
    pub prior: f64,
}

/// A selection rule: an edge's score is Q(s') + c·bonus.
pub trait SelectionRule: Sync {
    /// The part of the bonus that depends on N(s), the visits of the parent; computed once for all its edges.
    fn parent(&self, visits: u32) -> f64;

    /// The bonus.
    fn bonus(&self, parent: f64, counts: Statistics) -> f64;
}

/// √(ln N(s) / N(s, a)): counts the visits of the edge.
pub struct Uct;

/// √(ln N(s) / N(s')): counts the visits of the child through all edges.
pub struct Ucd;

/// P(s, a)·√N(s) / (1 + N(s, a)): follows the prior first.
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
