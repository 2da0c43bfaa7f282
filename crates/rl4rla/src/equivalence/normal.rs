//! The normal form of a program: what one iteration does, as an expression.

use super::draw::{Law, Place};
use super::rule::{Rule, Stop, Work};
use super::scalar::{Atom, Scalar};
use super::value::{Opaque, Value};
use super::vector::{Source, Vector};
use super::word::{Atom as WordAtom, Word};
use crate::program::{
    Canonical, Dim, LiveOut, Op, Program, Reg, Section, ShapeError, Signature, Structure, Type, Typed,
    Update, check,
};
use std::collections::{BTreeMap, BTreeSet};

/// The effect of one iteration: the direction v1 and the new carried registers.
#[derive(Clone, PartialEq, Debug)]
pub struct Normal {
    /// v1 and the carried registers, as functions of x and the carried registers before.
    pub results: BTreeMap<Reg, Vector>,
    /// The rules used on the way.
    pub rules: BTreeSet<Rule>,
    /// Why the form is not complete, if it is not.
    pub stop: Option<Stop>,
}

impl Normal {
    /// The normal form of a program on problems of this shape.
    pub fn of(program: &Program, signature: impl Into<Signature>) -> Result<Normal, ShapeError> {
        let signature = signature.into();
        let form = Normal::as_written(program, signature)?;
        // The carried registers are exchangeable: of the two ways to name them the smaller form counts.
        if form.results.len() > 1 {
            let other = Normal::as_written(&exchanged(program), signature)?;
            return Ok(if other.results < form.results { other } else { form });
        }
        Ok(form)
    }

    fn as_written(program: &Program, signature: Signature) -> Result<Normal, ShapeError> {
        let mut form = Normal::at(program, signature, &BTreeMap::new())?;
        form.keep_what_counts();
        Ok(form)
    }

    /// What an iteration does where the carried registers hold these values: all of it, under the names it has.
    pub(super) fn at(
        program: &Program,
        signature: Signature,
        held: &BTreeMap<Reg, Vector>,
    ) -> Result<Normal, ShapeError> {
        let live = Canonical::new(program, LiveOut::Finished);
        let typed = check(live.program(), signature)?;
        Ok(Reader::new(signature).read_all(&typed, held))
    }

    /// Forgets the carried registers that v1 does not depend on, now or later.
    pub(super) fn keep_what_counts(&mut self) {
        let mut count = BTreeSet::from([Reg::V1]);
        loop {
            let mut more = count.clone();
            for vector in count.iter().filter_map(|reg| self.results.get(reg)) {
                vector.sources(&mut more);
            }
            if more == count {
                break;
            }
            count = more;
        }
        self.results.retain(|reg, _| count.contains(reg));
    }

    /// The random objects that the result depends on.
    pub fn random(&self) -> BTreeSet<WordAtom> {
        let mut found = BTreeSet::new();
        self.results.values().for_each(|vector| vector.random(&mut found));
        found
    }

    /// Whether the form shows that what an iteration does is linear in x, b and the carried registers.
    pub fn is_linear(&self) -> bool {
        self.stop.is_none() && self.results.values().all(|vector| vector.is_linear())
    }

    /// Whether v1 depends on carried registers, now or later.
    pub fn carries(&self) -> bool {
        self.results.len() > 1
    }

    /// Whether two complete forms are the same.
    pub fn equals(&self, other: &Normal) -> bool {
        self.stop.is_none() && other.stop.is_none() && self.results == other.results
    }
}

/// x before the first iteration: zero only where it moves by a direction; where it stays it is the same everywhere.
pub(super) fn start(update: Update) -> Vector {
    match update {
        Update::Subtract => Vector::zero(Dim::Cols),
        Update::Assign => Vector::source(Source::First, Dim::Cols),
        Update::Answer => Vector::source(Source::Reg(Reg::X), Dim::Cols),
    }
}

/// What one iteration hands to the next: x and the carried registers.
fn states() -> impl Iterator<Item = Reg> {
    Reg::carried().chain([Reg::X])
}

