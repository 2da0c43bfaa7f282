//! `rl4rla equiv`.

use crate::args::{Equiv, Shared};
use crate::commands::show::fitting;
use crate::failure::Failure;
use crate::page::{Page, accent, faint, strong, table, warning};
use crate::source::Source;
use rl4rla::equivalence::{Answer, LEVEL, Numeric, Stop, Symbolic, Verdict, equivalent, solves_systems};
use rl4rla::program::{Geometry, Signature, check};
use serde_json::{Value, json};

/// Compares two programs.
pub fn run(args: &Equiv, shared: &Shared) -> Result<Page, Failure> {
    let (p, q) = (Source::find(&args.first, &shared.store)?, Source::find(&args.second, &shared.store)?);
    let signature = common(&p, &q)?;
    let verdict = equivalent(&p.document.program, &q.document.program, signature)?;
    let code = u8::from(verdict.answer != Answer::Equivalent);
    Ok(Page { json: json(&verdict, &p, &q), text: text(&verdict, &p, &q), code })
}

/// A problem that both programs fit.
fn common(p: &Source, q: &Source) -> Result<Signature, Failure> {
    let (update, other) = (p.document.update, q.document.update);
    if update != other {
        let message = format!(
            "{} ends an iteration with {} and {} with {}: they cannot be compared",
            p.name,
            update.formula(),
            q.name,
            other.formula()
        );
        return Err(Failure::new(message).advise("`update:` in the head of a .rla file says which is meant"));
    }
    let shapes = Geometry::ALL.map(|shape| Signature::new(shape, update));
    let both = |s: &Signature| [p, q].iter().all(|source| check(&source.document.program, *s).is_ok());
    if let Some(signature) = shapes.into_iter().find(both) {
        return Ok(signature);
    }
    for source in [p, q] {
        fitting(&source.document).map_err(|error| Failure::new(format!("{}: {error}", source.name)))?;
    }
    let message = format!("{} and {} fit no common shape of problem", p.name, q.name);
    Err(Failure::new(message).advise("`rl4rla show` says which shape each is made for"))
}

fn stop_words(stop: Stop) -> &'static str {
    match stop {
        Stop::Steps => "stopped after too many steps",
        Stop::Size => "stopped: an expression grew too long",
        Stop::Overflow => "stopped: a coefficient grew too large",
        Stop::DivisionByZero => "stopped: the program divides by zero",
    }
}

/// What algebra says, in a word and in a sentence.
pub fn symbolic_words(symbolic: &Symbolic) -> (&'static str, String) {
    match symbolic {
        Symbolic::Equal(rules) => {
            let rules: Vec<&str> = rules.iter().map(|rule| rule.formula()).collect();
            ("equal", format!("one normal form, by {}", rules.join("; ")))
        }
        Symbolic::Different => ("different", "the normal forms differ".into()),
        Symbolic::Stopped(stop) => ("stopped", stop_words(*stop).into()),
    }
}

/// What execution says, in a word and in a sentence.
pub fn numeric_words(numeric: &Numeric) -> (&'static str, String) {
    match numeric {
        Numeric::Agree => ("agree", "the iterates agree wherever both programs run".into()),
        Numeric::Differ { instance, iteration } => {
            ("differ", format!("x departs in iteration {iteration} on {instance}"))
        }
        Numeric::DifferInLaw { functional } => (
            "differ",
            format!("different random draws, and {functional} has another distribution (level {LEVEL:e})"),
        ),
        Numeric::Unclear(why) => ("unclear", why.clone()),
    }
}

fn json(verdict: &Verdict, p: &Source, q: &Source) -> Value {
    let (symbolic, symbolic_reason) = symbolic_words(&verdict.symbolic);
    let (numeric, numeric_reason) = numeric_words(&verdict.numeric);
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
    })
}

fn text(verdict: &Verdict, p: &Source, q: &Source) -> String {
    let (symbolic, symbolic_reason) = symbolic_words(&verdict.symbolic);
    let (numeric, numeric_reason) = numeric_words(&verdict.numeric);
    let answer = match verdict.answer {
        Answer::Equivalent => accent("equivalent: equal in exact arithmetic"),
        Answer::Different => strong("not equivalent"),
        Answer::Undecided => warning("UNDECIDED: algebra and execution do not agree"),
    };
    let mut rows = vec![
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
        rows.push(vec!["stability".into(), "alike".into(), faint("up to κ = 1e14")]);
    }
    if !verdict.one_sided.is_empty() {
        let remark = format!("one runs where the other fails: {}", verdict.one_sided.join("; "));
        rows.push(vec!["domain".into(), "differs".into(), faint(&remark)]);
    }
    format!("{} and {}\n{answer}\n\n{}", strong(&p.name), strong(&q.name), table(rows))
}
