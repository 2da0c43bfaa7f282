//! What a search needs to know of a problem.

use std::sync::Arc;

/// A solution together with its key: equal keys are one solution.
#[derive(Clone, Debug)]
pub struct Solved<S> {
    /// What is equal is evaluated once.
    pub key: u128,
    /// The solution.
    pub solution: S,
}

/// A decision problem: a finite acyclic graph of states, and solutions of unknown value.
///
/// Everything is a pure function of its arguments, so that a search is one too.
pub trait Domain: Sync {
    /// Where a search can be.
    type State: Clone + Send + Sync;
    /// What a search can find.
    type Solution: Clone + Send + Sync;

    /// Where it starts.
    fn root(&self) -> Self::State;

    /// States with equal keys are one state: they offer the same moves and the same solutions.
    fn key(&self, state: &Self::State) -> u128;

    /// The states one move away, in a fixed order; none where nothing is left to decide.
    fn children(&self, state: &Self::State) -> Arc<[Self::State]>;

    /// One of the states one move away, which `pick` chooses given their number; none if there are none.
    /// For rollouts, which need only one child.
    fn child(&self, state: &Self::State, pick: &mut dyn FnMut(usize) -> usize) -> Option<Self::State> {
        let children = self.children(state);
        (!children.is_empty()).then(|| children[pick(children.len())].clone())
    }

    /// Whether nothing is left to decide; cheaper than asking for the children.
    fn is_end(&self, state: &Self::State) -> bool {
        self.children(state).is_empty()
    }

    /// A state near this one, for methods that change what they have; none if chance, or the domain, wants a fresh random
    /// walk from the root instead.
    fn mutate(&self, _state: &Self::State, _pick: &mut dyn FnMut(usize) -> usize) -> Option<Self::State> {
        None
    }

    /// A state made of parts of two, if chance finds one.
    fn recombine(
        &self,
        _one: &Self::State,
        _other: &Self::State,
        _pick: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Self::State> {
        None
    }

    /// The length of a solution, for methods that prefer short ones.
    fn size(&self, _solution: &Self::Solution) -> usize {
        1
    }

    /// What the search has found if it stops here; none if that is no solution.
    fn solution(&self, state: &Self::State) -> Option<Solved<Self::Solution>>;

    /// How many replicates there are of every value, at least 1: replicate i uses the same random draws for every solution.
    fn replicates(&self) -> usize;

    /// How many different values can be drawn of a solution, one after the other; by default its replicates. More where
    /// every draw is fresh.
    fn draws(&self, _solution: &Self::Solution) -> usize {
        self.replicates()
    }

    /// The values, in [0, 1], of these solutions at these replicates; free to use threads. What is outside counts as
    /// the nearest that is not, and what is no number as 0.
    fn values(&self, requests: &[(&Solved<Self::Solution>, usize)]) -> Vec<f64>;

    /// An upper bound on the value of a solution at any replicate, as far as it is known without measuring.
    fn bound(&self, _solution: &Self::Solution) -> f64 {
        1.0
    }

    /// How promising a child looks before anything is known, for rules that ask; a probability.
    fn prior(&self, _parent: &Self::State, siblings: usize) -> f64 {
        1.0 / siblings as f64
    }
}

/// A random walk from the root to a terminal state, reporting each state to `visit`.
pub(super) fn walk<D: Domain>(
    domain: &D,
    pick: &mut dyn FnMut(usize) -> usize,
    mut visit: impl FnMut(&D::State),
) -> D::State {
    let mut state = domain.root();
    loop {
        visit(&state);
        let Some(child) = domain.child(&state, pick) else { return state };
        state = child;
    }
}
