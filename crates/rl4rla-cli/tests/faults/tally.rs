//! What a part of the campaign counts, and how much of it is done.

/// So many cases: few in the short form; else the full number times what `RL4RLA_FAULTS` says.
pub fn cases(short: usize, full: usize) -> usize {
    match std::env::var("RL4RLA_FAULTS") {
        Ok(scale) => (full as f64 * scale.parse::<f64>().expect("a number")).ceil() as usize,
        Err(_) => short,
    }
}

/// Whether this is the long form.
pub fn is_long() -> bool {
    std::env::var_os("RL4RLA_FAULTS").is_some()
}

/// A line of the campaign's table.
#[derive(Default)]
pub struct Tally {
    pub what: String,
    pub cases: usize,
    pub lost: Vec<String>,
    pub wrong: Vec<String>,
    pub panics: Vec<String>,
    pub remark: String,
}

impl Tally {
    pub fn new(what: &str) -> Tally {
        Tally { what: what.into(), ..Tally::default() }
    }

    /// Prints the line, and fails unless all is well.
    pub fn close(self) {
        let Tally { what, cases, lost, wrong, panics, remark } = self;
        let counts = [lost.len(), wrong.len(), panics.len()];
        println!(
            "faults | {what:<34} | {cases:>7} cases | {} lost | {} wrong | {} panics | {remark}",
            counts[0], counts[1], counts[2]
        );
        assert_eq!(counts, [0; 3], "{lost:#?} {wrong:#?} {panics:#?}");
    }
}
