//! Changes of state. The contents of carried registers are a matter of convention: a velocity, its negative, or the
//! previous iterate. Two programs are equivalent if the registers of one are a linear function of x and the registers
//! of the other, initially and, by induction, after every iteration.
//!
//! The linear map is guessed, and the guess is proved: with the registers of one program expressed in those of the
//! other, both must give the same direction and the same registers after an iteration, as normal forms.

use super::fit::{CarriedStates, fit};
use super::normal::{Normal, next, start, substituted};
use super::rule::{NormalisationWork, Rule};
use super::scalar::Scalar;
use super::vector::{Vector, VectorSource};
use super::word::MatrixAtom;
use crate::program::{Canonical, Dim, LiveOut, Program, Reg, Section, Signature};
use std::collections::{BTreeMap, BTreeSet};

/// Contents of carried registers, in terms of x, b and the carried registers of the same or another program.
type State = BTreeMap<Reg, Vector>;

/// A program as a dynamical system whose state is x and some of its carried registers, which determine the others.
struct System {
    program: Program,
    signature: Signature,
    /// The dependent carried registers, expressed in the remaining ones.
    follow: State,
    /// v1 and the new values of the remaining carried registers.
    results: BTreeMap<Reg, Vector>,
    /// The contents of its registers in runs from the initial state.
    points: CarriedStates,
    rules: BTreeSet<Rule>,
}

/// The rules of a proof that the carried registers of one program are determined by those of the other, so that both
/// have the same iterates from the initial state on; `None` if there is no proof.
pub fn related(p: &Program, q: &Program, signature: Signature) -> Option<BTreeSet<Rule>> {
    let (p, q) = (System::of(p, signature)?, System::of(q, signature)?);
    for (a, b) in [(&p, &q), (&q, &p)] {
        for guess in [b.fitted(a), b.solved(a)].into_iter().flatten() {
            if let Some(rules) = b.proves(a, &guess) {
                return Some(&(&p.rules | &q.rules) | &rules);
            }
        }
    }
    None
}

impl System {
    fn of(program: &Program, signature: Signature) -> Option<System> {
        let program = Canonical::new(program, LiveOut::Finished).program().clone();
        if program.setup.iter().any(|ins| ins.target == Some(Reg::X)) {
            // The registers are related where a run starts, which here is not the usual start.
            return None;
        }
        let points = CarriedStates::of(&program, signature);
        let mut system = System {
            program,
            signature,
            follow: State::new(),
            results: State::new(),
            points,
            rules: BTreeSet::new(),
        };
        let mut form = system.read(&State::new())?;
        form.keep_what_counts();
        (system.results, system.rules) = (form.results, form.rules);
        // A register that is determined by the others is not part of the state.
        let less = |system: &System| system.carried().find_map(|reg| system.without(reg));
        while let Some((follow, form)) = less(&system) {
            system.rules.extend(form.rules);
            (system.follow, system.results) = (follow, form.results);
        }
        Some(system)
    }

    /// The carried registers in the state.
    fn carried(&self) -> impl Iterator<Item = Reg> {
        self.results.keys().copied().filter(|reg| *reg != Reg::V1)
    }

    fn work(&self) -> NormalisationWork {
        NormalisationWork::new(self.signature.geometry)
    }

    /// The effect of an iteration on this state.
    fn read(&self, state: &State) -> Option<Normal> {
        let mut work = self.work();
        let mut held = state.clone();
        for (reg, value) in &self.follow {
            held.insert(*reg, substituted(value, &|reg| state.get(&reg).cloned(), &mut work)?);
        }
        let form = Normal::at(&self.program, self.signature, &held).ok()?;
        (form.stop.is_none() && work.stop.is_none()).then_some(form)
    }

    /// The system without this register, if it is determined by the others.
    fn without(&self, reg: Reg) -> Option<(State, Normal)> {
        let others: Vec<Reg> = self.carried().filter(|other| *other != reg).collect();
        let value = fit(&self.points, reg, &self.points, &others).filter(|value| !fleeting(value))?;
        let mut work = self.work();
        let mut form = self.read(&State::from([(reg, value.clone())]))?;
        let becomes = next(&form.results, &value, self.signature.update, &mut work)?;
        if form.results[&reg] != becomes || !self.holds_at_the_start(&value) || work.stop.is_some() {
            return None;
        }
        let mut follow = State::from([(reg, value.clone())]);
        for (known, other) in &self.follow {
            follow.insert(*known, substituted(other, &|r| (r == reg).then(|| value.clone()), &mut work)?);
        }
        form.results.retain(|other, _| *other != reg && self.results.contains_key(other));
        form.keep_what_counts();
        Some((follow, form))
    }

