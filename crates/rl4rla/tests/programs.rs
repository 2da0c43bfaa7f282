//! Properties of programs: text, canonical form, price, equation, and the edits of the grammar.

mod common;

use common::*;
use proptest::prelude::*;
use rl4rla::program::*;

/// Any program at all: operators with any registers in any number, well typed only by accident.
fn any_program() -> impl Strategy<Value = Program> {
    let register = || (0..Reg::COUNT).prop_map(|i| Reg::all().nth(i).unwrap());
    let op = (0..OPERATORS.len()).prop_map(|i| Op(&OPERATORS[i]));
    let operands = prop::collection::vec(register(), 0..4);
    let instruction = (prop::option::of(register()), op, operands)
        .prop_map(|(target, op, operands)| Instruction { target, op, operands: operands.into() });
    let section = prop::collection::vec(instruction, 0..8);
    (section.clone(), section).prop_map(|(setup, iteration)| Program { setup, iteration })
}

/// Programs whose every instruction fits, and how to go on choosing at random.
fn well_shaped_program() -> impl Strategy<Value = (Program, Geometry, u64)> {
    (any::<u64>(), 1..9_usize).prop_map(|(seed, length)| {
        let mut dice = Dice::new(seed);
        let geometry = *dice.pick(&GEOMETRIES);
        (well_shaped(&mut dice, geometry, length), geometry, seed ^ 1)
    })
}

/// The same program in an untidy hand.
fn untidy(dice: &mut Dice, program: &Program) -> String {
    let mut text = String::from("# v1 = HHQR(A)\n title :  any # text: setup:  \n\nfamily:psd\n");
    for line in program.to_string().lines() {
        text += *dice.pick(&["", "  ", "\t", "\n", " # setup:\n"]);
        for c in line.trim().chars() {
            if "=(),:".contains(c) {
                text += *dice.pick(&["", " ", " \t"]);
            }
            text.push(c);
            if "=(),:".contains(c) {
                text += *dice.pick(&["", " ", "\u{a0}"]);
            }
        }
        text += *dice.pick(&["\n", "  \r\n", "# A, b = )\n", " ## ü\n\n"]);
    }
    text
}

/// An error must point into the text, or just behind the end of a line.
fn assert_points_inside(text: &str, error: &ParseError) {
    let line = text.lines().nth(error.line.wrapping_sub(1)).unwrap_or("");
    assert!(error.line >= 1 && error.line <= text.lines().count().max(1), "{error}\n{text}");
    assert!(error.column >= 1 && error.column <= line.chars().count() + 1, "{error}\n{text}");
    assert!(!error.message.is_empty());
}

fn assert_canonical(program: &Program, seed: u64, geometry: Geometry) {
    for out in [LiveOut::Finished, LiveOut::PARTIAL, LiveOut::Keeping(regs("R1 p1"))] {
        let canonical = Canonical::new(program, out);
        let again = Canonical::new(canonical.program(), out);
        assert_eq!(again, canonical, "not idempotent for {out:?}:\n{program}");
        let mut dice = Dice::new(seed);
        let same = shuffled(&mut dice, program);
        let same = with_dead_code(&mut dice, &same, geometry);
        let same = shuffled(&mut dice, &same);
        let other = Canonical::new(&same, out);
        assert_eq!(other, canonical, "{out:?}:\n{program}\nagainst\n{same}");
        assert_eq!(other.id(), canonical.id());
    }
}

