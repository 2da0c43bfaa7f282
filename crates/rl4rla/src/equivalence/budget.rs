//! The work allowed for a verdict, counted in floating-point operations and not in time, so that a pair of programs
//! is judged by the same runs on every machine.

use crate::execute::RunSettings;
use crate::program::{Canonical, LiveOut, Program, Section, Signature, Structure, check};

/// Work allowed for one part of a verdict: about a second.
pub const MOST: f64 = 6e9;

/// Overhead of an instruction besides its arithmetic, in flops.
const OVERHEAD: f64 = 500.0;

/// Upper bound on the work of one run; infinite if the program does not fit the problem.
pub fn work(
    program: &Program,
    signature: Signature,
    settings: &RunSettings,
    rows: usize,
    cols: usize,
) -> f64 {
    let live = Canonical::new(program, LiveOut::Finished);
    let Ok(typed) = check(live.program(), signature) else { return f64::INFINITY };
    let sizes = settings.sizes(rows, cols);
    let each = typed.iter().map(|typed| {
        let op = typed.instruction.op;
        let triangular = typed.args.first().is_some_and(|arg| arg.ty.structure() == Structure::Upper);
        let slowdown = if triangular { 1.0 } else { op.slowdown };
        let flops = (op.flops)(&typed.args).eval(&sizes) * slowdown;
        let times = if typed.section == Section::Setup { 1 } else { settings.iterations };
        times as f64 * (flops + OVERHEAD)
    });
    each.sum()
}
