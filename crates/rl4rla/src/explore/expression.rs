//! Expressions: the values that a program can compute, each a typed call of an operator on other values.

use crate::program::{
    Access, Arg, Compute, Core, DataQuantity, DataUnit, Dim, Env, Kind, Meaning, Op, Pattern, Reg, Section,
    Signature, Sizes, TaskUnits, Type,
};
use rustc_hash::FxHashMap;

/// An expression, by its place among all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Id(u32);

impl Id {
    /// Its place.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The expression at this place.
    pub fn at(index: usize) -> Id {
        Id(index as u32)
    }
}

/// Where a value comes from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ExpressionOrigin {
    /// An input of the program.
    Input(Reg),
    /// An operator on other values.
    Call(Op, Vec<Id>),
}

/// A value that a program can compute.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Where it comes from.
    pub origin: ExpressionOrigin,
    /// Its shape.
    pub ty: Type,
    /// Its unit, and whether it is a point.
    pub quantity: DataQuantity,
    /// Where it is computed: setup if it does not depend on the iterate.
    pub section: Section,
    /// The calls that it takes, itself included, in an order in which they can be made.
    pub calls: Vec<Id>,
    /// Flops of its last call, at the size that work is charged for.
    pub flops: f64,
}

impl Expression {
    /// Number of instructions that compute it.
    pub fn edits(&self) -> usize {
        self.calls.len()
    }

    /// Whether it is a vector of this length that is computed in every iteration, and not a point.
    pub fn is_direction(&self) -> bool {
        self.ty == Type::Vector(Dim::Cols)
            && self.quantity == DataQuantity::vector(self.quantity.unit)
            && self.section == Section::Iteration
    }
}

/// All expressions built so far.
#[derive(Clone)]
pub struct Expressions {
    all: Vec<Expression>,
    known: FxHashMap<ExpressionOrigin, Id>,
    types: Env,
    sizes: Sizes,
    /// The units of the data; `None` if units and affine types are not checked.
    units: Option<TaskUnits>,
    /// Flops beyond which a single call is not worth making: those of the direct solver.
    most_flops: f64,
}

impl Expressions {
    /// The inputs of a problem with this signature.
    pub fn new(signature: Signature, sizes: Sizes, most_flops: f64, units: Option<TaskUnits>) -> Expressions {
        let mut new = Expressions {
            all: vec![],
            known: FxHashMap::default(),
            types: Env::start(signature),
            sizes,
            units,
            most_flops,
        };
        // Searches leave μ to be tuned by those who write it.
        for reg in signature.inputs.iter().filter(|reg| *reg != Reg::MU) {
            let ty = new.types.get(reg).expect("an input has a type");
            let quantity = units.and_then(|units| units.given(reg)).unwrap_or(Expressions::UNTYPED);
            let section = if [Reg::X, Reg::D].contains(&reg) { Section::Iteration } else { Section::Setup };
            let origin = ExpressionOrigin::Input(reg);
            new.push(Expression { origin, ty, quantity, section, calls: vec![], flops: 0.0 });
        }
        new
    }

    /// The quantity of all values if units and affine types are not checked.
    const UNTYPED: DataQuantity = DataQuantity::vector(DataUnit::NONE);

    fn push(&mut self, expression: Expression) -> Id {
        let id = Id(self.all.len() as u32);
        self.known.insert(expression.origin.clone(), id);
        self.all.push(expression);
        id
    }

    /// The inputs, with their expressions.
    pub fn inputs(&self) -> impl Iterator<Item = (Id, Reg)> {
        self.ids().map_while(|id| match self.of(id).origin {
            ExpressionOrigin::Input(reg) => Some((id, reg)),
            ExpressionOrigin::Call(..) => None,
        })
    }

    /// The expression of an input.
    pub fn input(&self, reg: Reg) -> Id {
        self.known[&ExpressionOrigin::Input(reg)]
    }

    /// The type that a register has at the start.
    pub fn type_of(&self, reg: Reg) -> Option<Type> {
        self.types.get(reg)
    }

