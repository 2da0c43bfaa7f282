//! What programs cost, in symbols.

use crate::execute::SketchKind;
use crate::program::{Canonical, LiveOut, Model, Poly, Program, ProgramCost, ShapeError, Signature};

/// The work of setup and of an iteration, in symbols.
pub fn costs(program: &Program, signature: Signature) -> Result<(Poly, Poly), ShapeError> {
    let cost = ProgramCost::of(&Canonical::new(program, LiveOut::Finished), signature, Model::True)?;
    // The default sketch is charged; ζ would leave the reader to look it up.
    let shown = |p: &Poly| p.with_sketch_work(SketchKind::Sjlt.work(usize::MAX, usize::MAX >> 1));
    Ok((shown(&cost.setup.flops), shown(&cost.iteration.flops)))
}
