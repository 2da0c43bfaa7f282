//! Operators that are Python functions.

use super::{in_python, lasting, vector};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rl4rla::linalg::NumericError;
use rl4rla::program::{Arg, Compute, Datum, Expr, Form, Names, Op, Operator, Pattern, Size};
use std::sync::{Mutex, PoisonError};

/// A registered function.
struct Function {
    name: &'static str,
    call: Py<PyAny>,
    /// Whether the result is a number.
    scalar: bool,
}

static FUNCTIONS: Mutex<Vec<Function>> = Mutex::new(Vec::new());

/// An operator's row has plain functions without state, so there is one for every place in the list.
const PLACES: usize = 32;

type Row = (fn(&[&Datum]) -> Result<Datum, NumericError>, fn(&[Arg], Vec<Expr>, &mut Names) -> Expr);

macro_rules! rows {
    ($($place:literal)*) => { [$((compute::<$place>, formula::<$place>)),*] };
}

static ROWS: [Row; PLACES] =
    rows!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);

fn formula<const PLACE: usize>(_: &[Arg], operands: Vec<Expr>, _: &mut Names) -> Expr {
    let name = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner)[PLACE].name;
    Expr::call(name, name, operands)
}

fn compute<const PLACE: usize>(values: &[&Datum]) -> Result<Datum, NumericError> {
    let found = in_python(|py| {
        let (call, name, scalar) = {
            let functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
            let function = &functions[PLACE];
            (function.call.clone_ref(py), function.name, function.scalar)
        };
        let argument = |value: &&Datum| match value {
            Datum::Scalar(number) => Ok(number.into_pyobject(py)?.into_any()),
            other => Ok(PyArray1::from_slice(py, other.vector()).into_any()),
        };
        let arguments: Vec<Bound<'_, PyAny>> = values.iter().map(argument).collect::<PyResult<_>>()?;
        let result = call.bind(py).call1(PyTuple::new(py, arguments)?)?;
        let lengths = values.iter().filter(|value| matches!(value, Datum::Vector(_)));
        let length = if scalar { 1 } else { lengths.map(|value| value.shape().0).max().unwrap_or(1) };
        let numbers = vector(&result, length, name)?;
        Ok(if scalar { Datum::Scalar(numbers[0]) } else { Datum::from(numbers) })
    });
    found.ok_or(NumericError::NotFinite)
}

/// Registers a function of numbers and of vectors of one length as an operator.
#[pyfunction]
pub fn register_operator(
    name: String,
    function: Py<PyAny>,
    operands: Vec<String>,
    result: String,
    doc: String,
) -> PyResult<()> {
    let fits = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_uppercase()) || !name.chars().all(fits) {
        let message = format!("the name of an operator should be like VEC_SIGN, got {name:?}");
        return Err(PyValueError::new_err(message));
    }
    let pattern = |kind: &String| match kind.as_str() {
        "vector" => Ok(Pattern::Vector(Size::A)),
        "scalar" => Ok(Pattern::Scalar),
        other => Err(PyValueError::new_err(format!("operands are \"vector\" or \"scalar\", got {other:?}"))),
    };
    let patterns: Vec<Pattern> = operands.iter().map(pattern).collect::<PyResult<_>>()?;
    if !(1..=4).contains(&patterns.len()) {
        return Err(PyValueError::new_err("an operator takes one to four operands"));
    }
    let result = pattern(&result)?;
    if matches!(result, Pattern::Vector(_)) && !patterns.contains(&result) {
        return Err(PyValueError::new_err("a vector comes from at least one vector"));
    }
    if Op::named(&name).is_some() {
        return Err(PyValueError::new_err(format!("the operator `{name}` is taken")));
    }
    let name = lasting(name);
    let mut functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((compute, formula)) = ROWS.get(functions.len()) else {
        return Err(PyValueError::new_err(format!("there is room for {PLACES} operators only")));
    };
    let form = Form { operands: Box::leak(patterns.into_boxed_slice()), result };
    let row = Operator {
        name,
        doc: lasting(doc),
        forms: Box::leak(Box::new([form])),
        formula: *formula,
        compute: Compute::Pure(*compute),
        ..Operator::PLAIN
    };
    functions.push(Function { name, call: function, scalar: result == Pattern::Scalar });
    drop(functions);
    let taken = |_| PyValueError::new_err(format!("the operator `{name}` is taken"));
    Op::register(Box::leak(Box::new(row))).map(|_| ()).map_err(taken)
}
