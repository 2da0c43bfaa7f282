//! An order of the calls of an iteration that the registers suffice for.

use super::expression::{ExpressionOrigin, Expressions, Id};
use crate::program::{Access, Kind, Reg, RegSet};
use rustc_hash::{FxHashMap, FxHashSet};

/// Sets of calls that are looked at for an order.
const MOST_SETS: usize = 5_000;

/// An order of the calls of an iteration for which there are enough scratch registers among those it may write, by
/// depth-first search over the sets of calls made so far: first the call that frees the most vectors. The step stays in
/// its register to the end; inputs and the values in `elsewhere` need none.
pub fn fitting_order(
    expressions: &Expressions,
    (step, calls): (Id, &[Id]),
    elsewhere: &[Id],
    writable: RegSet,
) -> Option<Vec<Id>> {
    if calls.len() > u64::BITS as usize {
        return None;
    }
    let places: FxHashMap<Id, usize> = calls.iter().enumerate().map(|(place, &id)| (id, place)).collect();
    let set = |ids: &mut dyn Iterator<Item = Id>| {
        ids.filter_map(|id| places.get(&id)).fold(0, |set, place| set | 1_u64 << place)
    };
    let needs: Vec<u64> =
        calls.iter().map(|&call| set(&mut expressions.operands(call).iter().copied())).collect();
    let mut values: Vec<OrderedValue> = Vec::new();
    let read = calls.iter().flat_map(|&call| expressions.operands(call));
    let mut known: Vec<Id> = read.chain(calls).copied().collect();
    known.sort_unstable();
    known.dedup();
    known.retain(|id| {
        let is_input = matches!(expressions.of(*id).origin, ExpressionOrigin::Input(_));
        !is_input && !elsewhere.contains(id)
    });
    for id in known {
        let users = set(&mut calls.iter().copied().filter(|&call| expressions.operands(call).contains(&id)));
        let kind = expressions.of(id).ty.kind();
        values.push(OrderedValue { made: set(&mut [id].into_iter()), users, kind, stays: id == step });
    }
    let is_scratch = |reg: &Reg| reg.access() == Access::Scratch;
    let room = |kind: Kind| writable.iter().filter(is_scratch).filter(|reg| reg.kind() == kind).count();
    let room = Kind::ALL.map(|kind| (kind, room(kind)));
    let mut search = OrderSearch { needs, values, room, seen: FxHashSet::default(), order: vec![] };
    search.completes(0).then(|| search.order.iter().map(|&place| calls[place]).collect())
}

/// A value that needs a register: the call that makes it, none if setup does, and the calls that read it.
struct OrderedValue {
    made: u64,
    users: u64,
    kind: Kind,
    stays: bool,
}

struct OrderSearch {
    /// For each call, those before it.
    needs: Vec<u64>,
    values: Vec<OrderedValue>,
    room: [(Kind, usize); 4],
    seen: FxHashSet<u64>,
    order: Vec<usize>,
}

impl OrderSearch {
    /// Whether the calls that are left have an order, which is added to that of those made.
    fn completes(&mut self, made: u64) -> bool {
        if self.order.len() == self.needs.len() {
            return true;
        }
        let is_ready = |&call: &usize| made >> call & 1 == 0 && self.needs[call] & !made == 0;
        let mut next: Vec<usize> = (0..self.needs.len()).filter(is_ready).collect();
        next.sort_by_key(|&call| self.in_use(made | 1 << call, Kind::Vector));
        for call in next {
            let with = made | 1 << call;
            let fits = self.room.iter().all(|&(kind, room)| self.in_use(with, kind) <= room);
            if fits && self.seen.len() < MOST_SETS && self.seen.insert(with) {
                self.order.push(call);
                if self.completes(with) {
                    return true;
                }
                self.order.pop();
            }
        }
        false
    }

    /// The registers of a kind that are in use after these calls.
    fn in_use(&self, made: u64, kind: Kind) -> usize {
        let is_live = |value: &&OrderedValue| {
            value.kind == kind && value.made & !made == 0 && (value.stays || value.users & !made != 0)
        };
        self.values.iter().filter(is_live).count()
    }
}
