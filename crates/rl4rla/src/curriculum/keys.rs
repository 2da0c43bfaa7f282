//! The keys of curricula by name, for readers and for those who help to write them.

/// The keys of a curriculum, outside its stages.
pub const TOP_KEYS: [&str; 6] = ["title", "about", "reference", "start", "defaults", "stage"];

/// The keys of a stage.
pub const STAGE_KEYS: [&str; 27] = [
    "name",
    "about",
    "edits",
    "open",
    "operators",
    "registers",
    "setup-only",
    "types",
    "family",
    "conditions",
    "iterations",
    "step",
    "sketch",
    "sketch-factor",
    "batch",
    "sampling",
    "keep",
    "reward",
    "exploration",
    "budget",
    "budget-per",
    "redirect",
    "merge",
    "instances",
    "target",
    "completed-by",
    "stable",
];

/// The keys of a family; it also takes its own numbers.
pub const FAMILY_KEYS: [&str; 8] =
    ["kind", "rows", "cols", "condition", "leverage", "right", "outside", "scale"];
