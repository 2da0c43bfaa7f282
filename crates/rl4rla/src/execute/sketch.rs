//! Sketching: random S with few rows, such that S·A preserves the geometry of the columns of A.

mod kind;
#[cfg(test)]
mod tests;

pub use kind::{SketchKind, SketchLaw, UnknownSketch};
use rand::Rng;
use rayon::prelude::*;

use crate::linalg::{Matrix, Sparse, add, matmul, wide};
use crate::rng::Stream;

/// Most nonzeros in a column of a sparse S.
const MOST_NONZEROS: usize = 8;

/// One drawn S ∈ R^{s×m}: a function of kind, s, m and stream only.
pub struct Sketch {
    sketch_rows: usize,
    rows: usize,
    operator: Operator,
}

enum Operator {
    /// `nonzeros` entries per column of S, ±1/√nonzeros, listed column by column.
    Sparse { nonzeros: usize, entries: Vec<Entry> },
    /// Only the stream is kept: S itself is generated again, block by block, whenever it is applied.
    Gaussian(Stream),
    /// The diagonal of D, and the rows of H selected by P.
    Hadamard { signs: Vec<f64>, picked: Vec<usize> },
}

/// A row below 2³¹, with the sign of the entry in the highest bit: compact, because there are up to eight per row of
/// the data.
#[derive(Clone, Copy)]
struct Entry(u32);

impl Entry {
    const NEGATIVE: u32 = 1 << 31;

    fn new(row: u32, negative: bool) -> Entry {
        Entry(if negative { row | Entry::NEGATIVE } else { row })
    }

    fn row(self) -> u32 {
        self.0 & !Entry::NEGATIVE
    }

    fn sign(self) -> f64 {
        // Half of them are negative: a branch would be mispredicted as often.
        f64::from_bits(1.0_f64.to_bits() | u64::from(self.0 & Entry::NEGATIVE) << 32)
    }
}

/// Entries of a matrix above which a sparse S is applied by all threads.
const LARGE: usize = 1 << 21;

/// Rows of A per block of a Gaussian S. Part of the definition of S: each block has its own stream.
const GAUSSIAN_BLOCK: usize = 64;

impl Sketch {
    /// Draws S with `sketch_rows` rows, for matrices with `rows` rows.
    ///
    /// An SRHT selects rows of the Hadamard matrix of size 2^p ≥ `rows` without replacement if there are enough of
    /// them; if `sketch_rows` > 2^p, with replacement. E SᵀS = I either way.
    pub fn draw(kind: SketchKind, sketch_rows: usize, rows: usize, stream: &Stream) -> Self {
        let operator = match kind.law() {
            SketchLaw::Sparse(nonzeros) => sparse(nonzeros.min(sketch_rows), sketch_rows, rows, stream),
            SketchLaw::Normal => Operator::Gaussian(stream.derive("gaussian", 0)),
            SketchLaw::Hadamard => Operator::Hadamard {
                signs: stream.derive("signs", 0).signs(rows),
                picked: pick(sketch_rows, rows.next_power_of_two(), &mut stream.derive("rows", 0).rng()),
            },
        };
        Self { sketch_rows, rows, operator }
    }

    /// S·A.
    #[allow(non_snake_case)]
    pub fn apply(&self, A: &Matrix) -> Matrix {
        assert_eq!(A.rows(), self.rows, "S was drawn for another number of rows");
        match &self.operator {
            Operator::Sparse { nonzeros, entries } => self.apply_sparse(*nonzeros, entries, A),
            Operator::Gaussian(stream) => self.apply_gaussian(stream, A),
            Operator::Hadamard { signs, picked } => apply_hadamard(signs, picked, A),
        }
    }

    /// S·v.
    pub fn apply_vec(&self, v: &[f64]) -> Vec<f64> {
        assert_eq!(v.len(), self.rows, "S was drawn for another number of rows");
        let Operator::Sparse { nonzeros, entries } = &self.operator else {
            return self.apply(&Matrix::from_fn(v.len(), 1, |i, _| v[i])).column(0).to_vec();
        };
        let mut sums = vec![0.0; self.sketch_rows];
        add_rows(v, 1, *nonzeros, entries, None, 0, &mut sums);
        sums.iter_mut().for_each(|sum| *sum *= scale(*nonzeros));
        sums
    }