/// The program with its carried registers named the other way round.
fn exchanged(program: &Program) -> Program {
    let names: Vec<Reg> = Reg::carried().collect();
    let other = |reg: &mut Reg| {
        if let Some(i) = names.iter().position(|name| name == reg) {
            *reg = names[names.len() - 1 - i];
        }
    };
    let mut program = program.clone();
    for section in Section::BOTH {
        for instruction in program.section_mut(section) {
            instruction.target.iter_mut().for_each(other);
            instruction.operands.iter_mut().for_each(other);
        }
    }
    program
}

/// Reads a program, instruction by instruction.
struct Reader {
    values: Vec<Option<Value>>,
    section: Section,
    samples: usize,
    work: Work,
}

impl Reader {
    fn new(signature: Signature) -> Reader {
        let Signature { geometry, update, .. } = signature;
        let mut values = vec![None; Reg::COUNT];
        let rows = geometry.dim(Dim::Rows);
        values[Reg::A.index()] = Some(Value::Matrix(Word::data(geometry)));
        values[Reg::B.index()] = Some(Value::Vector(Vector::source(Source::Reg(Reg::B), rows)));
        values[Reg::ETA.index()] = Some(Value::Scalar(Scalar::atom(Atom::Eta)));
        values[Reg::P1.index()] = Some(Value::Weights(Law::Uniform));
        for reg in states() {
            values[reg.index()] = Some(Value::Vector(Vector::zero(Dim::Cols)));
        }
        values[Reg::X.index()] = Some(Value::Vector(start(update)));
        Reader { values, section: Section::Setup, samples: 0, work: Work::new(geometry) }
    }

    /// Reads a program: setup sees x and the carried registers as they start, an iteration as the last one left them.
    fn read_all(mut self, typed: &[Typed], held: &BTreeMap<Reg, Vector>) -> Normal {
        let (setup, iteration) =
            typed.split_at(typed.partition_point(|typed| typed.section == Section::Setup));
        setup.iter().for_each(|typed| self.read(typed));
        for reg in states() {
            let value = held.get(&reg).cloned();
            let value = value.unwrap_or_else(|| Vector::source(Source::Reg(reg), Dim::Cols));
            self.values[reg.index()] = Some(Value::Vector(value));
        }
        (self.section, self.samples) = (Section::Iteration, 0);
        iteration.iter().for_each(|typed| self.read(typed));
        let stop = self.work.stop;
        let complete = |reg| stop.is_none().then(|| (reg, self.vector(reg)));
        let results = Reg::carried().chain([Reg::V1]).filter_map(complete).collect();
        Normal { results, rules: self.work.rules, stop }
    }

    fn value(&self, reg: Reg) -> &Value {
        self.values[reg.index()].as_ref().expect("typing admits no undefined operand")
    }

    fn scalar(&self, reg: Reg) -> Scalar {
        match self.value(reg) {
            Value::Scalar(s) => s.clone(),
            other => unreachable!("typing promised a scalar, not {other:?}"),
        }
    }

    fn vector(&self, reg: Reg) -> Vector {
        match self.value(reg) {
            Value::Vector(v) => v.clone(),
            other => unreachable!("typing promised a vector, not {other:?}"),
        }
    }

    fn matrix(&self, reg: Reg) -> Word {
        match self.value(reg) {
            Value::Matrix(w) => w.clone(),
            other => unreachable!("typing promised a matrix, not {other:?}"),
        }
    }

    fn law(&self, reg: Reg) -> Law {
        match self.value(reg) {
            Value::Weights(law) => law.clone(),
            other => unreachable!("typing promised probabilities, not {other:?}"),
        }
    }

    /// Reads one instruction; nothing more once the work has stopped.
    fn read(&mut self, typed: &Typed) {
        if self.work.stop.is_some() {
            return;
        }
        let meaning = meaning(typed.instruction.op);
        let operands = &typed.instruction.operands;
        if let Some(value) = meaning(self, typed, operands) {
            let target = typed.instruction.target.expect("a value has a target");
            self.values[target.index()] = Some(value);
        }
    }

