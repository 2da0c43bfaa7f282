//! Expressions over A, b, x and random objects, to display what a program computes as a formula.

use super::ast::Section;
use super::types::Type;

/// A formula. The constructors simplify it; equality of programs is not decided here.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// A named object, in text and in LaTeX.
    Symbol(String, String),
    /// A named number, in text and in LaTeX.
    Number(String, String),
    /// a · b · c …
    Product(Vec<Expr>),
    /// a + b.
    Sum(Box<Expr>, Box<Expr>),
    /// a − b.
    Difference(Box<Expr>, Box<Expr>),
    /// a / b.
    Quotient(Box<Expr>, Box<Expr>),
    /// The inner product ⟨u, v⟩.
    Dot(Box<Expr>, Box<Expr>),
    /// f(a, b, …), the name in text and in LaTeX.
    Call(String, String, Vec<Expr>),
    /// ‖v‖.
    Norm(Box<Expr>),
    /// D^½ for a diagonal D.
    Root(Box<Expr>),
    /// Mᵀ.
    Transpose(Box<Expr>),
    /// M⁻¹.
    Inverse(Box<Expr>),
    /// v⁻, the value in the iteration before.
    Previous(Box<Expr>),
}

use Expr::*;

impl Expr {
    /// A symbol written the same in text and in LaTeX.
    pub fn symbol(name: &str) -> Expr {
        Symbol(name.into(), name.into())
    }

