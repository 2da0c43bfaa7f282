//! Words: products of matrices in normal form.
//!
//! The operators never add matrices, so every matrix a program builds is a product of letters: A, the random
//! matrices, triangular factors, inverses, and their transposes. A word is kept reduced by the rules below; two
//! matrices are shown equal if their words are.

use super::draw::{Law, Place};
use super::rule::{Rule, Work};
use crate::program::{Dim, Geometry};
use std::collections::BTreeSet;

/// A matrix that is not a product.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Atom {
    /// A.
    Data,
    /// S, s×m.
    Sketch(Place),
    /// The matrix that takes and scales k rows; k×m, or k×k when a sample is sampled.
    Sample(Place, Box<Law>),
    /// The upper triangular R with nonnegative diagonal and RᵀR = N, for a Gram matrix N.
    Factor(Box<Word>),
    /// N⁻¹, or N⁺ where N may be singular.
    Inverse(Box<Word>),
}

/// A matrix with its marks: M, Mᵀ, M⁻¹ or M⁻ᵀ.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Letter {
    /// The matrix.
    pub atom: Atom,
    /// Whether it is transposed.
    pub transposed: bool,
    /// Whether it is inverted; only for square matrices that are invertible where they are inverted.
    pub inverted: bool,
    /// Rows, marks counted.
    pub rows: Dim,
    /// Columns, marks counted.
    pub cols: Dim,
}

impl Letter {
    fn new(atom: Atom, rows: Dim, cols: Dim) -> Letter {
        Letter { atom, transposed: false, inverted: false, rows, cols }
    }

    fn is_square(&self) -> bool {
        self.rows == self.cols
    }

    fn inverse(&self) -> Letter {
        Letter { inverted: !self.inverted, ..self.clone() }
    }

    /// The Gram matrix N of a triangular factor, with its marks (inverted, transposed).
    fn factor(&self) -> Option<(&Word, bool, bool)> {
        match &self.atom {
            Atom::Factor(n) => Some((n, self.inverted, self.transposed)),
            _ => None,
        }
    }
}

/// A reduced product of letters; the empty product is the identity.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Word {
    /// The factors.
    pub letters: Vec<Letter>,
    /// Rows of the product.
    pub rows: Dim,
    /// Columns of the product.
    pub cols: Dim,
}

impl Word {
    /// I.
    pub fn identity(dim: Dim) -> Word {
        Word { letters: vec![], rows: dim, cols: dim }
    }

    fn of(letter: Letter) -> Word {
        Word { rows: letter.rows, cols: letter.cols, letters: vec![letter] }
    }

    /// A.
    pub fn data(geometry: Geometry) -> Word {
        Word::of(Letter::new(Atom::Data, geometry.dim(Dim::Rows), Dim::Cols))
    }

    /// S.
    pub fn sketch(place: Place, geometry: Geometry) -> Word {
        Word::of(Letter::new(Atom::Sketch(place), Dim::Sketch, geometry.dim(Dim::Rows)))
    }

    /// The matrix of a sample of `rows` rows.
    pub fn sample(place: Place, law: Law, rows: Dim) -> Word {
        Word::of(Letter::new(Atom::Sample(place, Box::new(law)), Dim::Batch, rows))
    }

    /// Adds the random objects in it to `found`.
    pub fn random(&self, found: &mut BTreeSet<Atom>) {
        for letter in &self.letters {
            match &letter.atom {
                Atom::Data => {}
                Atom::Factor(n) | Atom::Inverse(n) => n.random(found),
                random => {
                    found.insert(random.clone());
                }
            }
        }
    }

