//! The cost of a program: flops and data read, as polynomials, derived from its types alone.

use super::ast::Section;
use super::canon::Canonical;
use super::liveness::{NeededIn, needed};
use super::poly::{Poly, Sizes};
use super::register::Reg;
use super::signature::Signature;
use super::types::{Dim, Geometry, Type};
use super::typing::{ShapeError, Typed, check};

/// A cost model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// The actual work.
    True,
    /// The cost model of the paper's released code.
    Released,
}

/// A cost, as polynomials in the dimensions.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Cost {
    /// Floating-point operations.
    pub flops: Poly,
    /// Matrix entries read from objects as tall as the data.
    pub data: Poly,
}

impl Cost {
    /// The cost of one instruction.
    pub fn of(typed: &Typed, geometry: Geometry, model: Model) -> Cost {
        let op = typed.instruction.op;
        let flops = match model {
            Model::True => (op.flops)(&typed.args),
            Model::Released => (op.released_flops)(&typed.args),
        };
        let sampled = op.samples();
        let mut data = Poly::default();
        for (i, arg) in typed.args.iter().enumerate() {
            let Type::Matrix(rows, cols, _) = arg.ty else { continue };
            // A transposed copy of the data costs as much to read as the data.
            let rows_of_data = geometry.dim(Dim::Rows);
            let tall = (rows == rows_of_data || cols == rows_of_data)
                && (geometry == Geometry::Tall || arg.reg == Reg::A);
            let again = typed.args[..i].iter().any(|earlier| earlier.reg == arg.reg);
            if tall && !again {
                // Sampling reads only the rows it takes.
                let read = if sampled { Dim::Batch } else { rows };
                data += Poly::dim(read) * Poly::dim(cols);
            }
        }
        Cost { flops, data }
    }

    fn add(&mut self, times: f64, other: &Cost) {
        self.flops += other.flops.clone().times(times);
        self.data += other.data.clone().times(times);
    }
}

/// The cost of a program: of setup, and of every iteration.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ProgramCost {
    /// The cost of setup.
    pub setup: Cost,
    /// The cost of one iteration, including the update.
    pub iteration: Cost,
    /// What an iteration costs more if it is one of those that `REFRESH` a value, every k iterations.
    pub refresh: Cost,
}

/// The flops of a program at some size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProgramFlops {
    /// Those of setup.
    pub setup: f64,
    /// Those of one iteration.
    pub iteration: f64,
    /// Those of a refresh.
    pub refresh: f64,
    /// Iterations from one refresh to the next.
    pub every: f64,
}

impl ProgramFlops {
    /// Those of a program without refreshes.
    pub fn steady(setup: f64, iteration: f64) -> ProgramFlops {
        ProgramFlops { setup, iteration, refresh: 0.0, every: 1.0 }
    }

    /// Those of setup and of so many iterations; the first one refreshes.
    pub fn after(&self, iterations: f64) -> f64 {
        self.setup + iterations * self.iteration + (iterations / self.every).ceil() * self.refresh
    }

    /// Those of an iteration, on average over a long run.
    pub fn mean_iteration(&self) -> f64 {
        self.iteration + self.refresh / self.every
    }
}

impl ProgramCost {
    /// The cost of a program. It must be in canonical form, so that only live code is charged.
    pub fn of(
        live: &Canonical,
        signature: impl Into<Signature>,
        model: Model,
    ) -> Result<ProgramCost, ShapeError> {
        let signature = signature.into();
        let typed = check(live.program(), signature)?;
        let mut price = ProgramCost::default();
        price.iteration.flops += signature.update.flops();
        let mut runs = needed(&live.program().iteration).into_iter();
        for instruction in &typed {
            let cost = Cost::of(instruction, signature.geometry, model);
            if instruction.section == Section::Setup {
                price.setup.add(1.0, &cost);
                continue;
            }
            let NeededIn { refreshing, ordinary } = runs.next().expect("one for every instruction");
            if ordinary {
                price.iteration.add(1.0, &cost);
            }
            if refreshing != ordinary {
                price.refresh.add(if refreshing { 1.0 } else { -1.0 }, &cost);
            }
        }
        Ok(price)
    }

