//! Structural checks of exported text that cannot be run here.

/// Words that open a block in Julia, each closed by `end`.
const OPENERS: [&str; 12] =
    ["function", "for", "while", "if", "struct", "module", "begin", "let", "try", "do", "quote", "macro"];

/// The first unbalanced block or bracket of Julia code, if any.
pub fn unbalanced(code: &str) -> Option<String> {
    let (mut blocks, mut brackets, mut quoted) = (0_i64, Vec::new(), false);
    for (i, line) in code.lines().enumerate() {
        let fault = |what: &str| Some(format!("line {}: {what}", i + 1));
        // A line with an odd number of `"""` begins or ends a multi-line string.
        let marks = line.matches("\"\"\"").count();
        if quoted || marks > 0 {
            quoted ^= marks % 2 == 1;
            continue;
        }
        for token in tokens(line) {
            let open = match token {
                "(" | "[" | "{" => {
                    brackets.push(token);
                    continue;
                }
                ")" => "(",
                "]" => "[",
                "}" => "{",
                // Inside brackets `end` is an index, and `for` and `if` belong to a comprehension.
                word if brackets.is_empty() => {
                    blocks += i64::from(OPENERS.contains(&word)) - i64::from(word == "end");
                    if blocks < 0 {
                        return fault("`end` without a beginning");
                    }
                    continue;
                }
                _ => continue,
            };
            if brackets.pop() != Some(open) {
                return fault(&format!("`{token}` closes nothing"));
            }
        }
    }
    match (blocks, brackets.is_empty(), quoted) {
        (0, true, false) => None,
        _ => Some(format!("{blocks} blocks and {} brackets are not closed", brackets.len())),
    }
}

/// The words and brackets of a line, without strings and comments.
fn tokens(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        loop {
            let first = rest.chars().next().filter(|c| *c != '#')?;
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let end = match first {
                '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
                c if is_word(c) => rest.find(|c: char| !is_word(c)).unwrap_or(rest.len()),
                c => c.len_utf8(),
            };
            let (token, after) = rest.split_at(end);
            rest = after;
            if is_word(first) || "()[]{}".contains(first) {
                return Some(token);
            }
        }
    })
}

/// LaTeX commands that exported documents may use.
const COMMANDS: &str = "\
    Comment EndFor Ensure For Omega Require Return State algorithmicensure algorithmicrequire \
    algrenewcommand alpha begin caption documentclass dots end eta frac gets in item label lambda langle mid mu nmid \
    lambda le leftarrow lvert mathbb noindent odot operatorname pagestyle pm quad rangle rvert sigma sqrt tau text \
    textasciicircum textasciitilde textbackslash textbf times top usepackage varnothing zeta \\ { } | , \
    _ & % #";

fn known(command: &str) -> bool {
    matches!(command, "$" | " ") || COMMANDS.split_whitespace().any(|known| known == command)
}

/// The first structural error of a LaTeX document, in braces, environments, formulas or commands, if any.
pub fn latex_faults(document: &str) -> Option<String> {
    let (mut depth, mut environments, mut math) = (0_i64, Vec::new(), false);
    for (i, line) in document.lines().enumerate().filter(|(_, line)| !line.starts_with('%')) {
        let fault = |what: String| Some(format!("line {}: {what}", i + 1));
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                '$' => math = !math,
                '\\' => {
                    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
                    let one = rest.chars().next().map_or(0, char::len_utf8);
                    let (command, after) = rest.split_at(letters.max(one));
                    rest = after;
                    if !known(command) {
                        return fault(format!("the command \\{command} is not known"));
                    }
                    let name = || after.trim_start_matches('{').split('}').next().unwrap_or("").to_string();
                    match command {
                        "begin" => environments.push(name()),
                        "end" if environments.pop() != Some(name()) => {
                            return fault(format!("\\end{{{}}} ends nothing", name()));
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        // No formula and no group of an exported document spans lines.
        if math || depth != 0 {
            return fault("a formula or a group is not closed".into());
        }
    }
    environments.last().map(|name| format!("\\begin{{{name}}} is not ended"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_julia_are_found() {
        assert_eq!(unbalanced("function f(x)\n    for i in 1:2\n    end\n    y = x[end]\nend\n"), None);
        assert_eq!(unbalanced("f(x) = [g(i) for i in 1:x] # if (\n\"\"\"for\nend\"\"\"\n"), None);
        for good in [
            "y = x[(length(x) ÷ 2 + 1):end]\n",
            "y = sum(f(i) for i in x if i > 0)\n",
            "y = x[1:min(3, end), :]\n",
            "if x > 0 y = 1 end\n",
            "mutable struct S\n    x::Vector{Float64}\nend\n",
            "f(x) = [\n    if_positive(i) for i in x\n]\n",
            "s = \"# end (\"\n",
            "map(x) do y\n    y[end]\nend\n",
        ] {
            assert_eq!(unbalanced(good), None, "{good}");
        }
        for bad in
            ["function f(x)\n", "end\n", "f(x\n", "f(x]\n", "\"\"\"text\n", "x[1]\nend\n", "if x[end] > 0\n"]
        {
            assert!(unbalanced(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn faults_of_latex_are_found() {
        assert_eq!(
            latex_faults("% }\n\\begin{document}\n$x_1 \\gets \\frac{1}{2}$ 50\\%\n\\end{document}\n"),
            None
        );
        for bad in [
            "\\begin{a}\n",
            "\\end{a}\n",
            "$x\n",
            "{\n",
            "\\sate\n",
            "\\begin{a}\\begin{b}\\end{a}\\end{b}\n",
        ] {
            assert!(latex_faults(bad).is_some(), "{bad}");
        }
    }
}
