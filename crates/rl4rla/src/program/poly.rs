//! Polynomials in the dimensions: the cost of a program for any size.

use super::types::Dim;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Add, AddAssign, Mul};

/// The values of the symbols of a cost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sizes {
    /// m, the rows of the data.
    pub rows: f64,
    /// n, the columns of the data.
    pub cols: f64,
    /// s, the rows of a sketch.
    pub sketch: f64,
    /// k, the rows of a sample.
    pub batch: f64,
    /// ζ, the flops of a sketch per entry of its operand.
    pub sketch_work: f64,
    /// Iterations from one refresh to the next.
    pub every: f64,
}

impl Sizes {
    /// The value of a dimension.
    pub fn of(&self, dim: Dim) -> f64 {
        match dim {
            Dim::Rows => self.rows,
            Dim::Cols => self.cols,
            Dim::Sketch => self.sketch,
            Dim::Batch => self.batch,
            Dim::Stack { sketches, vectors } => f64::from(sketches) * self.sketch + f64::from(vectors),
            Dim::Entries { sketches, vectors } => self.of(Dim::Stack { sketches, vectors }) * self.cols,
        }
    }
}

const SYMBOLS: [&str; 5] = ["m", "n", "s", "k", "ζ"];

/// A sum of terms coefficient · mᵃ nᵇ sᶜ kᵈ ζᵉ.
///
/// ```
/// use rl4rla::program::{Dim, Poly};
/// let flops = Poly::number(2.0) * Poly::dim(Dim::Rows) * Poly::dim(Dim::Cols) + Poly::dim(Dim::Cols);
/// assert_eq!(flops.to_string(), "2mn + n");
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Poly {
    terms: BTreeMap<[u8; 5], f64>,
}

impl Poly {
    /// The constant `c`.
    pub fn number(c: f64) -> Poly {
        Poly::term([0; 5], c)
    }

    /// A dimension as a symbol.
    pub fn dim(dim: Dim) -> Poly {
        match dim {
            Dim::Rows => Poly::symbol(0),
            Dim::Cols => Poly::symbol(1),
            Dim::Sketch => Poly::symbol(2),
            Dim::Batch => Poly::symbol(3),
            Dim::Stack { sketches, vectors } => {
                Poly::symbol(2).times(f64::from(sketches)) + Poly::number(f64::from(vectors))
            }
            Dim::Entries { sketches, vectors } => {
                Poly::dim(Dim::Stack { sketches, vectors }) * Poly::symbol(1)
            }
        }
    }

    /// c times this.
    #[must_use]
    pub fn times(self, c: f64) -> Poly {
        Poly::number(c) * self
    }

    /// ζ, the flops of a sketch per entry of its operand.
    pub fn sketch_work() -> Poly {
        Poly::symbol(4)
    }

    fn symbol(i: usize) -> Poly {
        let mut powers = [0; 5];
        powers[i] = 1;
        Poly::term(powers, 1.0)
    }

    fn term(powers: [u8; 5], c: f64) -> Poly {
        Poly { terms: if c == 0.0 { BTreeMap::new() } else { BTreeMap::from([(powers, c)]) } }
    }

    /// Its value at these sizes.
    pub fn eval(&self, sizes: &Sizes) -> f64 {
        let values = [sizes.rows, sizes.cols, sizes.sketch, sizes.batch, sizes.sketch_work];
        let term = |(powers, c): (&[u8; 5], &f64)| {
            powers.iter().zip(values).fold(*c, |product, (&p, v)| product * v.powi(p.into()))
        };
        self.terms.iter().map(term).sum()
    }

    /// The same cost with ζ replaced by a number.
    pub fn with_sketch_work(&self, work: f64) -> Poly {
        let mut sum = Poly::default();
        for (&[m, n, s, k, z], &c) in &self.terms {
            sum += Poly::term([m, n, s, k, 0], c * work.powi(z.into()));
        }
        sum
    }

