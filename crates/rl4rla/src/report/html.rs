//! A document as one HTML page: no scripts and no external resources; readable on a phone, in dark mode and in print.

use super::svg::{at, escape};
use super::{Align, Block, Cell, Diagram, Figure, Finding, ReportPage, ReportSection, Table, palette};
use std::collections::BTreeSet;

impl ReportPage {
    /// The self-contained page.
    ///
    /// ```
    /// use rl4rla::report::{Block, ReportPage, ReportSection};
    /// let blocks = vec![Block::Text("See `rl4rla list`.".into())];
    /// let section = ReportSection { id: "first".into(), title: "First".into(), blocks };
    /// let (title, lead) = ("A report".into(), String::new());
    /// let document = ReportPage { title, lead, sections: vec![section], colophon: vec![] };
    /// assert!(document.html().contains("See <code>rl4rla list</code>."));
    /// ```
    pub fn html(&self) -> String {
        Page::new(vec![]).document(self)
    }

    /// The page with links to the files next to it, given their names in page order.
    pub(super) fn html_with(&self, names: Vec<String>) -> String {
        Page::new(names).document(self)
    }
}

/// A page being written.
struct Page {
    /// Names of files that are not linked yet, in page order.
    names: std::vec::IntoIter<String>,
    /// Anchors in use.
    ids: BTreeSet<String>,
}

impl Page {
    fn new(names: Vec<String>) -> Page {
        Page { names: names.into_iter(), ids: BTreeSet::from(["top".to_string()]) }
    }

