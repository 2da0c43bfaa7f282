//! Discovers gradient descent from the empty program: `cargo run --release --example discover`.

use rl4rla::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let family = Family { rows: 200, cols: 5, ..Family::named("low-cond").ok_or("no such family")? };
    let stage = StageBuilder::new("gradient").edits(3).family(&family).open(["iteration"]).target("ls-gd");
    let curriculum = Curriculum::builder("mine").stage(stage).build()?;
    let found = discover(&curriculum, &Approach::new(Method::Best), 0, &mut Context::default())?;
    let program = found.stages[0].program().ok_or("no program works")?;
    println!("{program}{}", equation(program, family.signature())?.text);
    Ok(())
}