    /// Wᵀ.
    pub fn transpose(&self, work: &mut Work) -> Word {
        let flip = |letter: &Letter, work: &mut Work| -> Vec<Letter> {
            let Letter { atom, rows, cols, .. } = letter;
            match atom {
                Atom::Data if work.geometry == Geometry::Symmetric => {
                    work.used(Rule::Symmetric);
                    vec![letter.clone()]
                }
                Atom::Inverse(n) => {
                    work.used(Rule::TransposeOfInverse);
                    let atom = Atom::Inverse(Box::new(n.transpose(work)));
                    vec![Letter { atom, rows: *cols, cols: *rows, ..letter.clone() }]
                }
                _ => vec![Letter {
                    transposed: !letter.transposed,
                    rows: *cols,
                    cols: *rows,
                    ..letter.clone()
                }],
            }
        };
        if self.letters.len() > 1 {
            work.used(Rule::TransposeOfProduct);
        }
        let letters = self.letters.iter().rev().flat_map(|l| flip(l, work)).collect();
        Word { letters, rows: self.cols, cols: self.rows }
    }

    /// V·W, reduced.
    pub fn times(&self, other: &Word, work: &mut Work) -> Word {
        let letters = [&self.letters[..], &other.letters[..]].concat();
        Word { letters: reduce(letters, work), rows: self.rows, cols: other.cols }
    }

    /// R of W = QR.
    pub fn triangle(&self, work: &mut Work) -> Word {
        let gram = self.transpose(work).times(self, work);
        work.used(Rule::FactorOfGram);
        if gram.letters.is_empty() {
            return gram;
        }
        let dim = self.cols;
        Word::of(Letter::new(Atom::Factor(Box::new(gram)), dim, dim))
    }

    /// W⁻¹, or W⁺ where W may be singular.
    pub fn inverse(&self, work: &mut Work) -> Word {
        match &self.letters[..] {
            [] => return self.clone(),
            [Letter { atom: Atom::Inverse(n), .. }] => {
                work.used(Rule::InverseOfInverse);
                return (**n).clone();
            }
            _ => {}
        }
        let opaque =
            |word: &Word| Word::of(Letter::new(Atom::Inverse(Box::new(word.clone())), word.cols, word.rows));
        if !self.is_invertible() {
            return opaque(self);
        }
        let blocks = self.blocks();
        if blocks.len() > 1 {
            work.used(Rule::InverseOfProduct);
        }
        let invert = |block: &Word, work: &mut Work| match &block.letters[..] {
            [Letter { atom: Atom::Inverse(_), .. }] => block.inverse(work).letters,
            [letter] => vec![letter.inverse()],
            _ => opaque(block).letters,
        };
        let letters: Vec<Letter> = blocks.iter().rev().flat_map(|block| invert(block, work)).collect();
        Word { letters: reduce(letters, work), rows: self.cols, cols: self.rows }
    }

    /// The shortest square parts whose product this word is: (AᵀA)(BᵀB) has two.
    fn blocks(&self) -> Vec<Word> {
        let mut blocks = Vec::new();
        let mut start = 0;
        for (i, letter) in self.letters.iter().enumerate() {
            if letter.cols == self.rows {
                let letters = self.letters[start..=i].to_vec();
                blocks.push(Word { letters, rows: self.rows, cols: self.rows });
                start = i + 1;
            }
        }
        blocks
    }

    /// Whether the word is invertible for every A of full column rank and every S that keeps its rank.
    pub fn is_invertible(&self) -> bool {
        self.rows == self.cols && self.blocks().iter().all(Word::is_invertible_block)
    }

    fn is_invertible_block(&self) -> bool {
        match &self.letters[..] {
            [] => true,
            [letter] => match &letter.atom {
                // Inverting the factor of a sample is only defined where the sample has full rank.
                Atom::Factor(n) => letter.inverted || n.is_invertible(),
                Atom::Inverse(n) => n.is_invertible(),
                _ => letter.is_square(),
            },
            letters => {
                // UᵀU with U of full column rank.
                let half = letters.len() / 2;
                let (left, right) = letters.split_at(half);
                let mirrored = left.len() == right.len()
                    && left.iter().rev().zip(right).all(|(l, r)| is_transpose(l, r));
                mirrored && has_full_column_rank(right)
            }
        }
    }
}

fn is_transpose(left: &Letter, right: &Letter) -> bool {
    let Letter { atom, transposed, inverted, .. } = left;
    (atom, inverted) == (&right.atom, &right.inverted) && *transposed != right.transposed
}

