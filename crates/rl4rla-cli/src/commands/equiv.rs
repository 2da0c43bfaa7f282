//! `rl4rla equiv`.

use crate::args::{Equiv, Shared};
use crate::failure::Failure;
use crate::page::{Page, accent, faint, strong, table, warning};
use crate::shape::{ChosenShape, common, name_of};
use crate::source::NamedProgram;
use rl4rla::equivalence::{Answer, Numeric, Verdict, equivalent, solves_systems};
use serde_json::{Value, json};

/// Compares two programs.
pub fn run(args: &Equiv, shared: &Shared) -> Result<Page, Failure> {
    let (p, q) =
        (NamedProgram::find(&args.first, &shared.store)?, NamedProgram::find(&args.second, &shared.store)?);
    let chosen = common(&[&p, &q], args.shape)?;
    let verdict = equivalent(&p.document.program, &q.document.program, chosen.signature)?;
    let code = u8::from(verdict.answer != Answer::Equivalent);
    Ok(Page { json: json(&verdict, &p, &q), text: text(&verdict, &chosen, &p, &q), code })
}

fn json(verdict: &Verdict, p: &NamedProgram, q: &NamedProgram) -> Value {
    let (symbolic, symbolic_reason) = verdict.symbolic.words();
    let (numeric, numeric_reason) = verdict.numeric.words([&p.name, &q.name]);
    let steadier = |first: bool| if first { &p.name } else { &q.name };
    json!({
        "equivalent": match verdict.answer {
            Answer::Equivalent => Some(true),
            Answer::Different => Some(false),
            Answer::Undecided => None,
        },
        "symbolic": symbolic,
        "numeric": numeric,
        "max_deviation": verdict.max_deviation,
        "stability": verdict.stability.as_ref().map(|s| json!({
            "kappa": s.kappa,
            "steadier": steadier(s.first_is_steadier),
        })),
        "reasons": [symbolic_reason, numeric_reason],
        "one_sided": verdict.one_sided,
        "geometry": name_of(verdict.signature.geometry),
        "cut": verdict.cut,
    })
}

fn text(verdict: &Verdict, chosen: &ChosenShape, p: &NamedProgram, q: &NamedProgram) -> String {
    let (symbolic, symbolic_reason) = verdict.symbolic.words();
    let (numeric, numeric_reason) = verdict.numeric.words([&p.name, &q.name]);
    let answer = match verdict.answer {
        Answer::Equivalent if matches!(verdict.numeric, Numeric::Sizes { .. }) => {
            accent("equivalent: equal in exact arithmetic, on problem sizes where both can run")
        }
        Answer::Equivalent => accent("equivalent: equal in exact arithmetic"),
        Answer::Different if matches!(verdict.numeric, Numeric::Domain { .. }) => {
            strong("not equivalent: one fails where the other runs")
        }
        Answer::Different => strong("not equivalent"),
        Answer::Undecided => warning("UNDECIDED: algebra and execution disagree"),
    };
    let shape = name_of(verdict.signature.geometry);
    let mut rows = vec![
        vec!["problems".into(), shape.into(), faint(chosen.remark.as_deref().unwrap_or(""))],
        vec!["algebra".into(), symbolic.into(), faint(&symbolic_reason)],
        vec!["execution".into(), numeric.into(), faint(&numeric_reason)],
        vec![
            String::new(),
            format!("{:.1e}", verdict.max_deviation),
            faint("largest relative deviation of x, draw for draw"),
        ],
    ];
    if let Some(stability) = &verdict.stability {
        let steadier = if stability.first_is_steadier { &p.name } else { &q.name };
        let remark = format!("from κ = {:e} on {steadier} is the accurate one", stability.kappa);
        rows.push(vec!["stability".into(), "differs".into(), faint(&remark)]);
    } else if verdict.answer == Answer::Equivalent
        && [p, q].iter().all(|source| solves_systems(&source.document.program, verdict.signature))
    {
        rows.push(match &verdict.cut {
            None => vec!["stability".into(), "alike".into(), faint("up to κ = 1e14")],
            Some(_) => vec!["stability".into(), "alike".into(), String::new()],
        });
    }
    if let Some(cut) = &verdict.cut {
        rows.push(vec![String::new(), "limited".into(), faint(cut)]);
    }
    if !verdict.one_sided.is_empty() {
        let remark = format!("one runs where the other fails: {}", verdict.one_sided.join("; "));
        rows.push(vec!["domain".into(), "differs".into(), faint(&remark)]);
    }
    format!("{} and {}\n{answer}\n\n{}", strong(&p.name), strong(&q.name), table(rows))
}