    /// The product, flattened.
    pub fn product(factors: impl IntoIterator<Item = Expr>) -> Expr {
        let mut flat = Vec::new();
        for factor in factors {
            match factor {
                Product(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        // D^½ D^½ = D.
        while let Some(i) = flat.windows(2).position(|two| matches!(two[0], Root(_)) && two[0] == two[1]) {
            if let Root(whole) = flat.remove(i) {
                flat[i] = *whole;
            }
        }
        Product(flat)
    }

    /// a + b.
    pub fn sum(a: Expr, b: Expr) -> Expr {
        Sum(Box::new(a), Box::new(b))
    }

    /// a − b.
    pub fn difference(a: Expr, b: Expr) -> Expr {
        Difference(Box::new(a), Box::new(b))
    }

    /// a / b.
    pub fn quotient(a: Expr, b: Expr) -> Expr {
        Quotient(Box::new(a), Box::new(b))
    }

    /// ⟨u, v⟩.
    pub fn dot(u: Expr, v: Expr) -> Expr {
        Dot(Box::new(u), Box::new(v))
    }

    /// f(a, b, …).
    pub fn call(text: &str, latex: &str, args: Vec<Expr>) -> Expr {
        Call(text.into(), latex.into(), args)
    }

    /// ‖v‖.
    pub fn norm(self) -> Expr {
        Norm(Box::new(self))
    }

    /// η.
    pub fn eta() -> Expr {
        Symbol("η".into(), "\\eta".into())
    }

    /// μ.
    pub fn mu() -> Expr {
        Number("μ".into(), "\\mu".into())
    }

    /// λ.
    pub fn lambda() -> Expr {
        Number("λ".into(), "\\lambda".into())
    }

    /// v⁻, the value in the iteration before.
    pub fn previous(self) -> Expr {
        Previous(Box::new(self))
    }

    /// M and r = y − b, if this is M·(y − b): common factors of y and b belong to M.
    pub fn over_residual(&self) -> Option<(Expr, Expr)> {
        let factors = |expr: &Expr| match expr {
            Product(factors) => factors.clone(),
            other => vec![other.clone()],
        };
        let mut before = factors(self);
        let Difference(y, b) = before.pop()? else { return None };
        let (mut y, mut b) = (factors(&y), factors(&b));
        while y.len() > 1 && b.len() > 1 && y[0] == b[0] {
            before.push(y.remove(0));
            b.remove(0);
        }
        let residual = Expr::difference(Expr::product(y), Expr::product(b.clone()));
        (b == [Expr::symbol("b")]).then(|| (Expr::product(before), residual))
    }

    fn is_scalar(&self) -> bool {
        match self {
            Number(..) | Quotient(..) | Dot(..) => true,
            Previous(inner) => inner.is_scalar(),
            other => *other == Expr::eta(),
        }
    }

    /// The transpose, pushed inwards: (AB)ᵀ = BᵀAᵀ, Mᵀᵀ = M, and a scalar is its own transpose.
    pub fn transpose(self) -> Expr {
        match self {
            scalar if scalar.is_scalar() => scalar,
            Product(factors) => Product(factors.into_iter().rev().map(Expr::transpose).collect()),
            Transpose(inner) => *inner,
            // A diagonal matrix is its own transpose.
            Root(inner) => Root(inner),
            other => Transpose(Box::new(other)),
        }
    }

    /// The inverse; (M⁻¹)⁻¹ = M.
    pub fn inverse(self) -> Expr {
        match self {
            Inverse(inner) => *inner,
            other => Inverse(Box::new(other)),
        }
    }

    /// Number of symbols in the formula.
    pub fn size(&self) -> usize {
        match self {
            Symbol(..) | Number(..) => 1,
            Product(parts) | Call(_, _, parts) => 1 + parts.iter().map(Expr::size).sum::<usize>(),
            Sum(a, b) | Difference(a, b) | Quotient(a, b) | Dot(a, b) => 1 + a.size() + b.size(),
            Norm(a) | Root(a) | Transpose(a) | Inverse(a) | Previous(a) => 1 + a.size(),
        }
    }

    /// The formula in Unicode text.
    pub fn text(&self) -> String {
        self.write(&TEXT)
    }

    /// The formula in LaTeX.
    pub fn latex(&self) -> String {
        self.write(&LATEX)
    }

    fn write(&self, style: &Style) -> String {
        match self {
            Symbol(text, latex) | Number(text, latex) => (style.symbol)(text, latex).into(),
            Product(factors) => {
                let parts: Vec<String> = factors.iter().map(|f| f.write_inside(style)).collect();
                parts.join(style.times)
            }
            Sum(a, b) => format!("{} + {}", a.write(style), b.write(style)),
            Difference(a, b) => format!("{} {} {}", a.write(style), style.minus, b.write_inside(style)),
            Call(text, latex, args) => {
                let args: Vec<String> = args.iter().map(|arg| arg.write(style)).collect();
                format!("{}({})", (style.symbol)(text, latex), args.join(", "))
            }
            Norm(v) => format!("{0}{1}{0}", style.norm, v.write(style)),
            Root(d) => d.write_base(style) + style.root,
            Dot(a, b) => (style.dot)(&a.write(style), &b.write(style)),
            Quotient(a, b) => (style.fraction)(&a.write_inside(style), &b.write_inside(style)),
            Transpose(inner) => match &**inner {
                Inverse(m) => m.write_base(style) + style.inverse_transpose,
                m => m.write_base(style) + style.transpose,
            },
            Inverse(m) => m.write_base(style) + style.inverse,
            Previous(v) => v.write_base(style) + style.previous,
        }
    }

    /// As a factor of a product, or as a subtrahend: sums need brackets.
    fn write_inside(&self, style: &Style) -> String {
        match self {
            Sum(..) | Difference(..) => format!("({})", self.write(style)),
            Quotient(..) if style.brackets_fractions => format!("({})", self.write(style)),
            _ => self.write(style),
        }
    }

    /// As the base of a power: everything but a symbol needs brackets.
    fn write_base(&self, style: &Style) -> String {
        match self {
            Symbol(..) | Number(..) | Call(..) | Norm(_) => self.write(style),
            _ => format!("({})", self.write(style)),
        }
    }
}

struct Style {
    symbol: for<'a> fn(&'a str, &'a str) -> &'a str,
    times: &'static str,
    minus: &'static str,
    transpose: &'static str,
    inverse: &'static str,
    inverse_transpose: &'static str,
    previous: &'static str,
    norm: &'static str,
    root: &'static str,
    fraction: fn(&str, &str) -> String,
    brackets_fractions: bool,
    dot: fn(&str, &str) -> String,
}

const TEXT: Style = Style {
    symbol: |text, _| text,
    times: " ",
    minus: "−",
    transpose: "ᵀ",
    inverse: "⁻¹",
    inverse_transpose: "⁻ᵀ",
    previous: "⁻",
    norm: "‖",
    root: "^½",
    fraction: |a, b| format!("{a} / {b}"),
    brackets_fractions: true,
    dot: |a, b| format!("⟨{a}, {b}⟩"),
};

const LATEX: Style = Style {
    symbol: |_, latex| latex,
    times: " ",
    minus: "-",
    transpose: "^\\top",
    inverse: "^{-1}",
    inverse_transpose: "^{-\\top}",
    previous: "^{-}",
    norm: "\\|",
    root: "^{1/2}",
    fraction: |a, b| format!("\\frac{{{a}}}{{{b}}}"),
    brackets_fractions: false,
    dot: |a, b| format!("\\langle {a}, {b} \\rangle"),
};

/// The names given to random objects and factors while a program is read, with their definitions.
pub struct Names {
    /// The section being read: objects drawn in the iteration are drawn again each time.
    pub section: Section,
    /// Definitions of the names, in text and in LaTeX, in order of appearance.
    pub definitions: Vec<(String, String)>,
    factors: Vec<(Expr, Expr)>,
    diagonals: Vec<(Expr, Expr)>,
    refreshed: Vec<(Expr, Expr)>,
    parts: Vec<(Expr, Expr)>,
}

/// Formulas with more symbols than this get a name, so that the text grows linearly with the program: a value that is
/// used twice would otherwise be written twice, and one doubled twenty times a million times.
const LONGEST: usize = 60;

impl Names {
    /// No names yet.
    pub fn new() -> Names {
        Names {
            section: Section::Setup,
            definitions: vec![],
            factors: vec![],
            diagonals: vec![],
            refreshed: vec![],
            parts: vec![],
        }
    }

    /// The sketching matrix of this section.
    pub fn sketch(&mut self) -> Expr {
        let (text, latex, when) = match self.section {
            Section::Setup => ("S", "S", "drawn once"),
            Section::Iteration => ("Ωₜ", "\\Omega_t", "drawn afresh every iteration"),
        };
        self.define(
            format!("{text}: sketch with s rows, {when}"),
            format!("{latex}\\text{{: sketch with }}s\\text{{ rows, {when}}}"),
        );
        Symbol(text.into(), latex.into())
    }

    /// The row-sampling matrix of this section for these probabilities. A sample of a sample gets a prime.
    pub fn sample(&mut self, weights: &Expr) -> Expr {
        let (text, latex, when) = match self.section {
            Section::Setup => ("S₀", "S_0", "drawn once"),
            Section::Iteration => ("Sₜ", "S_t", "drawn afresh every iteration"),
        };
        let earlier = self.definitions.iter().filter(|(known, _)| known.starts_with(text)).count();
        let (text, latex) =
            (text.to_string() + &"′".repeat(earlier), latex.to_string() + &"'".repeat(earlier));
        self.define(
            format!("{text}: k rows sampled {}, {when}", weights.text()),
            format!("{latex}: k\\text{{ rows sampled }}{}\\text{{, {when}}}", weights.latex()),
        );
        Symbol(text, latex)
    }

    /// The R factor of M = QR.
    pub fn factor(&mut self, of: Expr) -> Expr {
        let (name, new) = named("R", &mut self.factors, &of);
        if new {
            let (text, latex) = (name.text(), name.latex());
            self.define(format!("{} = Q {text}", of.text()), format!("{} = Q {latex}", of.latex()));
        }
        name
    }

    /// D^½ for D = diag(v).
    pub fn diagonal(&mut self, of: Expr) -> Expr {
        let (name, new) = named("D", &mut self.diagonals, &of);
        if new {
            let (text, latex) = (name.text(), name.latex());
            let definition = format!("{latex} = \\operatorname{{diag}}({})", of.latex());
            self.define(format!("{text} = diag({})", of.text()), definition);
        }
        Root(Box::new(name))
    }

    /// u every k iterations, else v.
    pub fn refreshed(&mut self, u: Expr, v: Expr) -> Expr {
        let of = Expr::call("refresh", "\\operatorname{refresh}", vec![u.clone(), v.clone()]);
        let (name, new) = named("r", &mut self.refreshed, &of);
        if new {
            self.define(
                format!("{} = {} every k iterations, else {}", name.text(), u.text(), v.text()),
                format!(
                    "{} = {}\\text{{ every }}k\\text{{ iterations, else }}{}",
                    name.latex(),
                    u.latex(),
                    v.latex()
                ),
            );
        }
        name
    }

    /// A name for a formula that is too long: c for a number, w for a vector, M for a matrix.
    pub fn shortened(&mut self, value: Expr, ty: Type) -> Expr {
        if value.size() <= LONGEST {
            return value;
        }
        if let Some((_, name)) = self.parts.iter().find(|(known, _)| *known == value) {
            return name.clone();
        }
        let (letter, symbol): (&str, fn(String, String) -> Expr) = match ty {
            Type::Scalar => ("c", Number),
            Type::Vector(_) => ("w", Symbol),
            Type::Matrix(..) => ("M", Symbol),
            // Formulas of probabilities are always short.
            Type::Weights(_) => return value,
        };
        let number = 1 + self.parts.len();
        let index: String = number.to_string().chars().map(subscript).collect();
        let name = symbol(format!("{letter}{index}"), format!("{letter}_{{{number}}}"));
        self.define(
            format!("{} = {}", name.text(), value.text()),
            format!("{} = {}", name.latex(), value.latex()),
        );
        self.parts.push((value, name.clone()));
        name
    }

    pub(super) fn define(&mut self, text: String, latex: String) {
        if !self.definitions.iter().any(|(known, _)| *known == text) {
            self.definitions.push((text, latex));
        }
    }
}

/// The name of `of` among the `known`, and whether it is new: the letter itself, then with a prime and a number.
fn named(letter: &str, known: &mut Vec<(Expr, Expr)>, of: &Expr) -> (Expr, bool) {
    if let Some((_, name)) = known.iter().find(|(other, _)| other == of) {
        return (name.clone(), false);
    }
    let name = match known.len() {
        0 => Expr::symbol(letter),
        i => Symbol(format!("{letter}′{i}"), format!("{letter}'_{{{i}}}")),
    };
    known.push((of.clone(), name.clone()));
    (name, true)
}

/// A digit as a subscript.
fn subscript(digit: char) -> char {
    let value = digit.to_digit(10).unwrap_or(0);
    char::from_u32('₀' as u32 + value).unwrap_or(digit)
}

impl Default for Names {
    fn default() -> Names {
        Names::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_where_needed() {
        let [a, b, x] = ["A", "b", "x"].map(Expr::symbol);
        let r = Expr::difference(Expr::product([a.clone(), x]), b);
        let gradient = Expr::product([a.clone().transpose(), r]);
        assert_eq!(gradient.text(), "Aᵀ (A x − b)");
        let gram = Expr::product([a.clone(), a.transpose()]).inverse();
        assert_eq!(gram.text(), "(A Aᵀ)⁻¹");
        assert_eq!(gram.latex(), "(A A^\\top)^{-1}");
    }

    #[test]
    fn transposes_move_inwards() {
        let [a, r] = ["A", "R"].map(Expr::symbol);
        let m = Expr::product([a, r.inverse()]).transpose();
        assert_eq!(m.text(), "R⁻ᵀ Aᵀ");
    }
}
