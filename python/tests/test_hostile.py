"""Bad input is a Python exception, never an abort or a silent answer."""

import itertools
import os
import random
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse

import rl4rla


@pytest.mark.parametrize(
    "A, b, options",
    [
        (np.ones((3, 2)) * np.nan, np.ones(3), {}),
        (np.array([[1.0], [np.inf]]), np.ones(2), {}),
        (np.ones((3, 1)), [1.0, np.nan, 2.0], {}),
        (np.ones((3, 1)), np.ones(4), {}),
        (np.ones((3, 1)), np.ones((3, 0)), {}),
        (np.ones(3), np.ones(3), {}),
        (np.ones((2, 2, 2)), np.ones(2), {}),
        (np.ones((2, 1)), np.ones((2, 1, 1)), {}),
        (np.array([["a"], ["b"]]), np.ones(2), {}),
        (np.ones((2, 1), complex), np.ones(2), {}),
        (np.zeros((0, 3)), np.zeros(0), {}),
        (np.zeros((3, 0)), np.zeros(3), {}),
        (np.zeros((0, 0)), np.zeros(0), {}),
        (np.ones((3, 1)), np.ones(3), dict(weights=[1.0, -1.0, 1.0])),
        (np.ones((3, 1)), np.ones(3), dict(weights=[0.0, 0.0, 0.0])),
        (np.ones((3, 1)), np.ones(3), dict(weights=[1.0])),
        (np.ones((3, 1)), np.ones(3), dict(tolerance=2)),
        (np.ones((3, 1)), np.ones(3), dict(tolerance=float("nan"))),
        (np.ones((3, 1)), np.ones(3), dict(lam=-1)),
        (np.ones((3, 1)), np.ones(3), dict(iterations=0)),
        (np.ones((3, 1)), np.ones(3), dict(seed=-1)),
        (np.ones((3, 1)), np.ones(3), dict(method="nothing")),
        (np.ones((3, 1)), np.ones(3), dict(method="auto\n")),
        (np.ones((3, 1)), np.ones(3), dict(method="")),
        (np.ones((3, 1)), np.ones(3), dict(method="--help")),
        (np.ones((3, 1)), np.ones(3), dict(method="landweber")),
        (np.ones((3, 1)), np.ones(3), dict(sketch="none")),
        (np.ones((3, 1)), np.ones(3), dict(rank_deficient="maybe")),
        (np.ones((3, 1)), np.ones((3, 2)), dict(method="lsqr")),
        (np.ones((3, 1)), np.ones((3, 2)), dict(lam=1.0)),
        (np.ones((4, 1)), [0.0, 1.0, 2.0, 1.0], dict(task="logistic")),
        (scipy.sparse.csr_matrix(np.array([[np.nan], [1.0]])), np.ones(2), {}),
        (scipy.sparse.csr_matrix((0, 3)), np.ones(0), {}),
        (scipy.sparse.eye(3), np.ones(3), dict(task="logistic")),
    ],
)
def test_bad_input_is_a_value_error(A, b, options):
    with pytest.raises(ValueError) as error:
        rl4rla.solve(A, b, **options)
    assert str(error.value).strip()


def test_wrong_types_are_type_errors():
    for method in (3, None, ["lsqr"], b"lsqr"):
        with pytest.raises((TypeError, ValueError)):
            rl4rla.solve(np.ones((3, 1)), np.ones(3), method)
    with pytest.raises(TypeError):
        rl4rla.Program(7)
    with pytest.raises(TypeError):
        rl4rla.discover({"stage": [object()]})


def test_a_broken_sparse_matrix_is_refused():
    S = scipy.sparse.csr_matrix(np.eye(3))
    for part, value in [("indices", np.array([0, 1, 9], np.int32)), ("indptr", np.array([0, 2, 1, 3], np.int32))]:
        broken = S.copy()
        setattr(broken, part, value)
        broken.has_canonical_format = True
        with pytest.raises(ValueError):
            rl4rla.solve(broken, np.ones(3))


def test_bad_programs_and_curricula():
    for text in ("iteration:\n v1 = NOTHING(A)\n", "\n", "iteration:\n", "iteration:\n v1 = MAT_VEC_MUL(A, x", "\x00\n", "π\n"):
        with pytest.raises(ValueError):
            rl4rla.Program(text)
    for curriculum in ("nothing", {}, {"title": "x"}, {"title": "x", "stage": [{"name": "a"}]}):
        with pytest.raises(ValueError):
            rl4rla.discover(curriculum)


def test_a_callback_that_raises_stops_the_search(tmp_path):
    class Enough(Exception):
        pass

    def progress(message):
        raise Enough(message)

    store = tmp_path / "runs.db"
    with pytest.raises(Enough):
        rl4rla.discover("block-kaczmarz", store=store, progress=progress)
    # Its lock is free, and rubbish that a callback returns does not matter.
    run = rl4rla.resume("last", store=store, progress=lambda message: object())
    assert run.found


