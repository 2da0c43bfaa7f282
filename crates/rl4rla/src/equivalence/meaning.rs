//! Algebraic semantics of the operators: a program is read instruction by instruction, and every operator maps its
//! operands to a value in normal form.

use super::normal::{Normal, start};
use super::random_object::{DrawSite, SamplingLaw};
use super::rule::NormalisationWork;
use super::scalar::{Scalar, ScalarAtom};
use super::value::{Opaque, Value};
use super::vector::{Vector, VectorSource};
use super::word::Word;
use crate::program::{
    Compute, Core, Dim, Geometry, Meaning, Op, Reg, Section, Signature, Structure, Type, Typed,
};
use std::collections::BTreeMap;

/// The state passed from one iteration to the next in registers: x, the last step and the carried registers.
fn states() -> impl Iterator<Item = Reg> {
    Reg::carried().chain([Reg::X, Reg::D])
}

/// The length of a vector that is part of the state.
fn length(reg: Reg, geometry: Geometry) -> Dim {
    geometry.dim(reg.length().expect("a carried vector has one"))
}

/// Reads a program, instruction by instruction.
pub(super) struct ProgramReader {
    values: Vec<Option<Value>>,
    section: Section,
    samples: usize,
    work: NormalisationWork,
    /// Whether every refresh is taken to change nothing, which is to be proved of these pairs of operands.
    trusting: bool,
    refreshed: Vec<[Vector; 2]>,
}

impl ProgramReader {
    /// A reader of programs for problems of this signature.
    pub fn new(signature: Signature) -> ProgramReader {
        let Signature { geometry, update, .. } = signature;
        let mut values = vec![None; Reg::COUNT];
        let rows = geometry.dim(Dim::Rows);
        values[Reg::A.index()] = Some(Value::Matrix(Word::data(geometry)));
        values[Reg::B.index()] = Some(Value::Vector(Vector::source(VectorSource::Reg(Reg::B), rows)));
        values[Reg::ETA.index()] = Some(Value::Scalar(Scalar::atom(ScalarAtom::Eta)));
        values[Reg::MU.index()] = Some(Value::Scalar(Scalar::atom(ScalarAtom::Mu)));
        values[Reg::LAMBDA.index()] = Some(Value::Scalar(Scalar::atom(ScalarAtom::Lambda)));
        values[Reg::P1.index()] = Some(Value::Weights(SamplingLaw::Uniform));
        for reg in states() {
            values[reg.index()] = Some(Value::Vector(Vector::zero(length(reg, geometry))));
        }
        values[Reg::X.index()] = Some(Value::Vector(start(update)));
        let work = NormalisationWork::new(geometry);
        ProgramReader {
            values,
            section: Section::Setup,
            samples: 0,
            work,
            trusting: false,
            refreshed: vec![],
        }
    }

    /// The same, with every refresh read as its first operand.
    pub fn trusting(self) -> ProgramReader {
        ProgramReader { trusting: true, ..self }
    }

