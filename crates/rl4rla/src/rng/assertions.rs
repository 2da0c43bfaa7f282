//! Statistical assertions at significance 1e-6, for tests with fixed seeds.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Kolmogorov-Smirnov: √N·D exceeds √(ln(2/α)/2) with probability α.
pub fn assert_law(mut draws: Vec<f64>, cdf: impl Fn(f64) -> f64) {
    draws.sort_by(f64::total_cmp);
    let n = draws.len() as f64;
    let gap = |(i, &x): (usize, &f64)| {
        let p = cdf(x);
        (p - i as f64 / n).abs().max((p - (i + 1) as f64 / n).abs())
    };
    let distance = draws.iter().enumerate().map(gap).fold(0.0, f64::max);
    let critical = (2e6_f64.ln() / 2.0).sqrt();
    assert!(distance * n.sqrt() < critical, "√N·D = {} > {critical}", distance * n.sqrt());
}

/// Pearson's test of counts against probabilities; outcomes of probability zero must not occur.
pub fn assert_counts(counts: &[usize], probabilities: &[f64]) {
    let n = counts.iter().sum::<usize>() as f64;
    let mut statistic = 0.0;
    let mut possible = 0;
    for (&count, p) in counts.iter().zip(probabilities) {
        if *p == 0.0 {
            assert_eq!(count, 0, "an impossible outcome occurred");
        } else {
            statistic += (count as f64 - n * p).powi(2) / (n * p);
            possible += 1;
        }
    }
    let p_value = ChiSquared::new((possible - 1) as f64).unwrap().sf(statistic);
    assert!(p_value > 1e-6, "chi-square {statistic}, p-value {p_value}");
}

/// |r|·√N of independent samples is about |N(0,1)|, which exceeds 4.9 with probability 1e-6.
pub fn assert_uncorrelated(x: &[f64], y: &[f64]) {
    let n = x.len() as f64;
    let mean = |v: &[f64]| v.iter().sum::<f64>() / n;
    let (mx, my) = (mean(x), mean(y));
    let dot = |u: &[f64], mu: f64, v: &[f64], mv: f64| -> f64 {
        u.iter().zip(v).map(|(a, b)| (a - mu) * (b - mv)).sum()
    };
    let r = dot(x, mx, y, my) / (dot(x, mx, x, mx) * dot(y, my, y, my)).sqrt();
    assert!(r.abs() * n.sqrt() < 4.9, "correlation {r}");
}