    /// The terms not dominated by another, without their coefficients, given that m ≥ s ≥ n and m ≥ k.
    pub fn leading(&self) -> Poly {
        // The extreme rays of that cone, in logarithms: a term at least as large along each ray is at least as large
        // everywhere.
        const RAYS: [[i16; 5]; 7] = [
            [1, 0, 0, 0, 0],
            [1, 0, 1, 0, 0],
            [1, 1, 1, 0, 0],
            [1, 0, 0, 1, 0],
            [1, 0, 1, 1, 0],
            [1, 1, 1, 1, 0],
            [0, 0, 0, 0, 1],
        ];
        let along = |powers: &[u8; 5]| {
            RAYS.map(|ray| powers.iter().zip(ray).map(|(&p, r)| i16::from(p) * r).sum::<i16>())
        };
        let outgrown = |powers: &[u8; 5]| {
            let mut others = self.terms.iter().filter(|(other, c)| **c > 0.0 && *other != powers);
            others.any(|(other, _)| along(other).iter().zip(along(powers)).all(|(o, p)| *o >= p))
        };
        let leading = self.terms.iter().filter(|(powers, c)| **c > 0.0 && !outgrown(powers));
        Poly { terms: leading.map(|(powers, _)| (*powers, 1.0)).collect() }
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The cost in LaTeX.
    pub fn latex(&self) -> String {
        self.render(|symbol, power| match (if symbol == "ζ" { "\\zeta " } else { symbol }, power) {
            (symbol, 1) => symbol.to_string(),
            (symbol, power) => format!("{symbol}^{{{power}}}"),
        })
        .replace('−', "-")
    }

    fn render(&self, power: impl Fn(&str, u8) -> String) -> String {
        if self.is_zero() {
            return "0".into();
        }
        let mut text = String::new();
        // Highest powers first, as costs are usually written.
        for (powers, c) in self.terms.iter().rev() {
            let sign = if *c < 0.0 { "−" } else { "+" };
            match (text.is_empty(), sign) {
                (true, "−") => text.push('−'),
                (true, _) => {}
                (false, _) => text += &format!(" {sign} "),
            }
            let constant = powers.iter().all(|&p| p == 0);
            if c.abs() != 1.0 || constant {
                text += &coefficient(c.abs());
            }
            for (symbol, &p) in SYMBOLS.iter().zip(powers) {
                if p > 0 {
                    text += &power(symbol, p);
                }
            }
        }
        text
    }
}

/// Formats thirds as fractions: they are common in operation counts and unreadable as decimals.
fn coefficient(c: f64) -> String {
    let thirds = c * 3.0;
    if c.fract() != 0.0 && (thirds - thirds.round()).abs() < 1e-9 {
        format!("({}/3)", thirds.round())
    } else {
        format!("{c}")
    }
}

impl fmt::Display for Poly {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        const SUPERSCRIPTS: [&str; 10] = ["⁰", "", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];
        f.write_str(&self.render(|symbol, p| format!("{symbol}{}", SUPERSCRIPTS[p.min(9) as usize])))
    }
}

impl AddAssign for Poly {
    fn add_assign(&mut self, other: Poly) {
        for (powers, c) in other.terms {
            let sum = self.terms.entry(powers).or_insert(0.0);
            *sum += c;
            if *sum == 0.0 {
                self.terms.remove(&powers);
            }
        }
    }
}

impl Add for Poly {
    type Output = Poly;
    fn add(mut self, other: Poly) -> Poly {
        self += other;
        self
    }
}

impl Mul for Poly {
    type Output = Poly;
    fn mul(self, other: Poly) -> Poly {
        let mut product = Poly::default();
        for (p, c) in &self.terms {
            for (q, d) in &other.terms {
                product += Poly::term(std::array::from_fn(|i| p[i] + q[i]), c * d);
            }
        }
        product
    }
}

impl std::iter::Sum for Poly {
    fn sum<I: Iterator<Item = Poly>>(terms: I) -> Poly {
        terms.fold(Poly::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_text_agree() {
        let [m, n] = [Poly::dim(Dim::Rows), Poly::dim(Dim::Cols)];
        let cube = n.clone() * n.clone() * n.clone();
        let p = Poly::number(2.0) * m * n.clone() * n + Poly::number(-2.0 / 3.0) * cube + Poly::number(7.0);
        assert_eq!(p.to_string(), "2mn² − (2/3)n³ + 7");
        assert_eq!(p.latex(), "2mn^{2} - (2/3)n^{3} + 7");
        let sizes = Sizes { rows: 10.0, cols: 3.0, sketch: 1.0, batch: 1.0, sketch_work: 1.0, every: 10.0 };
        assert!((p.eval(&sizes) - (180.0 - 18.0 + 7.0)).abs() < 1e-12);
    }

    #[test]
    fn opposite_terms_vanish() {
        let zero = Poly::dim(Dim::Rows) + Poly::number(-1.0) * Poly::dim(Dim::Rows);
        assert!(zero.is_zero());
        assert_eq!(zero.to_string(), "0");
    }

    #[test]
    fn only_what_can_be_largest_leads() {
        let [m, n, s, k] = [Dim::Rows, Dim::Cols, Dim::Sketch, Dim::Batch].map(Poly::dim);
        let of = |p: Poly| p.leading().to_string();
        let square = n.clone() * n.clone();
        assert_eq!(of(m.clone() * n.clone() + m.clone() + square.clone().times(9.0)), "mn");
        // Either mnζ or n²s may be larger: both stay.
        let sketched =
            m.clone() * n.clone() * Poly::sketch_work() + square.clone() * s + square.clone() * n.clone();
        assert_eq!(of(sketched), "mnζ + n²s");
        assert_eq!(of(k.clone() * k.clone() * n.clone() + square * k.clone() + n * k), "n²k + nk²");
        assert_eq!(of(m.clone() + m.times(-1.0)), "0");
    }

    #[test]
    fn sketch_work_can_be_filled_in() {
        let p = Poly::sketch_work() * Poly::dim(Dim::Rows) + Poly::dim(Dim::Rows);
        assert_eq!(p.to_string(), "mζ + m");
        assert_eq!(p.with_sketch_work(16.0).to_string(), "17m");
    }
}
