//! Fusion: which products of an iteration can share one pass over the data.

use super::plan::Planned;
use super::run_draws::is_data;
use crate::program::{Access, Arg, Core, Dim, Reg, Type};

/// Two products with A that one pass computes together: r = A·u, or A·u − b, and then Aᵀ·r. All fields are positions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pass {
    /// Position of the instruction that computes A·u.
    pub product: usize,
    /// Position of the subtraction of b, if there is one.
    pub difference: Option<Difference>,
    /// Position of the instruction that computes Aᵀ·r.
    pub gradient: usize,
}

/// The subtraction of A·u and b.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Difference {
    /// The position.
    pub at: usize,
    /// Whether it is b − A·u.
    pub negative: bool,
}

impl Pass {
    /// Every fused pass of an iteration, found from the data flow, not from register names. If b is subtracted,
    /// nothing else may use A·u, because it is not kept; r may be used anywhere.
    pub fn all(iteration: &[Planned]) -> Vec<Pass> {
        (0..iteration.len()).filter_map(|product| Pass::from(iteration, product)).collect()
    }

    fn from(iteration: &[Planned], product: usize) -> Option<Pass> {
        if !(is(&iteration[product], Core::MatVecMul) && is_data(args(&iteration[product]).first()?)) {
            return None;
        }
        if let Some(gradient) = transposed(iteration, product) {
            return Some(Pass { product, difference: None, gradient })
                .filter(|pass| pass.is_whole(iteration));
        }
        let Uses { positions, kept: false } = uses(iteration, product) else { return None };
        let [at] = positions[..] else { return None };
        let [minuend, subtrahend] = args(&iteration[at]) else { return None };
        let difference = match is(&iteration[at], Core::VecVecSub) {
            true if is_right_hand_side(subtrahend) => Difference { at, negative: false },
            true if is_right_hand_side(minuend) => Difference { at, negative: true },
            _ => return None,
        };
        let gradient = transposed(iteration, at)?;
        Some(Pass { product, difference: Some(difference), gradient }).filter(|pass| pass.is_whole(iteration))
    }

    /// Whether all of it is needed in the same iterations.
    fn is_whole(&self, iteration: &[Planned]) -> bool {
        let needed = |at: usize| iteration[at].needed;
        needed(self.product) == needed(self.gradient)
            && self.difference.is_none_or(|difference| needed(difference.at) == needed(self.product))
    }

    /// Whether r is the residual of the iterate x.
    pub fn measures(&self, iteration: &[Planned]) -> bool {
        self.difference.is_some() && args(&iteration[self.product])[1].reg == Reg::X
    }
}

/// Number of reads of all of the data by an instruction: one or none. A sample reads only its own rows.
pub fn passes(planned: &Planned) -> usize {
    let reads = !planned.typed.instruction.op.samples() && args(planned).iter().any(is_data);
    usize::from(reads)
}

fn is(planned: &Planned, core: Core) -> bool {
    planned.typed.instruction.op.is(core)
}

fn args<'a>(planned: &'a Planned) -> &'a [Arg] {
    &planned.typed.args
}

/// Whether the operand is b as given.
fn is_right_hand_side(arg: &Arg) -> bool {
    arg.reg == Reg::B && arg.ty != Type::Vector(Dim::Batch)
}

/// The uses of a result within its section.
struct Uses {
    /// Positions of the instructions that read it.
    positions: Vec<usize>,
    /// Whether it is live at the end of the section.
    kept: bool,
}

fn uses(section: &[Planned], at: usize) -> Uses {
    let mut positions = Vec::new();
    let Some(target) = section[at].typed.instruction.target else { return Uses { positions, kept: false } };
    for (later, planned) in section.iter().enumerate().skip(at + 1) {
        if args(planned).iter().any(|arg| arg.reg == target) {
            positions.push(later);
        }
        if planned.typed.instruction.writes().contains(target) {
            return Uses { positions, kept: false };
        }
    }
    Uses { positions, kept: target == Reg::V1 || target.access() == Access::Carried }
}

/// Position of the first instruction that multiplies Aᵀ with the result of instruction `at`.
fn transposed(section: &[Planned], at: usize) -> Option<usize> {
    let product =
        |later: &usize| is(&section[*later], Core::VecMatMul) && is_data(&args(&section[*later])[1]);
    uses(section, at).positions.into_iter().find(product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::{Plan, RunSettings};
    use crate::problem::Family;
    use crate::program::{Program, Section};
    use crate::rng::Stream;

    /// The fused passes of an iteration, each as product, difference and gradient, and whether it measures x.
    fn found(iteration: &str) -> Vec<(usize, Option<usize>, usize, bool)> {
        let family = Family { rows: 30, cols: 4, ..Family::named("mid-cond").unwrap() };
        let instance = family.draw(&Stream::new(1)).unwrap();
        let program: Program = format!("iteration:\n{iteration}").parse().unwrap();
        let settings = RunSettings::for_size(30, 4);
        let plan = Plan::new(&program, instance.shape(), &settings).unwrap();
        let iteration = plan.section(Section::Iteration);
        let describe = |p: Pass| (p.product, p.difference.map(|d| d.at), p.gradient, p.measures(iteration));
        Pass::all(iteration).into_iter().map(describe).collect()
    }

    #[test]
    fn gradients_are_found_by_their_data() {
        let plain = " v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";
        assert_eq!(found(plain), [(0, Some(1), 2, true)]);
        let turned = " v3 = MAT_VEC_MUL(A, x)\n v2 = VEC_VEC_SUB(b, v3)\n v3 = VEC_VEC_ADD(v2, b)\n \
                      a1 = VEC_VEC_DOT(v2, v3)\n v1 = VEC_MAT_MUL(v2, A)\n v1 = SCALAR_VEC_MUL(a1, v1)\n";
        assert_eq!(found(turned), [(0, Some(1), 4, true)]);
        let normal = " v2 = MAT_VEC_MUL(A, m1)\n v1 = VEC_MAT_MUL(v2, A)\n a1 = VEC_VEC_DOT(v2, b)\n";
        assert_eq!(found(normal), [(0, None, 1, false)]);
        let moved = " v2 = MAT_VEC_MUL(A, m1)\n v2 = VEC_VEC_SUB(v2, b)\n v1 = VEC_MAT_MUL(v2, A)\n";
        assert_eq!(found(moved), [(0, Some(1), 2, false)]);
    }

    #[test]
    fn what_is_used_elsewhere_is_left_alone() {
        let twice = " v2 = MAT_VEC_MUL(A, x)\n a1 = VEC_VEC_DOT(v2, b)\n v1 = VEC_VEC_SUB(v2, b)\n \
                     v1 = VEC_MAT_MUL(v1, A)\n v1 = SCALAR_VEC_MUL(a1, v1)\n";
        assert_eq!(found(twice), []);
        let sampled = " A, b = SUBSAMPLING(p1)\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n \
                       v1 = VEC_MAT_MUL(v1, A)\n";
        assert_eq!(found(sampled), []);
        let overwritten = " v2 = MAT_VEC_MUL(A, x)\n v2 = VEC_VEC_SUB(b, b)\n v1 = VEC_MAT_MUL(v2, A)\n";
        assert_eq!(found(overwritten), []);
    }
}
