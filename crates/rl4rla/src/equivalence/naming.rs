//! Naming: is this program known?

use super::normal::Normal;
use super::verdict::{Answer, Verdict, equivalent};
use crate::execute::Settings;
use crate::program::{Canonical, Entry, Instruction, LiveOut, Program, Section, ShapeError, Signature};
use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

/// What the catalogue knows of a program.
#[derive(Clone, Debug)]
pub enum Naming {
    /// It is this algorithm.
    Known(&'static Entry, Box<Verdict>),
    /// It is not in the catalogue; these are nearest, by the number of instructions to change.
    Unknown(Vec<(&'static Entry, usize)>),
}

/// Matches a program against the catalogue, modulo equivalence.
pub fn name(program: &Program, signature: impl Into<Signature>) -> Result<Naming, ShapeError> {
    let signature = signature.into();
    let normal = Normal::of(program, signature)?;
    let mut near: Vec<(&Entry, usize)> =
        Entry::known().map(|entry| (entry, distance(program, &entry.document.program))).collect();
    // What becomes of v1 is half of what a program does.
    near.retain(|(entry, _)| entry.document.update == signature.update);
    // Among equals the one written most alike names it: forms of one method differ in stability.
    near.sort_by_key(|(_, edits)| *edits);
    for &(entry, _) in &near {
        let same = catalogue_form(entry, signature).is_some_and(|form| form.equals(&normal));
        if same {
            let verdict = equivalent(program, &entry.document.program, signature)?;
            if verdict.answer == Answer::Equivalent {
                return Ok(Naming::Known(entry, Box::new(verdict)));
            }
        }
    }
    near.truncate(3);
    Ok(Naming::Unknown(near))
}

/// The normal form of a catalogue program, computed once; none where it does not fit.
fn catalogue_form(entry: &'static Entry, signature: Signature) -> Option<Normal> {
    type Forms = BTreeMap<(&'static str, Signature), Option<Normal>>;
    static FORMS: LazyLock<Mutex<Forms>> = LazyLock::new(Mutex::default);
    let mut forms = FORMS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let form = || Normal::of(&entry.document.program, signature).ok();
    forms.entry((entry.name, signature)).or_insert_with(form).clone()
}

/// The fewest instructions to insert, delete or replace to make one program's live code the other's.
pub fn distance(p: &Program, q: &Program) -> usize {
    let listed = |program: &Program| -> Vec<(Section, Instruction)> {
        let live = Canonical::new(program, LiveOut::Finished);
        live.program().instructions().map(|(section, _, ins)| (section, ins.clone())).collect()
    };
    crate::program::edits(&listed(p), &listed(q))
}

/// A known algorithm with the settings it runs with, such as "Sketched Preconditioned GD, η = 0.7, SJLT 8n".
pub fn full_name(entry: &Entry, settings: &Settings, cols: usize) -> String {
    let mut name = format!("{}, η = {}", entry.document.title, settings.step);
    let uses =
        |operator: &str| entry.document.program.instructions().any(|(_, _, ins)| ins.op.name == operator);
    if uses("SKETCH") {
        let ratio = settings.sketch_rows as f64 / cols as f64;
        name += &format!(", {} {ratio}n", settings.sketch.name().to_uppercase());
    }
    if uses("SUBSAMPLING") {
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
                Naming::Unknown(_) => panic!("{} is not recognised", entry.name),
            }
        }
    }

    #[test]
    fn a_rewritten_program_keeps_its_name() {
        let normal_equations: Program = "setup:\n R2 = MAT_TRANS_MAT_MUL(A, A)\n R3 = MAT_INV(R2)\niteration:\n \
             v2 = MAT_VEC_MUL(A, x)\n v2 = VEC_VEC_SUB(b, v2)\n v2 = VEC_MAT_MUL(v2, A)\n v2 = MAT_VEC_MUL(R3, v2)\n \
             v1 = VEC_VEC_SUB(x, x)\n v1 = VEC_VEC_SUB(v1, v2)\n"
            .parse()
            .unwrap();
        match name(&normal_equations, Geometry::Tall).unwrap() {
            Naming::Known(found, verdict) => {
                assert_eq!(found.name, "precond-gd");
                assert!(verdict.stability.is_some());
            }
            unknown => panic!("{unknown:?}"),
        }
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
        let settings = Settings { step: 0.7, ..Settings::for_size(1000, 50) };
        assert_eq!(
            full_name(entry("sketched-precond-gd"), &settings, 50),
            "Sketched Preconditioned Gradient Descent, η = 0.7, SJLT 8n"
        );
        assert!(full_name(entry("precond-weighted-sgd"), &settings, 50).ends_with("SJLT 8n, k = 100"));
    }
}
