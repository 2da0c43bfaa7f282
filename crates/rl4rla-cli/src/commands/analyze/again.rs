//! The commands that repeat an analysis or an instance.

use super::Report;
use crate::page::exact;
use crate::shell::quoted;
use rl4rla::analysis::StudyPoint;
use rl4rla::execute::{Sampling, SketchKind};
use rl4rla::problem::{Family, Leverage, Right, Scale};
use rl4rla::reward::{Profile, Protocol, StepRule};

impl Report<'_> {
    /// `rl4rla evaluate` with the options that reproduce this point's instance, random draws and run bit for bit.
    pub fn again(&self, point: &StudyPoint) -> String {
        let (family, study) = (&point.family, &self.study);
        let mut words = vec![format!("evaluate {}", quoted(self.source.lasting()))];
        words.extend(problem(family, &[family.condition]));
        words.push(format!("--instances 1 --seed {}", point.seed));
        words.push(format!("--iterations {} --step {}", study.protocol.iterations, study.step));
        words.extend(running(&study.protocol));
        self.shared.again(&words.join(" "))
    }

    /// The command that repeats this analysis, independent of future defaults.
    pub fn command(&self) -> String {
        let study = &self.study;
        let mut words = vec![format!("analyze {}", quoted(self.source.lasting()))];
        words.extend(problem(&study.family, &study.kappas));
        words.push(format!("--iterations {} --step {}", study.protocol.iterations, study.step));
        words.extend(running(&study.protocol));
        let care = study.care;
        let quick = if care.quick { " --quick" } else { "" };
        words.push(format!(
            "--tolerance {:e} --replicates {} --seed {}{quick}",
            care.tolerance, care.replicates, care.seed
        ));
        self.shared.again(&words.join(" "))
    }
}

/// The options of a family at these condition numbers, without those that have no effect.
fn problem(family: &Family, kappas: &[Option<f64>]) -> Vec<String> {
    let info = family.kind.info();
    let mut words = vec![format!("--family {} --rows {} --cols {}", info.name, family.rows, family.cols)];
    let kappas: Vec<String> = kappas.iter().flatten().map(|kappa| format!("{kappa:e}")).collect();
    words.extend((!kappas.is_empty()).then(|| format!("--kappa {}", kappas.join(","))));
    let options = [
        (family.leverage != Leverage::default(), format!("--leverage {}", family.leverage.name())),
        (family.right != Right::default(), format!("--right {}", family.right.name())),
        (family.outside != 0.0, format!("--outside {}", family.outside)),
        (family.scale != Scale::default(), "--scale raw".into()),
    ];
    words.extend(options.into_iter().filter(|(set, _)| *set).map(|(_, word)| word));
    let numbers = info.numbers.iter().zip(family.numbers);
    let set = numbers.filter(|(number, value)| number.default != *value);
    words.extend(set.map(|(number, value)| format!("--with {}={}", number.name, exact(value))));
    words
}

/// The options of a run, without those at their defaults.
fn running(protocol: &Protocol) -> Vec<String> {
    let usual = Protocol::new(Profile::sound(), StepRule::Fixed(1.0));
    let options = [
        (protocol.sketch != SketchKind::Sjlt, format!("--sketch {}", protocol.sketch)),
        (
            protocol.sketch_factor != usual.sketch_factor,
            format!("--sketch-factor {}", protocol.sketch_factor),
        ),
        (protocol.batch != usual.batch, format!("--batch {}", protocol.batch)),
        (protocol.sampling == Sampling::Released, "--sampling released".into()),
    ];
    options.into_iter().filter(|(set, _)| *set).map(|(_, word)| word).collect()
}
