//! The tables of a campaign file: each is a command, and its keys are the options of that command.
//!
//! A list of values for an option that takes one, or a list of lists for an option that takes several, means one command
//! for each value.

use crate::args::{Cli, Command};
use crate::failure::Failure;
use clap::{Arg, ArgAction, CommandFactory, FromArgMatches};
use rl4rla::program::nearest;
use toml::{Table, Value};

/// Options that do not say what is computed, but how and where.
const NOT_HERE: [&str; 8] = ["threads", "cache", "timings", "campaign", "local", "dry-run", "out", "data"];

/// Most commands of one table.
const MOST: usize = 100_000;

/// The commands of a table.
pub fn commands(name: &str, table: &Table) -> Result<Vec<Command>, Failure> {
    // Made once: that takes longer than to read a command.
    let mut cli = Cli::command();
    let command = cli.find_subcommand(name).expect("tables are named like commands");
    let mut lines: Vec<Vec<String>> = vec![vec![]];
    for (key, value) in table {
        let words = words(command, key, value).map_err(|failure| failure.at(&format!("key `{key}`")))?;
        if lines.len().saturating_mul(words.len()) > MOST {
            return Err(Failure::new(format!("the lists of this table make more than {MOST} searches"))
                .advise("shorter lists, or several campaigns"));
        }
        let with = |line: &Vec<String>| {
            let line = line.clone();
            words.iter().map(move |more| [&line[..], &more[..]].concat()).collect::<Vec<_>>()
        };
        lines = lines.iter().flat_map(with).collect();
    }
    let mut parsed = |mut line: Vec<String>| {
        // What has no name comes last, behind what ends options.
        line.sort_by_key(|word| !word.starts_with("--"));
        let names = line.iter().position(|word| !word.starts_with("--")).unwrap_or(line.len());
        let (options, operands) = line.split_at(names);
        let operands = operands.iter().map(|word| &word[1..]);
        let words = ["rl4rla", name].into_iter().chain(options.iter().map(String::as_str));
        cli.try_get_matches_from_mut(words.chain(["--"]).chain(operands))
            .and_then(|matches| Cli::from_arg_matches(&matches))
            .map(|cli| cli.command)
            .map_err(|error| Failure::usage(&error))
    };
    lines.into_iter().map(&mut parsed).collect()
}

/// The words of each of the commands that a key makes: options begin with `--`, operands with a space.
fn words(command: &clap::Command, key: &str, value: &Value) -> Result<Vec<Vec<String>>, Failure> {
    let name = |arg: &Arg| match arg.is_positional() {
        true => Some(arg.get_id().to_string()),
        false => arg.get_long().map(String::from),
    };
    let known = || command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(name);
    let Some(arg) = command.get_arguments().find(|arg| name(arg).as_deref() == Some(key)) else {
        let names: Vec<String> = known().filter(|name| !NOT_HERE.contains(&name.as_str())).collect();
        let failure = Failure::new(format!("`{}` has no option of this name", command.get_name()));
        return Err(match nearest(key, names.iter().map(String::as_str)) {
            Some(meant) => failure.advise(format!("`{meant}`")),
            None => failure.advise(format!("`rl4rla {} --help` shows all", command.get_name())),
        });
    };
    if NOT_HERE.contains(&key) {
        return Err(Failure::new("this is not part of what a task computes")
            .advise("leave it out; jobs are described under [jobs] and [slurm]"));
    }
    let takes_several = matches!(arg.get_action(), ArgAction::Append) || arg.get_value_delimiter().is_some();
    let is_grid = |values: &Vec<Value>| !takes_several || values.iter().any(Value::is_array);
    let ways = match value {
        Value::Array(values) if values.is_empty() => {
            return Err(Failure::new("the list is empty").advise("at least one value"));
        }
        Value::Array(values) if is_grid(values) => values.iter().collect(),
        value => vec![value],
    };
    ways.into_iter().map(|value| one(arg, key, value)).collect()
}

