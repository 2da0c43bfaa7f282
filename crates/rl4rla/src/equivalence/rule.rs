//! The rewrite rules of the algebra, each with its assumptions, and a bound on the work.

use crate::program::Geometry;
use std::collections::BTreeSet;

/// A rewrite rule. `docs/equivalence.md` states them; a test checks each on random matrices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rule {
    /// (PQ)ᵀ = QᵀPᵀ.
    TransposeOfProduct,
    /// (N⁺)ᵀ = (Nᵀ)⁺.
    TransposeOfInverse,
    /// Aᵀ = A in symmetric problems.
    Symmetric,
    /// (PQ)⁻¹ = Q⁻¹P⁻¹ for square invertible P, Q.
    InverseOfProduct,
    /// (PQ)⁺ = Q⁺P⁺ and P⁺ = (PᵀP)⁻¹Pᵀ, for P of full column rank and Q of full row rank.
    InverseOfFullRank,
    /// (N⁺)⁺ = N.
    InverseOfInverse,
    /// M·M⁻¹ = I, N·N⁻¹ = I for invertible N.
    Cancel,
    /// N·N⁺·N = N and N⁺·N·N⁺ = N⁺; N⁺·N·U = U for N = UUᵀ; N⁺·N⁺·N = N⁺ for symmetric N.
    Penrose,
    /// U·(UᵀU)⁺ = (UUᵀ)⁺·U.
    PushThrough,
    /// R of M = QR depends on MᵀM alone.
    FactorOfGram,
    /// R of MT is R of M times T, for upper triangular T with positive diagonal.
    FactorOfProduct,
    /// RᵀR = MᵀM.
    FactorSquared,
    /// R⁻¹R⁻ᵀ = (MᵀM)⁻¹.
    FactorInverted,
    /// R·(MᵀM)⁻¹ = R⁻ᵀ, R⁻ᵀ·(MᵀM) = R, R⁻ᵀ·Mᵀ = R·M⁻¹ for square M, and their transposes.
    FactorAgainstGram,
    /// M(u + v) = Mu + Mv.
    Distribute,
    /// u + v = v + u, α(βv) = (αβ)v, u − u = 0.
    Collect,
    /// uᵀMv = vᵀMᵀu.
    DotSymmetric,
    /// αγ/(βγ) = α/β.
    Quotient,
    /// αv/‖αv‖ = v/‖v‖ for α > 0.
    Normalize,
    /// ‖v‖² = vᵀv.
    NormSquared,
    /// diag(√v)ᵀ = diag(√v).
    Diagonal,
    /// v⁻ = v − M·d for v = M·x + c, since x − d is the iterate before, and d = 0 in the first iteration.
    Previous,
    /// A refreshed value equals the one that takes its place in other iterations, by induction over iterations.
    Refresh,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 23] = [
        Rule::TransposeOfProduct,
        Rule::TransposeOfInverse,
        Rule::Symmetric,
        Rule::InverseOfProduct,
        Rule::InverseOfFullRank,
        Rule::InverseOfInverse,
        Rule::Cancel,
        Rule::Penrose,
        Rule::PushThrough,
        Rule::FactorOfGram,
        Rule::FactorOfProduct,
        Rule::FactorSquared,
        Rule::FactorInverted,
        Rule::FactorAgainstGram,
        Rule::Distribute,
        Rule::Collect,
        Rule::DotSymmetric,
        Rule::Quotient,
        Rule::Normalize,
        Rule::NormSquared,
        Rule::Diagonal,
        Rule::Previous,
        Rule::Refresh,
    ];

    /// The rule as a formula.
    pub fn formula(self) -> &'static str {
        match self {
            Rule::TransposeOfProduct => "(PQ)ᵀ = QᵀPᵀ",
            Rule::TransposeOfInverse => "(N⁺)ᵀ = (Nᵀ)⁺",
            Rule::Symmetric => "Aᵀ = A",
            Rule::InverseOfProduct => "(PQ)⁻¹ = Q⁻¹P⁻¹",
            Rule::InverseOfFullRank => "(PQ)⁺ = Q⁺P⁺, P⁺ = (PᵀP)⁻¹Pᵀ",
            Rule::InverseOfInverse => "(N⁺)⁺ = N",
            Rule::Cancel => "M M⁻¹ = I",
            Rule::Penrose => "N N⁺ N = N",
            Rule::PushThrough => "U (UᵀU)⁺ = (UUᵀ)⁺ U",
            Rule::FactorOfGram => "R of M = QR depends on MᵀM alone",
            Rule::FactorOfProduct => "R of MT is R of M times T",
            Rule::FactorSquared => "RᵀR = MᵀM",
            Rule::FactorInverted => "R⁻¹R⁻ᵀ = (MᵀM)⁻¹",
            Rule::FactorAgainstGram => "R (MᵀM)⁻¹ = R⁻ᵀ",
            Rule::Distribute => "M(u + v) = Mu + Mv",
            Rule::Collect => "αv + βv = (α + β)v",
            Rule::DotSymmetric => "uᵀMv = vᵀMᵀu",
            Rule::Quotient => "αγ/(βγ) = α/β",
            Rule::Normalize => "αv/‖αv‖ = v/‖v‖",
            Rule::NormSquared => "‖v‖² = vᵀv",
            Rule::Diagonal => "diag(√v)ᵀ = diag(√v)",
            Rule::Previous => "v⁻ = v − M d for v = M x + c",
            Rule::Refresh => "refresh(u, v) = u if u = v after every iteration",
        }
    }
}

/// Why normalization stopped early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NormalisationStop {
    /// Too many rule applications.
    Steps,
    /// A product or a sum grew too long.
    Size,
    /// A coefficient left the range of exact arithmetic.
    Overflow,
    /// A division by an expression that is zero.
    DivisionByZero,
}

const MOST_STEPS: usize = 20_000;
const LONGEST: usize = 512;
const HEAVIEST: usize = 32_768;

/// The state of one normalization: rules used, and whether a bound was reached.
#[derive(Debug)]
pub struct NormalisationWork {
    /// The shape of the problem.
    pub geometry: Geometry,
    /// The rules used so far.
    pub rules: BTreeSet<Rule>,
    /// Set when a bound was reached; the result is then not a normal form.
    pub stop: Option<NormalisationStop>,
    steps: usize,
}

impl NormalisationWork {
    /// The initial state.
    pub fn new(geometry: Geometry) -> NormalisationWork {
        NormalisationWork { geometry, rules: BTreeSet::new(), stop: None, steps: 0 }
    }

    /// Records that a rule was used.
    pub fn used(&mut self, rule: Rule) {
        self.rules.insert(rule);
    }

    /// Whether another step is allowed on an object of this length.
    pub fn go_on(&mut self, length: usize) -> bool {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            self.halt(NormalisationStop::Steps);
        } else if length > LONGEST {
            self.halt(NormalisationStop::Size);
        }
        self.stop.is_none()
    }

    /// Whether a product or a sum of this total weight may be nested in a letter or an atom.
    pub fn can_hold(&mut self, weight: usize) -> bool {
        if weight > HEAVIEST {
            self.halt(NormalisationStop::Size);
        }
        self.stop.is_none()
    }

    /// Stops; the first reason is kept.
    pub fn halt(&mut self, stop: NormalisationStop) {
        self.stop.get_or_insert(stop);
    }
}
