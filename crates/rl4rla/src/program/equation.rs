//! The equation of a program: the update of x in one iteration.

use super::ast::{Instruction, Program, Section};
use super::canon::Canonical;
use super::expr::{Expr, Names};
use super::liveness::LiveOut;
use super::register::{Access, Reg};
use super::signature::{Signature, Update};
use super::typing::{ShapeError, check};

/// A program as an equation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Equation {
    /// In Unicode text.
    pub text: String,
    /// In LaTeX.
    pub latex: String,
}

/// The direction v1 of an iteration, as a formula.
#[derive(Clone, PartialEq, Debug)]
pub struct Direction {
    /// v1.
    pub v1: Expr,
    /// Definitions of the names in it, in text and in LaTeX.
    pub definitions: Vec<(String, String)>,
}

/// The direction of a program, read symbolically.
///
/// ```
/// use rl4rla::program::{Entry, direction};
/// let entry = Entry::named("sketched-precond-gd").unwrap();
/// let direction = direction(&entry.document.program, entry.signature()).unwrap();
/// let (multiplier, residual) = direction.v1.over_residual().unwrap();
/// assert_eq!((multiplier.text().as_str(), residual.text().as_str()), ("R⁻¹ R⁻ᵀ Aᵀ", "A xₜ − b"));
/// ```
pub fn direction(program: &Program, signature: impl Into<Signature>) -> Result<Direction, ShapeError> {
    let Reading { values, names, .. } = Reading::of(program, signature.into())?;
    Ok(Direction { v1: value(&values, Reg::V1), definitions: names.definitions })
}

/// The equation of a program, read symbolically.
///
/// ```
/// use rl4rla::program::{Geometry, equation};
/// let text = "iteration:\n v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";
/// let equation = equation(&text.parse().unwrap(), Geometry::Tall).unwrap();
/// assert_eq!(equation.text, "xₜ₊₁ = xₜ − η Aᵀ (A xₜ − b)");
/// ```
pub fn equation(program: &Program, signature: impl Into<Signature>) -> Result<Equation, ShapeError> {
    let signature = signature.into();
    let Reading { live, x, start, values, names } = Reading::of(program, signature)?;
    let ([text, latex], update) = signature.update.equation(x, value(&values, Reg::V1));
    let mut lines = vec![(format!("{text} = {}", update.text()), format!("{latex} = {}", update.latex()))];
    if let Some(start) = start {
        lines.push((format!("x₀ = {}", start.text()), format!("x_0 = {}", start.latex())));
    }
    let carried = Reg::carried().filter(|r| written(live.program(), Section::Iteration, *r));
    for reg in carried {
        let ((letter, index), value) = (reg.name().split_at(1), value(&values, reg));
        lines.push((
            format!("{reg} ← {}", value.text()),
            format!("{letter}_{{{index}}} \\leftarrow {}", value.latex()),
        ));
    }
    let (defined, defined_latex): (Vec<String>, Vec<String>) = names.definitions.into_iter().unzip();
    let (mut text, mut latex): (Vec<String>, Vec<String>) = lines.into_iter().unzip();
    if !defined.is_empty() {
        text.push(format!("where {}", defined.join("; ")));
        latex.push(format!("\\text{{where }} {}", defined_latex.join(";\\ ")));
    }
    Ok(Equation { text: text.join(", "), latex: latex.join(",\\quad ") })
}

/// A program read symbolically: the formula of every register at the end of an iteration.
struct Reading {
    live: Canonical,
    x: Expr,
    /// The x that setup writes, if it does.
    start: Option<Expr>,
    values: Vec<Option<Expr>>,
    names: Names,
}

