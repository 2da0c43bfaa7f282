//! Solves a least-squares problem by sketched preconditioning: `cargo run --release --example solve`.

use rl4rla::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // min ‖Ax − b‖ for 2000 noisy points of the line 3 − 2t.
    let (m, noise) = (2000, Stream::new(1).normals(2000));
    let time = |i: usize| i as f64 / m as f64;
    let rows: Vec<f64> = (0..m).flat_map(|i| [1.0, time(i)]).collect();
    let b: Vec<f64> = (0..m).map(|i| 3.0 - 2.0 * time(i) + 0.01 * noise[i]).collect();

    let program = &Entry::named("sketched-precond-gd").ok_or("no such program")?.document;
    let solution = solve(program, Problem::from_rows(m, 2, rows, b)?, &SolveOptions::default())?;
    println!("{} iterations", solution.iterations);
    // A run that has not converged is an error here.
    println!("x = {:?}", solution.into_x()?);
    Ok(())
}
