//! The problem shape for which programs are shown, compared and exported.

use crate::args::ShapeOption;
use crate::failure::Failure;
use crate::source::NamedProgram;
use rl4rla::problem::Family;
use rl4rla::program::{Geometry, ShapeError, Signature, check};

/// A shape that programs fit, with a remark if the choice may be surprising.
pub struct ChosenShape {
    /// The signature of the problems.
    pub signature: Signature,
    /// The reason for the choice, if the programs name families of different shapes.
    pub remark: Option<String>,
}

/// The first signature that all these programs fit: of the wanted shape, else of a family that one of them names,
/// else any; tall before square before symmetric. They must have the same update.
pub fn common(sources: &[&NamedProgram], wanted: Option<ShapeOption>) -> Result<ChosenShape, Failure> {
    let update = sources[0].document.update;
    if let Some(other) = sources.iter().find(|source| source.document.update != update) {
        let message = format!(
            "{} uses the update {} and {} uses {}: they cannot be compared",
            sources[0].name,
            update.formula(),
            other.name,
            other.document.update.formula()
        );
        return Err(Failure::new(message).advise("`update:` in the header of a .rla file selects the update"));
    }
    let family =
        |source: &&&NamedProgram| Family::named(&source.document.family).map(|family| family.signature());
    let mut named: Vec<(&str, Signature)> = sources
        .iter()
        .filter_map(|source| Some((source.name.as_str(), family(&source)?)))
        .filter(|(_, signature)| signature.update == update)
        .collect();
    named.sort_by_key(|(_, signature)| signature.geometry);
    let inputs = |signature: Signature| {
        sources.iter().fold(signature, |signature, source| signature.reading(&source.document.program))
    };
    let any = Geometry::ALL.map(|shape| inputs(Signature::new(shape, update)));
    let wanted = wanted.map(Geometry::from);
    let tried = named.iter().map(|(_, signature)| *signature).chain(any);
    let tried: Vec<Signature> =
        tried.filter(|signature| wanted.is_none_or(|shape| signature.geometry == shape)).collect();
    let fits =
        |source: &NamedProgram, signature: Signature| check(&source.document.program, signature).map(|_| ());
    let all_fit = |signature: &&Signature| sources.iter().all(|source| fits(source, **signature).is_ok());
    if let Some(&signature) = tried.iter().find(all_fit) {
        let shapes: Vec<String> = named
            .iter()
            .map(|(name, own)| format!("the family of {name} is {}", name_of(own.geometry)))
            .collect();
        let apart = wanted.is_none() && named.iter().any(|(_, own)| own.geometry != signature.geometry);
        let remark = apart.then(|| format!("{}; `--shape` chooses another", shapes.join(", ")));
        return Ok(ChosenShape { signature, remark });
    }
    for source in sources {
        let misfits: Result<Vec<ShapeError>, ()> =
            tried.iter().map(|signature| fits(source, *signature).err().ok_or(())).collect();
        // The error for the first signature tried is the most informative.
        if let Ok(Some(error)) = misfits.map(|errors| errors.into_iter().next()) {
            let failure = Failure::new(format!("{}: {error}", source.name));
            return Err(failure.advise(match wanted {
                Some(_) => "leave out `--shape`, or choose a shape that it fits",
                None => "`rl4rla list operators` shows operand and result types",
            }));
        }
    }
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    let message = format!("{} have no problem shape in common", names.join(" and "));
    Err(Failure::new(message).advise("`rl4rla show` says which shape each is made for"))
}

/// Name of a shape.
pub fn name_of(geometry: Geometry) -> &'static str {
    match geometry {
        Geometry::Tall => "tall",
        Geometry::Square => "square",
        Geometry::Symmetric => "symmetric",
    }
}
