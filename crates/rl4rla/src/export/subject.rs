//! A program prepared for export to any language.

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

/// A program with everything that an exported file says about it.
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
    /// The program and its file header.
    pub document: &'a Document,
    /// Default arguments.
    pub defaults: Defaults,
    /// Its origin.
    pub provenance: Provenance,
    /// Its statements.
    pub listing: Listing,
    /// How the iterations are run.
    pub run_loop: RunLoop,
    /// One iteration as an equation.
    pub equation: Equation,
    /// Its cost.
    pub cost: ProgramCost,
}

impl<'a> Export<'a> {
    /// Prepares a program for problems of this signature; an error if it does not fit them.
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

    /// The text of one file in this language.
    pub fn write(&self, language: Language) -> Result<String, ExportError> {
        (language.write)(self)
    }

    /// The default step size; `None` if it is searched for.
    pub fn step(&self) -> Option<f64> {
        self.defaults.step.or((!self.run_loop.finds_step()).then_some(1.0))
    }

    /// Name of the exported function.
    pub fn identifier(&self) -> String {
        self.provenance.identifier()
    }

    /// The title, or else the name.
    pub fn title(&self) -> &str {
        if self.document.title.is_empty() { &self.provenance.name } else { &self.document.title }
    }

    /// Flops of setup and of an iteration, with the work of the sketch per entry filled in where it is a constant.
    pub fn flops(&self) -> [Poly; 3] {
        let work = self.defaults.sketch.work(usize::MAX, usize::MAX >> 1);
        let shown = |flops: &Poly| {
            // These kinds of sketch spend a constant number of flops per entry.
            let fixed = self.defaults.sketch.work(8, 8) == work;
            if fixed { flops.with_sketch_work(work) } else { flops.clone() }
        };
        [&self.cost.setup, &self.cost.iteration, &self.cost.refresh].map(|cost| shown(&cost.flops))
    }

    /// Whether A is square.
    pub fn is_square(&self) -> bool {
        self.listing.signature.geometry != Geometry::Tall
    }
}
