//! A program about to be edited: what can be put into it, and which of that is legal.
//!
//! An edit is judged by the program it leaves. Most verdicts do not need that program in canonical form: an insertion
//! leaves the types before it alone, what it writes must count behind it, and neither dead code nor the order of
//! independent instructions decides whether live code fits.

use super::ast::Section;
use super::canon::tidy;
use super::editor::Edit;
use super::lexicon::{InstructionNumber, part};
use super::liveness::{Line, LiveOut, SectionLines, Verdicts, alive, counting, ends};
use super::points::{Continuation, TypePoint, TypePoints};
use super::register::RegSet;
use super::repair::Repair;

/// A program with the types at all its points.
#[derive(Default)]
pub(super) struct Draft {
    lines: SectionLines,
    /// The program as the search keeps it.
    here: SectionLines,
    /// The types before each instruction of both sections and after the last.
    points: [Vec<TypePoint>; 2],
    /// Whether each instruction fits.
    fits: Verdicts,
    /// What counts while the program is being written, and when it is finished.
    partial: Flow,
    finished: Flow,
    /// Whether the program, as it is, is well-shaped.
    well_shaped: bool,
    /// Whether what counts behind the place of the edits at hand fits, by the types there.
    behind: Vec<(TypePoint, bool)>,
    /// The program with an edit made, tidied.
    child: SectionLines,
    verdicts: Verdicts,
}

/// What counts at each point of a program.
#[derive(Default)]
struct Flow {
    /// The registers that count before each instruction of both sections and after the last.
    counts: [Vec<RegSet>; 2],
    /// Of the instructions before each point of a section, how many count, and how many of these do not fit.
    before: [Vec<Tally>; 2],
}

/// Instructions that count.
#[derive(Clone, Copy, Default)]
struct Tally {
    alive: usize,
    misfits: usize,
}

impl Tally {
    fn plus(self, fits: bool) -> Tally {
        Tally { alive: self.alive + 1, misfits: self.misfits + usize::from(!fits) }
    }
}

impl Flow {
    fn read(&mut self, lines: &SectionLines, fits: &Verdicts, out: LiveOut) {
        let [in_setup, in_iteration] = &mut self.counts;
        counting(&lines[1], ends(out), in_iteration);
        counting(&lines[0], in_iteration[0].union(out.kept()), in_setup);
        for s in [0, 1] {
            self.before[s].clear();
            self.before[s].push(Tally::default());
            for (i, line) in lines[s].iter().enumerate() {
                let before = self.before[s][i];
                let alive = line.writes.meets(self.counts[s][i + 1]);
                self.before[s].push(if alive { before.plus(fits[s][i]) } else { before });
            }
        }
    }

    /// What counts before `position` of a section when these registers count there, and before the section.
    fn before(
        &self,
        lines: &[Line],
        fits: &[bool],
        s: usize,
        position: usize,
        mut live: RegSet,
    ) -> (Tally, RegSet) {
        let mut tally = Tally::default();
        for i in (0..position).rev() {
            // From where it makes no difference any more, it is as it was.
            if live == self.counts[s][i + 1] {
                let rest = self.before[s][i + 1];
                let sum = Tally { alive: tally.alive + rest.alive, misfits: tally.misfits + rest.misfits };
                return (sum, self.counts[s][0]);
            }
            if let Some(before) = lines[i].counting(live) {
                (live, tally) = (before, tally.plus(fits[i]));
            }
        }
        (tally, live)
    }
}

impl Draft {
    /// Types a program.
    pub fn read(&mut self, words: &[InstructionNumber], points: &mut TypePoints) {
        let mut point = TypePoints::START;
        for section in Section::BOTH {
            let s = section as usize;
            self.lines[s].clear();
            self.points[s].clear();
            self.fits[s].clear();
            for &word in part(words, section) {
                self.lines[s].push(points.lexicon.line(word));
                self.points[s].push(point);
                // An instruction that does not fit leaves poison; the repair rule knows what to do.
                let after = points.step(point, word, section);
                self.fits[s].push(after.fits);
                point = after.point;
            }
            self.points[s].push(point);
        }
        let out = points.grammar.live_out;
        self.here.clone_from(&self.lines);
        tidy(&mut self.here, out.partial(), &mut self.verdicts);
        self.partial.read(&self.lines, &self.fits, out.partial());
        self.finished.read(&self.lines, &self.fits, out);
        self.well_shaped = self.keeps(None, points)
            && self.finished.before.iter().all(|before| before[before.len() - 1].misfits == 0)
            && points.moves(point);
    }

    /// The insertions that are legal if `left` edits are left after them, in order; one that does nothing once.
    pub fn legal(
        &mut self,
        points: &mut TypePoints,
        repair: &mut Repair,
        left: usize,
        edits: &mut Vec<Edit>,
    ) {
        repair.begin();
        let mut nothing = false;
        for section in Section::BOTH {
            let s = section as usize;
            let residual = points.lexicon.residual();
            let last = || self.lines[s].iter().rposition(|line| Some(line.word) == residual);
            for position in points.grammar.places(section, self.lines[s].len(), last) {
                self.behind.clear();
                for number in points.continuations(self.points[s][position], section) {
                    let offer = points.continuation(number);
                    let line = points.lexicon.line(offer.word);
                    if line.writes == RegSet::EMPTY && std::mem::replace(&mut nothing, true) {
                        continue;
                    }
                    let insertion = Inserted { section, position, line, offer };
                    if self.admits(insertion, points, repair, left) {
                        edits.push(Edit {
                            section,
                            position: position as u16,
                            word: offer.word,
                            replaces: false,
                        });
                    }
                }
            }
        }
    }

