//! Targets: the program that a stage's result is judged against. Used for nothing else.

use crate::analysis::PreconditionerForm;
use crate::discovery::Judgement;
use crate::equivalence::{Answer, Symbolic, Verdict, catalogue_name, equivalent};
use crate::program::{Grammar, Instruction, Program, Section, Signature, TypeSystem, unit_of_step};

/// The target of a stage, hidden from its search.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// The target program; empty if there is no target.
    pub program: Program,
    /// Its catalogue name, if it was given by name.
    pub name: Option<&'static str>,
    /// Instructions appended to the iteration before judging, for a stage that only builds what they use.
    pub completed_by: Vec<Instruction>,
    /// Whether a program is rejected that is equal in exact arithmetic but less accurate on ill-conditioned problems.
    pub stable: bool,
    /// The failure mode that the stage is about, in one line.
    pub about: String,
}

impl Target {
    /// No target: any result counts as found.
    pub fn open(about: String) -> Target {
        Target { program: Program::default(), name: None, completed_by: vec![], stable: false, about }
    }

    /// Whether any result counts as found.
    pub fn is_open(&self) -> bool {
        self.program.is_empty()
    }

    /// Compares the result of a search with the target by equivalence, as it is or with `completed_by` appended.
    pub fn judge(&self, found: &Program, signature: impl Into<Signature>) -> Judgement {
        let signature = signature.into();
        let verdict = self.compare(found, signature);
        let parted = verdict.as_ref().and_then(|verdict| verdict.stability.as_ref());
        let unstable_from =
            parted.filter(|parted| self.stable && !parted.first_is_steadier).map(|parted| parted.kappa);
        let matched = catalogue_name(found, signature);
        let found = self.is_open() || (is_equal(&verdict) && unstable_from.is_none());
        Judgement { found, matched, verdict, unstable_from }
    }

    /// Whether algebra proves a program equal to the target, as it is or with `completed_by` appended, stable or not;
    /// false if there is no target. The judge runs both programs too, so whatever it accepts is equal in this sense.
    pub fn equals(&self, program: &Program, signature: Signature) -> bool {
        let is_equal = |program: &Program| {
            Symbolic::between(program, &self.program, signature).is_ok_and(|symbolic| symbolic.is_equal())
        };
        let completed = || !self.completed_by.is_empty() && is_equal(&self.completed(program));
        !self.is_open() && (is_equal(program) || completed())
    }

    /// The comparison of a program with the target, as it is or with `completed_by` appended.
    fn compare(&self, found: &Program, signature: Signature) -> Option<Box<Verdict>> {
        let compare = |program: &Program| equivalent(program, &self.program, signature).ok().map(Box::new);
        let verdict = |program: &Program| if self.is_open() { None } else { compare(program) };
        // A search that may edit the iteration can find the completed program itself.
        Some(verdict(found)).filter(is_equal).unwrap_or_else(|| verdict(&self.completed(found)))
    }

    /// How a result represents its preconditioner, as it is or with `completed_by` appended.
    pub fn form(&self, found: &Program, signature: impl Into<Signature>) -> Option<PreconditionerForm> {
        let signature = signature.into();
        PreconditionerForm::of(found, signature)
            .or_else(|| PreconditionerForm::of(&self.completed(found), signature))
    }

    fn completed(&self, found: &Program) -> Program {
        let mut completed = found.clone();
        completed.iteration.extend(self.completed_by.iter().cloned());
        completed
    }

    /// The part that the search has to find: the program without `completed_by`.
    pub fn sought(&self) -> Program {
        let mut sought = self.program.clone();
        if let Some(rest) = self.program.iteration.strip_suffix(self.completed_by.as_slice()) {
            sought.iteration.truncate(rest.len());
        }
        sought
    }

    /// Why it is not well-typed, if the grammar asks for units and affine types.
    pub(super) fn unit_fault(&self, grammar: &Grammar) -> Option<String> {
        let program = Some(&self.program).filter(|_| grammar.types == TypeSystem::Units)?;
        let (at, fault) = unit_of_step(program, grammar.signature).err()?;
        let culprit = program.instructions().nth(at);
        let culprit = culprit.map_or("its step".into(), |(_, _, instruction)| format!("`{instruction}`"));
        Some(format!("{culprit} {fault}"))
    }

    /// Why `edits` insertions by this grammar cannot lead from `previous` to the target as written; `None` if they
    /// can.
    ///
    /// Instructions of `previous` that the target lacks are assumed to become dead, as when they are overwritten.
    pub(super) fn obstacle(&self, previous: &Program, grammar: &Grammar, edits: usize) -> Option<Obstacle> {
        let sought = self.sought();
        let missing = Section::BOTH.into_iter().flat_map(|section| {
            let missing = inserted(previous.section(section), sought.section(section));
            missing.into_iter().map(move |instruction| (section, instruction))
        });
        let missing: Vec<(Section, &Instruction)> = missing.collect();
        let refused = missing.iter().find_map(|&(section, instruction)| {
            let reason = refusal(grammar, section, instruction)?;
            Some(Obstacle { message: format!("`{instruction}` cannot be inserted: {reason}"), advice: None })
        });
        refused.or_else(|| {
            let (_, instruction) = missing.get(edits)?;
            let needed = missing.len();
            let message = format!(
                "it needs {needed} insertions but `edits` is {edits}; none is left for `{instruction}`"
            );
            Some(Obstacle { message, advice: Some("raise `edits`, or add a stage before this one") })
        })
    }
}