/// A, S·A, and either of them followed by invertible square letters.
fn has_full_column_rank(letters: &[Letter]) -> bool {
    let plain = |letter: &Letter, atom: fn(&Atom) -> bool| atom(&letter.atom) && !letter.transposed;
    let rest = match letters {
        [s, a, rest @ ..]
            // A sketch of a square matrix may be shorter than it is wide.
            if plain(s, |a| matches!(a, Atom::Sketch(_))) && plain(a, |a| *a == Atom::Data) && !a.is_square() =>
        {
            rest
        }
        [a, rest @ ..] if plain(a, |a| *a == Atom::Data) => rest,
        _ => return false,
    };
    rest.iter().all(|letter| Word::of(letter.clone()).is_invertible())
}

/// Applies the rules until none fits.
fn reduce(mut letters: Vec<Letter>, work: &mut Work) -> Vec<Letter> {
    while work.go_on(letters.len()) {
        let Some((at, length, replacement, rule)) = find(&letters, work) else { break };
        work.used(rule);
        letters.splice(at..at + length, replacement);
    }
    letters
}

/// The first place where a rule applies: position, length, what to put there, which rule.
fn find(letters: &[Letter], work: &Work) -> Option<(usize, usize, Vec<Letter>, Rule)> {
    // What is tried on the way is not part of the derivation.
    let mut tried = Work::new(work.geometry);
    (0..letters.len()).find_map(|i| {
        let found = pair(&letters[i..], &mut tried).or_else(|| gram_and_inverse(&letters[i..], &mut tried));
        found.map(|(length, replacement, rule)| (i, length, replacement, rule))
    })
}

/// Rules about two neighbours.
fn pair(letters: &[Letter], work: &mut Work) -> Option<(usize, Vec<Letter>, Rule)> {
    let [first, second, ..] = letters else { return None };
    if *second == first.inverse() {
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

/// Rules about a Gram matrix N, its inverse, and its factor R, which may span several letters.
fn gram_and_inverse(letters: &[Letter], work: &mut Work) -> Option<(usize, Vec<Letter>, Rule)> {
    let first = &letters[0];
    // R·N⁻¹ = R⁻ᵀ and R⁻ᵀ·N = R.
    if let Some((n, inverted, transposed)) = first.factor() {
        let (known, result) = match (inverted, transposed) {
            (false, false) if n.is_invertible() => {
                (n.inverse(work).letters, Letter { inverted: true, transposed: true, ..first.clone() })
            }
            (true, true) => {
                (n.letters.clone(), Letter { inverted: false, transposed: false, ..first.clone() })
            }
            _ => (vec![], first.clone()),
        };
        if !known.is_empty() && letters[1..].starts_with(&known) {
            return Some((1 + known.len(), vec![result], Rule::FactorAgainstGram));
        }
    }
    // N⁻¹·N = I; N⁺·N·N⁺ = N⁺.
    if let Atom::Inverse(n) = &first.atom {
        let after = &letters[1..];
        if after.starts_with(&n.letters) {
            let rest = &after[n.letters.len()..];
            if n.is_invertible() {
                return Some((1 + n.letters.len(), vec![], Rule::Cancel));
            }
            if rest.first() == Some(first) {
                return Some((2 + n.letters.len(), vec![first.clone()], Rule::Penrose));
            }
        }
    }
    // What starts with N: look for an inverse or a factor behind every prefix.
    for length in 1..letters.len() {
        let next = &letters[length];
        match &next.atom {
            Atom::Inverse(n) if letters[..length] == n.letters => {
                if n.is_invertible() {
                    return Some((length + 1, vec![], Rule::Cancel));
                }
                if letters[length + 1..].starts_with(&n.letters) {
                    return Some((2 * length + 1, n.letters.clone(), Rule::Penrose));
                }
            }
            Atom::Factor(n) => {
                let (known, result) = match (next.inverted, next.transposed) {
                    // N·R⁻¹ = Rᵀ and N⁻¹·Rᵀ = R⁻¹.
                    (true, false) => {
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
            }
            _ => {}
        }
    }
    None
}