    /// Floating-point operations at these sizes.
    pub fn rates(&self, sizes: &Sizes) -> ProgramFlops {
        let [setup, iteration, refresh] =
            [&self.setup, &self.iteration, &self.refresh].map(|cost| cost.flops.eval(sizes));
        ProgramFlops { setup, iteration, refresh, every: sizes.every }
    }

    /// Floating-point operations of `iterations` iterations at these sizes.
    pub fn flops(&self, sizes: &Sizes, iterations: usize) -> f64 {
        self.rates(sizes).after(iterations as f64)
    }

    /// Passes over A of `iterations` iterations at these sizes.
    pub fn passes(&self, sizes: &Sizes, iterations: usize) -> f64 {
        let (iterations, size) = (iterations as f64, sizes.rows * sizes.cols);
        let read = self.setup.data.eval(sizes) + iterations * self.iteration.data.eval(sizes);
        (read + (iterations / sizes.every).ceil() * self.refresh.data.eval(sizes)) / size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::LiveOut;

    fn price(text: &str, model: Model) -> ProgramCost {
        let live = Canonical::new(&text.parse().unwrap(), LiveOut::Finished);
        ProgramCost::of(&live, Geometry::Tall, model).unwrap()
    }

    const LS_GD: &str =
        "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";

    #[test]
    fn gradient_descent_reads_the_data_twice() {
        let price = price(LS_GD, Model::True);
        assert_eq!(price.iteration.flops.to_string(), "4mn + m + 2n");
        assert_eq!(price.iteration.data.to_string(), "2mn");
        assert!(price.setup.flops.is_zero());
    }

    #[test]
    fn dead_code_is_free() {
        let dead = format!("setup:\n R1 = HHQR(A)\n{LS_GD}");
        assert_eq!(price(&dead, Model::True), price(LS_GD, Model::True));
    }

    #[test]
    fn the_released_model_undercharges_the_sketch() {
        let text = format!("setup:\n R1 = SKETCH(A)\n R1 = HHQR(R1)\n{LS_GD} v1 = MAT_VEC_MUL(R1, v1)\n");
        assert_eq!(price(&text, Model::True).setup.flops.to_string(), "mnζ + 2n²s");
        assert_eq!(price(&text, Model::Released).setup.flops.to_string(), "2n²s + 8ns");
        assert_eq!(price(&text, Model::True).setup.data.to_string(), "mn");
    }

    /// r ← Ax − b every k iterations, and r ← r − ηAv1 in between.
    #[test]
    fn what_only_a_refresh_needs_is_charged_once_in_k_iterations() {
        let recurred = "iteration:\n v2 = MAT_VEC_MUL(A, x)\n v2 = VEC_VEC_SUB(v2, b)\n v2 = REFRESH(v2, u1)\n v1 = VEC_MAT_MUL(v2, A)\n v3 = MAT_VEC_MUL(A, v1)\n v3 = SCALAR_VEC_MUL(eta, v3)\n u1 = VEC_VEC_SUB(v2, v3)\n";
        let price = price(recurred, Model::True);
        assert_eq!(price.iteration.data.to_string(), "2mn");
        assert_eq!(
            (price.refresh.data.to_string(), price.refresh.flops.to_string()),
            ("mn".into(), "2mn + m".into())
        );
        let sizes = Sizes { rows: 7.0, cols: 5.0, sketch: 1.0, batch: 1.0, sketch_work: 1.0, every: 4.0 };
        assert_eq!([1, 4, 5, 9].map(|t| price.passes(&sizes, t)), [3.0, 9.0, 12.0, 21.0]);
    }

    #[test]
    fn a_sample_reads_only_its_rows() {
        let text = "iteration:\n A, b = SUBSAMPLING(p1)\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";
        assert_eq!(price(text, Model::True).iteration.data.to_string(), "nk");
    }
}
