//! A document as one HTML page: no scripts and no external resources; readable on a phone, in dark mode and in print.

use super::svg::escape;
use super::{Block, Diagram, Figure, Finding, ReportPage, ReportSection, Table, palette, table_html};
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
        self.framed("plot", &figure.name, [&figure.title, &figure.caption], &["svg", "csv"], &figure.html())
    }

    fn diagram(&mut self, diagram: &Diagram) -> String {
        let label = escape(&diagram.title);
        let inside = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n{}</div>\n",
            diagram.svg_in_page()
        );
        self.framed("drawing", &diagram.name, [&diagram.title, &diagram.caption], &["svg"], &inside)
    }

    fn table(&mut self, table: &Table) -> String {
        let notes: String =
            table.notes.iter().map(|note| format!("<p class=\"note\">{}</p>\n", inline(note))).collect();
        let inside = table.rows_html() + &notes;
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

/// The style sheet of a page, in light and dark mode: colours, drawings, text and tables.
///
/// ```
/// assert!(rl4rla::report::style_sheet().contains("prefers-color-scheme:dark"));
/// ```
pub fn style_sheet() -> String {
    format!(
        ":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{drawings}{tables}{page}\
         @media print{{:root{{{light}}}}}\n",
        light = palette::variables(false),
        dark = palette::variables(true),
        drawings = palette::rules(),
        tables = table_html::rules(),
        page = include_str!("page.css")
    )
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
pub(super) fn inline(text: &str) -> String {
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
    use super::super::testing::{document, well_formed};
    use super::*;

    #[test]
    fn the_page_is_whole_and_asks_for_nothing() {
        let html = document().html();
        well_formed(&html);
        // A strict content security policy forbids styles of single elements.
        for word in ["http:", "https:", "<script", "@import", "url(", "<link", " style=", " onclick="] {
            assert!(!html.contains(word), "{word}");
        }
        for part in
            ["<h1>", "<nav", "class=\"remark\"", "class=\"finding found\"", "<details>", "<tbody ", "<dl>"]
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
