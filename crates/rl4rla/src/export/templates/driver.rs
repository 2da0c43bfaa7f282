// Runs exported functions on data and draws from files. Not a module of this crate.
#![allow(non_snake_case)]

use faer::prelude::*;
use std::collections::VecDeque;
use std::fs;

/// Draws that were made elsewhere, in the order they are asked for.
struct Replay {
    sketches: VecDeque<Vec<f64>>,
    samples: VecDeque<Vec<f64>>,
}

impl Replay {
    fn sketch(&mut self, s: usize, m: usize) -> Box<dyn Fn(MatRef<'_, f64>) -> Mat<f64>> {
        let rows: Vec<Vec<f64>> = self.sketches.drain(..s).collect();
        let S = Mat::from_fn(s, m, |i, j| rows[i][j]);
        Box::new(move |M| &S * M)
    }

    fn sample(&mut self) -> Vec<usize> {
        let rows = self.samples.pop_front().expect("as many samples as are asked for");
        rows.iter().map(|i| *i as usize).collect()
    }
}

/// The numbers of a file, line by line; none if there is no such file.
fn lines(folder: &str, name: &str) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(format!("{folder}/{name}.txt")).unwrap_or_default();
    let number = |word: &str| word.parse().expect("a number");
    text.lines().map(|line| line.split_whitespace().map(number).collect()).collect()
}

type Program<'a> = dyn Fn(MatRef<'_, f64>, ColRef<'_, f64>, ColRef<'_, f64>, &mut Replay) -> Vec<Col<f64>> + 'a;

fn run(folder: &str, program: &Program) {
    let A = lines(folder, "A");
    let A = Mat::from_fn(A.len(), A[0].len(), |i, j| A[i][j]);
    let column = |name: &str| {
        let entries = lines(folder, name);
        Col::from_fn(entries.len(), |i| entries[i][0])
    };
    let mut replay = Replay { sketches: lines(folder, "sketches").into(), samples: lines(folder, "samples").into() };
    let results = program(A.as_ref(), column("b").as_ref(), column("x0").as_ref(), &mut replay);
    let line = |x: &Col<f64>| x.iter().map(|number| format!("{number:e} ")).collect::<String>() + "\n";
    let text: String = results.iter().map(line).collect();
    fs::write(format!("{folder}/results.txt"), text).expect("the folder can be written to");
}

/// What came of a run: whether it converged, after how many iterations, and where.
type Outcome = (bool, usize, Col<f64>);

/// Runs a program with its own defaults and draws; what came of it goes into a file.
fn try_on(folder: &str, name: &str, program: &dyn Fn(MatRef<'_, f64>, ColRef<'_, f64>, ColRef<'_, f64>) -> Outcome) {
    let numbers = |name: &str| -> Vec<f64> {
        let bytes = fs::read(format!("{folder}/{name}.bin")).expect("data");
        bytes.chunks_exact(8).map(|eight| f64::from_le_bytes(eight.try_into().expect("eight bytes"))).collect()
    };
    let (entries, b, x0) = (numbers("A"), numbers("b"), numbers("x0"));
    let n = x0.len();
    let A = Mat::from_fn(entries.len() / n, n, |i, j| entries[i * n + j]);
    let column = |entries: &[f64]| Col::from_fn(entries.len(), |i| entries[i]);
    let (b, x0) = (column(&b), column(&x0));
    let call = || program(A.as_ref(), b.as_ref(), x0.as_ref());
    let text = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)) {
        Ok((converged, iterations, x)) => {
            let numbers: String = x.iter().map(|number| format!("{number:e} ")).collect();
            format!("{} {iterations}\n{numbers}", u8::from(converged))
        }
        Err(_) => "it panicked".into(),
    };
    fs::write(format!("{folder}/{name}.txt"), text).expect("the folder can be written to");
}
