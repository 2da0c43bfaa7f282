//! Programs: what an algorithm is made of, how it is written, typed, tidied, priced and edited.

mod ast;
mod canon;
mod catalogue;
mod cost;
mod equation;
mod expr;
mod grammar;
mod liveness;
mod op;
mod poly;
mod register;
mod repair;
mod rules;
mod text;
mod types;
mod typing;

pub use ast::{Instruction, Program, Section};
pub use canon::Canonical;
pub use catalogue::{CATALOGUE, Entry};
pub use cost::{Cost, Model, Price};
pub use equation::{Equation, equation};
pub use expr::{Expr, Names};
pub use grammar::{Grammar, Insertion, Part};
pub use liveness::LiveOut;
pub use op::{Arg, Form, OPERATORS, Op, Operator, Sections};
pub use poly::{Poly, Sizes};
pub use register::{Access, Kind, Reg, RegSet};
pub use text::{Document, MAX_BYTES, ParseError, edits, nearest};
pub use types::{Dim, Geometry, Pattern, Size, Structure, Type};
pub use typing::{Cause, Env, ShapeError, Slot, Typed, Value, check};