    /// What an operator makes of its operands, when all that is known is that it is a function.
    fn opaque(&mut self, typed: &Typed, operands: &[Reg]) -> Option<Value> {
        let op = typed.instruction.op;
        let mut args: Vec<Value> = operands.iter().map(|reg| self.value(*reg).clone()).collect();
        if op.commutative {
            args.sort();
        }
        let opaque = Opaque { op: op.0.name, args: args.into() };
        if !self.work.can_hold(opaque.weight()) {
            return None;
        }
        Some(match typed.result? {
            Type::Scalar => Value::Scalar(Scalar::atom(Atom::Opaque(opaque))),
            Type::Vector(dim) => Value::Vector(Vector::source(Source::Opaque(opaque), dim)),
            Type::Matrix(rows, cols, _) => Value::Matrix(Word::opaque(opaque, rows, cols)),
            Type::Weights(_) => Value::Weights(Law::Opaque(opaque)),
        })
    }

    /// The place of the next sample of this section.
    fn next_sample(&mut self) -> Place {
        self.samples += 1;
        Place { section: self.section, index: self.samples }
    }
}

/// What an operator means: it reads operands and gives the value of its target, if it has one.
type Meaning = fn(&mut Reader, &Typed, &[Reg]) -> Option<Value>;

/// What algebra knows of an operator; an operator that is not here is a function and no more.
const MEANINGS: [(&str, Meaning); 21] = [
    ("VEC_VEC_ADD", |r, _, o| {
        let (u, v) = (r.vector(o[0]), r.vector(o[1]));
        Some(Value::Vector(u.plus(&Scalar::number(1), &v, &mut r.work)))
    }),
    ("VEC_VEC_SUB", |r, _, o| {
        let (u, v) = (r.vector(o[0]), r.vector(o[1]));
        Some(Value::Vector(u.plus(&Scalar::number(-1), &v, &mut r.work)))
    }),
    ("VEC_VEC_DOT", |r, _, o| {
        let (u, v) = (r.vector(o[0]), r.vector(o[1]));
        Some(Value::Scalar(u.dot(&v, &mut r.work)))
    }),
    ("MAT_VEC_MUL", |r, _, o| {
        let (m, v) = (r.matrix(o[0]), r.vector(o[1]));
        Some(Value::Vector(v.under(&m, &mut r.work)))
    }),
    ("VEC_MAT_MUL", |r, _, o| {
        let (v, m) = (r.vector(o[0]), r.matrix(o[1]).transpose(&mut r.work));
        Some(Value::Vector(v.under(&m, &mut r.work)))
    }),
    ("SCALAR_VEC_MUL", |r, _, o| {
        let (a, v) = (r.scalar(o[0]), r.vector(o[1]));
        Some(Value::Vector(v.scaled(&a, &mut r.work)))
    }),
    ("SCALAR_DIV", |r, _, o| {
        let (a, b) = (r.scalar(o[0]), r.scalar(o[1]));
        Some(Value::Scalar(a.over(&b, &mut r.work)))
    }),
    ("MAT_MAT_MUL", |r, _, o| {
        let (p, q) = (r.matrix(o[0]), r.matrix(o[1]));
        Some(Value::Matrix(p.times(&q, &mut r.work)))
    }),
    ("MAT_MAT_TRANS_MUL", |r, _, o| {
        let (p, q) = (r.matrix(o[0]), r.matrix(o[1]).transpose(&mut r.work));
        Some(Value::Matrix(p.times(&q, &mut r.work)))
    }),
    ("MAT_TRANS_MAT_MUL", |r, _, o| {
        let (p, q) = (r.matrix(o[0]).transpose(&mut r.work), r.matrix(o[1]));
        Some(Value::Matrix(p.times(&q, &mut r.work)))
    }),
    ("MAT_INV", |r, typed, o| {
        let m = r.matrix(o[0]);
        // A singular triangular matrix is an error; any other has a pseudo-inverse.
        let upper = typed.args[0].ty.structure() == Structure::Upper;
        Some(Value::Matrix(if upper { m.true_inverse(&mut r.work) } else { m.inverse(&mut r.work) }))
    }),
    ("TRIANGULAR_SOLVE", |r, typed, o| {
        let matrix_first = matches!(typed.args[0].ty, Type::Matrix(..));
        let (m, v) = if matrix_first { (o[0], o[1]) } else { (o[1], o[0]) };
        let inverse = r.matrix(m).true_inverse(&mut r.work);
        let inverse = if matrix_first { inverse } else { inverse.transpose(&mut r.work) };
        Some(Value::Vector(r.vector(v).under(&inverse, &mut r.work)))
    }),
    ("HHQR", |r, _, o| {
        let m = r.matrix(o[0]);
        Some(Value::Matrix(m.triangle(&mut r.work)))
    }),
    ("SKETCH", |r, _, o| {
        let s = Word::sketch(Place { section: r.section, index: 1 }, r.work.geometry);
        Some(match r.value(o[0]).clone() {
            Value::Vector(v) => Value::Vector(v.under(&s, &mut r.work)),
            _ => Value::Matrix(s.times(&r.matrix(o[0]), &mut r.work)),
        })
    }),
    ("SUBSAMPLING", |r, _, o| {
        let (place, law, matrix) = (r.next_sample(), r.law(o[0]), r.matrix(Reg::A));
        let sample = Word::sample(place, law, matrix.rows);
        let rhs = r.vector(Reg::B).under(&sample, &mut r.work);
        r.values[Reg::B.index()] = Some(Value::Vector(rhs));
        Some(Value::Matrix(sample.times(&matrix, &mut r.work)))
    }),
    ("LEVERAGE_SCORE", |r, _, o| {
        let m = r.matrix(o[0]);
        let transposed = m.transpose(&mut r.work);
        Some(Value::Weights(Law::RowNorms(m.times(&transposed, &mut r.work))))
    }),
    ("DO_NOTHING", |_, _, _| None),
    ("MAT_GRAM", |r, _, o| {
        let m = r.matrix(o[0]);
        let transposed = m.transpose(&mut r.work);
        Some(Value::Matrix(transposed.times(&m, &mut r.work)))
    }),
    ("MAT_VEC_SOLVE", |r, _, o| {
        // A singular matrix is an error.
        let (inverse, v) = (r.matrix(o[0]).true_inverse(&mut r.work), r.vector(o[1]));
        Some(Value::Vector(v.under(&inverse, &mut r.work)))
    }),
    ("VEC_MAT_SCALE", |r, _, o| {
        let (v, m) = (r.vector(o[0]), r.matrix(o[1]));
        if !r.work.can_hold(v.weight()) {
            return None;
        }
        Some(Value::Matrix(Word::diagonal(v).times(&m, &mut r.work)))
    }),
    ("VEC_NORMALIZE", |r, _, o| Some(Value::Vector(r.vector(o[0]).normalized(&mut r.work)))),
];

