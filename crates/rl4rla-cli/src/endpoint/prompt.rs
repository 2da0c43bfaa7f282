//! The prompt for an endpoint.

use rl4rla::discovery::Commission;
use rl4rla::program::{Op, Program, Reg, Section};

/// The prompt that asks for one better program.
pub fn text(commission: &Commission) -> String {
    let grammar = &commission.stage.grammar;
    let update = grammar.signature.update;
    let open: Vec<&str> = grammar.open.iter().map(|section| section.name()).collect();
    let registers: Vec<&str> = grammar.registers.iter().map(Reg::name).collect();
    let mut text = format!(
        "Programs of this language are algorithms of numerical linear algebra. Instructions under `setup:` run once, those \
         under `iteration:` run again and again, each time followed by {}, where v1 is what the iteration computed; x \
         starts at 0. An instruction is a line `target = OPERATOR(operand, operand)`; sampling replaces the data, \
         `A, b = SUBSAMPLING(p1)`.\n\n\
         Registers: {}. A, b, x and eta hold the problem's matrix, its right-hand side, the iterate and the step size and \
         are not written; a* are scalars, v* and m* vectors, R* matrices, p1 probabilities of rows.\n\n\
         Operators:\n",
        update.formula(),
        registers.join(" "),
    );
    text.extend(grammar.operators.iter().copied().map(operator));
    text += &format!(
        "\nA program is rewarded for being accurate and cheap. It must have these instructions, in this order, and may have \
         at most {} more among them, in: {}.\n\n{}\n",
        commission.stage.edits,
        open.join(", "),
        shown(commission.start),
    );
    for (number, (program, reward)) in commission.parents.iter().enumerate() {
        text += &format!("Program v{number}, reward {reward:.4}:\n\n{}\n", shown(program));
    }
    text + "Write a program with a higher reward. Answer with its text only.\n"
}

fn operator(op: Op) -> String {
    let forms: Vec<String> = op.forms.iter().map(ToString::to_string).collect();
    let place = match Section::BOTH.map(|section| op.sections.allow(section)) {
        [true, false] => " (setup only)",
        [false, true] => " (iteration only)",
        _ => "",
    };
    format!("  {}{place}: {}. {}\n", op.name, forms.join(" or "), op.doc)
}

fn shown(program: &Program) -> String {
    if program.is_empty() { "(none)\n".into() } else { program.to_string() }
}