/// The words of one command.
fn one(arg: &Arg, key: &str, value: &Value) -> Result<Vec<String>, Failure> {
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return match value {
            Value::Boolean(true) => Ok(vec![format!("--{key}")]),
            Value::Boolean(false) => Ok(vec![]),
            other => Err(Failure::new(format!("expected true or false, got {other}"))),
        };
    }
    let values = match value {
        Value::Array(values) => values.iter().map(text).collect::<Result<Vec<_>, _>>()?,
        value => vec![text(value)?],
    };
    Ok(match (arg.is_positional(), arg.get_value_delimiter()) {
        (true, _) => values.iter().map(|value| format!(" {value}")).collect(),
        (false, Some(comma)) => vec![format!("--{key}={}", values.join(&comma.to_string()))],
        (false, None) => values.iter().map(|value| format!("--{key}={value}")).collect(),
    })
}

fn text(value: &Value) -> Result<String, Failure> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        // Options that count take whole numbers only, which may be typed as 1e6.
        Value::Float(number) => Ok(number.to_string()),
        other => Err(Failure::new(format!("expected a text or a number, got {other}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::SweepArguments;

    fn sweeps(text: &str) -> Result<Vec<SweepArguments>, String> {
        let commands = commands("sweep", &text.parse().unwrap()).map_err(|f| f.message().to_string())?;
        let sweep = |command| match command {
            Command::Sweep(args) => args,
            _ => panic!("another command"),
        };
        Ok(commands.into_iter().map(sweep).collect())
    }

    #[test]
    fn keys_are_options_and_lists_make_several_commands() {
        let all = sweeps(
            "curricula = [\"a\", \"b\"]\nmethods = [\"best\", \"mcts\"]\nseeds = 7\nbudget = [10, 20, 30]\ntyped = [true, false]",
        );
        let all = all.unwrap();
        assert_eq!(all.len(), 6);
        assert!(all.iter().all(|args| args.curricula == ["a", "b"] && args.methods == ["best", "mcts"]));
        assert!(all.iter().all(|args| args.seeds == 7));
        let settings: Vec<(u64, bool)> =
            all.iter().map(|args| (args.searching.budget.unwrap(), args.searching.typed)).collect();
        assert_eq!(settings, [(10, true), (10, false), (20, true), (20, false), (30, true), (30, false)]);
        let grid = sweeps("curricula = [[\"a\", \"b\"], [\"c\"]]\nmethods = \"best\"").unwrap();
        assert_eq!(grid.iter().map(|args| args.curricula.len()).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(
            sweeps("curricula = \"--help\"").unwrap()[0].curricula,
            ["--help"],
            "a name, whatever it is"
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, message) in [
            ("curricula = [\"a\"]\nmethod = \"best\"", "key `method`: `sweep` has no option of this name"),
            ("curricula = [\"a\"]\nthreads = 2", "key `threads`: this is not part of what a task computes"),
            ("curricula = [\"a\"]\nseeds = \"many\"", "invalid value 'many' for '--seeds <SEEDS>'"),
            ("curricula = [\"a\"]\ntyped = 1", "key `typed`: expected true or false, got 1"),
            ("curricula = []", "key `curricula`: the list is empty"),
            ("curricula = [\"a\"]\nseeds = 1979-05-27", "key `seeds`: expected a text or a number"),
            ("methods = \"best\"", "the following required arguments were not provided"),
        ] {
            let error = sweeps(text).err().unwrap();
            assert!(error.contains(message), "{error}");
        }
        let list: Vec<String> = (1..=400).map(|n| n.to_string()).collect();
        let list = list.join(",");
        let error = sweeps(&format!("curricula = [\"a\"]\nbudget = [{list}]\nevaluations = [{list}]")).err();
        assert!(error.unwrap().contains("more than 100000 searches"));
    }
}
