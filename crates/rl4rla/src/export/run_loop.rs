//! The iteration scheme of an exported function: its stopping criterion, the quantities that its iterations compute
//! anyway, and the arguments they take.

use super::listing::{Listing, Name, Statement, ValueVersion};
use crate::problem::{Family, Goal, tasks};
use crate::program::{Compute, Core, Document, Meaning, Reg, Section, Update};

/// How the iterations of a listing are run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunLoop {
    /// The optimality condition that the stopping test checks.
    pub goal: Goal,
    /// Quantities of the stopping test that the iteration computes anyway: the index of the statement, and the name
    /// of its result.
    pub shown: Vec<(usize, &'static str)>,
    /// Whether iterations make random draws.
    pub random: bool,
    /// Whether iterations read η.
    pub told_step: bool,
    /// Whether setup reads η, so that a step size cannot be chosen after it.
    pub set_up_with_step: bool,
    /// Registers that are carried from one iteration to the next and written by the program.
    pub memory: Vec<Reg>,
    /// Variables that keep other values for the next iteration.
    pub kept: Vec<String>,
    /// Whether some value is refreshed every k iterations.
    pub refreshes: bool,
}

impl RunLoop {
    /// The iteration scheme of a program.
    pub fn new(document: &Document, listing: &Listing) -> RunLoop {
        let goal = goal(document);
        let reads_step = |section: Section| {
            let reads =
                |statement: &Statement| statement.operands.iter().any(|(name, _)| name.reg == Reg::ETA);
            listing.section(section).any(reads)
        };
        let written = |reg: &Reg| {
            listing.statements.iter().any(|statement| statement.targets.iter().any(|name| name.reg == *reg))
        };
        RunLoop {
            goal,
            shown: shown(goal, listing),
            random: listing.section(Section::Iteration).any(|statement| statement.op.draws()),
            told_step: reads_step(Section::Iteration),
            set_up_with_step: reads_step(Section::Setup),
            memory: listing.carried().into_iter().filter(written).collect(),
            kept: listing.kept().into_iter().map(|(name, _)| name).collect(),
            refreshes: listing.refreshes(),
        }
    }

    /// Whether an iteration must know its number: whether it is the first, or refreshes a value.
    pub fn remembers(&self) -> bool {
        !self.memory.is_empty() || !self.kept.is_empty() || self.refreshes
    }

    /// Whether the update is x ← x − η·v1 for a loss on which η can be found by a line search.
    pub fn descends(&self) -> bool {
        matches!(self.goal, Goal::Squares | Goal::CrossEntropy)
    }

    /// Name of the exported function that computes one iteration from x.
    pub fn function(&self) -> &'static str {
        if self.descends() { "direction" } else { "advance" }
    }

    /// Arguments of that function besides x.
    pub fn arguments(&self) -> Vec<&'static str> {
        let step = (self.told_step && self.descends()).then_some("step");
        step.into_iter().chain(self.remembers().then_some("t")).collect()
    }

    /// Template of the result type.
    pub fn solution(&self) -> &'static str {
        match self.goal {
            Goal::Squares => "Solution-squares",
            Goal::CrossEntropy => "Solution-entropy",
            Goal::Eigenvector => "Solution-eigenvector",
            Goal::Standstill => "Solution-standstill",
        }
    }

    /// Templates that run the iterations, each after those it calls.
    pub fn pieces(&self) -> &'static [&'static str] {
        match self.goal {
            Goal::Squares if self.random => {
                &["find_step-random", "measurable", "spectrum", "descend-squares"]
            }
            Goal::Squares => &["find_step", "measurable", "spectrum", "descend-squares"],
            Goal::CrossEntropy => &["line_search", "measurable", "descend-entropy"],
            Goal::Eigenvector => &["iterate-eigenvector"],
            Goal::Standstill => &["iterate-standstill"],
        }
    }

    /// Whether a step size is searched for if the caller gives none.
    pub fn finds_step(&self) -> bool {
        self.descends() && !self.set_up_with_step
    }

    /// Whether a template line with this condition belongs in the exported code.
    pub fn has(&self, condition: &str) -> bool {
        match condition {
            "shown" => !self.shown.is_empty(),
            "hidden" => self.shown.is_empty(),
            "told step" => self.told_step,
            "untold step" => !self.told_step,
            "remembers" => self.remembers(),
            "forgets" => !self.remembers(),
            other => panic!("there is no condition `{other}`"),
        }
    }

    /// The stopping criterion, in words.
    pub fn stop(&self) -> &'static str {
        match self.goal {
            Goal::Squares => "‖A(x − x*)‖ ≤ τ‖r‖ or ‖r‖ ≤ τ‖b‖ up to rounding; r = Ax − b, x* the best x",
            Goal::CrossEntropy => "|aⱼᵀr| ≤ τ‖aⱼ‖‖r‖ for every column aⱼ of A, where r = σ(Ax) − b",
            Goal::Eigenvector => "‖Ax − λx‖ ≤ τ|λ|‖x‖, where λ = xᵀAx/xᵀx",
            Goal::Standstill => "an iteration changes the result by no more than τ of its length",
        }
    }

    /// How the step size is chosen if none is given, in words.
    pub fn step(&self) -> &'static str {
        match self.goal {
            Goal::Squares if self.random => {
                "found by line searches along 16 directions from the start, halved while it diverges"
            }
            Goal::Squares => "found by line searches along the first directions, halved while it diverges",
            _ => "found by a line search in every iteration",
        }
    }
}

