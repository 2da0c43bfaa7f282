//! Naming: matches programs against the catalogue.

use super::normal::Normal;
use super::verdict::{Answer, Symbolic, Verdict, equivalent};
use crate::cache::Memo;
use crate::execute::RunSettings;
use crate::program::{
    Canonical, Cost, Entry, Instruction, LiveOut, Model, Operator, Poly, Program, ProgramCost, Section,
    ShapeError, Signature,
};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{LazyLock, Mutex};
use xxhash_rust::xxh3::xxh3_128;

/// The catalogue match of a program.
#[derive(Clone, Debug)]
pub enum Naming {
    /// It is equivalent to this algorithm, at the same order of cost.
    Known(&'static Entry, Box<Verdict>),
    /// It has the iterates of this algorithm but a different order of cost.
    SameIterates(&'static Entry, Box<Verdict>, CostGap),
    /// It is not in the catalogue; these entries are nearest by edit distance.
    Unknown(Vec<(&'static Entry, usize)>),
}

impl Naming {
    /// The catalogue entry that the program is, if any.
    pub fn entry(&self) -> Option<&'static Entry> {
        match self {
            Naming::Known(entry, _) => Some(entry),
            Naming::SameIterates(..) | Naming::Unknown(_) => None,
        }
    }
}

/// The order of a program's cost: the leading terms of its flops and data reads, in setup and per iteration.
///
/// Two programs with the same iterates get the same name only if they agree in this. A direct solver in setup has the
/// iterates of preconditioned gradient descent, but reads no data afterwards.
#[derive(Clone, PartialEq, Debug)]
pub struct Growth {
    /// Cost of setup.
    pub setup: Cost,
    /// Cost of one iteration.
    pub iteration: Cost,
}

impl Growth {
    /// The order of a program's cost on problems of this shape.
    pub fn of(program: &Program, signature: impl Into<Signature>) -> Result<Growth, ShapeError> {
        let cost = ProgramCost::of(&Canonical::new(program, LiveOut::Finished), signature, Model::True)?;
        let order = |cost: &Cost| Cost { flops: cost.flops.leading(), data: cost.data.leading() };
        // A refresh is part of some iterations.
        let mut iteration = cost.iteration;
        iteration.flops += cost.refresh.flops;
        iteration.data += cost.refresh.data;
        Ok(Growth { setup: order(&cost.setup), iteration: order(&iteration) })
    }
}

/// The cost of a program next to that of the catalogue program with the same iterates.
#[derive(Clone, PartialEq, Debug)]
pub struct CostGap {
    /// Cost of the program.
    pub own: Growth,
    /// Cost of the catalogue program.
    pub catalogue: Growth,
}

impl fmt::Display for CostGap {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let flops = |p: &Poly| if p.is_zero() { "no".to_string() } else { format!("O({p})") };
        let part = |own: &Cost, other: &Cost| match own.flops == other.flops && own.data == other.data {
            true => format!("{} flops as well", flops(&own.flops)),
            false => {
                let reads = if own.data.is_zero() && !other.data.is_zero() { ", A is not read" } else { "" };
                format!("{} flops instead of {}{reads}", flops(&own.flops), flops(&other.flops))
            }
        };
        let once = part(&self.own.setup, &self.catalogue.setup);
        let each = part(&self.own.iteration, &self.catalogue.iteration);
        write!(f, "once {once}, every iteration {each}")
    }
}

/// Matches a program against the catalogue, by equivalence and by order of cost.
pub fn name(program: &Program, signature: impl Into<Signature>) -> Result<Naming, ShapeError> {
    let signature = signature.into();
    let normal = Normal::of(program, signature)?;
    let mut near: Vec<(&Entry, usize)> =
        Entry::known().map(|entry| (entry, distance(program, &entry.document.program))).collect();
    // Programs with different updates are never equivalent.
    near.retain(|(entry, _)| entry.document.update == signature.update);
    near.sort_by_key(|(_, edits)| *edits);
    let own = Growth::of(program, signature)?;
    let mut equals = Vec::new();
    for &(entry, _) in &near {
        let known = &entry.document.program;
        let same = |form: &Normal| Symbolic::of((program, &normal), (known, form), signature).is_equal();
        if catalogue_form(entry, signature).is_some_and(|form| same(&form)) {
            let verdict = equivalent(program, known, signature)?;
            if verdict.answer == Answer::Equivalent {
                equals.push((entry, verdict, Growth::of(&entry.document.program, signature)?));
            }
        }
    }
    // Among equivalent entries of the same cost, the one with the same rounding behaviour is preferred, and then the
    // one with the smallest edit distance: forms of one method differ in stability.
    let best =
        equals.into_iter().min_by_key(|(_, verdict, effort)| (*effort != own, verdict.stability.is_some()));
    near.truncate(3);
    Ok(match best {
        Some((entry, verdict, catalogue)) if catalogue == own => Naming::Known(entry, Box::new(verdict)),
        Some((entry, verdict, catalogue)) => {
            Naming::SameIterates(entry, Box::new(verdict), CostGap { own, catalogue })
        }
        None => Naming::Unknown(near),
    })
}

/// The catalogue name of a program, if it has one. Remembered, because runs find the same programs again and again.
pub fn catalogue_name(program: &Program, signature: impl Into<Signature>) -> Option<&'static str> {
    type Names = Memo<(u128, Signature, usize), Option<&'static str>>;
    static NAMES: LazyLock<Names> = LazyLock::new(Memo::new);
    let signature = signature.into();
    // Programs can be added to the catalogue.
    let key = (xxh3_128(program.to_string().as_bytes()), signature, Entry::known().count());
    let entry = || name(program, signature).ok().and_then(|naming| naming.entry());
    NAMES.find(key, || entry().map(|entry| entry.name))
}

/// The normal form of a catalogue program, computed once; `None` if it does not fit the problem.
fn catalogue_form(entry: &'static Entry, signature: Signature) -> Option<Normal> {
    type Forms = BTreeMap<(&'static str, Signature), Option<Normal>>;
    static FORMS: LazyLock<Mutex<Forms>> = LazyLock::new(Mutex::default);
    let mut forms = FORMS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let form = || Normal::of(&entry.document.program, signature).ok();
    forms.entry((entry.name, signature)).or_insert_with(form).clone()
}

/// Edit distance: the smallest number of instructions to insert, delete or replace to turn the live code of one
/// program into that of the other.
pub fn distance(p: &Program, q: &Program) -> usize {
    let listed = |program: &Program| -> Vec<(Section, Instruction)> {
        let live = Canonical::new(program, LiveOut::Finished);
        live.program().instructions().map(|(section, _, ins)| (section, ins.clone())).collect()
    };
    crate::program::edits(&listed(p), &listed(q))
}

/// Name of a catalogue program with its settings, such as "Sketched Preconditioned GD, η = 0.7, SJLT 8n".
pub fn full_name(entry: &Entry, settings: &RunSettings, cols: usize) -> String {
    let mut name = format!("{}, η = {}", entry.document.title, settings.step);
    let uses = |wanted: fn(&Operator) -> bool| {
        entry.document.program.instructions().any(|(_, _, instruction)| wanted(&instruction.op))
    };
    if uses(Operator::sketches) {
        let ratio = settings.sketch_rows as f64 / cols as f64;
        name += &format!(", {} {ratio}n", settings.sketch.name().to_uppercase());
    }
    if uses(Operator::samples) {
        name += &format!(", k = {}", settings.batch);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{CATALOGUE, Geometry};

    fn entry(name: &str) -> &'static Entry {
        Entry::named(name).unwrap()
    }

    #[test]
    fn every_catalogue_program_has_its_own_name() {
        for entry in CATALOGUE.iter() {
            match name(&entry.document.program, entry.signature()).unwrap() {
                Naming::Known(found, _) => assert_eq!(found.name, entry.name),
                other => panic!("{} is not recognised: {other:?}", entry.name),
            }
        }
    }

    #[test]
    fn a_rewritten_program_gets_the_name_of_the_form_that_rounds_as_it_does() {
        let normal_equations: Program = "setup:\n R2 = MAT_TRANS_MAT_MUL(A, A)\n R3 = MAT_INV(R2)\niteration:\n \
             v2 = MAT_VEC_MUL(A, x)\n v2 = VEC_VEC_SUB(b, v2)\n v2 = VEC_MAT_MUL(v2, A)\n v2 = MAT_VEC_MUL(R3, v2)\n \
             v1 = VEC_VEC_SUB(x, x)\n v1 = VEC_VEC_SUB(v1, v2)\n"
            .parse()
            .unwrap();
        match name(&normal_equations, Geometry::Tall).unwrap() {
            Naming::Known(found, verdict) => {
                assert_eq!(found.name, "gram-refinement");
                assert!(verdict.stability.is_none());
            }
            unknown => panic!("{unknown:?}"),
        }
    }

    fn parse(text: &str) -> Program {
        text.parse().unwrap()
    }

    #[test]
    fn a_direct_solve_is_no_gradient_descent() {
        // x̂ is computed in setup; an iteration moves x towards it and reads no data.
        let direct = parse(
            "setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\n R1 = MAT_INV(R1)\n v2 = VEC_MAT_MUL(b, A)\n v2 = MAT_VEC_MUL(R1, v2)\n\
             iteration:\n v1 = VEC_VEC_SUB(x, v2)\n",
        );
        let Naming::SameIterates(found, _, gap) = name(&direct, Geometry::Tall).unwrap() else {
            panic!("named after an iterative method")
        };
        assert_eq!(found.name, "gram-refinement");
        assert_eq!(
            gap.to_string(),
            "once O(mn²) flops as well, every iteration O(n) flops instead of O(mn), A is not read"
        );
        assert!(name(&direct, Geometry::Tall).unwrap().entry().is_none());
    }

    #[test]
    fn work_of_another_order_is_told() {
        // Gradient descent through the Gram matrix: mn² once, and n² instead of mn per iteration.
        let gram = parse(
            "setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\n v2 = VEC_MAT_MUL(b, A)\niteration:\n v1 = MAT_VEC_MUL(R1, x)\n \
             v1 = VEC_VEC_SUB(v1, v2)\n",
        );
        match name(&gram, Geometry::Tall).unwrap() {
            Naming::SameIterates(found, _, gap) => {
                assert_eq!(found.name, "ls-gd");
                assert_eq!(
                    gap.to_string(),
                    "once O(mn²) flops instead of no, every iteration O(n²) flops instead of O(mn), A is not read"
                );
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_form_that_rounds_alike_names_a_program() {
        let in_turn = parse(
            "setup:\n R1 = SKETCH(A)\n R1 = HHQR(R1)\n R1 = MAT_INV(R1)\niteration:\n v1 = MAT_VEC_MUL(A, x)\n \
             v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n v1 = VEC_MAT_MUL(v1, R1)\n v1 = MAT_VEC_MUL(R1, v1)\n",
        );
        let naming = name(&in_turn, Geometry::Tall).unwrap();
        assert_eq!(naming.entry().unwrap().name, "sketched-precond-gd-factored");
    }

    #[test]
    fn strangers_get_their_nearest_neighbours() {
        let odd: Program =
            "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_ADD(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n"
                .parse()
                .unwrap();
        match name(&odd, Geometry::Tall).unwrap() {
            Naming::Unknown(near) => assert_eq!((near[0].0.name, near[0].1), ("ls-gd", 1)),
            known => panic!("{known:?}"),
        }
    }

    #[test]
    fn transitions_have_the_papers_edit_distances() {
        let between = |p, q| distance(&entry(p).document.program, &entry(q).document.program);
        assert_eq!(between("landweber", "ls-gd"), 1);
        assert_eq!(between("ls-gd", "subsampled-ls-gd"), 2);
        assert_eq!(between("precond-gd", "sketched-precond-gd"), 2);
        assert_eq!(between("sketched-precond-gd", "sketched-precond-sgd"), 1);
        assert_eq!(between("sketched-precond-sgd", "precond-weighted-sgd"), 1);
        assert_eq!(between("ls-gd", "sgd"), 1);
        assert_eq!(between("sgd", "block-kaczmarz"), 3);
    }

    #[test]
    fn full_names_carry_the_parameters() {
        let settings = RunSettings { step: 0.7, ..RunSettings::for_size(1000, 50) };
        assert_eq!(
            full_name(entry("sketched-precond-gd"), &settings, 50),
            "Sketched Preconditioned Gradient Descent, η = 0.7, SJLT 8n"
        );
        assert!(full_name(entry("precond-weighted-sgd"), &settings, 50).ends_with("SJLT 8n, k = 100"));
    }
}