fn assert_balanced(text: &str) {
    let mut open = Vec::new();
    for c in text.chars() {
        match c {
            '(' | '{' => open.push(c),
            ')' => assert_eq!(open.pop(), Some('('), "{text}"),
            '}' => assert_eq!(open.pop(), Some('{'), "{text}"),
            _ => {}
        }
    }
    assert!(open.is_empty(), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printing_and_parsing_are_inverse(program in any_program(), seed: u64) {
        let text = program.to_string();
        prop_assert_eq!(&parse(&text), &program);
        prop_assert_eq!(parse(&text).to_string(), text);
        let document: Document = untidy(&mut Dice::new(seed), &program).parse().unwrap();
        prop_assert_eq!(document.program, program);
        prop_assert_eq!(document.title, "any # text: setup:");
        prop_assert_eq!(document.family, "psd");
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "(?s).{0,200}", tokens in prop::collection::vec(
        prop::sample::select(vec!["setup:", "iteration:", "title:", "v1", "A", ",", "b", "=", "(", ")", "HHQR", "\n", "#", "é", "\r"]), 0..40,
    )) {
        for text in [text, tokens.concat(), tokens.join(" ")] {
            if let Err(error) = text.parse::<Document>() {
                assert_points_inside(&text, &error);
            }
        }
    }

    #[test]
    fn no_damaged_program_makes_the_parser_panic(program in any_program(), flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 1..4)) {
        let mut bytes = format!("title: Ω\n{program}").into_bytes();
        for (at, bit) in flips {
            *at.get_mut(&mut bytes) ^= 1 << bit;
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Err(error) = text.parse::<Document>() {
            assert_points_inside(&text, &error);
        }
    }

    #[test]
    fn ill_typed_programs_have_a_canonical_form_too(program in any_program(), seed: u64) {
        assert_canonical(&program, seed, Geometry::Tall);
        for geometry in GEOMETRIES {
            // Typing and pricing refuse or accept; they do not panic.
            let live = Canonical::new(&program, LiveOut::Finished);
            prop_assert_eq!(check(live.program(), geometry).is_ok(), ProgramCost::of(&live, geometry, Model::True).is_ok());
            prop_assert_eq!(check(live.program(), geometry).is_ok(), equation(&program, geometry).is_ok());
        }
    }

    #[test]
    fn the_canonical_form_ignores_order_and_dead_code((program, geometry, seed) in well_shaped_program()) {
        assert_canonical(&program, seed, geometry);
        let live = Canonical::new(&program, LiveOut::Finished);
        prop_assert!(check(live.program(), geometry).is_ok(), "{live:?}");
        prop_assert!(live.program().len() <= Canonical::new(&program, LiveOut::PARTIAL).program().len());
    }

    #[test]
    fn nothing_costs_less_than_nothing_and_dead_code_costs_nothing((program, geometry, seed) in well_shaped_program()) {
        let live = Canonical::new(&program, LiveOut::Finished);
        let untidy = with_dead_code(&mut Dice::new(seed), &program, geometry);
        for model in [Model::True, Model::Released] {
            let price = ProgramCost::of(&live, geometry, model).unwrap();
            prop_assert_eq!(&price, &ProgramCost::of(&Canonical::new(&untidy, LiveOut::Finished), geometry, model).unwrap());
            let (rows, cols) = (1000.0, if geometry == Geometry::Tall { 10.0 } else { 1000.0 });
            let sizes = Sizes { rows, cols, sketch: rows.min(8.0 * cols), batch: 3.0, sketch_work: 16.0, every: 10.0 };
            for instruction in check(&program, geometry).unwrap() {
                let cost = Cost::of(&instruction, geometry, model);
                let (flops, data) = (cost.flops.eval(&sizes), cost.data.eval(&sizes));
                prop_assert!(flops >= 0.0 && data >= 0.0, "{}: {flops} flops", instruction.instruction);
            }
            prop_assert!(price.flops(&sizes, 10) >= 20.0 * cols);
        }
    }

    #[test]
    fn equations_balance_their_brackets((program, geometry, _) in well_shaped_program()) {
        let equation = equation(&program, geometry).unwrap();
        assert_balanced(&equation.text);
        assert_balanced(&equation.latex);
        prop_assert!(equation.text.starts_with("xₜ₊₁ = xₜ − η "));
    }
}

#[test]
fn a_product_keeps_its_brackets_when_its_inverse_is_transposed() {
    let program = parse(
        "setup:\n R1 = MAT_TRANS_MAT_MUL(A, A)\n R1 = MAT_INV(R1)\niteration:\n v1 = VEC_MAT_MUL(x, R1)\n",
    );
    assert_eq!(equation(&program, Geometry::Tall).unwrap().text, "xₜ₊₁ = xₜ − η (Aᵀ A)⁻ᵀ xₜ");
}

#[test]
fn factoring_a_wide_matrix_has_its_price() {
    let wide = "setup:\n R1 = HHQR(A)\n R1 = MAT_MAT_TRANS_MUL(R1, A)\n R1 = HHQR(R1)\n";
    let live = format!("{wide}iteration:\n v1 = MAT_VEC_MUL(R1, b)\n v1 = VEC_MAT_MUL(v1, A)\n");
    let live = Canonical::new(&parse(&live), LiveOut::Finished);
    let price = ProgramCost::of(&live, Geometry::Tall, Model::True).unwrap();
    let sizes = Sizes { rows: 1000.0, cols: 10.0, sketch: 80.0, batch: 10.0, sketch_work: 16.0, every: 10.0 };
    assert!(price.flops(&sizes, 10) > 0.0, "{}", price.setup.flops);
}

#[test]
fn columns_count_characters_and_not_bytes() {
    let error = "iteration:\n\u{a0}\u{a0}\u{a0}v1 = HHQT(A)".parse::<Program>().unwrap_err();
    assert_eq!((error.line, error.column), (2, 9));
}

#[test]
fn a_missing_name_is_not_mistaken_for_a_short_one() {
    let error = "iteration:\n v1 = HHQR(A, )".parse::<Program>().unwrap_err();
    assert!(!error.message.contains("did you mean"), "{error}");
}
