//! A baseline that another crate brings.

use rl4rla::baseline::{Baseline, BaselineInfo, MethodGroup, Request};
use rl4rla::linalg::Matrix;
use rl4rla::problem::Linear;
use rl4rla::rng::Stream;

/// QR, and one step of iterative refinement.
static REFINED: BaselineInfo = BaselineInfo {
    name: "refined-qr",
    group: MethodGroup::Direct,
    doc: "QR with one step of iterative refinement",
    reference: "Björck, BIT 7, 1967",
    randomized: false,
    task: &Linear,
    flops: None,
    sparse: false,
    solve: |request| {
        let qr = Baseline::named("qr").expect("built in");
        let mut solution = qr.solve(request)?;
        let residual: Vec<f64> = (0..request.A.rows())
            .map(|i| {
                request.b[i] - (0..request.A.cols()).map(|j| request.A.get(i, j) * solution.x[j]).sum::<f64>()
            })
            .collect();
        let correction = qr.solve(&Request { b: &residual, ..*request })?;
        solution.x.iter_mut().zip(&correction.x).for_each(|(x, c)| *x += c);
        Ok(solution)
    },
};

#[test]
fn a_baseline_from_outside_is_listed_found_and_run() {
    let before = Baseline::all().count();
    Baseline::register(&REFINED).unwrap();
    assert!(Baseline::register(&REFINED).is_err(), "its name is taken now");
    assert_eq!(Baseline::all().count(), before + 1);
    let refined = Baseline::named("refined-qr").unwrap();
    assert!(Baseline::of(&Linear).any(|baseline| baseline.info().name == "refined-qr"));

    let (m, n) = (50, 3);
    let numbers = Stream::new(1).normals(m * n + m);
    let (entries, b) = numbers.split_at(m * n);
    let matrix = Matrix::from_row_major(m, n, entries.to_vec());
    let request = Request::new(&matrix, b, Stream::new(2));
    let [refined, qr] =
        [refined, Baseline::named("qr").unwrap()].map(|solver| solver.solve(&request).unwrap().x);
    assert!(refined.iter().zip(&qr).all(|(a, b)| (a - b).abs() < 1e-13), "{refined:?} {qr:?}");
}
