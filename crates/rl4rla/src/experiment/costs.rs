//! Costs of programs, as polynomials.

use crate::execute::SketchKind;
use crate::program::{Canonical, LiveOut, Model, Poly, Program, ProgramCost, ShapeError, Signature};

/// The flops of setup, of an iteration and of a refresh, as polynomials.
pub fn costs(program: &Program, signature: Signature) -> Result<[Poly; 3], ShapeError> {
    let cost = ProgramCost::of(&Canonical::new(program, LiveOut::Finished), signature, Model::True)?;
    // The work of the default sketch is filled in, so that readers need not look up ζ.
    let shown = |p: &Poly| p.with_sketch_work(SketchKind::Sjlt.work(usize::MAX, usize::MAX >> 1));
    Ok([&cost.setup, &cost.iteration, &cost.refresh].map(|cost| shown(&cost.flops)))
}
