//! Algebra finds the equalities one would write down, and only those.

mod common;

use common::{GEOMETRIES, parse};
use rayon::prelude::*;
use rl4rla::equivalence::{
    Answer, Normal, NormalisationStop, Numeric, Rule, Start, Symbolic, compare, equivalent, fingerprint,
};
use rl4rla::linalg::{
    self, Matrix, add, dot, gram, mat_vec, matmul, matmul_t, norm, outer_gram, pseudo_inverse, qr_r, scale,
    solve_upper, solve_upper_transposed, sub, t_matmul, thin_q, triangular_inverse, vec_mat,
};
use rl4rla::problem::Family;
use rl4rla::program::{CATALOGUE, Entry, Geometry, LiveOut, Program, Signature, Update};
use rl4rla::rng::Stream;

// Pairs written by hand.

struct Pair {
    signature: Signature,
    title: String,
    programs: [Program; 2],
}

/// The lines of a file that are neither empty nor comments.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// `setup / iteration` on one line, instructions separated by `;`, abbreviations written out.
fn program(line: &str) -> Program {
    let mut text = line.to_string();
    let abbreviations: Vec<(&str, &str)> = lines(include_str!("pairs/abbreviations.txt"))
        .map(|line| line.split_once(" = ").expect("a name and what it stands for"))
        .collect();
    while text.contains('$') {
        let before = text.clone();
        for (name, meaning) in &abbreviations {
            text = text.replace(&format!("${name}"), meaning);
        }
        assert_ne!(text, before, "an abbreviation nobody knows");
    }
    let (setup, iteration) = text.split_once('/').unwrap_or(("", &text));
    let text = format!("setup:\n{setup}\niteration:\n{iteration}").replace(';', "\n");
    text.parse().unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn pairs(text: &str) -> Vec<Pair> {
    let lines: Vec<&str> = lines(text).collect();
    let pair = |lines: &[&str]| {
        let (kind, title) = lines[0].split_once(": ").expect("a kind of problem and a title");
        let (geometry, update) = kind.split_once(' ').unwrap_or((kind, Update::Subtract.name()));
        let geometry = match geometry {
            "tall" => Geometry::Tall,
            "square" => Geometry::Square,
            "symmetric" => Geometry::Symmetric,
            other => panic!("`{other}` is no geometry"),
        };
        let update = Update::ALL.into_iter().find(|known| known.name() == update);
        let signature =
            Signature::new(geometry, update.unwrap_or_else(|| panic!("`{kind}`: no such update")));
        Pair { signature, title: title.into(), programs: [program(lines[1]), program(lines[2])] }
    };
    lines.chunks(3).map(pair).collect()
}

/// The pairs whose answer is not the one wanted, with the evidence.
fn wrong(pairs: &[Pair], wanted: Answer) -> Vec<String> {
    let answer = |Pair { signature, title, programs: [p, q] }: &Pair| {
        let verdict = equivalent(p, q, *signature).unwrap_or_else(|error| panic!("{title}: {error}"));
        (verdict.answer != wanted).then(|| {
            let Signature { geometry, update, .. } = signature;
            format!(
                "{geometry:?} {update:?}: {title}: {:?}, {:?}, {:?}",
                verdict.answer, verdict.symbolic, verdict.numeric
            )
        })
    };
    pairs.par_iter().filter_map(answer).collect()
}

#[test]
fn programs_that_are_one_algorithm_are_found_equivalent() {
    let pairs = pairs(include_str!("pairs/equal.txt"));
    assert!(pairs.len() >= 200);
    let wrong = wrong(&pairs, Answer::Equivalent);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), pairs.len(), wrong.join("\n"));
}

#[test]
fn programs_that_only_look_alike_are_found_different() {
    let pairs = pairs(include_str!("pairs/different.txt"));
    assert!(pairs.len() >= 185);
    let wrong = wrong(&pairs, Answer::Different);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), pairs.len(), wrong.join("\n"));
}