impl Reading {
    fn of(program: &Program, signature: Signature) -> Result<Reading, ShapeError> {
        let live = Canonical::new(program, LiveOut::Finished);
        let typed = check(live.program(), signature)?;
        let mut names = Names::new();
        // If x never changes, there is no iteration index.
        let x = match signature.update {
            Update::Answer | Update::Basis => Some(Expr::symbol("x")),
            Update::Subtract | Update::Assign => initial(Reg::X),
        };
        let mut values: Vec<Option<Expr>> = Reg::all().map(initial).collect();
        let warm = written(live.program(), Section::Setup, Reg::X);
        // Setup uses the initial x, which is another than x₀ if setup replaces it.
        let first = if warm { ("x̄", "\\bar{x}") } else { ("x₀", "x_0") };
        values[Reg::X.index()] = Some(Expr::Symbol(first.0.into(), first.1.into()));
        let (setup, _) = typed.split_at(live.program().setup.len());
        let mut start = None;
        for (i, instruction) in typed.iter().enumerate() {
            if i == setup.len() {
                start = std::mem::replace(&mut values[Reg::X.index()], x.clone());
            }
            names.section = instruction.section;
            let ins = instruction.instruction;
            let operand =
                |reg: &Reg| values[reg.index()].clone().expect("typing admits no undefined operand");
            let operands: Vec<Expr> = ins.operands.iter().map(operand).collect();
            let value = (ins.op.formula)(&instruction.args, operands, &mut names);
            let value = match instruction.result {
                Some(ty) if ins.target != Some(Reg::A) => names.shortened(value, ty),
                _ => value,
            };
            match ins.target {
                Some(Reg::A) => {
                    for reg in [Reg::A, Reg::B] {
                        let rows = values[reg.index()].take().expect("A and b always have a value");
                        values[reg.index()] = Some(Expr::product([value.clone(), rows]));
                    }
                }
                Some(target) => values[target.index()] = Some(value),
                None => {}
            }
        }
        // A program without an iteration of its own: setup made v1.
        let start = if setup.len() == typed.len() { values[Reg::X.index()].clone() } else { start };
        let reads = |(_, _, ins): (Section, usize, &Instruction)| ins.reads().contains(Reg::D);
        if live.program().instructions().any(reads) {
            names.define("d = xₜ − xₜ₋₁".into(), "d = x_t - x_{t-1}".into());
        }
        let x = x.expect("x has a name");
        Ok(Reading { live, x, start: start.filter(|_| warm), values, names })
    }
}

fn value(values: &[Option<Expr>], reg: Reg) -> Expr {
    values[reg.index()].clone().expect("typing admits no undefined v1")
}

fn written(program: &Program, section: Section, reg: Reg) -> bool {
    program.section(section).iter().any(|ins| ins.target == Some(reg))
}