    fn document(&mut self, document: &ReportPage) -> String {
        let ids: Vec<String> =
            document.sections.iter().map(|section| distinct(&mut self.ids, &section.id)).collect();
        let link = |(section, id): (&ReportSection, &String)| {
            format!("<li><a href=\"#{id}\">{}</a></li>\n", escape(&section.title))
        };
        let links: String = document.sections.iter().zip(&ids).map(link).collect();
        let sections: String =
            document.sections.iter().zip(&ids).map(|(section, id)| self.section(section, id)).collect();
        let nav = match document.sections.len() {
            0 | 1 => String::new(),
            _ => format!("<nav aria-label=\"Contents\">\n<ul>\n{links}</ul>\n</nav>\n"),
        };
        let lead = match document.lead.as_str() {
            "" => String::new(),
            lead => format!("<p class=\"lead\">{}</p>\n", inline(lead)),
        };
        let foot = match document.colophon.is_empty() {
            true => String::new(),
            false => format!("<footer>\n{}</footer>\n", facts(&document.colophon)),
        };
        let title = escape(&document.title);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>\n{}</style>\n</head>\n<body id=\"top\">\n<header>\n<h1>{title}</h1>\n{lead}</header>\n\
             {nav}<main>\n{sections}</main>\n{foot}</body>\n</html>\n",
            style_sheet()
        )
    }

    fn section(&mut self, section: &ReportSection, id: &str) -> String {
        let blocks = self.blocks(&section.blocks);
        let title = escape(&section.title);
        format!(
            "<section id=\"{id}\">\n<h2>{title} <a class=\"anchor\" href=\"#{id}\" aria-label=\"Link to {title}\">#</a></h2>\n\
             {blocks}</section>\n"
        )
    }

    fn blocks(&mut self, blocks: &[Block]) -> String {
        blocks.iter().map(|block| self.block(block)).collect()
    }

    fn block(&mut self, block: &Block) -> String {
        match block {
            Block::Text(text) => paragraphs(text),
            Block::Remark(text) => format!("<aside class=\"remark\">\n{}</aside>\n", paragraphs(text)),
            Block::Code(code) => {
                format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", escape(code.trim_end()))
            }
            Block::Facts(named) => facts(named),
            Block::Table(table) => self.table(table),
            Block::Figure(figure) => self.figure(figure),
            Block::Diagram(diagram) => self.diagram(diagram),
            Block::Finding(finding) => self.finding(finding),
            Block::Folded(title, blocks) => {
                format!(
                    "<details>\n<summary>{}</summary>\n{}</details>\n",
                    inline(title),
                    self.blocks(blocks)
                )
            }
        }
    }

    fn figure(&mut self, figure: &Figure) -> String {
        let panels: String = figure.panels.iter().map(|panel| panel.svg_in_page(&figure.title)).collect();
        let columns = figure.columns.clamp(1, figure.panels.len().max(1));
        let inside = format!(
            "{}<div class=\"panels\" style=\"--columns:{columns}\">\n{panels}</div>\n",
            figure.legend_html()
        );
        self.framed("plot", &figure.name, [&figure.title, &figure.caption], &["svg", "csv"], &inside)
    }

    fn diagram(&mut self, diagram: &Diagram) -> String {
        let (svg, width) = diagram.svg_in_page();
        let label = escape(&diagram.title);
        // The diagram shrinks a little and then scrolls, so that its text stays readable.
        let inside = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n\
             <div class=\"diagram\" style=\"--width:{}px\">\n{svg}</div>\n</div>\n",
            at(width)
        );
        self.framed("drawing", &diagram.name, [&diagram.title, &diagram.caption], &["svg"], &inside)
    }

    fn table(&mut self, table: &Table) -> String {
        let headed = headed(table);
        let columns = table.columns.len();
        let head: String = table
            .columns
            .iter()
            .enumerate()
            .filter_map(|(place, column)| match (headed, place) {
                (true, 0) => None,
                (true, 1) => Some((format!("{} · {}", table.columns[0].head, column.head), column.align)),
                _ => Some((column.head.clone(), column.align)),
            })
            .map(|(head, align)| format!("<th scope=\"col\"{}>{}</th>", side(align), inline(&head)))
            .collect();
        let cell = |(place, cell): (usize, &Cell), rows: usize| {
            let align = side(table.columns.get(place).map_or(Align::Left, |column| column.align));
            let text = words(cell);
            match place {
                0 if headed || rows == 0 => String::new(),
                0 if rows > 1 => format!("<th scope=\"rowgroup\" rowspan=\"{rows}\"{align}>{text}</th>"),
                0 => format!("<th scope=\"row\"{align}>{text}</th>"),
                1 if headed => format!("<th scope=\"row\"{align}>{text}</th>"),
                _ if cell.text.chars().count() > 28 => format!("<td class=\"long\">{text}</td>"),
                _ => format!("<td{align}>{text}</td>"),
            }
        };
        let row = |(row, rows): (&Vec<Cell>, usize)| {
            let cells: String = row.iter().enumerate().map(|place| cell(place, rows)).collect();
            // The shared first cell becomes a heading above its rows, so that the column that stays visible when
            // scrolling distinguishes them.
            let above = match row.first() {
                Some(first) if headed && rows > 0 => format!(
                    "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{}\"><span>{}</span></th></tr>\n",
                    columns - 1,
                    words(first)
                ),
                _ => String::new(),
            };
            format!("{above}<tr>{cells}</tr>\n")
        };
        let body = |group: &Vec<Vec<Cell>>| {
            // Consecutive rows with equal first cells show it once.
            let heads = group.chunk_by(|a, b| a.first() == b.first()).map(<[_]>::len);
            let spans = heads.flat_map(|rows| std::iter::once(rows).chain(std::iter::repeat_n(0, rows - 1)));
            format!("<tbody>\n{}</tbody>\n", group.iter().zip(spans).map(row).collect::<String>())
        };
        let bodies: String = table.groups.iter().map(body).collect();
        let notes: String =
            table.notes.iter().map(|note| format!("<p class=\"note\">{}</p>\n", inline(note))).collect();
        let label = escape(&table.title);
        let inside = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n<table>\n\
             <thead>\n<tr>{head}</tr>\n</thead>\n{bodies}</table>\n</div>\n{notes}"
        );
        self.framed("numbers", &table.name, [&table.title, &table.caption], &["csv"], &inside)
    }

    /// A figure, diagram or table with its caption and links to its files.
    fn framed(&mut self, class: &str, name: &str, words: [&str; 2], kinds: &[&str], inside: &str) -> String {
        let id = distinct(&mut self.ids, name);
        let [title, caption] = words.map(inline);
        let files: String = match self.names.next() {
            Some(file) => kinds
                .iter()
                .map(|kind| format!(" <a class=\"file\" href=\"{file}.{kind}\">{}</a>", kind.to_uppercase()))
                .collect(),
            None => String::new(),
        };
        let title = if title.is_empty() { title } else { format!("<strong>{title}</strong> ") };
        format!(
            "<figure class=\"{class}\" id=\"{id}\">\n<figcaption>{title}{caption}{files}</figcaption>\n{inside}</figure>\n"
        )
    }

    fn finding(&mut self, finding: &Finding) -> String {
        let (class, mark, word) = match finding.found {
            true => ("found", "✓", "found"),
            false => ("missed", "✗", "not found"),
        };
        let id = distinct(&mut self.ids, &finding.name);
        let mut text = format!(
            "<article class=\"finding {class}\" id=\"{id}\">\n<h3><span class=\"mark\" aria-hidden=\"true\">{mark}</span> \
             {} <small>{word}</small></h3>\n",
            escape(&finding.name)
        );
        if !finding.equation.is_empty() {
            // The legend of the symbols goes below the equation.
            let (equation, meaning) =
                finding.equation.split_once(", where ").unwrap_or((&finding.equation, ""));
            text += &format!("<p class=\"equation\" tabindex=\"0\">{}</p>\n", escape(equation));
            if !meaning.is_empty() {
                text += &format!("<p class=\"where\">where {}</p>\n", escape(meaning));
            }
        }
        text += "<div class=\"split\">\n<div>\n";
        if !finding.code.trim().is_empty() {
            text += &self.block(&Block::Code(finding.code.clone()));
        }
        text += &format!("{}</div>\n", facts(&finding.facts));
        if let Some(figure) = &finding.figure {
            text += &self.figure(figure);
        }
        text + "</div>\n</article>\n"
    }
}