    /// Adds each row of A, with its signs, to `nonzeros` rows of the result: row-major, so all access is contiguous.
    #[allow(non_snake_case)]
    fn apply_sparse(&self, nonzeros: usize, entries: &[Entry], A: &Matrix) -> Matrix {
        let (s, n) = (self.sketch_rows, A.cols());
        let (factor, mut sums) = (scale(nonzeros), vec![0.0; s * n]);
        // diag(d)·M is not made: d goes with the signs.
        let (d, A) = match A.scaled_rows() {
            Some((d, M)) if M.is_by_rows() => (Some(d), M),
            _ => (None, A),
        };
        if !A.is_by_rows() {
            add_rows(A.row_major(), n, nonzeros, entries, None, 0, &mut sums);
            return Matrix::from_fn(s, n, |i, j| factor * sums[i * n + j]);
        }
        // Each thread has its own rows of the result, so no sum depends on the number of threads. Few data are left
        // to one: the others evaluate other candidates.
        let most = rayon::current_num_threads();
        if let Some(data) = A.sparse() {
            let band = s.div_ceil(if nonzeros * data.nonzeros() < LARGE { 1 } else { most });
            let bands = sums.par_chunks_mut((band * n).max(1)).enumerate();
            bands.for_each(|(i, sums)| add_stored(data, nonzeros, entries, i * band, sums));
            sums.iter_mut().for_each(|sum| *sum *= factor);
            return Matrix::from_row_major(s, n, sums);
        }
        let threads = if A.rows() * n < LARGE { 1 } else { most };
        let band = s.div_ceil(threads);
        A.each_part(1, |first, part| {
            let (entries, d) = (&entries[first * nonzeros..], d.map(|d| &d[first..]));
            let add = |(i, sums): (usize, &mut [f64])| {
                add_rows(part.entries(), n, nonzeros, entries, d, i * band, sums);
            };
            match threads {
                1 => add((0, &mut sums)),
                _ => sums.par_chunks_mut((band * n).max(1)).enumerate().for_each(add),
            }
        });
        sums.iter_mut().for_each(|sum| *sum *= factor);
        Matrix::from_row_major(s, n, sums)
    }

    #[allow(non_snake_case)]
    fn apply_gaussian(&self, stream: &Stream, A: &Matrix) -> Matrix {
        let (s, n) = (self.sketch_rows, A.cols());
        let mut sums = vec![vec![0.0; s]; n];
        if let Some(data) = A.sparse() {
            // The columns of S that belong to empty rows are not needed, but drawn with their block.
            for first in (0..data.rows()).step_by(GAUSSIAN_BLOCK) {
                let rows = first..data.rows().min(first + GAUSSIAN_BLOCK);
                let normals = stream.derive("block", (first / GAUSSIAN_BLOCK) as u64).normals(s * rows.len());
                for (i, S) in rows.zip(normals.chunks_exact(s.max(1))) {
                    for (j, a) in data.row(i) {
                        sums[j].iter_mut().zip(S).for_each(|(sum, S)| *sum += a * S);
                    }
                }
            }
        } else {
            self.add_gaussian(stream, A, &mut sums);
        }
        let factor = 1.0 / (s as f64).sqrt();
        Matrix::from_fn(s, n, |i, j| factor * sums[j][i])
    }

    #[allow(non_snake_case)]
    fn add_gaussian(&self, stream: &Stream, A: &Matrix, sums: &mut [Vec<f64>]) {
        let (s, n) = (self.sketch_rows, A.cols());
        A.each_part(GAUSSIAN_BLOCK, |first, part| {
            for (at, rows) in part.entries().chunks((GAUSSIAN_BLOCK * n).max(1)).enumerate() {
                let block = first / GAUSSIAN_BLOCK + at;
                let height = rows.len() / n;
                let normals = stream.derive("block", block as u64).normals(s * height);
                let S = Matrix::from_fn(s, height, |i, j| normals[j * s + i]);
                let product = matmul(&S, &Matrix::from_fn(height, n, |i, j| rows[i * n + j]));
                for (j, sum) in sums.iter_mut().enumerate() {
                    *sum = add(sum, product.column(j));
                }
            }
        });
    }
}

/// The absolute value of the entries of an S with so many in each column.
fn scale(nonzeros: usize) -> f64 {
    1.0 / (nonzeros as f64).sqrt()
}

