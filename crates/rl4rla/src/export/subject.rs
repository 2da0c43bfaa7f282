//! A program ready to be written in any language.

use super::defaults::Defaults;
use super::error::ExportError;
use super::language::Language;
use super::listing::Listing;
use super::provenance::Provenance;
use super::run_loop::RunLoop;
use crate::program::{
    Canonical, Document, Equation, Geometry, LiveOut, Model, Poly, ProgramCost, ShapeError, Signature,
    equation,
};

/// A program with all that is told of it.
///
/// ```
/// use rl4rla::export::{Defaults, Export, Language, Provenance};
/// use rl4rla::program::Entry;
/// let entry = Entry::named("ls-gd").unwrap();
/// let provenance = Provenance { name: entry.name.into(), ..Provenance::default() };
/// let export = Export::new(&entry.document, entry.signature(), Defaults::default(), provenance).unwrap();
/// let code = export.write(Language::named("python").unwrap()).unwrap();
/// assert!(code.contains("def ls_gd(") && code.contains("v1 = A @ x"));
/// ```
pub struct Export<'a> {
    /// The program and what its file says.
    pub document: &'a Document,
    /// What it runs with if nothing else is said.
    pub defaults: Defaults,
    /// Where it comes from.
    pub provenance: Provenance,
    /// Its statements.
    pub listing: Listing,
    /// How its iterations are run.
    pub run_loop: RunLoop,
    /// What one iteration does.
    pub equation: Equation,
    /// What it costs.
    pub cost: ProgramCost,
}

impl<'a> Export<'a> {
    /// The program for problems of this signature, if it fits them.
    pub fn new(
        document: &'a Document,
        signature: Signature,
        defaults: Defaults,
        provenance: Provenance,
    ) -> Result<Export<'a>, ShapeError> {
        let program = &document.program;
        let listing = Listing::new(program, signature)?;
        let run_loop = RunLoop::new(document, &listing);
        let live = Canonical::new(program, LiveOut::Finished);
        let cost = ProgramCost::of(&live, signature, Model::True)?;
        let equation = equation(program, signature)?;
        Ok(Export { document, defaults, provenance, listing, run_loop, equation, cost })
    }

    /// The program in a language: the text of one file.
    pub fn write(&self, language: Language) -> Result<String, ExportError> {
        (language.write)(self)
    }

    /// The step size if nothing is said; none if it is looked for.
    pub fn step(&self) -> Option<f64> {
        self.defaults.step.or((!self.run_loop.finds_step()).then_some(1.0))
    }

    /// What it is called in code.
    pub fn identifier(&self) -> String {
        self.provenance.identifier()
    }

    /// Its title, or else its name.
    pub fn title(&self) -> &str {
        if self.document.title.is_empty() { &self.provenance.name } else { &self.document.title }
    }

    /// Flops of setup and of an iteration, the kind of sketch filled in where its work per entry is a number.
    pub fn flops(&self) -> [Poly; 2] {
        let work = self.defaults.sketch.work(usize::MAX, usize::MAX >> 1);
        let shown = |flops: &Poly| {
            // Those two spend a fixed number of flops on an entry, whatever the sizes.
            let fixed = self.defaults.sketch.work(8, 8) == work;
            if fixed { flops.with_sketch_work(work) } else { flops.clone() }
        };
        [&self.cost.setup.flops, &self.cost.iteration.flops].map(shown)
    }

    /// Whether rows are columns.
    pub fn is_square(&self) -> bool {
        self.listing.signature.geometry != Geometry::Tall
    }
}
