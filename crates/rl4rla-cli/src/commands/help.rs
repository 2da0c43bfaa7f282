//! `rl4rla help`: the help of a command, or a document.

use crate::args::{Cli, Help};
use crate::failure::Failure;
use crate::page::{Page, accent, strong, table};
use clap::CommandFactory;
use rl4rla::program::nearest;
use serde_json::json;

/// The documents, embedded so that an installed command has them.
macro_rules! topics {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../docs/", $name, ".md")))),*]
    };
}

const TOPICS: [(&str, &str); 25] = topics![
    "tour",
    "glossary",
    "programs",
    "tasks",
    "reward",
    "curricula",
    "explore",
    "graph-search",
    "campaign",
    "learned-proposal",
    "equivalence",
    "advise",
    "solve",
    "data",
    "analyze",
    "baselines",
    "export",
    "serve",
    "python",
    "library",
    "extending",
    "new-task",
    "reproduce",
    "fidelity",
    "performance",
];

/// The index of the documents, with one line on each.
const INDEX: &str = include_str!("../../docs/README.md");

/// The index entry of a topic.
fn summary(topic: &str) -> Option<&'static str> {
    let head = format!("| [{topic}]({topic}.md) | ");
    INDEX.lines().find_map(|line| line.strip_prefix(&head)?.strip_suffix(" |"))
}

/// The output of `--help`.
fn usage(args: &[&str]) -> String {
    let asked = Cli::command().try_get_matches_from(["rl4rla"].iter().chain(args));
    asked.err().map_or(String::new(), |help| help.to_string())
}

/// Returns the help of a command, the document of a topic, both if they share a name, or the list of both.
pub fn run(args: &Help) -> Result<Page, Failure> {
    let cli = Cli::command();
    let Some(name) = args.topic.as_deref() else {
        let summaries = TOPICS.map(|(topic, _)| (topic, summary(topic).unwrap_or_default()));
        let rows = summaries.iter().map(|(topic, summary)| vec![accent(topic), summary.to_string()]);
        let topics: Vec<_> =
            summaries.iter().map(|(name, doc)| json!({ "name": name, "doc": doc })).collect();
        let topics_title = strong("Topics of rl4rla help TOPIC:");
        let text = format!("{}\n\n{topics_title}\n{}", usage(&["--help"]).trim_end(), table(rows));
        return Ok(Page::ok(json!({ "topics": topics }), text));
    };
    let command = cli.find_subcommand(name).map(|_| usage(&[name, "--help"]));
    let document = TOPICS.iter().find(|(topic, _)| *topic == name).map(|(_, text)| text.to_string());
    let texts: Vec<String> = command.into_iter().chain(document).map(|text| text.trim_end().into()).collect();
    if texts.is_empty() {
        let names = cli.get_subcommands().map(|command| command.get_name());
        let known: Vec<&str> = names.chain(TOPICS.iter().map(|(topic, _)| *topic)).collect();
        let meant = nearest(name, known).map(|meant| format!("`rl4rla help {meant}`, or "));
        return Err(Failure::new(format!("no command or topic `{name}`"))
            .advise(format!("{}`rl4rla help` for a list", meant.unwrap_or_default())));
    }
    let text = texts.join("\n\n") + "\n";
    Ok(Page::ok(json!({ "topic": name, "text": text }), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_has_a_line_on_every_topic() {
        for (topic, text) in TOPICS {
            assert!(summary(topic).is_some_and(|line| !line.is_empty()), "{topic}");
            assert!(text.starts_with("# "), "{topic}");
        }
    }
}