/// The symbol for the initial value of a register.
fn initial(reg: Reg) -> Option<Expr> {
    let name = reg.name();
    match reg {
        Reg::X => Some(Expr::Symbol("xₜ".into(), "x_t".into())),
        Reg::ETA => Some(Expr::eta()),
        Reg::MU => Some(Expr::mu()),
        Reg::LAMBDA => Some(Expr::lambda()),
        Reg::P1 => Some(Expr::Symbol("uniformly".into(), "\\text{uniformly}".into())),
        _ if reg.access() == Access::Carried => {
            let (letter, index) = name.split_at(1);
            Some(Expr::Symbol(name.into(), format!("{letter}_{{{index}}}")))
        }
        _ if reg.access() == Access::Input => Some(Expr::symbol(name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Entry, Geometry};

    fn shown(name: &str) -> Equation {
        let entry = Entry::named(name).unwrap();
        equation(&entry.document.program, entry.signature()).unwrap()
    }

    #[test]
    fn the_papers_equations() {
        assert_eq!(shown("landweber").text, "xₜ₊₁ = xₜ − η (A xₜ − b)");
        let sketched = shown("sketched-precond-gd");
        assert_eq!(
            sketched.text,
            "xₜ₊₁ = xₜ − η R⁻¹ R⁻ᵀ Aᵀ (A xₜ − b), where S: sketch with s rows, drawn once; S A = Q R"
        );
        assert!(sketched.latex.starts_with("x_{t+1} = x_t - \\eta R^{-1} R^{-\\top} A^\\top (A x_t - b)"));
        let kaczmarz = shown("block-kaczmarz").text;
        assert!(kaczmarz.contains("xₜ − η Aᵀ Sₜᵀ (Sₜ A Aᵀ Sₜᵀ)⁻¹ (Sₜ A xₜ − Sₜ b)"), "{kaczmarz}");
        let weighted = shown("precond-weighted-sgd").text;
        assert_eq!(shown("logistic-forward").text, "y = σ(A x)");
        assert_eq!(shown("power-iteration").text, "xₜ₊₁ = A xₜ / ‖A xₜ‖");
        let newton = shown("newton").text;
        assert_eq!(newton, "xₜ₊₁ = xₜ − η (Aᵀ D A)⁻¹ Aᵀ (σ(A xₜ) − b), where D = diag(σ′(A xₜ))");
        assert!(weighted.contains("Sₜ: k rows sampled by the squared row norms of A"), "{weighted}");
    }

    #[test]
    fn setup_sees_the_first_iterate() {
        let text = "setup:\n v2 = MAT_VEC_MUL(A, x)\niteration:\n v1 = VEC_MAT_MUL(v2, A)\n";
        let equation = equation(&text.parse().unwrap(), Geometry::Tall).unwrap();
        assert_eq!(equation.text, "xₜ₊₁ = xₜ − η Aᵀ A x₀");
    }

    #[test]
    fn starts_steps_and_previous_values_are_written_out() {
        let text = "setup:\n v2 = VEC_MAT_MUL(b, A)\n x = SCALAR_VEC_MUL(mu, v2)\niteration:\n v2 = MAT_VEC_MUL(A, x)\n v3 = PREVIOUS(v2)\n v2 = VEC_VEC_SUB(v2, v3)\n v2 = VEC_MAT_MUL(v2, A)\n v1 = VEC_VEC_SUB(v2, d)\n";
        let equation = equation(&text.parse().unwrap(), Geometry::Tall).unwrap();
        assert_eq!(
            equation.text,
            "xₜ₊₁ = xₜ − η (Aᵀ (A xₜ − (A xₜ)⁻) − d), x₀ = μ Aᵀ b, where d = xₜ − xₜ₋₁"
        );
        assert!(equation.latex.contains("(A x_t)^{-}") && equation.latex.contains("x_0 = \\mu A^\\top b"));
    }

    #[test]
    fn scalars_are_not_transposed() {
        let text = "iteration:\n v1 = SCALAR_VEC_MUL(eta, x)\n a1 = VEC_VEC_DOT(v1, x)\n v1 = SCALAR_VEC_MUL(a1, x)\n";
        let equation = equation(&text.parse().unwrap(), Geometry::Tall).unwrap();
        assert_eq!(equation.text, "xₜ₊₁ = xₜ − η ⟨xₜ, η xₜ⟩ xₜ");
    }

    #[test]
    fn what_is_used_twice_is_not_written_twice() {
        let gradient = "v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n v1 = VEC_MAT_MUL(v1, A)\n";
        let texts = [
            format!("iteration:\n {gradient}{}", "v1 = VEC_VEC_ADD(v1, v1)\n".repeat(200)),
            format!(
                "setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\n {}iteration:\n {gradient}v1 = MAT_VEC_MUL(R1, v1)\n",
                "R1 = MAT_MAT_MUL(R1, R1)\n".repeat(200)
            ),
            format!(
                "iteration:\n {gradient}{}",
                "a1 = VEC_VEC_DOT(v1, v1)\n a1 = SCALAR_DIV(a1, eta)\n v1 = SCALAR_VEC_MUL(a1, v1)\n"
                    .repeat(60)
            ),
        ];
        for text in texts {
            let equation = equation(&text.parse().unwrap(), Geometry::Tall).unwrap();
            assert!(equation.text.len() < 40_000 && equation.latex.len() < 40_000, "{}", equation.text.len());
            assert!(equation.text.contains("₁ = "), "{}", equation.text);
        }
    }

    #[test]
    fn triangular_solves_read_as_inverses() {
        assert!(shown("sketched-precond-gd-factored").text.contains("η R⁻¹ R⁻ᵀ Aᵀ (A xₜ − b)"));
    }
}