#[test]
fn programs_that_fail_where_the_other_runs_are_not_equivalent() {
    let pairs = pairs(include_str!("pairs/domains.txt"));
    assert!(pairs.len() >= 11);
    let wrong = wrong(&pairs, Answer::Different);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), pairs.len(), wrong.join("\n"));
    for Pair { signature, title, programs: [p, q] } in &pairs {
        let verdict = equivalent(p, q, *signature).expect("a pair that fits");
        let domain = matches!(verdict.numeric, Numeric::Domain { .. }) && !verdict.one_sided.is_empty();
        assert!(domain, "{title}: {verdict:?}");
    }
}

#[test]
fn programs_that_need_larger_samples_are_equivalent_and_that_is_told() {
    let pairs = pairs(include_str!("pairs/sizes.txt"));
    for Pair { signature, title, programs: [p, q] } in &pairs {
        let verdict = equivalent(p, q, *signature).expect("a pair that fits");
        assert_eq!(verdict.answer, Answer::Equivalent, "{title}: {verdict:?}");
        let sizes = matches!(verdict.numeric, Numeric::Sizes { .. }) && !verdict.one_sided.is_empty();
        assert!(sizes, "{title}: {verdict:?}");
    }
}

/// The R of A·Aᵀ cannot be divided by, though rounding lets it: that is no proof of anything.
#[test]
fn factors_of_singular_matrices_are_not_cancelled() {
    let gradient = "v1 = MAT_VEC_MUL(A, x)\n v1 = VEC_VEC_SUB(v1, b)\n";
    let back = "v1 = MAT_VEC_MUL(R1, v1)\n v1 = TRIANGULAR_SOLVE(R1, v1)\n v1 = VEC_MAT_MUL(v1, A)\n";
    let through = parse(&format!(
        "setup:\n R1 = MAT_MAT_TRANS_MUL(A, A)\n R1 = HHQR(R1)\niteration:\n {gradient} {back}"
    ));
    let plain = &Entry::named("ls-gd").unwrap().document.program;
    assert_ne!(equivalent(&through, plain, Geometry::Tall).unwrap().answer, Answer::Equivalent);
}

#[test]
fn fingerprints_say_the_same() {
    let same = |Pair { signature, programs, .. }: &Pair| {
        let [p, q] = programs.each_ref().map(|program| fingerprint(program, *signature, LiveOut::Finished));
        p == q
    };
    // They are taken from a generic point, where registers that hold other things are other registers.
    let agree = |Pair { signature, programs, .. }: &Pair| {
        let [p, q] = programs;
        // What setup writes to x is part of them.
        let start = |program: &Program| Normal::of(program, *signature).unwrap().start;
        start(p) == start(q) && compare(p, q, *signature, Start::Anywhere).numeric == Numeric::Agree
    };
    for file in [include_str!("pairs/equal.txt"), include_str!("pairs/different.txt")] {
        for pair in pairs(file) {
            assert_eq!(same(&pair), agree(&pair), "{}", pair.title);
        }
    }
}

/// The method that a program of the catalogue is a form of.
fn method(name: &str) -> &str {
    let sketched = "sketched-precond-gd";
    match name {
        // R by another factorisation, and R⁻¹R⁻ᵀ by two solves instead of a product.
        "gram-refinement" | "sketched-gram-refinement" | "qr-refinement" => "precond-gd",
        _ if name.starts_with(sketched) => sketched,
        _ => name.trim_end_matches("-recurred"),
    }
}

#[test]
fn every_catalogue_program_is_itself_and_no_other() {
    for geometry in GEOMETRIES {
        let form = |entry: &rl4rla::program::Entry| Normal::of(&entry.document.program, geometry).ok();
        let forms: Vec<(&str, Normal)> = CATALOGUE.iter().filter_map(|e| Some((e.name, form(e)?))).collect();
        for (name, p) in &forms {
            for (other, q) in &forms {
                assert_eq!(p.equals(q), method(name) == method(other), "{geometry:?}: {name} and {other}");
            }
        }
    }
}

// Rules.

fn normal(rows: usize, cols: usize, label: &str) -> Matrix {
    let entries = Stream::new(7).derive(label, 0).normals(rows * cols);
    Matrix::from_fn(rows, cols, |i, j| entries[i * cols + j])
}

