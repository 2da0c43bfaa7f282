"""`solve` equals the command bit for bit, and NumPy and SciPy to rounding."""

import numpy as np
import pytest
import scipy.sparse

import rl4rla


def coefficients(document):
    return np.array([row["value"] for row in document["coefficients"]])


def on_disk(folder, A, b):
    np.save(folder / "A.npy", A)
    np.save(folder / "b.npy", b)
    return ["--matrix", folder / "A.npy", "--rhs", folder / "b.npy"]


@pytest.mark.parametrize(
    "words, options",
    [
        ([], {}),
        (["--intercept"], dict(intercept=True)),
        (["sketched-precond-gd", "--seed", "3"], dict(method="sketched-precond-gd", seed=3)),
        (["precond-gd", "--standardise", "--intercept"], dict(method="precond-gd", standardise=True, intercept=True)),
        (["lsqr"], dict(method="lsqr")),
        (["--tolerance", "0.001"], dict(tolerance=0.001)),
        (["blendenpik", "--seed", "7"], dict(method="blendenpik", seed=7)),
    ],
)
def test_equal_to_the_command_bit_for_bit(command, tmp_path, data, words, options):
    A, b = data
    document, code = command("solve", *words, *on_disk(tmp_path, A, b))
    result = rl4rla.solve(A, b, **options)
    assert code == 0
    found = np.append(result.x, result.intercept) if options.get("intercept") else result.x
    assert np.array_equal(found, coefficients(document))
    assert (result.program, result.iterations) == (document["program"], document["iterations"])
    for name in ("backward_error", "excess", "kappa", "rank"):
        assert result.certificate[name] == document[name]


def test_weights_ridge_several_and_logistic_equal_the_command(command, tmp_path, data):
    A, b = data
    files = on_disk(tmp_path, A, b)
    w = np.random.default_rng(1).uniform(size=len(b))
    np.save(tmp_path / "w.npy", w)
    weighted, _ = command("solve", *files, "--weights", tmp_path / "w.npy", "--intercept")
    result = rl4rla.solve(A, b, weights=w, intercept=True)
    assert np.array_equal(np.append(result.x, result.intercept), coefficients(weighted))
    ridge, _ = command("solve", *files, "--lambda", "2.5", "--intercept")
    result = rl4rla.solve(A, b, lam=2.5, intercept=True)
    assert np.array_equal(np.append(result.x, result.intercept), coefficients(ridge["path"][0]))
    B = np.column_stack([b, b**2, np.sin(b)])
    np.save(tmp_path / "b.npy", B)
    several, _ = command("solve", *files, "--intercept")
    result = rl4rla.solve(A, B, intercept=True)
    wanted = np.array([coefficients(one) for one in several["solutions"]]).T
    assert np.array_equal(np.vstack([result.x, result.intercept]), wanted)
    labels = (b > 2).astype(float)
    np.save(tmp_path / "b.npy", labels)
    logistic, _ = command("solve", "--task", "logistic", *files, "--lambda", "1", "--intercept")
    result = rl4rla.solve(A, labels, task="logistic", lam=1, intercept=True)
    assert np.array_equal(np.append(result.x, result.intercept), coefficients(logistic))


def test_sparse_equals_the_command(command, tmp_path):
    S = scipy.sparse.random(300, 20, 0.2, random_state=4, format="csc")
    b = np.cos(np.arange(300.0))
    scipy.sparse.save_npz(tmp_path / "A.npz", S)
    np.save(tmp_path / "b.npy", b)
    document, _ = command("solve", "--matrix", tmp_path / "A.npz", "--rhs", tmp_path / "b.npy")
    for format in (S.tocsr(), S, S.tocoo(), scipy.sparse.csr_array(S)):
        result = rl4rla.solve(format, b)
        assert np.array_equal(result.x, coefficients(document))
    assert np.allclose(result.x, np.linalg.lstsq(S.toarray(), b)[0], atol=1e-12)


def test_sparse_entries_in_any_order_and_twice():
    rows, cols = np.array([0, 2, 1, 0, 2, 0]), np.array([1, 0, 0, 0, 1, 1])
    twice = scipy.sparse.coo_matrix((np.arange(1.0, 7.0), (rows, cols)), shape=(3, 2))
    unsorted = scipy.sparse.csr_matrix((np.array([1.0, 4.0, 3.0]), np.array([1, 0, 0]), np.array([0, 2, 3])))
    for S in (twice, unsorted):
        before = S.copy()
        b = np.arange(1.0, S.shape[0] + 1)
        assert np.allclose(rl4rla.solve(S, b).x, np.linalg.lstsq(S.toarray(), b)[0])
        assert (S.data == before.data).all(), "the user's matrix is as it was"


def test_every_layout_gives_the_same_bits(data):
    A, b = data
    x = rl4rla.solve(A, b).x
    wide = np.zeros((400, 12))
    wide[:, ::2] = A
    frozen = A.copy()
    frozen.flags.writeable = False
    import pandas

    frame = pandas.DataFrame(A, columns=list("uvwxyz"))
    swapped = A.astype(A.dtype.newbyteorder())
    for layout in (np.asfortranarray(A), wide[:, ::2], A[::-1][::-1], frozen, frame, swapped, A.tolist(), A.astype(object)):
        assert np.array_equal(rl4rla.solve(layout, b).x, x)
    single = A.astype(np.float32)
    assert np.array_equal(rl4rla.solve(single, b).x, rl4rla.solve(single.astype(float), b).x)
    assert np.array_equal(A, data[0])


