//! Discovers an algorithm for a kind of problem, then solves one with it.

use rl4rla::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let family = Family { rows: 400, cols: 8, ..Family::named("low-cond").ok_or("no such family")? };
    let stage = StageBuilder::new("gradient").edits(3).family(&family).open(["iteration"]).target("ls-gd");
    let curriculum = Curriculum::builder("embedded").stage(stage).build()?;
    let found = discover(&curriculum, &Approach::new(Method::Best), 0, &mut Context::default())?;
    let program = found.stages[0].program().ok_or("no program works")?;
    println!("{}", equation(program, family.signature())?.text);

    let (m, n) = (1000, 3);
    let numbers = Stream::new(1).normals(m * n + m);
    let (rows, b) = numbers.split_at(m * n);
    let document: Document = program.to_string().parse()?;
    let x = solve(&document, Problem::from_rows(m, n, rows, b)?, &SolveOptions::default())?.into_x()?;
    println!("x = {x:?}");
    Ok(())
}