fn column(v: Vec<f64>) -> Matrix {
    Matrix::from_fn(v.len(), 1, |i, _| v[i])
}

fn pinv(m: &Matrix) -> Matrix {
    pseudo_inverse(m).expect("finite")
}

fn inv(m: &Matrix) -> Matrix {
    linalg::inverse(m).expect("finite")
}

/// Both sides of a rule on random matrices: tall M, square P and Q, singular N, wide U, upper triangular R.
fn sides(rule: Rule) -> Vec<(Matrix, Matrix)> {
    let (m, p, q) = (normal(9, 4, "M"), normal(4, 4, "P"), normal(4, 4, "Q"));
    let singular = matmul(&normal(6, 3, "N"), &normal(3, 6, "N'"));
    let u = normal(3, 7, "U");
    let deficient = gram(&u);
    let (r, n) = (qr_r(&m), gram(&m));
    let r_inverse = triangular_inverse(&r).expect("a factor of full rank");
    let (x, y) = (normal(4, 1, "x").column(0).to_vec(), normal(4, 1, "y").column(0).to_vec());
    match rule {
        Rule::TransposeOfProduct => {
            vec![(matmul(&m, &p).transpose(), matmul(&p.transpose(), &m.transpose()))]
        }
        Rule::TransposeOfInverse => vec![
            (pinv(&singular).transpose(), pinv(&singular.transpose())),
            (inv(&p).transpose(), inv(&p.transpose())),
        ],
        Rule::Normalize => {
            let unit = |v: &[f64]| column(linalg::scale(linalg::norm(v).recip(), v));
            vec![(unit(&linalg::scale(3.7, &x)), unit(&x))]
        }
        Rule::Refresh => {
            // r ← r − ηAv after x ← x − ηv gives Ax − b again.
            let (b, eta) = (normal(9, 1, "b").column(0).to_vec(), 0.3);
            let residual = |x: &[f64]| sub(&mat_vec(&m, x), &b);
            let recurred = sub(&residual(&x), &linalg::scale(eta, &mat_vec(&m, &y)));
            vec![(column(recurred), column(residual(&sub(&x, &linalg::scale(eta, &y)))))]
        }
        Rule::NormSquared => vec![(column(vec![norm(&x).powi(2)]), column(vec![dot(&x, &x)]))],
        Rule::Diagonal => {
            let roots: Vec<f64> = x.iter().map(|v| v.abs().sqrt()).collect();
            let d = linalg::scale_rows(&roots, &Matrix::identity(4));
            vec![(d.transpose(), d)]
        }
        Rule::Symmetric => {
            let family = Family { rows: 5, cols: 5, ..Family::named("psd").expect("a family") };
            let a = family.draw(&Stream::new(1)).expect("an instance").A;
            vec![(a.transpose(), (*a).clone())]
        }
        Rule::InverseOfProduct => vec![(inv(&matmul(&p, &q)), matmul(&inv(&q), &inv(&p)))],
        Rule::InverseOfFullRank => {
            let wide = normal(4, 9, "W");
            let left = matmul(&inv(&n), &m.transpose());
            vec![
                (pinv(&m), left.clone()),
                (pinv(&matmul(&m, &wide)), matmul(&pinv(&wide), &left)),
                (pinv(&matmul(&matmul(&m, &p), &wide)), matmul(&matmul(&pinv(&wide), &inv(&p)), &left)),
            ]
        }
        Rule::InverseOfInverse => vec![(pinv(&pinv(&singular)), singular), (inv(&inv(&p)), p)],
        Rule::Cancel => vec![
            (matmul(&p, &inv(&p)), Matrix::identity(4)),
            (matmul(&inv(&n), &n), Matrix::identity(4)),
            (matmul(&r_inverse, &r), Matrix::identity(4)),
        ],
        Rule::Penrose => {
            let plus = pinv(&singular);
            let (outer, outer_plus) = (outer_gram(&u.transpose()), pinv(&deficient));
            vec![
                (matmul(&matmul(&singular, &plus), &singular), singular.clone()),
                (matmul(&matmul(&plus, &singular), &plus), plus.clone()),
                (matmul(&matmul(&outer_plus, &outer), &u.transpose()), u.transpose()),
                (matmul(&matmul(&outer_plus, &outer_plus), &outer), outer_plus.clone()),
            ]
        }
        Rule::PushThrough => {
            let twice = Matrix::from_fn(5, 7, |i, j| u.get(i % 3, j));
            [u, m, twice].map(|u| (matmul(&u, &pinv(&gram(&u))), matmul(&pinv(&outer_gram(&u)), &u))).into()
        }
        Rule::FactorOfGram => {
            let rotated = matmul(&thin_q(&normal(9, 9, "O")), &m);
            let wide_rotated = matmul(&thin_q(&normal(3, 3, "O")), &u);
            vec![(qr_r(&rotated), r.clone()), (qr_r(&r), r), (qr_r(&wide_rotated), qr_r(&u))]
        }
        Rule::FactorOfProduct => {
            let t = qr_r(&q);
            vec![(qr_r(&matmul(&m, &t)), matmul(&r, &t)), (qr_r(&inv(&t)), inv(&t))]
        }
        Rule::FactorSquared => vec![(gram(&r), n), (gram(&qr_r(&u)), deficient)],
        Rule::FactorInverted => vec![
            (outer_gram(&r_inverse), inv(&n)),
            (
                column(
                    solve_upper(&r, &solve_upper_transposed(&r, &x).expect("a solution"))
                        .expect("a solution"),
                ),
                column(mat_vec(&inv(&n), &x)),
            ),
        ],
        Rule::FactorAgainstGram => {
            let half = qr_r(&p);
            let half_inverse = inv(&half);
            vec![
                (matmul(&r, &inv(&n)), r_inverse.transpose()),
                (t_matmul(&r_inverse, &n), r.clone()),
                (matmul(&n, &r_inverse), r.transpose()),
                (matmul_t(&inv(&n), &r), r_inverse),
                (matmul_t(&half_inverse.transpose(), &p), matmul(&half, &inv(&p))),
                (matmul(&p, &half_inverse), matmul(&inv(&p).transpose(), &half.transpose())),
            ]
        }
        Rule::Distribute => {
            vec![(column(mat_vec(&m, &add(&x, &y))), column(add(&mat_vec(&m, &x), &mat_vec(&m, &y))))]
        }
        Rule::Collect => vec![
            (column(add(&x, &y)), column(add(&y, &x))),
            (column(add(&scale(0.3, &x), &scale(0.4, &x))), column(scale(0.7, &x))),
            (column(scale(0.3, &scale(0.4, &x))), column(scale(0.12, &x))),
            (column(sub(&x, &x)), Matrix::zeros(4, 1)),
        ],
        Rule::DotSymmetric => {
            vec![(column(vec![dot(&x, &mat_vec(&p, &y))]), column(vec![dot(&y, &vec_mat(&x, &p))]))]
        }
        Rule::Previous => {
            // x is the iterate before plus d.
            let before = sub(&x, &y);
            let value = |x: &[f64]| add(&mat_vec(&m, x), &mat_vec(&m, &scale(0.3, &y)));
            vec![(column(value(&before)), column(sub(&value(&x), &mat_vec(&m, &y))))]
        }
        Rule::Quotient => {
            let (a, b, c) = (dot(&x, &y), dot(&x, &x), dot(&y, &y));
            vec![(column(vec![(a * c) / (b * c)]), column(vec![a / b]))]
        }
    }
}