@pytest.mark.parametrize("options", [{}, dict(intercept=True), dict(method="sketched-precond-gd-factored"), dict(lam=1.0)])
def test_arrays_that_are_read_in_parts_give_the_same_bits(options):
    rng = np.random.default_rng(8)
    A, b = rng.normal(size=(900, 7)), rng.normal(size=900)
    spread = np.zeros((1800, 21))
    spread[::2, ::3] = A
    backwards = np.ascontiguousarray(A[::-1, ::-1])[::-1, ::-1]
    if options.get("method"):
        wanted = rl4rla.solve(A, b, **options)
        for layout in (np.asfortranarray(A), spread[::2, ::3], backwards):
            assert np.array_equal(rl4rla.solve(layout, b, max_memory=1, **options).x, wanted.x)
    else:
        # The choice may fall on another program, as there is no sample of rows to look at.
        wanted = rl4rla.solve(A, b, **options)
        for layout in (np.asfortranarray(A), spread[::2, ::3], backwards):
            found = rl4rla.solve(layout, b, max_memory=1, **options)
            assert np.allclose(found.x, wanted.x, rtol=1e-12) and np.allclose(found.intercept, wanted.intercept)
    single = A.astype(np.float32)
    found = rl4rla.solve(single, b, max_memory=1, **options)
    assert np.allclose(found.x, rl4rla.solve(single.astype(float), b, **options).x, rtol=1e-12)


def test_what_needs_all_of_a_says_so(data):
    A, b = data
    with pytest.raises(ValueError, match="max_memory"):
        rl4rla.solve(np.asfortranarray(A), b, "precond-gd", sketch="srht", weights=np.ones(400), max_memory=1)


def test_accuracy_next_to_numpy():
    rng = np.random.default_rng(2)
    for kappa in (1, 1e4, 1e8):
        q, _ = np.linalg.qr(rng.normal(size=(500, 8)))
        A = q * np.geomspace(1, 1 / kappa, 8) @ np.linalg.qr(rng.normal(size=(8, 8)))[0]
        b = A @ np.ones(8)
        assert np.linalg.norm(rl4rla.solve(A, b).x - 1) < 1e-14 * kappa
        assert rl4rla.solve(A, b + rng.normal(size=500)).certificate["backward_error"] < 2e-15


def test_names_are_in_messages():
    import pandas

    frame = pandas.DataFrame({"age": [1.0, 2.0, 3.0], "twice": [2.0, 4.0, 6.0]})
    with pytest.raises(ValueError, match="`twice` depends on `age`"):
        rl4rla.solve(frame, [1.0, 2.0, 3.0], rank_deficient="refuse")


def test_a_run_that_does_not_converge_is_an_error_with_its_result(data):
    A, b = data
    with pytest.raises(rl4rla.NotConverged, match="Not converged") as error:
        rl4rla.solve(A, b, "ls-gd", iterations=2)
    assert error.value.result.x.shape == (6,) and not error.value.result.converged
    assert isinstance(error.value, RuntimeError)
    assert not rl4rla.solve(A, b, "ls-gd", iterations=2, check=False).converged


def test_summary_and_explanation(data):
    A, b = data
    result = rl4rla.solve(A, b, intercept=True, summary=True, explain=True)
    assert result.summary["r_squared"] > 0.99 and len(result.alternatives) > 2


def test_threads_change_no_bit():
    rng = np.random.default_rng(3)
    A, b = rng.normal(size=(20000, 30)), rng.normal(size=20000)
    one, two = (rl4rla.solve(A, b, threads=count).x for count in (1, 2))
    assert np.array_equal(one, two)


def test_svd():
    A = np.random.default_rng(0).normal(size=(300, 40))
    u, s, vt = rl4rla.svd(A, 5)
    assert np.allclose(s, np.linalg.svd(A)[1][:5], rtol=1e-12)
    assert np.allclose(A @ vt.T, u * s, atol=1e-8)
    with pytest.raises(ValueError):
        rl4rla.svd(A, 41)


def test_single_precision_is_told(data):
    import pandas

    A, b = data
    single = A.astype(np.float32)
    for given in (single, np.asfortranarray(single), scipy.sparse.csr_matrix(single), pandas.DataFrame(single)):
        assert "float32" in rl4rla.solve(given, b).note and "note" in repr(rl4rla.solve(given, b))
    assert "float32" in rl4rla.svd(single, 2).note
    for given in (A, A.tolist(), pandas.DataFrame(A), np.ones((3, 1), int)):
        assert rl4rla.solve(given, np.ones(len(given)), check=False).note is None


def test_names_of_scipy_optimize(data):
    good, bad = rl4rla.solve(*data, "lsqr"), rl4rla.solve(*data, "ls-gd", iterations=2, check=False)
    assert good.success and good.nit == good.iterations and good.message
    assert not bad.success and bad.nit == 2 and bad.message == bad.warning
    assert rl4rla.solve(data[0], np.column_stack([data[1]] * 2)).nit >= 0