/// The style sheet of a page.
pub fn style_sheet() -> String {
    format!(
        ":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{rules}{page}\
         @media print{{:root{{{light}}}}}\n",
        light = palette::variables(false),
        dark = palette::variables(true),
        rules = palette::rules(),
        page = include_str!("page.css")
    )
}

/// Whether rows share their first cell and are distinguished by text in the second; the first is then shown above
/// them.
fn headed(table: &Table) -> bool {
    let shared = |group: &Vec<Vec<Cell>>| group.windows(2).any(|pair| pair[0].first() == pair[1].first());
    let words = table.columns.get(1).is_some_and(|column| column.align == Align::Left);
    table.columns.len() > 2 && words && table.groups.iter().any(shared)
}

/// The text of a cell as HTML.
fn words(cell: &Cell) -> String {
    let text = inline(&cell.text);
    if cell.strong { format!("<strong>{text}</strong>") } else { text }
}

fn side(align: Align) -> &'static str {
    if align == Align::Right { " class=\"number\"" } else { "" }
}

fn facts(named: &[(String, String)]) -> String {
    if named.is_empty() {
        return String::new();
    }
    let lines = named
        .iter()
        .map(|(name, value)| format!("<div><dt>{}</dt><dd>{}</dd></div>\n", inline(name), inline(value)));
    format!("<dl>\n{}</dl>\n", lines.collect::<String>())
}

/// Paragraphs, separated by empty lines.
fn paragraphs(text: &str) -> String {
    let parts = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| format!("<p>{}</p>\n", inline(part))).collect()
}