#[test]
fn every_rule_holds_on_random_matrices() {
    for rule in Rule::ALL {
        for (i, (left, right)) in sides(rule).into_iter().enumerate() {
            assert_eq!((left.rows(), left.cols()), (right.rows(), right.cols()), "{rule:?}, case {i}");
            let size = |m: &Matrix| (0..m.cols()).map(|j| norm(m.column(j))).fold(1.0, f64::max);
            let apart = Matrix::from_fn(left.rows(), left.cols(), |i, j| left.get(i, j) - right.get(i, j));
            let largest = (0..apart.cols()).map(|j| norm(apart.column(j))).fold(0.0, f64::max);
            assert!(largest < 1e-10 * size(&left), "{rule:?}, case {i}: {largest:e}");
        }
        assert!(!rule.formula().is_empty());
    }
}

#[test]
fn every_rule_is_used_by_some_pair() {
    let mut used = std::collections::BTreeSet::new();
    for Pair { signature, programs, .. } in pairs(include_str!("pairs/equal.txt")) {
        for program in programs {
            used.extend(Normal::of(&program, signature).expect("a pair that fits").rules);
        }
    }
    let idle: Vec<Rule> = Rule::ALL.into_iter().filter(|rule| !used.contains(rule)).collect();
    assert!(idle.is_empty(), "{idle:?}");
}

