//! rl4rla
fn main(){}