/// Adds rows of n entries each, times their entries of d if there is one, to `sums`, the rows of the result starting at
/// `first`.
fn add_rows(
    rows: &[f64],
    n: usize,
    nonzeros: usize,
    entries: &[Entry],
    d: Option<&[f64]>,
    first: usize,
    sums: &mut [f64],
) {
    if sums.is_empty() {
        return;
    }
    wide(
        #[inline(always)]
        || {
            for (i, (row, entries)) in rows.chunks_exact(n).zip(entries.chunks_exact(nonzeros)).enumerate() {
                let weight = d.map_or(1.0, |d| d[i]);
                for entry in entries {
                    // Entries for sums before the first wrap around to an index out of range.
                    let start = (entry.row() as usize).wrapping_sub(first).saturating_mul(n);
                    if start < sums.len() {
                        let sign = weight * entry.sign();
                        sums[start..start + n].iter_mut().zip(row).for_each(|(sum, a)| *sum += sign * a);
                    }
                }
            }
        },
    );
}

/// The same for the stored entries of sparse data.
fn add_stored(data: &Sparse, nonzeros: usize, entries: &[Entry], first: usize, sums: &mut [f64]) {
    let n = data.cols();
    for ((columns, values), entries) in data.rows_in(0..data.rows()).zip(entries.chunks_exact(nonzeros)) {
        for entry in entries {
            let start = (entry.row() as usize).wrapping_sub(first).saturating_mul(n);
            if start < sums.len() {
                let (sign, sums) = (entry.sign(), &mut sums[start..start + n]);
                columns.iter().zip(values).for_each(|(j, a)| sums[*j as usize] += sign * a);
            }
        }
    }
}

/// The entries of an S with `nonzeros` entries in each of its `cols` columns.
fn sparse(nonzeros: usize, rows: usize, cols: usize, stream: &Stream) -> Operator {
    let mut rng = stream.derive("sparse", 0).rng();
    let mut entries: Vec<Entry> = Vec::with_capacity(nonzeros * cols);
    for _ in 0..cols {
        // Floyd's sampling: one draw for each element of a uniformly random subset. The high bits of a word give the
        // row, its lowest bit the sign.
        let last = |place: usize| rows - nonzeros + place;
        let mut words = [0; MOST_NONZEROS];
        words[..nonzeros].iter_mut().for_each(|word| *word = rng.next_u64());
        let mut chosen: [u32; MOST_NONZEROS] = std::array::from_fn(|place| match place < nonzeros {
            true => below(words[place], last(place) + 1) as u32,
            false => u32::MAX - place as u32,
        });
        // Most draws are distinct, which is seen without a branch for each pair.
        let pairs = (1..MOST_NONZEROS).flat_map(|i| (0..i).map(move |j| (i, j)));
        if pairs.fold(false, |any, (i, j)| any | (chosen[i] == chosen[j])) {
            for place in 1..nonzeros {
                if chosen[..place].contains(&chosen[place]) {
                    chosen[place] = last(place) as u32;
                }
            }
        }
        entries.extend((0..nonzeros).map(|place| Entry::new(chosen[place], words[place] & 1 == 1)));
    }
    Operator::Sparse { nonzeros, entries }
}

/// `count` numbers below `bound`: distinct if there are enough, otherwise independent.
fn pick(count: usize, bound: usize, rng: &mut impl Rng) -> Vec<usize> {
    if count > bound {
        return (0..count).map(|_| below(rng.next_u64(), bound)).collect();
    }
    let mut all: Vec<usize> = (0..bound).collect();
    for i in 0..count {
        all.swap(i, i + below(rng.next_u64(), bound - i));
    }
    all.truncate(count);
    all
}

/// A number below `bound` from a uniform word, with a relative bias of at most bound/2⁶⁴.
fn below(word: u64, bound: usize) -> usize {
    ((u128::from(word) * bound as u128) >> 64) as usize
}

/// √(2^p/s)·P·H·D·A with H orthonormal, that is P·(±1 Hadamard matrix)·D·A/√s.
#[allow(non_snake_case)]
fn apply_hadamard(signs: &[f64], picked: &[usize], A: &Matrix) -> Matrix {
    let size = A.rows().next_power_of_two();
    let columns: Vec<Vec<f64>> = (0..A.cols())
        .map(|j| {
            let mut column: Vec<f64> = A.column(j).iter().zip(signs).map(|(a, sign)| a * sign).collect();
            column.resize(size, 0.0);
            hadamard_transform(&mut column);
            picked.iter().map(|i| column[*i]).collect()
        })
        .collect();
    let factor = 1.0 / (picked.len() as f64).sqrt();
    Matrix::from_fn(picked.len(), A.cols(), |i, j| factor * columns[j][i])
}

/// The fast Walsh-Hadamard transform, unnormalised; the length is a power of two.
fn hadamard_transform(x: &mut [f64]) {
    let mut half = 1;
    while half < x.len() {
        for pair in x.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = (*low + *high, *low - *high);
            }
        }
        half *= 2;
    }
}