    /// What an iteration finds in a carried register that holds values of this quantity.
    pub fn carry(&mut self, reg: Reg, quantity: DataQuantity) -> Id {
        let origin = ExpressionOrigin::Input(reg);
        let is_known = |id: &Id| self.of(*id).origin == origin && self.of(*id).quantity == quantity;
        if let Some(id) = self.ids().find(is_known) {
            return id;
        }
        let ty = self.type_of(reg).expect("a carried register has a type");
        self.push(Expression { origin, ty, quantity, section: Section::Iteration, calls: vec![], flops: 0.0 })
    }

    /// An expression by its place.
    pub fn of(&self, id: Id) -> &Expression {
        &self.all[id.index()]
    }

    /// The operands of its last call; none for an input.
    pub fn operands(&self, id: Id) -> &[Id] {
        match &self.of(id).origin {
            ExpressionOrigin::Call(_, operands) => operands,
            ExpressionOrigin::Input(_) => &[],
        }
    }

    /// All expressions, in an order in which they can be computed.
    pub fn ids(&self) -> impl Iterator<Item = Id> + use<> {
        (0..self.all.len() as u32).map(Id)
    }

    /// The operands of a call with registers that name them: equal operands share one.
    pub fn args(&self, operands: &[Id]) -> Vec<Arg> {
        let mut named: Vec<(Id, Reg)> = Vec::with_capacity(operands.len());
        for &id in operands {
            if named.iter().any(|(other, _)| *other == id) {
                continue;
            }
            let of_kind = |reg: &Reg| {
                reg.kind() == self.of(id).ty.kind()
                    && reg.access() == Access::Scratch
                    && !named.iter().any(|(_, taken)| taken == reg)
            };
            let input = match self.of(id).origin {
                ExpressionOrigin::Input(reg) => Some(reg),
                ExpressionOrigin::Call(..) => None,
            };
            let reg = input.or_else(|| Reg::all().find(of_kind)).expect("calls have few operands");
            named.push((id, reg));
        }
        let name = |id: &Id| named.iter().find(|(other, _)| other == id).expect("it was named").1;
        operands.iter().map(|id| Arg { reg: name(id), ty: self.of(*id).ty }).collect()
    }

    /// A call of an operator, if its operands fit in shape, unit and affinity, it is not redundant, and it is worth
    /// its work. An iteration makes no matrix that setup could make, and sketches no vectors: their noise would never
    /// decrease.
    pub fn call(&mut self, op: Op, operands: &[Id]) -> Option<Id> {
        let mut operands = operands.to_vec();
        if op.commutative {
            operands.sort_unstable();
        }
        let origin = ExpressionOrigin::Call(op, operands);
        if let Some(&id) = self.known.get(&origin) {
            return Some(id);
        }
        let expression = self.typed(origin)?;
        Some(self.push(expression))
    }

    fn typed(&self, origin: ExpressionOrigin) -> Option<Expression> {
        let ExpressionOrigin::Call(op, operands) = &origin else { return None };
        let args = self.args(operands);
        let (pattern, ty) = self.types.made(*op, operands.len(), &args)?;
        let ty = ty.filter(|_| !matches!(pattern, Pattern::System(_)))?;
        let iterated = operands.iter().any(|&id| self.of(id).section == Section::Iteration);
        let section = if iterated { Section::Iteration } else { Section::Setup };
        let is_noise = op.sketches() && iterated && ty.kind() == Kind::Vector;
        if is_noise || !op.sections.allow(section) || (op.redundant)(&args) {
            return None;
        }
        // The value before the last would need two states.
        let remembers = |id: &Id| {
            let calls = &self.of(*id).calls;
            calls.is_empty() || calls.iter().any(|&call| self.is_previous(call))
        };
        if matches!(op.compute, Compute::Previous) && operands.iter().any(remembers) {
            return None;
        }
        let quantities: Vec<DataQuantity> = operands.iter().map(|&id| self.of(id).quantity).collect();
        let quantity = match self.units {
            Some(_) => DataQuantity::of_call(*op, &args, &quantities, section).ok()?,
            None => Expressions::UNTYPED,
        };
        let flops = (op.flops)(&args).eval(&self.sizes);
        if flops > self.most_flops {
            return None;
        }
        let mut calls: Vec<Id> = operands.iter().flat_map(|&id| self.of(id).calls.clone()).collect();
        calls.push(Id(self.all.len() as u32));
        calls.sort_unstable();
        calls.dedup();
        Some(Expression { ty, quantity, section, calls, flops, origin })
    }

