//! The legal insertions into a program.
//!
//! An edit is judged by the program it results in. Usually this does not require the canonical form of that program:
//! an insertion does not change the types before it, its result must be live after it, and neither dead code nor the
//! order of independent instructions affects whether live code fits.

use super::ast::Section;
use super::canon::tidy;
use super::editor::Edit;
use super::lexicon::{InstructionNumber, part};
use super::liveness::{Line, LiveOut, SectionLines, Verdicts, alive, counting, ends, left_by_setup};
use super::points::{Continuation, TypePoint, TypePoints};
use super::register::RegSet;
use super::repair::Repair;

/// A program with the types at all its points.
#[derive(Default)]
pub(super) struct Draft {
    lines: SectionLines,
    /// The program in canonical form.
    here: SectionLines,
    /// The types before each instruction of both sections and after the last.
    points: [Vec<TypePoint>; 2],
    /// Whether each instruction fits.
    fits: Verdicts,
    /// Liveness for a partial program, and for a finished one.
    partial: Flow,
    finished: Flow,
    /// Whether the program is well-shaped without any edit.
    well_shaped: bool,
    /// Whether the live code after the current position fits, by the point there.
    behind: Vec<(TypePoint, bool)>,
    /// The program after an edit, in canonical form.
    child: SectionLines,
    verdicts: Verdicts,
}

/// Liveness at each point of a program.
#[derive(Default)]
struct Flow {
    /// The live registers before each instruction of both sections and after the last.
    counts: [Vec<RegSet>; 2],
    /// The numbers of live instructions before each point of a section, and of those that do not fit.
    before: [Vec<Tally>; 2],
}

/// Counts of live instructions.
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
        counting(&lines[0], left_by_setup(in_iteration[0], out), in_setup);
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

    /// The live instructions before `position` of a section if these registers are live there, and the registers live
    /// before the section.
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
            // From here on backwards, liveness is unchanged.
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
    /// Type-checks a program.
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
                // An instruction that does not fit leaves poison, which the repair rule handles.
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

    /// The legal insertions, in order, if `left` edits remain after them; an instruction without effect is offered
    /// once.
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
        // Judged in canonical form, as the search stores it: a repair might otherwise use code that canonicalization
        // removes.
        self.child.clone_from(&self.lines);
        self.child[it.section as usize].insert(it.position, it.line);
        tidy(&mut self.child, points.grammar.live_out.partial(), &mut self.verdicts);
        (nothing || !same(&self.child, &self.here)) && (fits || repair.possible(&self.child, left, points))
    }

    /// Whether a live insertion changes the number of live lines: a difference that shows without canonicalization.
    fn changes_length(&self, it: Inserted, points: &TypePoints) -> bool {
        let tallies = self.before(&self.partial, it, points.grammar.live_out.partial());
        let s = it.section as usize;
        let before = |s: usize, position: usize| self.partial.before[s][position].alive;
        tallies[s].alive + 1 != before(s, it.position)
            || s == 1 && tallies[0].alive != before(0, self.lines[0].len())
    }

    /// Whether an insertion results in a well-shaped program.
    fn fits_at_once(&mut self, it: Inserted, points: &mut TypePoints) -> bool {
        let live_out = points.grammar.live_out;
        // Liveness at the end of an iteration depends on which carried registers are read.
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

    /// The live instructions before a live insertion, in both sections.
    fn before(&self, flow: &Flow, it: Inserted, out: LiveOut) -> [Tally; 2] {
        let s = it.section as usize;
        let after = flow.counts[s][it.position];
        let live = it.line.counting(after).unwrap_or(after);
        let (tally, live) = flow.before(&self.lines[s], &self.fits[s], s, it.position, live);
        match it.section {
            Section::Setup => [tally, Tally::default()],
            Section::Iteration => {
                let (live, end) = (left_by_setup(live, out), self.lines[0].len());
                [flow.before(&self.lines[0], &self.fits[0], 0, end, live).0, tally]
            }
        }
    }

    /// Whether all live instructions after an insertion fit.
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

    /// Whether an insertion results in a well-shaped program, if carried registers are read.
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

    /// Whether setup, with this insertion, writes all registers to be kept.
    fn keeps(&self, it: Option<Inserted>, points: &TypePoints) -> bool {
        let inserted = it.filter(|it| it.section == Section::Setup).map(|it| it.line);
        let written = |reg| self.lines[0].iter().chain(&inserted).any(|line| line.writes.contains(reg));
        points.grammar.live_out.kept().iter().all(written)
    }
}

/// An insertion to be judged.
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