fn is_equal(verdict: &Option<Box<Verdict>>) -> bool {
    verdict.as_ref().is_some_and(|verdict| verdict.answer == Answer::Equivalent)
}

/// The reason why a target is out of reach.
pub(super) struct Obstacle {
    pub message: String,
    pub advice: Option<&'static str>,
}

/// Why a grammar does not allow this instruction in this section.
fn refusal(grammar: &Grammar, section: Section, instruction: &Instruction) -> Option<String> {
    let op = instruction.op;
    let mut touched = instruction.reads().union(instruction.writes()).iter();
    let unknown = touched.find(|&register| !grammar.registers.contains(register));
    let result = instruction.target.filter(|_| !op.samples());
    let unwritable = result.filter(|&register| !grammar.writes(register, section));
    match (unknown, unwritable) {
        _ if !grammar.open.contains(&section) => Some(format!("{section} is not in `open`")),
        _ if !grammar.operators.contains(&op) => Some(format!("{op} is not in `operators`")),
        (Some(register), _) => Some(format!("{register} is not in `registers`")),
        (_, Some(register)) => Some(format!("{section} may not write {register}")),
        (None, None) => None,
    }
}

/// The instructions of `to` that are not in a longest common subsequence with `from`.
fn inserted<'a>(from: &[Instruction], to: &'a [Instruction]) -> Vec<&'a Instruction> {
    // common[i][j] is the length of a longest common subsequence of from[i..] and to[j..].
    let mut common = vec![vec![0; to.len() + 1]; from.len() + 1];
    for i in (0..from.len()).rev() {
        for j in (0..to.len()).rev() {
            common[i][j] = match from[i] == to[j] {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    let (mut i, mut inserted) = (0, Vec::new());
    for (j, instruction) in to.iter().enumerate() {
        while i < from.len() && from[i] != *instruction && common[i + 1][j] == common[i][j] {
            i += 1;
        }
        match from.get(i) {
            Some(kept) if kept == instruction => i += 1,
            _ => inserted.push(instruction),
        }
    }
    inserted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Entry, Geometry, Op, Reg, RegSet};

    fn parse(text: &str) -> Program {
        text.parse().unwrap()
    }

    fn named(name: &str) -> Target {
        let entry = Entry::named(name).unwrap();
        let program = entry.document.program.clone();
        Target { program, name: Some(entry.name), completed_by: vec![], stable: false, about: String::new() }
    }

    #[test]
    fn an_equivalent_rewriting_is_found_and_named() {
        let normal_equations = parse(
            "setup:\n R2 = MAT_TRANS_MAT_MUL(A, A)\n R3 = MAT_INV(R2)\niteration:\n v2 = MAT_VEC_MUL(A, x)\n \
             v2 = VEC_VEC_SUB(v2, b)\n v2 = VEC_MAT_MUL(v2, A)\n v1 = MAT_VEC_MUL(R3, v2)\n",
        );
        let judgement = named("precond-gd").judge(&normal_equations, Geometry::Tall);
        assert!(judgement.found && judgement.matched == Some("gram-refinement"));
        assert_eq!(judgement.verdict.unwrap().answer, Answer::Equivalent);
    }

    #[test]
    fn where_the_stable_form_is_asked_for_no_other_is_found() {
        let mut target = named("sketched-precond-gd-factored");
        let (gram, out) = (named("sketched-precond-gd-gram").program, named("sketched-precond-gd").program);
        for form in [&gram, &out, &target.program.clone()] {
            assert!(target.judge(form, Geometry::Tall).found, "equal in exact arithmetic");
        }
        target.stable = true;
        assert!(target.judge(&target.program, Geometry::Tall).found);
        let in_turn = parse(
            "setup:\n R1 = SKETCH(A)\n R1 = HHQR(R1)\n R1 = MAT_INV(R1)\niteration:\n v1 = MAT_VEC_MUL(A, x)\n \
             v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n v1 = VEC_MAT_MUL(v1, R1)\n v1 = MAT_VEC_MUL(R1, v1)\n",
        );
        assert!(target.judge(&in_turn, Geometry::Tall).found);
        for form in [&gram, &out] {
            let judgement = target.judge(form, Geometry::Tall);
            assert!(!judgement.found && judgement.matched.is_some());
            assert!(
                judgement.unstable_from.is_some_and(|kappa| (1e6..1e11).contains(&kappa)),
                "{judgement:?}"
            );
        }
    }

    #[test]
    fn a_near_miss_is_not_found() {
        let target = named("precond-gd");
        let near = parse(&target.program.to_string().replace("MAT_MAT_TRANS_MUL", "MAT_MAT_MUL"));
        let judgement = target.judge(&near, Geometry::Tall);
        assert!(!judgement.found && judgement.matched.is_none() && judgement.verdict.is_some());
        // Another algorithm of the catalogue keeps its own name.
        let other = target.judge(&named("ls-gd").program, Geometry::Tall);
        assert!(!other.found && other.matched == Some("ls-gd"));
    }

    #[test]
    fn what_does_not_fit_is_not_found() {
        let landweber = named("landweber");
        let judgement = landweber.judge(&landweber.program, Geometry::Tall);
        assert_eq!(judgement, Judgement { found: false, matched: None, verdict: None, unstable_from: None });
        assert!(landweber.judge(&landweber.program, Geometry::Symmetric).found);
    }

    #[test]
    fn a_part_is_judged_as_it_will_be_completed() {
        let mut target = named("precond-gd");
        target.completed_by = vec![target.program.iteration[3].clone()];
        let part = target.sought();
        assert_eq!(part.len() + 1, target.program.len());
        assert_eq!(part.iteration, named("ls-gd").program.iteration);
        assert!(target.judge(&part, Geometry::Tall).found);
        let gram = parse(&format!(
            "setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\n R1 = MAT_INV(R1)\n{}",
            named("ls-gd").program
        ));
        assert!(target.judge(&gram, Geometry::Tall).found);
        assert!(target.judge(&target.program, Geometry::Tall).found, "ahead of its stage");
        let mut twice = target.program.clone();
        twice.iteration.extend_from_slice(&target.completed_by);
        assert!(!target.judge(&twice, Geometry::Tall).found, "completed twice");
        let bare = named("ls-gd").program;
        assert!(!target.judge(&bare, Geometry::Tall).found, "nothing was built");
        // A target that does not end with `completed_by` is searched for as a whole.
        target.completed_by = vec![target.program.iteration[0].clone()];
        assert_eq!(target.sought(), target.program);
    }

    /// The smallest number of insertions, by trying every subsequence.
    fn least(from: &[Instruction], to: &[Instruction]) -> usize {
        let within = |part: &[&Instruction]| {
            let mut rest = from.iter();
            part.iter().all(|wanted| rest.any(|ins| ins == *wanted))
        };
        let parts = (0..1usize << to.len()).map(|mask| -> Vec<&Instruction> {
            to.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, ins)| ins).collect()
        });
        to.len() - parts.filter(|part| within(part)).map(|part| part.len()).max().unwrap()
    }

    #[test]
    fn insertions_are_fewest_and_complete() {
        let lines = ["v1 = HHQR(A)", "v1 = HHQR(x)", "v1 = HHQR(b)"];
        let program = |mut code: usize, len: usize| {
            let mut text = String::from("iteration:\n");
            for _ in 0..len {
                text += lines[code % 3];
                text += "\n";
                code /= 3;
            }
            parse(&text).iteration
        };
        for (p, q) in (0..243).flat_map(|p| [(p, 3 * p % 243), (p, p / 2), (p, (7 * p + 5) % 243)]) {
            let (from, to) = (program(p, 4), program(q, 5));
            let found = inserted(&from, &to);
            assert_eq!(found.len(), least(&from, &to), "{from:?} {to:?}");
        }
    }

    #[test]
    fn every_obstacle_is_named() {
        let (from, target) = (named("precond-gd").program, named("sketched-precond-gd"));
        let obstacle = |change: &dyn Fn(&mut Grammar), edits| {
            let mut grammar = Grammar::full(Geometry::Tall);
            change(&mut grammar);
            target.obstacle(&from, &grammar, edits).map(|obstacle| obstacle.message).unwrap_or_default()
        };
        assert_eq!(obstacle(&|_| {}, 2), "");
        assert_eq!(
            obstacle(&|_| {}, 1),
            "it needs 2 insertions but `edits` is 1; none is left for `R1 = HHQR(R1)`"
        );
        assert_eq!(
            obstacle(&|g| g.open = vec![Section::Iteration], 2),
            "`R1 = SKETCH(A)` cannot be inserted: setup is not in `open`"
        );
        assert!(
            obstacle(&|g| g.operators.retain(|op| op.name != "HHQR"), 2)
                .ends_with("HHQR is not in `operators`")
        );
        assert!(
            obstacle(&|g| g.registers = g.registers.without(Reg::R1), 2)
                .ends_with("R1 is not in `registers`")
        );
        assert!(
            obstacle(&|g| g.iteration_only = RegSet::EMPTY.with(Reg::R1), 2)
                .ends_with("setup may not write R1")
        );
        // Setup is open for all that is inserted, and sampling may write the inputs.
        assert_eq!(obstacle(&|g| g.open = vec![Section::Setup], 2), "");
        let sampling = Op::named("SUBSAMPLING").unwrap();
        let draw = Instruction { target: Some(Reg::A), op: sampling, operands: vec![Reg::P1].into() };
        assert_eq!(refusal(&Grammar::full(Geometry::Tall), Section::Setup, &draw), None);
    }
}