    fn is_previous(&self, id: Id) -> bool {
        matches!(&self.of(id).origin, ExpressionOrigin::Call(op, _) if matches!(op.compute, Compute::Previous))
    }

    /// A call of one of the paper's operators.
    pub fn core(&mut self, core: Core, operands: &[Id]) -> Option<Id> {
        self.call(Op(&crate::program::OPERATORS[core as usize]), operands)
    }

    /// The negative of a value that is computed with a difference: the same calls with that difference reversed.
    pub fn negated(&mut self, id: Id) -> Option<Id> {
        let ExpressionOrigin::Call(op, operands) = self.of(id).origin.clone() else { return None };
        if let (Meaning::Solution, [map, v]) = (op.meaning, operands[..].as_ref()) {
            let v = self.negated(*v)?;
            return self.call(op, &[*map, v]);
        }
        let Compute::Core(core) = op.compute else { return None };
        match (core, operands[..].as_ref()) {
            (Core::VecVecSub, [u, v]) => self.call(op, &[*v, *u]),
            (Core::MatVecMul | Core::ScalarVecMul, [map, v]) => {
                let v = self.negated(*v)?;
                self.call(op, &[*map, v])
            }
            (Core::VecMatMul, [v, map]) => {
                let v = self.negated(*v)?;
                self.call(op, &[v, *map])
            }
            (Core::TriangularSolve, [u, v]) => {
                let is_vector = self.of(*u).ty.kind() == Kind::Vector;
                let negated = self.negated(if is_vector { *u } else { *v })?;
                self.call(op, &if is_vector { [negated, *v] } else { [*u, negated] })
            }
            _ => None,
        }
    }

    /// The calls of `root` that change if one value takes the place of another, with those in their place; none
    /// if one of them does not fit.
    pub fn substituted(&mut self, root: Id, (old, new): (Id, Id)) -> FxHashMap<Id, Id> {
        let mut renamed = FxHashMap::from_iter([(old, new)]);
        for call in self.of(root).calls.clone() {
            let ExpressionOrigin::Call(op, operands) = self.of(call).origin.clone() else { continue };
            if call != old && operands.iter().any(|id| renamed.contains_key(id)) {
                let operands: Vec<Id> = operands.iter().map(|id| *renamed.get(id).unwrap_or(id)).collect();
                let Some(new) = self.call(op, &operands) else { return FxHashMap::default() };
                renamed.insert(call, new);
            }
        }
        renamed
    }

    /// The unit that a step must have.
    pub fn step_unit(&self) -> DataUnit {
        self.units.map_or(DataUnit::NONE, |units| units.x.unit)
    }

    /// The unit of b.
    pub fn data_unit(&self) -> DataUnit {
        self.units.map_or(DataUnit::NONE, |units| units.b.unit)
    }

    /// Number of expressions.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The unit of a value.
    pub fn unit(&self, id: Id) -> DataUnit {
        self.of(id).quantity.unit
    }

    /// The calls that compute all of these values.
    pub fn calls(&self, ids: &[Id]) -> Vec<Id> {
        let mut calls: Vec<Id> = ids.iter().flat_map(|&id| self.of(id).calls.clone()).collect();
        calls.sort_unstable();
        calls.dedup();
        calls
    }