    /// Reads a program. Setup sees x, d and the carried registers in their initial state, the iteration as the previous
    /// one left them.
    pub fn read_all(mut self, typed: &[Typed], held: &BTreeMap<Reg, Vector>) -> Normal {
        let (setup, iteration) =
            typed.split_at(typed.partition_point(|typed| typed.section == Section::Setup));
        setup.iter().for_each(|typed| self.read(typed));
        let start = self.vector(Reg::X);
        for reg in states() {
            let value = held.get(&reg).cloned();
            let length = length(reg, self.work.geometry);
            let value = value.unwrap_or_else(|| Vector::source(VectorSource::Reg(reg), length));
            self.values[reg.index()] = Some(Value::Vector(value));
        }
        (self.section, self.samples) = (Section::Iteration, 0);
        iteration.iter().for_each(|typed| self.read(typed));
        let stop = self.work.stop;
        let complete = |reg| stop.is_none().then(|| (reg, self.vector(reg)));
        let results = Reg::carried().chain([Reg::V1]).filter_map(complete).collect();
        let looks_back = iteration
            .iter()
            .any(|typed| typed.instruction.op.remembers() || typed.instruction.reads().contains(Reg::D));
        let refreshed = self.refreshed;
        Normal { results, start, looks_back, rules: self.work.rules, stop, refreshed }
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

    fn law(&self, reg: Reg) -> SamplingLaw {
        match self.value(reg) {
            Value::Weights(law) => law.clone(),
            other => unreachable!("typing promised probabilities, not {other:?}"),
        }
    }

    /// Reads one instruction, unless normalization has stopped.
    fn read(&mut self, typed: &Typed) {
        if self.work.stop.is_some() {
            return;
        }
        let reading = reading(typed.instruction.op);
        let operands = &typed.instruction.operands;
        if let Some(value) = reading(self, typed, operands) {
            let target = typed.instruction.target.expect("a value has a target");
            self.values[target.index()] = Some(value);
        }
    }

    fn values_of(&self, operands: &[Reg]) -> Vec<Value> {
        operands.iter().map(|reg| self.value(*reg).clone()).collect()
    }

    /// The result of an operator of which only "equal operands give equal results" is known.
    fn opaque(&mut self, typed: &Typed, mut args: Vec<Value>) -> Option<Value> {
        let op = typed.instruction.op;
        if op.commutative {
            args.sort();
        }
        let opaque = Opaque { op, args: args.into() };
        if !self.work.can_hold(opaque.weight()) {
            return None;
        }
        Some(match typed.result? {
            Type::Scalar => Value::Scalar(Scalar::atom(ScalarAtom::Opaque(opaque))),
            Type::Vector(dim) => Value::Vector(Vector::source(VectorSource::Opaque(opaque), dim)),
            Type::Matrix(rows, cols, _) => Value::Matrix(Word::opaque(opaque, rows, cols)),
            Type::Weights(_) => Value::Weights(SamplingLaw::Opaque(opaque)),
        })
    }

    /// The identity of the next sample of this section.
    fn next_sample(&mut self) -> DrawSite {
        self.samples += 1;
        DrawSite { section: self.section, index: self.samples }
    }
}

/// The meaning of an operator: reads its operands and returns the value of its target, if it has one.
type Reading = fn(&mut ProgramReader, &Typed, &[Reg]) -> Option<Value>;

fn reading(op: Op) -> Reading {
    match op.compute {
        Compute::Core(core) => core_reading(core),
        // Its S is that of setup, the only section where it may stand.
        Compute::Pure(_) | Compute::Sketching(_) => added_reading(op.meaning),
        // Equal values of this iteration were equal in the one before.
        Compute::Previous => |reader, typed, operands| match reader.value(operands[0]).clone() {
            Value::Vector(v) if v.depends_on_the_iterate_alone() => {
                Some(Value::Vector(v.before(&mut reader.work)))
            }
            _ => reader.opaque(typed, reader.values_of(operands)),
        },
        Compute::Refresh => |reader, typed, operands| {
            if !reader.trusting {
                return reader.opaque(typed, reader.values_of(operands));
            }
            let [u, v] = [operands[0], operands[1]].map(|reg| reader.vector(reg));
            reader.refreshed.push([u.clone(), v]);
            Some(Value::Vector(u))
        },
    }
}

/// The meaning of the paper's operators.
fn core_reading(core: Core) -> Reading {
    match core {
        Core::VecVecAdd => |r, _, o| {
            let (u, v) = (r.vector(o[0]), r.vector(o[1]));
            Some(Value::Vector(u.plus(&Scalar::number(1), &v, &mut r.work)))
        },
        Core::VecVecSub => |r, _, o| {
            let (u, v) = (r.vector(o[0]), r.vector(o[1]));
            Some(Value::Vector(u.plus(&Scalar::number(-1), &v, &mut r.work)))
        },
        Core::VecVecDot => |r, _, o| {
            let (u, v) = (r.vector(o[0]), r.vector(o[1]));
            Some(Value::Scalar(u.dot(&v, &mut r.work)))
        },
        Core::MatVecMul => |r, _, o| {
            let (m, v) = (r.matrix(o[0]), r.vector(o[1]));
            Some(Value::Vector(v.under(&m, &mut r.work)))
        },
        Core::VecMatMul => |r, _, o| {
            let (v, m) = (r.vector(o[0]), r.matrix(o[1]).transpose(&mut r.work));
            Some(Value::Vector(v.under(&m, &mut r.work)))
        },
        Core::ScalarVecMul => |r, _, o| {
            let (a, v) = (r.scalar(o[0]), r.vector(o[1]));
            Some(Value::Vector(v.scaled(&a, &mut r.work)))
        },
        Core::ScalarDiv => |r, _, o| {
            let (a, b) = (r.scalar(o[0]), r.scalar(o[1]));
            Some(Value::Scalar(a.over(&b, &mut r.work)))
        },
        Core::MatMatMul => |r, _, o| {
            let (p, q) = (r.matrix(o[0]), r.matrix(o[1]));
            Some(Value::Matrix(p.times(&q, &mut r.work)))
        },
        Core::MatMatTransMul => |r, _, o| {
            let (p, q) = (r.matrix(o[0]), r.matrix(o[1]).transpose(&mut r.work));
            Some(Value::Matrix(p.times(&q, &mut r.work)))
        },
        Core::MatTransMatMul => |r, _, o| {
            let (p, q) = (r.matrix(o[0]).transpose(&mut r.work), r.matrix(o[1]));
            Some(Value::Matrix(p.times(&q, &mut r.work)))
        },
        Core::MatInv => |r, typed, o| {
            let m = r.matrix(o[0]);
            // Inverting a singular triangular matrix is an error; any other matrix has a pseudo-inverse.
            let upper = typed.args[0].ty.structure() == Structure::Upper;
            Some(Value::Matrix(if upper { m.true_inverse(&mut r.work) } else { m.inverse(&mut r.work) }))
        },
        Core::TriangularSolve => |r, typed, o| {
            let matrix_first = matches!(typed.args[0].ty, Type::Matrix(..));
            let (m, v) = if matrix_first { (o[0], o[1]) } else { (o[1], o[0]) };
            let inverse = r.matrix(m).true_inverse(&mut r.work);
            let inverse = if matrix_first { inverse } else { inverse.transpose(&mut r.work) };
            Some(Value::Vector(r.vector(v).under(&inverse, &mut r.work)))
        },
        Core::Hhqr => |r, _, o| {
            let m = r.matrix(o[0]);
            Some(Value::Matrix(m.triangle(&mut r.work)))
        },
        Core::Sketch => |r, _, o| {
            let s = Word::sketch(DrawSite { section: r.section, index: 1 }, r.work.geometry);
            Some(match r.value(o[0]).clone() {
                Value::Vector(v) => Value::Vector(v.under(&s, &mut r.work)),
                _ => Value::Matrix(s.times(&r.matrix(o[0]), &mut r.work)),
            })
        },
        Core::Subsampling => |r, _, o| {
            let (place, law, matrix) = (r.next_sample(), r.law(o[0]), r.matrix(Reg::A));
            let sample = Word::sample(place, law, matrix.rows);
            let rhs = r.vector(Reg::B).under(&sample, &mut r.work);
            r.values[Reg::B.index()] = Some(Value::Vector(rhs));
            Some(Value::Matrix(sample.times(&matrix, &mut r.work)))
        },
        Core::LeverageScore => |r, _, o| {
            let m = r.matrix(o[0]);
            let transposed = m.transpose(&mut r.work);
            Some(Value::Weights(SamplingLaw::RowNorms(m.times(&transposed, &mut r.work))))
        },
        Core::DoNothing => |_, _, _| None,
    }
}

/// The meaning of operators added by tasks.
fn added_reading(meaning: Meaning) -> Reading {
    match meaning {
        Meaning::Function | Meaning::Sigmoid | Meaning::SigmoidSlope => {
            |reader, typed, operands| reader.opaque(typed, reader.values_of(operands))
        }
        Meaning::Gram => |r, _, o| {
            let m = r.matrix(o[0]);
            let transposed = m.transpose(&mut r.work);
            Some(Value::Matrix(transposed.times(&m, &mut r.work)))
        },
        Meaning::Factor => core_reading(Core::Hhqr),
        Meaning::Solution => |r, _, o| {
            // A singular matrix is an error.
            let (inverse, v) = (r.matrix(o[0]).true_inverse(&mut r.work), r.vector(o[1]));
            Some(Value::Vector(v.under(&inverse, &mut r.work)))
        },
        Meaning::RowScaling => |r, _, o| {
            let (v, m) = (r.vector(o[0]), r.matrix(o[1]));
            if !r.work.can_hold(v.weight()) {
                return None;
            }
            Some(Value::Matrix(Word::diagonal(v).times(&m, &mut r.work)))
        },
        Meaning::ShiftedFactor => |r, typed, o| {
            // Matrices with the same MᵀM have the same factor.
            let (m, shift) = (r.matrix(o[0]), r.value(o[1]).clone());
            let gram = m.transpose(&mut r.work).times(&m, &mut r.work);
            r.opaque(typed, vec![Value::Matrix(gram), shift])
        },
        Meaning::UnitVector => |r, _, o| Some(Value::Vector(r.vector(o[0]).normalized(&mut r.work))),
    }
}