def test_fuzzed_calls(request):
    """Random shapes, entries, layouts and options: an answer or a Python exception."""
    chance, answers = random.Random(11), 0
    rng = np.random.default_rng(11)
    entries = [0.0, 1.0, -1.0, 1e300, -1e-300, 1e-320, np.nan, np.inf]
    methods = ["auto", "lsqr", "qr", "sketched-precond-gd", "ls-gd", "newton", "power-iteration", "ridge-cg", "block-kaczmarz"]
    for _ in range(request.config.getoption("--fuzz")):
        rows, cols = chance.choice([0, 1, 2, 3, 7, 40]), chance.choice([0, 1, 2, 3, 5])
        A = rng.normal(size=(rows, cols))
        for _ in range(chance.choice([0, 0, 0, 1, 5])):
            if A.size:
                A.flat[chance.randrange(A.size)] = chance.choice(entries)
        b = rng.normal(size=chance.choice([rows, rows, rows, rows + 1, (rows, 2), (rows, 0)]))
        if chance.random() < 0.1:
            b = np.sign(b)
        layout = chance.choice([lambda a: a, np.asfortranarray, lambda a: a[:, ::-1], lambda a: a.astype(np.float32), lambda a: a.astype(object), scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, lambda a: a.T, lambda a: a.tolist()])
        options = {
            "intercept": chance.random() < 0.3,
            "standardise": chance.random() < 0.1,
            "iterations": chance.choice([0, 1, 5, 50]),
            "seed": chance.choice([0, 1, 2**64 - 1, 2**64, -1]) if chance.random() < 0.2 else 0,
        }
        if chance.random() < 0.3:
            options["lam"] = chance.choice([0.0, 1.0, -1.0, 1e300, np.nan])
        if chance.random() < 0.3:
            options["weights"] = rng.choice([0.0, 1.0, 2.5, -1.0, np.nan], p=[0.2, 0.6, 0.18, 0.01, 0.01], size=rows)
        if chance.random() < 0.2:
            options["tolerance"] = chance.choice([0.0, 1e-3, 1.0, -1.0])
        if chance.random() < 0.2:
            options["rank_deficient"] = chance.choice(["drop", "min-norm", "refuse", "x"])
        method = chance.choice(methods)
        if method == "auto" and chance.random() < 0.2:
            options["task"] = "logistic"
        try:
            with np.errstate(all="ignore"):
                result = rl4rla.solve(layout(A), b, method, **options)
        except (ValueError, TypeError, rl4rla.NotConverged):
            continue
        answers += 1
        assert np.isfinite(result.x).all()
    assert answers > 0


def test_fuzzed_programs():
    """Texts that are nearly programs: a program or a ValueError."""
    good = rl4rla.program("sketched-precond-gd").text
    chance = random.Random(12)
    for _ in range(200):
        text = list(good)
        for _ in range(chance.choice([1, 2, 5])):
            place = chance.randrange(len(text))
            text[place] = chance.choice(["", "\n", "A", "x", "(", ")", ",", "=", "\x00", "é", "v1"])
        try:
            rl4rla.Program("".join(text))
        except ValueError:
            pass


def test_calls_from_several_threads():
    from concurrent.futures import ThreadPoolExecutor

    A = np.random.default_rng(1).normal(size=(200, 4))
    wanted = rl4rla.solve(A, A[:, 0]).x
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(rl4rla.solve, A, A[:, 0]) for _ in range(40)]
        shows = [pool.submit(rl4rla.program, name) for name in itertools.islice(itertools.cycle(["ls-gd", "newton"]), 10)]
        assert all(np.array_equal(job.result().x, wanted) for job in jobs)
        assert all(show.result().equation for show in shows)


def test_missing_values_and_dates_are_not_taken_for_numbers():
    import pandas

    A, b = np.arange(12.0).reshape(6, 2) ** 2, np.arange(6.0)
    masked = np.ma.array(A, mask=A > 100)
    days = pandas.date_range("2020", periods=6)
    for given, right in ((masked, b), (A, np.ma.array(b, mask=b > 4)), (pandas.DataFrame({"day": days}), b), (A, days)):
        with pytest.raises(ValueError, match="masked entries|should hold numbers"):
            rl4rla.solve(given, right)
    with pytest.raises(ValueError, match="masked"):
        rl4rla.solve(A, b, weights=np.ma.array(b, mask=b > 4))
    frame = pandas.DataFrame(A).astype("Float64")
    assert rl4rla.solve(frame, b).converged and rl4rla.solve(np.ma.array(A), b).converged
    frame.iloc[1, 1] = pandas.NA
    with pytest.raises((TypeError, ValueError)):
        rl4rla.solve(frame, b)


def test_too_many_threads():
    with pytest.raises(ValueError, match="at most 1024"):
        rl4rla.solve(np.ones((3, 1)), np.ones(3), threads=10**6)
    with pytest.raises((OverflowError, TypeError)):
        rl4rla.solve(np.ones((3, 1)), np.ones(3), threads=-1)


def test_columns_of_sparse_matrices_are_numbered_by_32_bits():
    wide = scipy.sparse.coo_array(([1.0], (np.array([0]), np.array([2**32]))), shape=(3, 2**33))
    with pytest.raises(ValueError, match="less than 2"):
        rl4rla.solve(wide, np.ones(3))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_works_too(tmp_path):
    """A forked process has none of the threads of the first, which have been at work."""
    script = textwrap.dedent(
        """
        import multiprocessing, sys, numpy as np, rl4rla
        rng = np.random.default_rng(1)
        A, b = rng.normal(size=(20000, 60)), rng.normal(size=20000)
        x = rl4rla.solve(A, b).x

        def work(queue):
            queue.put(np.array_equal(rl4rla.solve(A, b).x, x))
            queue.put(rl4rla.discover("subsampled-ls-gd", store=sys.argv[1]).found)

        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        context.Process(target=work, args=(queue,), daemon=True).start()
        assert queue.get(timeout=120) and queue.get(timeout=120)
        """
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", script, tmp_path / "runs.db"], check=True, timeout=300)


def test_a_number_of_triplets_is_whole():
    with pytest.raises(TypeError):
        rl4rla.svd(np.eye(3), 1.5)
    assert len(rl4rla.svd(np.eye(3), np.int32(2)).s) == 2
