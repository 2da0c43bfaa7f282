//! Words: products of matrices in normal form.
//!
//! The paper's operators never add matrices, so every matrix that a program builds is a product of letters: A, random
//! matrices, triangular factors, inverses, diagonal matrices, results of other operators, and their transposes. Words
//! are kept reduced by the rules; two matrices are proved equal if their words are equal.

use super::random_object::{DrawSite, SamplingLaw};
use super::reduce::reduce;
use super::rule::{NormalisationWork, Rule};
use super::value::Opaque;
use super::vector::Vector;
use crate::program::{Dim, Geometry, Reg};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A matrix that is not a product.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum MatrixAtom {
    /// A, which is its own transpose in symmetric problems.
    Data(Geometry),
    /// S, s×m.
    Sketch(DrawSite),
    /// The matrix that selects and scales k rows; k×m, or k×k if a sample is sampled.
    Sample(DrawSite, Box<SamplingLaw>),
    /// The upper triangular R with nonnegative diagonal and RᵀR = N, for a Gram matrix N.
    Factor(Arc<Word>),
    /// N⁻¹, or N⁺ where N may be singular.
    Inverse(Arc<Word>),
    /// diag(√v), for v ≥ 0.
    Diagonal(Arc<Vector>),
    /// The result of an operator unknown to algebra.
    Opaque(Opaque),
}

/// A matrix, possibly transposed and inverted: M, Mᵀ, M⁻¹ or M⁻ᵀ.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Letter {
    /// The matrix.
    pub atom: MatrixAtom,
    /// Whether it is transposed.
    pub transposed: bool,
    /// Whether it is inverted; only for square matrices that are invertible wherever the program is defined.
    pub inverted: bool,
    /// Rows of the letter, after transposition.
    pub rows: Dim,
    /// Columns of the letter, after transposition.
    pub cols: Dim,
}

impl Letter {
    fn new(atom: MatrixAtom, rows: Dim, cols: Dim) -> Letter {
        Letter { atom, transposed: false, inverted: false, rows, cols }
    }

    fn is_square(&self) -> bool {
        self.rows == self.cols
    }

    pub(super) fn inverse(&self) -> Letter {
        Letter { inverted: !self.inverted, ..self.clone() }
    }

    pub(super) fn inverts(&self, other: &Letter) -> bool {
        self.inverted != other.inverted && self.transposed == other.transposed && self.atom == other.atom
    }

    /// Whether the other letter is the transpose of this one.
    pub(super) fn mirrors(&self, other: &Letter) -> bool {
        match (&self.atom, &other.atom) {
            (MatrixAtom::Data(Geometry::Symmetric) | MatrixAtom::Diagonal(_), _) => self == other,
            (MatrixAtom::Inverse(n), MatrixAtom::Inverse(o)) => n.mirrors(o),
            _ => {
                self.transposed != other.transposed
                    && self.inverted == other.inverted
                    && self.atom == other.atom
            }
        }
    }

    fn mirrored(&self) -> Letter {
        let flipped = Letter { rows: self.cols, cols: self.rows, ..self.clone() };
        match &self.atom {
            MatrixAtom::Data(Geometry::Symmetric) | MatrixAtom::Diagonal(_) => flipped,
            MatrixAtom::Inverse(n) => Letter { atom: MatrixAtom::Inverse(Arc::new(n.mirrored())), ..flipped },
            _ => Letter { transposed: !self.transposed, ..flipped },
        }
    }