/// The optimality condition of the program's task: that of its family, or else of the first task whose operators it
/// uses.
fn goal(document: &Document) -> Goal {
    let ends_alike = |update: Update| update == document.update;
    let own = Family::named(&document.family).map(|family| family.kind.info().task);
    let own = own.filter(|task| ends_alike(task.update()));
    let instructions = || document.program.setup.iter().chain(&document.program.iteration);
    let mut fitting = tasks().filter(|task| {
        let known = |op: crate::program::Op| task.vocabulary().any(|own| own == op);
        ends_alike(task.update()) && instructions().all(|instruction| known(instruction.op))
    });
    own.or_else(|| fitting.next()).map_or(Goal::Standstill, |task| task.goal())
}

/// A value from which the stopping test can be computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Image,
    Probability,
    Residual,
    Gradient,
}

/// Statements of the iteration whose results are r and Aᵀr (Ax for eigenvector problems); empty unless everything the
/// stopping test needs is computed. The sign of r does not matter.
fn shown(goal: Goal, listing: &Listing) -> Vec<(usize, &'static str)> {
    let given = |reg: Reg| Name { reg, mark: ValueVersion::Plain };
    let wanted: &[(Value, &'static str)] = match goal {
        Goal::Squares | Goal::CrossEntropy => &[(Value::Residual, "r"), (Value::Gradient, "g")],
        Goal::Eigenvector => &[(Value::Image, "Ax")],
        Goal::Standstill => &[],
    };
    let fitted = if goal == Goal::CrossEntropy { Value::Probability } else { Value::Image };
    let mut known: Vec<(Name, Value)> = Vec::new();
    let mut found: Vec<(usize, &'static str)> = Vec::new();
    for (at, statement) in listing.section(Section::Iteration).enumerate() {
        let is = |i: usize, value: Value| known.contains(&(statement.operands[i].0, value));
        let reads = |i: usize, reg: Reg| statement.operands[i].0 == given(reg);
        let value = match (statement.op.compute, statement.op.meaning) {
            (Compute::Core(Core::MatVecMul), _) if reads(0, Reg::A) && reads(1, Reg::X) => Some(Value::Image),
            (_, Meaning::Sigmoid) if is(0, Value::Image) => Some(Value::Probability),
            (Compute::Core(Core::VecVecSub), _) if is(0, fitted) && reads(1, Reg::B) => Some(Value::Residual),
            (Compute::Core(Core::VecVecSub), _) if is(1, fitted) && reads(0, Reg::B) => Some(Value::Residual),
            (Compute::Core(Core::VecMatMul), _) if is(0, Value::Residual) && reads(1, Reg::A) => {
                Some(Value::Gradient)
            }
            _ => None,
        };
        // What only some iterations compute cannot be tested in others.
        let value = value.filter(|_| statement.needed.refreshing == statement.needed.ordinary);
        known.retain(|(name, _)| !statement.targets.contains(name));
        if let (Some(value), [target]) = (value, &statement.targets[..]) {
            known.push((*target, value));
            let name = wanted.iter().find(|(wanted, _)| *wanted == value).map(|(_, name)| *name);
            found.extend(
                name.filter(|name| found.iter().all(|(_, other)| other != name)).map(|name| (at, name)),
            );
        }
    }
    if found.len() == wanted.len() { found } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Entry, Geometry, Signature};

    fn run_loop(text: &str) -> RunLoop {
        let document: Document = text.parse().unwrap();
        let signature = Signature::new(Geometry::Tall, document.update);
        RunLoop::new(&document, &Listing::new(&document.program, signature).unwrap())
    }

    fn named(name: &str) -> RunLoop {
        let entry = Entry::named(name).unwrap();
        RunLoop::new(&entry.document, &Listing::new(&entry.document.program, entry.signature()).unwrap())
    }

    #[test]
    fn programs_know_their_goal_and_what_they_show_of_it() {
        for (name, goal, shown) in [
            ("sketched-precond-gd-factored", Goal::Squares, 2),
            ("landweber", Goal::Squares, 0),
            ("sgd", Goal::Squares, 0),
            ("subsampled-precond-gd", Goal::Squares, 0),
            ("newton", Goal::CrossEntropy, 2),
            ("newton-sketch", Goal::CrossEntropy, 2),
            ("power-iteration", Goal::Eigenvector, 1),
            ("sketched-power-iteration", Goal::Eigenvector, 0),
        ] {
            let run_loop = named(name);
            assert_eq!((run_loop.goal, run_loop.shown.len()), (goal, shown), "{name}");
        }
        assert_eq!(named("ls-gd").shown, [(1, "r"), (2, "g")]);
        assert!(named("newton-sketch").random && !named("sketched-precond-gd").random);
    }

    #[test]
    fn without_a_family_words_tell_the_task() {
        let gradient =
            "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(b, v1)\n v1 = VEC_MAT_MUL(v1, A)\n";
        assert_eq!(run_loop(gradient).goal, Goal::Squares);
        assert_eq!(run_loop(gradient).shown.len(), 2);
        let logistic = "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_SIGMOID(v1)\n v2 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v2, A)\n";
        assert_eq!((run_loop(logistic).goal, run_loop(logistic).shown.len()), (Goal::CrossEntropy, 2));
        // A residual at a point other than x is of no use to the stopping test.
        let momentum = "iteration:\n m1 = VEC_VEC_ADD(m1, x)\n v1 = MAT_VEC_MUL(A, m1)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";
        let momentum = run_loop(momentum);
        assert!(momentum.shown.is_empty());
        assert_eq!(momentum.arguments(), ["t"]);
    }
}