    fn admits(&mut self, it: Inserted, points: &mut TypePoints, repair: &mut Repair, left: usize) -> bool {
        let nothing = it.line.writes == RegSet::EMPTY;
        let dead = !it.line.writes.meets(self.partial.counts[it.section as usize][it.position]);
        if dead && !nothing {
            return false;
        }
        let fits = self.fits_at_once(it, points);
        if fits && (nothing || self.changes_length(it, points)) {
            return true;
        }
        if !fits && left == 0 {
            return false;
        }
        // Judged as the search will keep it: tidying may remove what a repair would have used.
        self.child.clone_from(&self.lines);
        self.child[it.section as usize].insert(it.position, it.line);
        tidy(&mut self.child, points.grammar.live_out.partial(), &mut self.verdicts);
        (nothing || !same(&self.child, &self.here)) && (fits || repair.possible(&self.child, left, points))
    }

    /// Whether an edit that counts leaves more or fewer lines alive than there were: a difference that is seen without
    /// tidying.
    fn changes_length(&self, it: Inserted, points: &TypePoints) -> bool {
        let tallies = self.before(&self.partial, it, points.grammar.live_out.partial());
        let s = it.section as usize;
        let before = |s: usize, position: usize| self.partial.before[s][position].alive;
        tallies[s].alive + 1 != before(s, it.position)
            || s == 1 && tallies[0].alive != before(0, self.lines[0].len())
    }

    /// Whether an edit leaves a well-shaped program.
    fn fits_at_once(&mut self, it: Inserted, points: &mut TypePoints) -> bool {
        let live_out = points.grammar.live_out;
        // What counts at the end of an iteration depends on which carried registers are read.
        let reads = self.lines[1].iter().fold(it.line.reads, |reads, line| reads.union(line.reads));
        if reads.meets(RegSet::carried()) {
            return self.fits_around_the_loop(it, points);
        }
        let s = it.section as usize;
        if !it.line.writes.meets(self.finished.counts[s][it.position]) {
            return self.well_shaped;
        }
        let tallies = self.before(&self.finished, it, live_out);
        tallies.iter().all(|tally| tally.misfits == 0)
            && self.keeps(Some(it), points)
            && self.fits_behind(it, points)
    }

    /// What counts before an edit that counts, in both sections.
    fn before(&self, flow: &Flow, it: Inserted, out: LiveOut) -> [Tally; 2] {
        let s = it.section as usize;
        let after = flow.counts[s][it.position];
        let live = it.line.counting(after).unwrap_or(after);
        let (tally, live) = flow.before(&self.lines[s], &self.fits[s], s, it.position, live);
        match it.section {
            Section::Setup => [tally, Tally::default()],
            Section::Iteration => {
                let (live, end) = (live.union(out.kept()), self.lines[0].len());
                [flow.before(&self.lines[0], &self.fits[0], 0, end, live).0, tally]
            }
        }
    }

    /// Whether everything fits that counts behind an edit.
    fn fits_behind(&mut self, it: Inserted, points: &mut TypePoints) -> bool {
        if let Some(&(_, known)) = self.behind.iter().find(|(point, _)| *point == it.offer.point) {
            return known;
        }
        let mut point = it.offer.point;
        let mut fits = true;
        for section in Section::BOTH.into_iter().skip(it.section as usize) {
            let s = section as usize;
            let first = if section == it.section { it.position } else { 0 };
            for (i, line) in self.lines[s].iter().enumerate().skip(first) {
                let after = points.step(point, line.word, section);
                point = after.point;
                fits &= after.fits || !line.writes.meets(self.finished.counts[s][i + 1]);
            }
        }
        let fits = fits && points.moves(point);
        self.behind.push((it.offer.point, fits));
        fits
    }

    /// Whether an edit leaves a well-shaped program, when carried registers are read.
    fn fits_around_the_loop(&mut self, it: Inserted, points: &mut TypePoints) -> bool {
        let s = it.section as usize;
        self.lines[s].insert(it.position, it.line);
        alive(&self.lines, points.grammar.live_out, &mut self.verdicts);
        let mut point = it.offer.point;
        let mut all = self.keeps(None, points);
        for section in Section::BOTH {
            let s = section as usize;
            for (position, line) in self.lines[s].iter().enumerate() {
                let fits = match (section, position).cmp(&(it.section, it.position)) {
                    std::cmp::Ordering::Less => self.fits[s][position],
                    std::cmp::Ordering::Equal => true,
                    std::cmp::Ordering::Greater => {
                        let after = points.step(point, line.word, section);
                        point = after.point;
                        after.fits
                    }
                };
                all &= fits || !self.verdicts[s][position];
            }
        }
        self.lines[s].remove(it.position);
        all && points.moves(point)
    }

    /// Whether setup writes what is to be kept, with this edit.
    fn keeps(&self, it: Option<Inserted>, points: &TypePoints) -> bool {
        let inserted = it.filter(|it| it.section == Section::Setup).map(|it| it.line);
        let written = |reg| self.lines[0].iter().chain(&inserted).any(|line| line.writes.contains(reg));
        points.grammar.live_out.kept().iter().all(written)
    }
}

/// An edit to be judged.
#[derive(Clone, Copy)]
struct Inserted {
    section: Section,
    position: usize,
    line: Line,
    offer: Continuation,
}

/// Whether two programs have the same lines.
fn same(one: &SectionLines, other: &SectionLines) -> bool {
    let same = |one: &[Line], other: &[Line]| one.iter().map(|l| l.word).eq(other.iter().map(|l| l.word));
    one.iter().zip(other).all(|(one, other)| same(one, other))
}
