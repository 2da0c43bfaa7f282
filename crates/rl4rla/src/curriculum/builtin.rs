//! The built-in curricula, stored as text under `curricula/`.

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../curricula/", $name, ".toml")))),*]
    };
}

/// Every curriculum with its text: corrected settings, the released ones under `paper/`, searches from the empty
/// program under `free/`, and curricula with stages left out under `ablation/`.
pub const BUILTIN: [(&str, &str); 22] = files![
    "precond-weighted-sgd",
    "sketched-precond-gd",
    "block-kaczmarz",
    "subsampled-ls-gd",
    "subsampled-precond-gd",
    "newton-sketch",
    "eigenvalue",
    "paper/precond-weighted-sgd",
    "paper/sketched-precond-gd",
    "paper/block-kaczmarz",
    "paper/subsampled-ls-gd",
    "paper/subsampled-precond-gd",
    "paper/newton-sketch",
    "free/ls-gd",
    "free/gram-sketched",
    "free/qr-sketched",
    "free/ladder",
    "ablation/none",
    "ablation/forward-newton",
    "ablation/forward-newton-sketch",
    "ablation/gd-newton-sketch",
    "ablation/four-stages",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curriculum::{Curriculum, Target};
    use crate::execute::Sampling;
    use crate::problem::Scale;
    use crate::reward::{Profile, StepRule};
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }

    fn read(name: &str) -> Curriculum {
        Curriculum::named(name).unwrap().unwrap_or_else(|error| panic!("curricula/{name}.toml: {error}"))
    }

    #[test]
    fn every_file_is_listed_and_complete() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("curricula");
        let name = |path: PathBuf| {
            let parts = path.strip_prefix(&root).unwrap().with_extension("");
            parts.iter().map(|part| part.to_str().unwrap()).collect::<Vec<_>>().join("/")
        };
        let found: BTreeSet<String> = files(&root).into_iter().map(name).collect();
        assert_eq!(found, BUILTIN.iter().map(|(name, _)| name.to_string()).collect());
        for (name, _) in &BUILTIN {
            let Curriculum { title, about, reference, stages, .. } = read(name);
            assert!([title, about, reference].iter().all(|line| !line.is_empty()), "{name}");
            assert!(stages.iter().all(|(_, target)| !target.about.is_empty()), "{name}");
        }
        assert!(Curriculum::named("precond").is_none());
    }

    #[test]
    fn every_target_is_found_by_its_own_judge() {
        for (name, _) in &BUILTIN {
            for (stage, target) in read(name).stages {
                if target.is_open() {
                    continue;
                }
                let judgement = target.judge(&target.sought(), stage.grammar.signature);
                assert!(judgement.found, "{name}, {}: {judgement:?}", stage.name);
            }
        }
    }

    /// Legal insertions reach every target, whatever their order.
    #[test]
    fn every_target_is_reached_by_legal_insertions() {
        for (name, _) in &BUILTIN {
            let curriculum = read(name);
            let mut previous = curriculum.start;
            // A stage that follows one without a target starts from whatever was found there.
            let known = curriculum.stages.into_iter().take_while(|(_, target)| !target.is_open());
            for (stage, target) in known {
                let (grammar, sought) = (&stage.grammar, target.sought());
                let goal = grammar.finish(&sought);
                let wanted: Vec<_> = sought.instructions().map(|(_, _, ins)| ins.clone()).collect();
                let mut states = BTreeSet::from([grammar.state(&previous).program().clone()]);
                for remaining in (1..=stage.edits).rev() {
                    let next = states.iter().flat_map(|state| {
                        let legal = grammar.legal(state, remaining).into_iter();
                        let useful = legal.filter(|insertion| wanted.contains(&insertion.instruction));
                        useful.map(|insertion| grammar.state(&insertion.apply(state)).program().clone())
                    });
                    let next: Vec<_> = next.collect();
                    states.extend(next);
                    if states.iter().any(|state| grammar.finish(state) == goal) {
                        break;
                    }
                }
                let reached = states.iter().any(|state| grammar.finish(state) == goal);
                assert!(reached, "{name}, {}", stage.name);
                previous = sought;
            }
        }
    }

    #[test]
    fn the_ablations_differ_from_the_full_curriculum_in_their_stages_only() {
        let full = read("paper/newton-sketch");
        for (name, _) in BUILTIN.iter().filter(|(name, _)| name.starts_with("ablation/")) {
            for (stage, target) in read(name).stages {
                let (other, aim) = full.stages.iter().find(|(other, _)| other.name == stage.name).unwrap();
                let terms = |stage: &crate::discovery::Stage| {
                    let operators: Vec<&str> = stage.grammar.operators.iter().map(|op| op.name).collect();
                    let (families, protocol) = (stage.families.clone(), stage.protocol.clone());
                    (
                        operators,
                        stage.grammar.registers,
                        families,
                        protocol,
                        stage.exploration,
                        stage.instances,
                    )
                };
                assert!(terms(&stage) == terms(other) && target.program == aim.program, "{name}");
            }
        }
    }

    #[test]
    fn the_two_kinds_of_chains_differ_in_their_settings_only() {
        let released = |name: &&str| BUILTIN.iter().any(|(other, _)| *other == format!("paper/{name}"));
        // The released code has no logistic regression.
        let linear = |name: &&str| *name != "newton-sketch";
        let chains: Vec<&str> =
            BUILTIN.iter().map(|(name, _)| *name).filter(released).filter(linear).collect();
        assert_eq!(chains.len(), 5);
        for name in chains {
            let (sound, paper) = (read(name), read(&format!("paper/{name}")));
            assert_eq!(sound.stages.last().unwrap().0.name, name);
            // Ours may have additional stages that are not in the paper.
            let shared =
                sound.stages.iter().filter(|(ours, _)| paper.stages.iter().any(|(s, _)| s.name == ours.name));
            let shared: Vec<_> = shared.collect();
            assert_eq!(shared.len(), paper.stages.len());
            for ((ours, our_target), (theirs, their_target)) in shared.into_iter().zip(&paper.stages) {
                assert_eq!(ours.name, theirs.name, "{name}");
                // The same algorithm in exact arithmetic, in any form.
                let exact = Target { stable: false, ..our_target.clone() };
                assert!(exact.judge(&their_target.program, ours.grammar.signature).found, "{name}");
                assert!(our_target.name.is_none() || our_target == their_target, "{name}");
                assert!(our_target.stable || matches!(ours.protocol.profile, Profile::Sound { .. }));
                assert!(matches!(theirs.protocol.profile, Profile::Paper { .. }));
                assert!(matches!(theirs.protocol.step, StepRule::Fixed(_)));
                assert_eq!((theirs.protocol.iterations, theirs.budget), (10, 100_000));
                assert!(theirs.budget_per_decision && !ours.budget_per_decision);
                assert_eq!((theirs.grammar.operators.len(), theirs.instances.search), (11, 1));
                let settings =
                    |stage: &crate::discovery::Stage| (stage.families[0].scale, stage.protocol.sampling);
                assert_eq!(settings(ours), (Scale::Unit, Sampling::Unbiased));
                assert_eq!(settings(theirs), (Scale::Raw, Sampling::Released));
            }
        }
    }
}