fn meaning(op: Op) -> Meaning {
    let row = MEANINGS.iter().find(|(name, _)| *name == op.name);
    row.map_or(|reader, typed, operands| reader.opaque(typed, operands), |(_, meaning)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Geometry;

    #[test]
    fn every_operator_has_a_meaning() {
        let known = MEANINGS.map(|(name, _)| name);
        assert_eq!(Op::all().map(|op| op.name).collect::<Vec<_>>(), known[..17]);
        assert!(known.iter().all(|name| Op::named(name).is_some()));
    }

    fn form(text: &str) -> Normal {
        let normal = Normal::of(&text.parse().unwrap(), Geometry::Tall).unwrap();
        assert_eq!(normal.stop, None);
        normal
    }

    const STEP: &str = "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n v1 = MAT_VEC_MUL(R1, v1)\n";

    #[test]
    fn the_ways_to_invert_a_gram_matrix_are_one() {
        let setups = [
            "R1 = HHQR(A)\n R1 = MAT_INV(R1)\n R1 = MAT_MAT_TRANS_MUL(R1, R1)",
            "R1 = MAT_TRANS_MAT_MUL(A, A)\n R1 = MAT_INV(R1)",
            "R1 = HHQR(A)\n R1 = MAT_TRANS_MAT_MUL(R1, R1)\n R1 = MAT_INV(R1)",
            "R1 = HHQR(A)\n R1 = HHQR(R1)\n R1 = MAT_INV(R1)\n R1 = MAT_MAT_TRANS_MUL(R1, R1)",
            "R1 = MAT_TRANS_MAT_MUL(A, A)\n R1 = MAT_INV(R1)\n R1 = MAT_INV(R1)\n R1 = MAT_INV(R1)",
        ];
        let forms = setups.map(|setup| form(&format!("setup:\n {setup}\n{STEP}")));
        for other in &forms[1..] {
            assert_eq!(forms[0].results, other.results);
        }
        let sketched = form(&format!(
            "setup:\n R1 = SKETCH(A)\n R1 = HHQR(R1)\n R1 = MAT_INV(R1)\n R1 = MAT_MAT_TRANS_MUL(R1, R1)\n{STEP}"
        ));
        let half = form(&format!("setup:\n R1 = HHQR(A)\n R1 = MAT_INV(R1)\n{STEP}"));
        assert_ne!(forms[0].results, sketched.results);
        assert_ne!(forms[0].results, half.results);
    }

    #[test]
    fn what_cancels_is_gone() {
        let identity = form(&format!(
            "setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\n R2 = MAT_INV(R1)\n R1 = MAT_MAT_MUL(R1, R2)\n{STEP}"
        ));
        let plain =
            form("iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n");
        assert_eq!(identity.results, plain.results);
        let zero = form("iteration:\n v1 = VEC_VEC_SUB(x, x)\n");
        assert!(zero.results[&Reg::V1].terms.is_empty());
    }

    #[test]
    fn singular_products_are_not_cancelled() {
        // A·Aᵀ is m×m of rank n: with its pseudo-inverse it makes a projector, which changes b but not Aᵀb.
        let setup = "setup:\n R1 = MAT_MAT_TRANS_MUL(A, A)\n R2 = MAT_INV(R1)\n R1 = MAT_MAT_MUL(R1, R2)\n";
        let plain = form("iteration:\n v1 = VEC_MAT_MUL(b, A)\n");
        let projected =
            form(&format!("{setup}iteration:\n v1 = MAT_VEC_MUL(R1, b)\n v1 = VEC_MAT_MUL(v1, A)\n"));
        assert_eq!(projected.results, plain.results);
        let scale = "v1 = VEC_MAT_MUL(b, A)\n v1 = SCALAR_VEC_MUL(a1, v1)\n";
        let plain = form(&format!("iteration:\n a1 = VEC_VEC_DOT(b, b)\n {scale}"));
        let projected =
            form(&format!("{setup}iteration:\n v2 = MAT_VEC_MUL(R1, b)\n a1 = VEC_VEC_DOT(b, v2)\n {scale}"));
        assert_ne!(projected.results, plain.results);
    }

    #[test]
    fn scalars_cancel_and_inner_products_commute() {
        let step = |a: &str| {
            form(&format!(
                "iteration:\n v1 = VEC_MAT_MUL(b, A)\n v2 = MAT_VEC_MUL(A, v1)\n {a}\n v1 = SCALAR_VEC_MUL(a1, v1)\n"
            ))
        };
        let one = step("a1 = VEC_VEC_DOT(v1, v1)\n a2 = VEC_VEC_DOT(v2, v2)\n a1 = SCALAR_DIV(a1, a2)");
        let two = step("a1 = VEC_VEC_DOT(v2, b)\n a2 = VEC_VEC_DOT(v2, v2)\n a1 = SCALAR_DIV(a1, a2)");
        assert_eq!(one.results, two.results, "‖Aᵀb‖² = (AAᵀb)ᵀb");
    }
}