// Bounds on the work.

/// An instruction list repeated.
fn repeated(before: &str, times: usize, lines: &str, after: &str) -> Program {
    program(&format!("{before}{}{after}", format!("{lines}; ").repeat(times)))
}

#[test]
fn huge_programs_stop_with_a_reason() {
    let huge = [
        ("doubling", repeated("$gradient; ", 400, "v1 = VEC_VEC_ADD(v1, v1)", "")),
        (
            "products",
            repeated(
                "$gram; R2 = SKETCH(A); R2 = MAT_TRANS_MAT_MUL(R2, R2); R1 = MAT_MAT_MUL(R1, R2); ",
                400,
                "R1 = MAT_MAT_MUL(R1, R1)",
                "/ $gradient; $apply",
            ),
        ),
        (
            "a long product",
            repeated(
                "$gram; R2 = SKETCH(A); R2 = MAT_TRANS_MAT_MUL(R2, R2); ",
                400,
                "R1 = MAT_MAT_MUL(R1, R2)",
                "/ $gradient; $apply",
            ),
        ),
        (
            "factors of factors",
            repeated(
                "R1 = HHQR(A); ",
                60,
                "R2 = MAT_MAT_TRANS_MUL(A, R1); R1 = HHQR(R2)",
                "/ $gradient; $apply",
            ),
        ),
        (
            "inverses of inverses",
            repeated(
                "$sample; $gram; ",
                12_000,
                "R1 = MAT_INV(R1); R2 = MAT_TRANS_MAT_MUL(A, A); R1 = MAT_MAT_MUL(R1, R2)",
                "/ $gradient; $apply",
            ),
        ),
        (
            "powers of a norm",
            repeated(
                "$gradient; ",
                100,
                "v2 = VEC_MAT_MUL(b, A); v1 = VEC_VEC_ADD(v1, v2); a1 = VEC_VEC_DOT(v1, v1); v1 = SCALAR_VEC_MUL(a1, v1)",
                "",
            ),
        ),
        (
            "sums of sums",
            repeated(
                "$gradient; v3 = VEC_MAT_MUL(b, A); ",
                100,
                "v2 = MAT_VEC_MUL(A, v1); v2 = VEC_MAT_MUL(v2, A); v3 = VEC_VEC_ADD(v2, v3); v1 = VEC_VEC_ADD(v3, v1); a1 = VEC_VEC_DOT(v1, v3); a1 = SCALAR_DIV(eta, a1); v1 = SCALAR_VEC_MUL(a1, v1)",
                "",
            ),
        ),
        (
            "a division by zero",
            program(
                "$gradient; v2 = VEC_VEC_SUB(v1, v1); a1 = VEC_VEC_DOT(v2, v1); a1 = SCALAR_DIV(eta, a1); v1 = SCALAR_VEC_MUL(a1, v1)",
            ),
        ),
    ];
    for (title, program) in &huge {
        let form = Normal::of(program, Geometry::Tall).unwrap_or_else(|error| panic!("{title}: {error}"));
        assert!(form.stop.is_some(), "{title} was normalised");
        assert!(!form.equals(&form), "{title}: a form that is not complete equals nothing");
    }
    let verdict = equivalent(&huge[0].1, &huge[0].1, Geometry::Tall).unwrap();
    assert_eq!(
        (verdict.answer, verdict.symbolic),
        (Answer::Undecided, Symbolic::Stopped(NormalisationStop::Overflow))
    );
}