/// Text with inline `code`.
fn inline(text: &str) -> String {
    let mut parts: Vec<&str> = text.split('`').collect();
    // An unpaired backquote is kept as it is.
    let single = if parts.len().is_multiple_of(2) { parts.pop() } else { None };
    let part = |(number, part): (usize, &&str)| match number % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    };
    let mut text: String = parts.iter().enumerate().map(part).collect();
    if let Some(rest) = single {
        text += &format!("`{}", escape(rest));
    }
    text
}

/// A unique name that is valid in a URL and as a file name; compared without case, since some file systems ignore it.
pub(super) fn distinct(taken: &mut BTreeSet<String>, wanted: &str) -> String {
    let plain: String = wanted
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
        .take(80)
        .collect();
    let plain = match plain.trim_matches('-') {
        "" => "part",
        plain => plain,
    };
    let mut name = plain.to_string();
    let mut number = 2;
    while !taken.insert(name.to_lowercase()) {
        name = format!("{plain}-{number}");
        number += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::super::Column;
    use super::super::testing::{document, well_formed};
    use super::*;

    #[test]
    fn the_page_is_whole_and_asks_for_nothing() {
        let html = document().html();
        well_formed(&html);
        for word in ["http:", "https:", "<script", "@import", "url(", "<link"] {
            assert!(!html.contains(word), "{word}");
        }
        for part in
            ["<h1>", "<nav", "class=\"remark\"", "class=\"finding found\"", "<details>", "<tbody>", "<dl>"]
        {
            assert!(html.contains(part), "{part}");
        }
        assert!(!html.contains("<b>bold</b>"), "what is not ours is escaped");
        assert_eq!(html, document().html());
    }

    #[test]
    fn addresses_are_distinct_and_lead_somewhere() {
        let html = document().html();
        let values = |name: &str| -> Vec<String> {
            let start = format!(" {name}=\"");
            html.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap().to_string()).collect()
        };
        let ids = values("id");
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        for address in values("href") {
            assert!(ids.contains(&address.trim_start_matches('#').to_string()), "{address}");
        }
    }

    #[test]
    fn rows_keep_what_tells_them_apart_in_their_first_column() {
        let table = |second: Column| {
            let row = |method: &str, cost: &str| -> Vec<Cell> { ["GD", method, cost].map(Cell::from).into() };
            let (columns, groups) = (
                vec![Column::words("target"), second, Column::numbers("cost")],
                vec![vec![row("mcts", "7"), row("best", "5")]],
            );
            let [name, title, caption] = ["t", "", ""].map(String::from);
            Page::new(vec![]).table(&Table { name, title, caption, columns, groups, notes: vec![] })
        };
        let headed = table(Column::words("method"));
        assert!(
            headed.contains(
                "<th scope=\"col\">target · method</th><th scope=\"col\" class=\"number\">cost</th>"
            ),
            "{headed}"
        );
        assert_eq!(headed.matches("colspan=\"2\"><span>GD</span>").count(), 1, "{headed}");
        assert!(
            headed.contains("<tr><th scope=\"row\">best</th><td class=\"number\">5</td></tr>"),
            "{headed}"
        );
        // A column of numbers distinguishes rows less well than the cell they share.
        let spanned = table(Column::numbers("size"));
        assert!(spanned.contains("rowspan=\"2\">GD</th>") && !spanned.contains("colspan"), "{spanned}");
    }

    #[test]
    fn code_stands_in_text_as_in_markdown() {
        assert_eq!(inline("run `a < b` now"), "run <code>a &lt; b</code> now");
        assert_eq!(inline("one ` only & `x` y"), "one <code> only &amp; </code>x` y");
    }

    #[test]
    fn names_become_plain_and_distinct() {
        let mut taken = BTreeSet::new();
        let names = ["a b/../c", "A-b----c", "", "ü", "x"].map(|name| distinct(&mut taken, name));
        assert_eq!(names, ["a-b----c", "A-b----c-2", "part", "part-2", "x"]);
    }
}