    /// Whether it is zero initially, as all carried registers are.
    fn holds_at_the_start(&self, value: &Vector) -> bool {
        let mut work = self.work();
        let first = |reg| match reg {
            Reg::X => Some(start(self.signature.update)),
            Reg::B => None,
            _ => Some(Vector::zero(Dim::Cols)),
        };
        substituted(value, &first, &mut work).is_some_and(|v| v.terms.is_empty() && work.stop.is_none())
    }

    /// The state of this system in terms of another's, fitted to runs.
    fn fitted(&self, other: &System) -> Option<State> {
        let theirs: Vec<Reg> = other.carried().collect();
        self.carried().map(|reg| Some((reg, fit(&self.points, reg, &other.points, &theirs)?))).collect()
    }

    /// The state of this system in terms of another's, solved register by register from the condition that both give
    /// the same direction.
    fn solved(&self, other: &System) -> Option<State> {
        let mut work = self.work();
        let mut state = State::new();
        let mut pending = vec![(self.results[&Reg::V1].clone(), other.results[&Reg::V1].clone())];
        while let Some((reg, value)) =
            pending.iter().find_map(|(ours, theirs)| self.unknown(ours, theirs, &state, &mut work))
        {
            pending.push((
                self.results[&reg].clone(),
                next(&other.results, &value, self.signature.update, &mut work)?,
            ));
            state.insert(reg, value);
        }
        self.carried().all(|reg| state.contains_key(&reg)).then_some(state)
    }

    /// The only unknown register in `ours`, solved for so that `ours` equals `theirs`.
    fn unknown(
        &self,
        ours: &Vector,
        theirs: &Vector,
        known: &State,
        work: &mut NormalisationWork,
    ) -> Option<(Reg, Vector)> {
        let mut rest = theirs.clone();
        let mut wanted = None;
        for ((word, source), c) in &ours.terms {
            let (mut found, mut within) = (BTreeSet::new(), BTreeSet::new());
            word.sources(&mut within);
            c.sources(&mut within);
            source.sources(&mut found);
            let carried = |regs: &BTreeSet<Reg>| self.carried().any(|reg| regs.contains(&reg));
            let value = match source {
                _ if carried(&within) => return None,
                VectorSource::Reg(reg) if carried(&found) => match known.get(reg) {
                    Some(value) => value.clone(),
                    None if wanted.is_none() && word.is_invertible() => {
                        wanted = Some((*reg, word, c));
                        continue;
                    }
                    None => return None,
                },
                _ if carried(&found) => return None,
                source => Vector::source(source.clone(), word.cols),
            };
            rest = rest.plus(&c.negated(), &value.under(word, work), work);
        }
        let (reg, word, c) = wanted?;
        let value = rest.under(&word.true_inverse(work), work).scaled(&Scalar::number(1).over(c, work), work);
        (value.is_linear() && work.stop.is_none()).then_some((reg, value))
    }

    /// The rules of a proof that this system behaves like the other if its state is given by `state`; `None` if there
    /// is no proof.
    fn proves(&self, other: &System, state: &State) -> Option<BTreeSet<Rule>> {
        // Draws of an iteration are not available in the next, so no state can depend on them.
        if state.values().any(fleeting) {
            return None;
        }
        let form = self.read(state)?;
        let mut work = self.work();
        let same = form.results[&Reg::V1] == other.results[&Reg::V1]
            && self.carried().all(|reg| {
                let value = &state[&reg];
                self.holds_at_the_start(value)
                    && next(&other.results, value, self.signature.update, &mut work)
                        .is_some_and(|next| next == form.results[&reg])
            });
        (same && work.stop.is_none()).then(|| &form.rules | &work.rules)
    }
}

/// Whether it depends on draws of the iteration.
fn fleeting(value: &Vector) -> bool {
    let mut found = BTreeSet::new();
    value.random(&mut found);
    found.iter().any(|atom| {
        matches!(atom, MatrixAtom::Sketch(place) | MatrixAtom::Sample(place, _) if place.section == Section::Iteration)
    })
}
