use super::*;

fn drawn(name: &str) -> Instance {
    let family = Family { rows: 60, cols: 20, ..Family::named(name).unwrap() };
    family.with_number("rank", 4.0).unwrap().draw(&Stream::new(7)).unwrap()
}

/// The leading right singular vectors of a matrix, by rows.
fn leading(A: &Matrix, count: usize) -> Vec<f64> {
    let V = linalg::svd_of_square(&linalg::qr_r(A)).unwrap().V;
    (0..count).flat_map(|j| V.column(j).to_vec()).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-10 * b.abs().max(1.0)
}

#[test]
fn the_truncated_decomposition_is_best_and_more_rows_are_no_better() {
    for name in ["low-rank", "low-rank-fast"] {
        let instance = drawn(name);
        let sigma = linalg::singular_values(&instance.A).unwrap();
        for (found, put_in) in sigma.iter().zip(instance.spectrum()) {
            assert!(close(*found, *put_in), "{name}");
        }
        for count in [4, 5, 11, 20] {
            let (loss, excess) = instance.measure(&leading(&instance.A, count));
            assert!(close(loss, sigma[4] / sigma[0]) && excess < 1e-9, "{name} {count}: {loss} {excess}");
        }
        for count in 0..4 {
            let (_, excess) = instance.measure(&leading(&instance.A, count));
            assert!(close(excess, sigma[count] / sigma[4] - 1.0), "{name} {count}: {excess}");
        }
        assert!(instance.measure(&instance.x_star).1 < 1e-9);
    }
}

/// ‖A − (AQᵀ)ₖQ‖ with the truncation of A·Qᵀ computed in full.
#[test]
fn what_counts_is_the_best_approximation_in_the_subspace() {
    let instance = drawn("low-rank");
    let Q = linalg::orthonormal_rows(&Matrix::from_row_major(7, 20, Stream::new(3).normals(140)));
    let B = linalg::matmul(&linalg::matmul_t(&instance.A, &Q), &Q);
    let svd = linalg::svd_of_square(&linalg::qr_r(&B)).unwrap();
    let V = Matrix::from_fn(20, 4, |i, j| svd.V.get(i, j));
    let part = linalg::matmul_t(&linalg::matmul(&B, &V), &V);
    let rest = Matrix::from_fn(60, 20, |i, j| instance.A.get(i, j) - part.get(i, j));
    let expected = linalg::singular_values(&rest).unwrap()[0] / instance.spectrum()[4] - 1.0;
    let (_, excess) = instance.measure(Q.row_major());
    assert!(excess > 0.01 && close(excess, expected), "{excess} {expected}");
    // Rows of zeros, as a basis of lower rank has them, change nothing.
    let mut padded = Q.row_major().to_vec();
    padded.splice(40..40, [0.0; 20]);
    assert!(close(instance.measure(&padded).1, excess));
}

#[test]
fn what_is_no_orthonormal_basis_is_worth_nothing() {
    let instance = drawn("low-rank");
    let nothing = instance.measure(&[]);
    assert!(close(nothing.0, 1.0) && nothing.1 > 0.4);
    let good = instance.x_star.clone();
    for bad in [
        linalg::scale(2.0, &good),
        good[..25].to_vec(),
        [&good[..], &good[..20]].concat(),
        vec![f64::NAN; 20],
        vec![0.0; 40],
    ] {
        assert_eq!(instance.measure(&bad), nothing);
    }
}

#[test]
fn data_of_the_user_are_posed() {
    let drawn = drawn("low-rank");
    let posed = LowRank.pose((*drawn.A).clone(), vec![]).unwrap();
    assert_eq!(posed.x_star.len(), 200, "rank 10");
    assert!(posed.measure(&posed.x_star).1 < 1e-9);
    let narrow = LowRank.pose(Matrix::from_rows(&[&[3.0], &[4.0]]), vec![]).unwrap();
    assert_eq!(narrow.measure(&[1.0]).1, 0.0);
    let zero = LowRank.pose(Matrix::zeros(5, 3), vec![]).unwrap();
    assert_eq!(zero.measure(&[]), (0.0, 0.0));
    let exact = LowRank.pose(Matrix::from_fn(9, 3, |i, j| ((i + 1) * (j + 1)) as f64), vec![]).unwrap();
    assert!(exact.measure(&exact.x_star).1 < 10.0 && exact.measure(&[]).1 > 1e12);
    let error = LowRank.pose(Matrix::from_rows(&[&[f64::NAN], &[1.0]]), vec![]).unwrap_err();
    assert!(error.to_string().contains("NaN"), "{error}");
}
