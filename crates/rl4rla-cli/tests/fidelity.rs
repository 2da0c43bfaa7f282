//! `docs/fidelity.md` goes through the paper item by item: every row has a command, and every command runs.

mod common;

use common::{fresh, rl4rla};
use std::fs;

/// The rows of the first table: item, where, what departs.
fn rows() -> Vec<[String; 3]> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/fidelity.md");
    let text = fs::read_to_string(path).unwrap();
    let section = text.split("## ").find(|section| section.starts_with("The paper, item by item")).unwrap();
    let lines = section.lines().filter(|line| line.starts_with("| "));
    let cells = |line: &str| -> [String; 3] {
        let cells: Vec<String> =
            line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_string()).collect();
        cells.try_into().unwrap_or_else(|cells| panic!("a row has three cells: {cells:?}"))
    };
    // Neither the head nor the headings of groups, whose item alone is set, in bold.
    lines.skip(1).filter(|line| !line.starts_with("| **")).map(cells).collect()
}

#[test]
fn every_row_has_a_command_that_runs() {
    let (rows, store) = (rows(), fresh("fidelity.db"));
    assert!(rows.len() > 50, "{} rows", rows.len());
    for [item, place, departs] in &rows {
        assert!(!departs.is_empty(), "{item}");
        let command = place.trim_matches('`').strip_prefix("rl4rla ");
        let command = command.unwrap_or_else(|| panic!("`{item}` has no command: {place}"));
        let mut args: Vec<&str> = command.split(' ').collect();
        if args[0] == "reproduce" {
            args.push("--dry-run");
        }
        let said = rl4rla(&[&args[..], &["--store", &store]].concat());
        // 1 is an answer too: not found with so small a budget, not equivalent.
        assert!(said.code <= 1 && !said.out.is_empty(), "{item}: {command}: {said:?}");
    }
}

#[test]
fn every_item_of_reproduce_has_a_row() {
    let rows = rows();
    let help = rl4rla(&["reproduce", "--help"]).out;
    let items = help.split("Items: ").nth(1).unwrap().split(", or all").next().unwrap();
    for item in
        items.split(',').map(str::trim).filter(|item| !["searches", "learned", "winner-map"].contains(item))
    {
        let named = |[_, place, _]: &[String; 3]| place.split([' ', '`']).any(|word| word == item);
        assert!(rows.iter().any(named), "{item}");
    }
}

#[test]
fn a_dry_run_runs_nothing() {
    let store = fresh("fidelity-dry.db");
    let said =
        common::json(&["reproduce", "table2", "newton", "--dry-run", "--seeds", "3", "--store", &store]);
    let campaigns = said["campaigns"].as_array().unwrap();
    assert!(
        campaigns.len() > 30 && campaigns.iter().all(|c| c["done"] == 0 && c["runs"].as_u64() >= Some(2))
    );
    assert!(!std::path::Path::new(&store).exists());
}
