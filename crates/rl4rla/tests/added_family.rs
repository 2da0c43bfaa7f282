//! A family that is added to a task of the library; in a process of its own, as it stays.

use rl4rla::problem::{Family, FamilyError, FamilyInfo, Instance, Number, Task, register_family, tasks};
use rl4rla::rng::Stream;

fn draw(family: &Family, stream: &Stream) -> Result<Instance, FamilyError> {
    let known = Family::named("low-cond").expect("it is in the library");
    known.sized(Some(family.rows), Some(family.cols)).draw(stream)
}

fn row(name: &'static str, task: &'static dyn Task, numbers: &'static [Number]) -> &'static FamilyInfo {
    let row = FamilyInfo {
        name,
        doc: "of a test",
        task,
        rows: 20,
        cols: 3,
        square: false,
        options: &[],
        numbers,
        draw,
    };
    Box::leak(Box::new(row))
}

#[test]
fn a_family_is_added_once() {
    let linear = tasks().find(|task| task.name() == "linear").expect("it is in the library");
    register_family(row("of-mine", linear, &[])).unwrap();
    let family = Family::named("of-mine").unwrap();
    assert_eq!(family.kind.info().task.name(), "linear");
    assert_eq!(family.draw(&Stream::new(3)).unwrap().rows(), 20);
    static FOUR: [Number; 4] = [Number { name: "a", doc: "", default: 0.0, least: 0.0, most: 1.0 }; 4];
    let refused: [(&str, &'static [Number]); 3] =
        [("of-mine", &[]), ("mid-cond", &[]), ("of-mine-too", &FOUR)];
    for (name, numbers) in refused {
        let error = register_family(row(name, linear, numbers)).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}
