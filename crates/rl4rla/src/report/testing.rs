//! Test fixtures: something to draw, and a tag parser.

use super::{
    Axis, Block, Cell, Column, Diagram, DiagramNode, Figure, Finding, Ink, Label, Marker, Panel, ReportPage,
    ReportSection, Role, Series, Table, svg,
};

/// A small figure with names that need escaping.
pub fn figure() -> Figure {
    let line =
        Series::new("ls-gd <1>", Ink(0), Marker::Line, (0..40).map(|i| [f64::from(i), 0.8_f64.powi(i)]));
    let lower = (0..40).map(|i| [f64::from(i), 0.5 * 0.8_f64.powi(i)]);
    let upper = (0..40).map(|i| 2.0 * 0.8_f64.powi(i)).collect();
    let band = Series::new("quartiles", Ink(0), Marker::Band(upper), lower).labelled(Label::Hidden);
    let (x, y) = (Axis::linear("iteration"), Axis::log("excess"));
    let panel = Panel { title: "κ = 100 & \"more\"".into(), x, y, series: vec![band, line] };
    Figure {
        name: "history".into(),
        title: "Convergence".into(),
        caption: "Median and quartiles.".into(),
        panels: vec![panel],
        columns: 2,
    }
}

/// Panels with many labels.
pub fn labelled() -> Vec<Panel> {
    let line = |i: usize, end: f64| {
        let points = (0..30).map(move |t| [t as f64, 1.0 - (1.0 - end) * t as f64 / 29.0]);
        Series::new(format!("method-{i}"), Ink(i), Marker::Line, points).labelled(Label::Beside)
    };
    let dot = |i: usize| {
        let at = [(1 + i % 3) as f64 * 10.0_f64.powi(i as i32), 0.4 + 0.01 * i as f64];
        Series::new(format!("a program with a name {i}"), Ink(i), Marker::Dots, [at]).labelled(Label::Beside)
    };
    let panel = |x: Axis, y: Axis, series| Panel { title: "A title".into(), x, y, series };
    vec![
        panel(Axis::linear("t"), Axis::linear("share"), (0..8).map(|i| line(i, 0.5)).collect()),
        panel(
            Axis::linear("t"),
            Axis::log("share"),
            (0..8).map(|i| line(i, 0.1 + 0.02 * i as f64)).collect(),
        ),
        panel(Axis::log("evaluations"), Axis::linear("success"), (0..8).map(dot).collect()),
    ]
}

/// The texts of a drawing with their bounding boxes: left, top, right, bottom. Rotated ones are left out.
pub fn boxes(drawing: &str) -> Vec<(String, [f64; 4])> {
    let attribute = |line: &str, name: &str| -> Option<String> {
        Some(line.split(&format!(" {name}=\"")).nth(1)?.split('"').next()?.to_string())
    };
    let text = |line: &str| {
        let content = line.split('>').nth(1)?.strip_suffix("</text")?.to_string();
        let [x, y] = ["x", "y"].map(|name| attribute(line, name).and_then(|n| n.parse::<f64>().ok()));
        let class = attribute(line, "class").unwrap_or_default();
        let size = if class.split(' ').any(|c| c == "t") { 13.0 } else { 12.0 };
        let width = svg::width(&content, size);
        let left = match class.split(' ').find(|c| ["m", "e"].contains(c)) {
            Some("m") => x? - width / 2.0,
            Some(_) => x? - width,
            None => x?,
        };
        Some((content, [left, y? - 11.0, left + width, y? + 3.0]))
    };
    drawing.lines().filter(|line| line.starts_with("<text")).filter_map(text).collect()
}

/// Panics unless every tag is closed, attributes are quoted, and every `&` is escaped.
pub fn well_formed(text: &str) {
    const VOID: [&str; 4] = ["!doctype", "meta", "link", "br"];
    let mut open: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (between, tail) = rest.split_at(start);
        assert!(!between.contains('>'), "a bare > in {between:?}");
        for (at, _) in between.match_indices('&') {
            let entity = &between[at..];
            let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"].iter().any(|e| entity.starts_with(e));
            assert!(known, "a bare & in {between:?}");
        }
        // The end of the tag is the first > outside of quotes.
        let mut quoted = false;
        let end = tail.char_indices().find(|(_, c)| {
            quoted ^= *c == '"';
            *c == '>' && !quoted
        });
        let end = end.unwrap_or_else(|| panic!("a tag without an end: {tail:.40}")).0;
        let tag = &tail[1..end];
        assert!(!tag[..].contains('<'), "a < in the tag {tag:?}");
        rest = &tail[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "the wrong end");
        } else if !tag.ends_with('/') {
            let name = tag.split_whitespace().next().unwrap_or_default().to_lowercase();
            if name == "style" {
                rest = &rest[rest.find("</style>").expect("a style ends")..];
            }
            if !VOID.contains(&name.as_str()) {
                open.push(name);
            }
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
}

/// A document with every kind of block, and with clashing names.
pub fn document() -> ReportPage {
    let text = |text: &str| text.to_string();
    let table = Table {
        name: "history".into(),
        title: "Rewards".into(),
        caption: "By <b>bold</b> method.".into(),
        columns: vec![Column::words("method"), Column::numbers("reward")],
        groups: vec![vec![vec!["best".into(), Cell::number(0.5, "0.5").strong()]], vec![vec!["mcts".into()]]],
        notes: vec!["A note with `code`.".into()],
    };
    let finding = Finding {
        name: "ls-gd".into(),
        found: true,
        equation: "xₜ₊₁ = xₜ − η Aᵀ (A xₜ − b), where η: step".into(),
        code: "iteration:\n  v1 = MAT_VEC_MUL(A, x)\n".into(),
        facts: vec![(text("reward"), text("0.5 ± 0.1"))],
        figure: Some(figure()),
    };
    let node =
        |column| DiagramNode { title: "n".into(), remark: text(""), role: Role::Base, column, row: 0.0 };
    let diagram = Diagram {
        name: "index".into(),
        title: "A tree".into(),
        caption: text(""),
        nodes: vec![node(0), node(1)],
        arrows: vec![(0, 1, text(""))],
        legend: vec![],
    };
    let first = vec![
        Block::Text("One <b>bold</b>.\n\nTwo `code`.".into()),
        Block::Remark("Mind & matter.".into()),
        Block::Code("rl4rla list".into()),
        Block::Facts(vec![(text("a"), text("b"))]),
        Block::Figure(figure()),
        Block::Diagram(diagram),
    ];
    let second =
        vec![Block::Finding(Box::new(finding)), Block::Folded("More".into(), vec![Block::Table(table)])];
    let section = |title: &str, blocks| ReportSection { id: "same".into(), title: title.into(), blocks };
    ReportPage {
        title: "A \"report\"".into(),
        lead: "What it is.".into(),
        sections: vec![section("First", first), section("Second & last", second)],
        colophon: vec![(text("version"), text("0"))],
    }
}