    /// Flops of setup and of one iteration for these values, at the size that work is charged for.
    pub fn flops(&self, ids: &[Id]) -> [f64; 2] {
        let mut flops = [0.0; 2];
        for call in self.calls(ids) {
            let expression = self.of(call);
            flops[expression.section as usize] += expression.flops;
        }
        flops
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Geometry;

    fn expressions() -> Expressions {
        let sizes =
            Sizes { rows: 1000.0, cols: 10.0, sketch: 40.0, batch: 1.0, sketch_work: 16.0, every: 10.0 };
        Expressions::new(Geometry::Tall.into(), sizes, 2e5, Some(TaskUnits::LINEAR))
    }

    #[test]
    fn only_what_fits_in_shape_unit_and_affinity_is_made() {
        let mut all = expressions();
        let [a, b, x, d] = [Reg::A, Reg::B, Reg::X, Reg::D].map(|reg| all.input(reg));
        let image = all.core(Core::MatVecMul, &[a, x]).unwrap();
        assert_eq!(all.core(Core::VecMatMul, &[image, a]), None, "Ax is a point");
        let residual = all.core(Core::VecVecSub, &[image, b]).unwrap();
        let gradient = all.core(Core::VecMatMul, &[residual, a]).unwrap();
        assert!(all.of(gradient).is_direction());
        assert_eq!(all.core(Core::VecVecAdd, &[gradient, d]), None, "they have different units");
        assert_eq!(all.core(Core::VecVecSub, &[residual, d]), None, "they have different lengths");
        assert_eq!(all.core(Core::MatMatTransMul, &[a, a]), None, "m×m takes more work than QR");
        assert_eq!(all.core(Core::MatVecMul, &[a, x]), Some(image), "the same call is the same value");
        assert_eq!(all.of(gradient).edits(), 3);
    }

    #[test]
    fn a_value_before_the_last_is_not_offered() {
        let mut all = expressions();
        let previous = Op::named("PREVIOUS").unwrap();
        let [a, d] = [Reg::A, Reg::D].map(|reg| all.input(reg));
        assert_eq!(all.call(previous, &[d]), None);
        let image = all.core(Core::MatVecMul, &[a, d]).unwrap();
        let before = all.call(previous, &[image]).unwrap();
        assert_eq!(all.call(previous, &[before]), None);
    }

    #[test]
    fn a_negative_takes_no_more_calls() {
        let mut all = expressions();
        let [a, b, x, d] = [Reg::A, Reg::B, Reg::X, Reg::D].map(|reg| all.input(reg));
        let image = all.core(Core::MatVecMul, &[a, x]).unwrap();
        let residual = all.core(Core::VecVecSub, &[b, image]).unwrap();
        let gradient = all.core(Core::VecMatMul, &[residual, a]).unwrap();
        let negative = all.negated(gradient).unwrap();
        assert_ne!(negative, gradient);
        assert_eq!(all.negated(negative), Some(gradient));
        assert_eq!(all.of(negative).edits(), 3);
        assert_eq!(all.negated(d), None);
    }

    #[test]
    fn iterations_sketch_matrices_that_depend_on_the_iterate_and_no_vectors() {
        let sizes =
            Sizes { rows: 1000.0, cols: 10.0, sketch: 40.0, batch: 1.0, sketch_work: 16.0, every: 10.0 };
        let mut all =
            Expressions::new(Geometry::Tall.into(), sizes, f64::INFINITY, Some(TaskUnits::LOGISTIC));
        let [a, b, x] = [Reg::A, Reg::B, Reg::X].map(|reg| all.input(reg));
        let [sigmoid, slope, scale] =
            ["VEC_SIGMOID", "VEC_DSIGMOID", "VEC_MAT_SCALE"].map(|name| Op::named(name).unwrap());
        let odds = all.core(Core::MatVecMul, &[a, x]).unwrap();
        let chances = all.call(sigmoid, &[odds]).unwrap();
        let weights = all.call(slope, &[chances]).unwrap();
        let root = all.call(scale, &[weights, a]).unwrap();
        let sketched = all.core(Core::Sketch, &[root]).unwrap();
        assert_eq!(all.of(sketched).section, Section::Iteration);
        let fixed = all.core(Core::Sketch, &[a]).unwrap();
        assert_eq!(all.of(fixed).section, Section::Setup, "A does not depend on the iterate");
        let misfit = all.core(Core::VecVecSub, &[chances, b]).unwrap();
        assert_eq!(all.core(Core::Sketch, &[misfit]), None);
        assert_eq!(all.core(Core::VecVecSub, &[odds, b]), None, "log-odds are no probabilities");
        let hessian = all.call(Op::named("MAT_GRAM").unwrap(), &[root]).unwrap();
        let gradient = all.core(Core::VecMatMul, &[misfit, a]).unwrap();
        let step = all.call(Op::named("MAT_VEC_SOLVE").unwrap(), &[hessian, gradient]).unwrap();
        let negative = all.negated(step).unwrap();
        assert_ne!(negative, step);
        assert_eq!(all.negated(negative), Some(step));
    }
}