    /// The Gram matrix N of a triangular factor, and whether the letter is inverted and transposed.
    pub(super) fn factor(&self) -> Option<(&Word, bool, bool)> {
        match &self.atom {
            MatrixAtom::Factor(n) => Some((n, self.inverted, self.transposed)),
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
        Word::of(Letter::new(MatrixAtom::Data(geometry), geometry.dim(Dim::Rows), Dim::Cols))
    }

    /// S.
    pub fn sketch(place: DrawSite, geometry: Geometry) -> Word {
        Word::of(Letter::new(MatrixAtom::Sketch(place), Dim::Sketch, geometry.dim(Dim::Rows)))
    }

    /// diag(√v).
    pub fn diagonal(v: Vector) -> Word {
        let dim = v.dim;
        Word::of(Letter::new(MatrixAtom::Diagonal(Arc::new(v)), dim, dim))
    }

    /// The result of an operator unknown to algebra.
    pub fn opaque(opaque: Opaque, rows: Dim, cols: Dim) -> Word {
        Word::of(Letter::new(MatrixAtom::Opaque(opaque), rows, cols))
    }

    /// The matrix of a sample of `rows` rows.
    pub fn sample(place: DrawSite, law: SamplingLaw, rows: Dim) -> Word {
        Word::of(Letter::new(MatrixAtom::Sample(place, Box::new(law)), Dim::Batch, rows))
    }

    /// Adds the random objects in it to `found`.
    pub fn random(&self, found: &mut BTreeSet<MatrixAtom>) {
        for letter in &self.letters {
            match &letter.atom {
                MatrixAtom::Data(_) => {}
                MatrixAtom::Factor(n) | MatrixAtom::Inverse(n) => n.random(found),
                MatrixAtom::Diagonal(v) => v.random(found),
                MatrixAtom::Opaque(opaque) => opaque.random(found),
                random => {
                    found.insert(random.clone());
                }
            }
        }
    }

    /// Adds the registers that its letters depend on to `found`.
    pub fn sources(&self, found: &mut BTreeSet<Reg>) {
        for letter in &self.letters {
            match &letter.atom {
                MatrixAtom::Data(_) | MatrixAtom::Sketch(_) => {}
                MatrixAtom::Sample(_, law) => law.values().for_each(|value| value.sources(found)),
                MatrixAtom::Factor(n) | MatrixAtom::Inverse(n) => n.sources(found),
                MatrixAtom::Diagonal(v) => v.sources(found),
                MatrixAtom::Opaque(opaque) => opaque.sources(found),
            }
        }
    }

    /// Wᵀ.
    pub fn transpose(&self, work: &mut NormalisationWork) -> Word {
        if self.letters.len() > 1 {
            work.used(Rule::TransposeOfProduct);
        }
        for letter in &self.letters {
            match letter.atom {
                MatrixAtom::Data(Geometry::Symmetric) => work.used(Rule::Symmetric),
                MatrixAtom::Inverse(_) => work.used(Rule::TransposeOfInverse),
                MatrixAtom::Diagonal(_) => work.used(Rule::Diagonal),
                _ => {}
            }
        }
        self.mirrored()
    }

    fn mirrored(&self) -> Word {
        let letters = self.letters.iter().rev().map(Letter::mirrored).collect();
        Word { letters, rows: self.cols, cols: self.rows }
    }

    pub(super) fn mirrors(&self, other: &Word) -> bool {
        self.letters.len() == other.letters.len()
            && self.letters.iter().rev().zip(&other.letters).all(|(l, r)| l.mirrors(r))
    }

    /// V·W, reduced.
    pub fn times(&self, other: &Word, work: &mut NormalisationWork) -> Word {
        let letters = [&self.letters[..], &other.letters[..]].concat();
        Word { letters: reduce(letters, work), rows: self.rows, cols: other.cols }
    }

    /// R of W = QR.
    pub fn triangle(&self, work: &mut NormalisationWork) -> Word {
        let gram = self.transpose(work).times(self, work);
        work.used(Rule::FactorOfGram);
        // WᵀW = Tᵀ·N·T: factors that are triangular already stay outside.
        let (letters, dim) = (&gram.letters, self.cols);
        let upper = |letter: &Letter| {
            let positive = |n: &Word| letter.inverted || n.is_invertible();
            !letter.transposed && matches!(&letter.atom, MatrixAtom::Factor(n) if positive(n))
        };
        let outside = |i: usize| {
            let (first, last) = (&letters[i], &letters[letters.len() - 1 - i]);
            upper(last) && first.mirrors(last)
        };
        let size = (0..letters.len() / 2).take_while(|i| outside(*i)).count();
        let inner = Word { letters: letters[size..letters.len() - size].to_vec(), rows: dim, cols: dim };
        let outer = Word { letters: letters[letters.len() - size..].to_vec(), rows: dim, cols: dim };
        if size > 0 {
            work.used(Rule::FactorOfProduct);
        }
        if inner.letters.is_empty() || !work.can_hold(inner.weight()) {
            return outer;
        }
        Word::of(Letter::new(MatrixAtom::Factor(Arc::new(inner)), dim, dim)).times(&outer, work)
    }

    /// W⁻¹, or W⁺ where W may be singular.
    pub fn inverse(&self, work: &mut NormalisationWork) -> Word {
        if self.is_invertible() { self.true_inverse(work) } else { self.pseudo_inverse(work) }
    }

    /// W⁻¹, where W is invertible or the program fails.
    pub fn true_inverse(&self, work: &mut NormalisationWork) -> Word {
        if self.blocks().nth(1).is_some() {
            work.used(Rule::InverseOfProduct);
        }
        let invert = |block: &[Letter], work: &mut NormalisationWork| match block {
            [letter]
                if matches!(
                    letter.atom,
                    MatrixAtom::Data(_) | MatrixAtom::Factor(_) | MatrixAtom::Diagonal(_)
                ) =>
            {
                vec![letter.inverse()]
            }
            _ => {
                let block = Word { letters: block.to_vec(), rows: self.rows, cols: self.rows };
                block.opaque_inverse(work).letters
            }
        };
        let letters: Vec<Letter> = self.blocks().rev().flat_map(|block| invert(block, work)).collect();
        Word { letters: reduce(letters, work), rows: self.cols, cols: self.rows }
    }

    /// W⁺: through P⁺ = (PᵀP)⁻¹Pᵀ where W = P·M·Q with P of full column rank, Q of full row rank, M invertible.
    fn pseudo_inverse(&self, work: &mut NormalisationWork) -> Word {
        let full = [1, 2, 3].into_iter().find(|&i| self.letters.get(..i).is_some_and(has_full_column_rank));
        let mirror = self.mirrored();
        let mirror_full =
            [1, 2, 3].into_iter().find(|&i| mirror.letters.get(..i).is_some_and(has_full_column_rank));
        if let (Some(i), Some(j)) = (full, mirror_full)
            && i + j <= self.letters.len()
        {
            let (p, rest) = self.letters.split_at(i);
            let (middle, _) = rest.split_at(rest.len() - j);
            let word = |letters: &[Letter], rows, cols| Word { letters: letters.to_vec(), rows, cols };
            let p = word(p, self.rows, p[i - 1].cols);
            let q = word(&mirror.letters[..j], self.cols, mirror.letters[j - 1].cols);
            let middle = word(middle, p.cols, q.cols);
            if middle.is_invertible() {
                work.used(Rule::InverseOfFullRank);
                let p_plus = p.left_inverse(work);
                let q_plus = q.left_inverse(work).transpose(work);
                return q_plus.times(&middle.true_inverse(work), work).times(&p_plus, work);
            }
        }
        self.opaque_inverse(work)
    }

    /// (WᵀW)⁻¹Wᵀ, for W of full column rank.
    fn left_inverse(&self, work: &mut NormalisationWork) -> Word {
        let transposed = self.transpose(work);
        transposed.times(self, work).inverse(work).times(&transposed, work)
    }

    /// The inverse as an atom.
    fn opaque_inverse(&self, work: &mut NormalisationWork) -> Word {
        if let [Letter { atom: MatrixAtom::Inverse(n), .. }] = &self.letters[..] {
            work.used(Rule::InverseOfInverse);
            return (**n).clone();
        }
        if !work.can_hold(self.weight()) {
            return self.clone();
        }
        Word::of(Letter::new(MatrixAtom::Inverse(Arc::new(self.clone())), self.cols, self.rows))
    }

    /// Total number of letters, nested ones included.
    pub fn weight(&self) -> usize {
        let inside = |letter: &Letter| match &letter.atom {
            MatrixAtom::Factor(n) | MatrixAtom::Inverse(n) => n.weight(),
            MatrixAtom::Diagonal(v) => v.weight(),
            MatrixAtom::Opaque(opaque) => opaque.weight(),
            _ => 0,
        };
        self.letters.iter().map(|letter| 1 + inside(letter)).sum()
    }

    /// Uᵀ and U, if this word is UᵀU.
    pub(super) fn halves(&self) -> Option<(Word, Word)> {
        let (left, right) = halves(&self.letters)?;
        let half = |letters: &[Letter]| Word {
            rows: letters[0].rows,
            cols: letters[letters.len() - 1].cols,
            letters: letters.to_vec(),
        };
        Some((half(left), half(right)))
    }

    /// The shortest square blocks whose product is this word: (AᵀA)(BᵀB) has two.
    fn blocks(&self) -> impl DoubleEndedIterator<Item = &[Letter]> {
        let inside = |letter: &Letter| letter.cols != self.rows;
        self.letters.chunk_by(move |letter, _| inside(letter))
    }

    /// Whether the word is invertible for every A of full column rank and every S that preserves its rank.
    pub fn is_invertible(&self) -> bool {
        self.rows == self.cols && self.blocks().all(is_invertible_block)
    }
}

/// Uᵀ and U, if these letters are those of UᵀU.
fn halves(letters: &[Letter]) -> Option<(&[Letter], &[Letter])> {
    let (left, right) = letters.split_at(letters.len() / 2);
    let mirrored = left.len() == right.len() && left.iter().rev().zip(right).all(|(l, r)| l.mirrors(r));
    (mirrored && !left.is_empty()).then_some((left, right))
}

fn is_invertible_block(letters: &[Letter]) -> bool {
    match letters {
        [letter] => match &letter.atom {
            // The inverse of a sample's factor is only defined where the sample has full rank.
            MatrixAtom::Factor(n) => letter.inverted || n.is_invertible(),
            MatrixAtom::Inverse(n) => n.is_invertible(),
            MatrixAtom::Data(_) => letter.is_square(),
            // A sample of a sample is square, but repeats some rows and omits others.
            MatrixAtom::Sketch(_) | MatrixAtom::Sample(..) | MatrixAtom::Opaque(_) => false,
            // An entry may be zero, unless algebra proves it positive or the program fails there.
            MatrixAtom::Diagonal(v) => letter.inverted || v.is_positive(),
        },
        // UᵀU with U of full column rank.
        _ => halves(letters).is_some_and(|(_, u)| has_full_column_rank(u)),
    }
}

/// A, D·A, S·A and S·D·A with diagonal D, and any of them followed by invertible square letters.
fn has_full_column_rank(letters: &[Letter]) -> bool {
    let is_data = |letter: &Letter| matches!(letter.atom, MatrixAtom::Data(_)) && !letter.transposed;
    let is_sketch = |letter: &Letter| matches!(letter.atom, MatrixAtom::Sketch(_)) && !letter.transposed;
    let (sketched, rest) = match letters {
        [s, rest @ ..] if is_sketch(s) => (true, rest),
        rest => (false, rest),
    };
    let is_weight = |letter: &Letter| {
        matches!(letter.atom, MatrixAtom::Diagonal(_)) && is_invertible_block(std::slice::from_ref(letter))
    };
    let diagonals = rest.iter().take_while(|letter| is_weight(letter)).count();
    let rest = match &rest[diagonals..] {
        // A sketch of a square matrix may have fewer rows than columns.
        [a, rest @ ..] if is_data(a) && !(sketched && a.is_square()) => rest,
        _ => return false,
    };
    rest.iter().all(|letter| letter.is_square() && is_invertible_block(std::slice::from_ref(letter)))
}
