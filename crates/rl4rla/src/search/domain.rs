//! The interface between a search and its problem.

use std::sync::Arc;

/// A solution with its key; solutions with equal keys are the same.
#[derive(Clone, Debug)]
pub struct Solved<S> {
    /// Solutions with equal keys are evaluated once.
    pub key: u128,
    /// The solution.
    pub solution: S,
}

/// A decision problem: a finite acyclic graph of states, and solutions of unknown value.
///
/// Everything is a pure function of its arguments, so that a search is one too.
pub trait Domain: Sync {
    /// A state of the search.
    type State: Clone + Send + Sync;
    /// A solution.
    type Solution: Clone + Send + Sync;

    /// The initial state.
    fn root(&self) -> Self::State;

    /// States with equal keys are the same state: they have the same moves and the same solutions.
    fn key(&self, state: &Self::State) -> u128;

    /// The successors of a state, in a fixed order; empty for a terminal state.
    fn children(&self, state: &Self::State) -> Arc<[Self::State]>;

    /// One successor, chosen by `pick` given their number; `None` if there are none. For rollouts, which need only
    /// one child.
    fn child(&self, state: &Self::State, pick: &mut dyn FnMut(usize) -> usize) -> Option<Self::State> {
        let children = self.children(state);
        (!children.is_empty()).then(|| children[pick(children.len())].clone())
    }

    /// Whether a state is terminal; cheaper than computing its children.
    fn is_end(&self, state: &Self::State) -> bool {
        self.children(state).is_empty()
    }

    /// A mutation of this state; `None` if the mutation is a fresh random walk from the root, or if the domain has no
    /// mutations.
    fn mutate(&self, _state: &Self::State, _pick: &mut dyn FnMut(usize) -> usize) -> Option<Self::State> {
        None
    }

    /// A recombination of two states, if one is found.
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

    /// The solution at this state, if it is one.
    fn solution(&self, state: &Self::State) -> Option<Solved<Self::Solution>>;

    /// What a state holds, in the form of a solution, even if it is none; for those who look at the graph of a search.
    fn draft(&self, state: &Self::State) -> Option<Self::Solution> {
        self.solution(state).map(|solved| solved.solution)
    }

    /// The number of replicates of every value, at least 1: replicate i uses the same random draws for every
    /// solution.
    fn replicates(&self) -> usize;

    /// The number of different values that can be drawn for a solution; by default its replicates, more if every draw
    /// is fresh.
    fn draws(&self, _solution: &Self::Solution) -> usize {
        self.replicates()
    }

    /// The values, in [0, 1], of these solutions at these replicates; may use threads. Values outside are clipped,
    /// NaN counts as 0.
    fn values(&self, requests: &[(&Solved<Self::Solution>, usize)]) -> Vec<f64>;

    /// An upper bound on the value of a solution at any replicate, computed without measuring.
    fn bound(&self, _solution: &Self::Solution) -> f64 {
        1.0
    }

    /// The prior probabilities of the children, in their order, if the domain has any; else they are equal.
    fn priors(&self, _parent: &Self::State) -> Option<Arc<[f64]>> {
        None
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
