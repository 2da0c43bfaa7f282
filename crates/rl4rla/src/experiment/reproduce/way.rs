//! Labels and colours of searches: one label per method, setting and limits, one colour per method.

use super::ask::{Changes, Setting};
use crate::experiment::label;
use crate::report::Ink;
use crate::search::Method;

/// The label of a method under a setting, the same in every table and figure.
pub fn label(method: Method, setting: Setting) -> String {
    let limits = match setting {
        Setting::Capped(most) => vec![Setting::Repaired.name().into(), label::evaluations(most)],
        Setting::Playouts(most) => vec![label::playouts(most)],
        Setting::Equal { evaluations, playouts, .. } => vec![label::run(evaluations, playouts)],
        Setting::Changed(Changes { skip_closed, return_to_root, decision }) => {
            let words = [(skip_closed, "skips closed"), (return_to_root, "returns to the root")];
            let words = words.into_iter().filter(|(on, _)| *on).map(|(_, word)| word.to_string());
            words.chain(decision.map(label::decision)).collect()
        }
        Setting::Released
        | Setting::Matched
        | Setting::Repaired
        | Setting::Transitions
        | Setting::Proposed(_) => {
            vec![setting.name().to_string()]
        }
    };
    label::label(method.name(), limits)
}

/// The colour of a method, the same in all figures.
pub fn ink(method: Method) -> Ink {
    let order = [
        Method::Mcts,
        Method::McgsUct,
        Method::McgsUcd,
        Method::Best,
        Method::Exhaustive,
        Method::Random,
        Method::Evolution,
        Method::Islands,
        Method::McgsPuct,
    ];
    Ink(order.iter().position(|&known| known == method).unwrap_or(order.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::reproduce::ask::EditProposal;
    use crate::search::METHODS;
    use std::collections::BTreeSet;

    #[test]
    fn searches_that_differ_have_labels_that_differ() {
        let settings = [
            Setting::Released,
            Setting::Matched,
            Setting::Repaired,
            Setting::Capped(1000),
            Setting::Capped(3000),
            Setting::Playouts(1000),
            Setting::Transitions,
            Setting::Equal { evaluations: 1000, playouts: 2000, own: false },
            Setting::Changed(Changes { skip_closed: true, ..Changes::default() }),
            Setting::Changed(Changes { return_to_root: true, ..Changes::default() }),
            Setting::Changed(Changes { decision: Some(1000), ..Changes::default() }),
            Setting::Proposed(EditProposal::Uniform),
            Setting::Proposed(EditProposal::Learned),
            Setting::Proposed(EditProposal::LinearOnly),
        ];
        let methods = METHODS.iter().filter_map(|row| Method::named(row.name));
        let labels: Vec<String> =
            methods.flat_map(|method| settings.map(|setting| label(method, setting))).collect();
        assert_eq!(
            labels.iter().collect::<BTreeSet<_>>().len(),
            METHODS.len() * settings.len(),
            "{labels:?}"
        );
        assert_eq!(label(Method::McgsUcd, Setting::Released), "mcgs-ucd, released");
        assert_eq!(label(Method::Best, Setting::Capped(300)), "best, repaired, 300 evaluations a stage");
    }

    #[test]
    fn methods_differ_in_their_ink() {
        let inks: BTreeSet<usize> =
            METHODS.iter().filter_map(|row| Method::named(row.name)).map(|method| ink(method).0).collect();
        assert_eq!(inks.len(), METHODS.len());
    }
}
