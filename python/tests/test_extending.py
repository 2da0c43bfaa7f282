"""Operators and tasks that are Python functions; those that raise or return rubbish are exceptions."""

import subprocess
import sys

import numpy as np
import pytest

import rl4rla

TEXT = """family: {family}
iteration:
  v1 = MAT_VEC_MUL(A, x)
  v1 = VEC_VEC_SUB(v1, b)
  v1 = {operator}(v1)
  v1 = VEC_MAT_MUL(v1, A)
"""


def huber(A, b, x):
    r = np.abs(A @ x - b)
    return np.where(r < 1, r**2 / 2, r - 0.5).sum()


def minimizer(A, b):
    """Newton's method with a line search by halving."""
    x = np.linalg.lstsq(A, b)[0]
    for _ in range(100):
        r = A @ x - b
        inside = np.abs(r) < 1
        step = np.linalg.lstsq(A[inside].T @ A[inside] + 1e-9 * np.eye(A.shape[1]), A.T @ np.clip(r, -1, 1))[0]
        while np.linalg.norm(step) > 1e-14 and huber(A, b, x - step) > huber(A, b, x):
            step = step / 2
        x = x - step
    return x


def outliers(rng, rows, cols):
    A = np.linalg.qr(rng.normal(size=(rows, cols)))[0]
    b = A @ rng.normal(size=cols) + 0.1 * rng.normal(size=rows)
    b[: rows // 10] += 10 * rng.normal(size=rows // 10)
    return A, b


@pytest.fixture(scope="module", autouse=True)
def registered():
    rl4rla.operator("VEC_HUBER", doc="v, cut off at 1")(lambda v: np.clip(v, -1, 1))
    rl4rla.task("huber", draw=outliers, solve=minimizer, loss=huber, rows=60, cols=3, doc="Huber regression")


def stage(**changes):
    return dict(
        name="robust",
        edits=1,
        open=["iteration"],
        operators=["VEC_HUBER"],
        registers=["v1"],
        family=dict(kind="huber", rows=60, cols=3),
        instances=dict(search=3, select=2, report=2),
        **changes,
    )


def test_an_operator_of_python_solves():
    A, b = outliers(np.random.default_rng(1), 60, 3)
    program = rl4rla.Program(TEXT.format(family="huber", operator="VEC_HUBER"))
    found = rl4rla.solve(A, b, program, tolerance=1e-9)
    assert np.allclose(found.x, minimizer(A, b), atol=1e-3) and found.iterations > 1


def test_a_task_of_python_is_searched(tmp_path):
    given = {"title": "Robust", "start": "ls-gd", "stage": [stage()]}
    first = rl4rla.discover(given, store=tmp_path / "a.db", threads=1)
    second = rl4rla.discover(given, store=tmp_path / "b.db", threads=2)
    assert "VEC_HUBER" in first.program.text
    assert first.record["stages"][0]["reward"] == second.record["stages"][0]["reward"]


def test_a_reward_term_of_python_counts():
    seen = []

    @rl4rla.reward_term("halved", doc="how often the excess was halved")
    def halved(losses, excesses, flops):
        seen.append((len(losses), flops))
        return np.mean(excesses[1:] <= excesses[:-1] / 2)

    options = dict(family="low-cond", rows=60, cols=3, iterations=5, instances=2)
    plain = rl4rla.program("ls-gd").evaluate(**options)
    weighed = rl4rla.program("ls-gd").evaluate(**options, weights="halved=1000")
    assert seen and seen[0][0] == 6 and seen[0][1] > 0 and weighed["reward"] != plain["reward"]
    with pytest.raises(ValueError):
        rl4rla.reward_term("acc")(halved)
    rl4rla.reward_term("broken")(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        rl4rla.program("ls-gd").evaluate(**options, weights="broken=1")
    rl4rla.reward_term("undefined")(lambda *_: np.nan)
    with pytest.raises(ValueError, match="got nan"):
        rl4rla.program("ls-gd").evaluate(**options, weights="undefined=1")


@pytest.mark.parametrize("rubbish", [lambda v: 1 / 0, lambda v: "x", lambda v: v[:-1], lambda v: None, lambda: None, lambda v: v * 1j])
def test_rubbish_of_an_operator_is_an_exception(rubbish, request):
    name = f"VEC_BAD{abs(hash(request.node.name)) % 10**6}"
    rl4rla.operator(name)(rubbish)
    A = np.eye(5)[:, :3]
    with pytest.raises((ZeroDivisionError, ValueError, TypeError)):
        rl4rla.solve(A, np.ones(5), rl4rla.Program(TEXT.format(family="low-cond", operator=name)))
    # The next call does not see it.
    assert rl4rla.solve(A, np.ones(5)).converged


def test_rubbish_of_a_task_is_an_exception(tmp_path):
    good = dict(draw=outliers, solve=minimizer, loss=huber)
    bad = dict(
        draw=[lambda *_: 3, lambda rng, m, n: (np.ones((m, n + 1)), np.ones(m)), lambda *_: 1 / 0],
        solve=[lambda A, b: 1 / 0, lambda A, b: np.ones(7)],
        loss=[lambda *_: "x", lambda *_: 1 / 0],
    )
    for what, functions in bad.items():
        for number, function in enumerate(functions):
            name = f"bad-{what}-{number}"
            rl4rla.task(name, **{**good, what: function}, rows=60, cols=3)
            one = stage() | dict(family=dict(kind=name, rows=60, cols=3))
            with pytest.raises((ZeroDivisionError, ValueError, TypeError)):
                rl4rla.discover({"title": "x", "start": "ls-gd", "stage": [one]}, store=tmp_path / "runs.db")


def test_bad_registrations():
    for name in ("lower", "", "VEC SPACE", "MAT_VEC_MUL"):
        with pytest.raises(ValueError):
            rl4rla.operator(name)(np.sign)
    with pytest.raises(ValueError):
        rl4rla.operator("VEC_X", operands=["matrix"])(np.sign)
    with pytest.raises(ValueError):
        rl4rla.operator("VEC_X", operands=[])(np.sign)
    with pytest.raises(ValueError):
        rl4rla.operator("VEC_X", operands=["scalar"])(np.sign)
    with pytest.raises(TypeError):
        rl4rla.operator("VEC_X")(3)
    good = dict(draw=outliers, solve=minimizer, loss=huber)
    for name, changes in [("linear", {}), ("mid-cond", {}), ("X", {}), ("y", dict(update="z")), ("y", dict(rows=1))]:
        with pytest.raises(ValueError):
            rl4rla.task(name, **good, **changes)
    with pytest.raises(TypeError):
        rl4rla.task("y", draw=3, solve=minimizer, loss=huber)


def test_there_is_a_limit():
    script = "import rl4rla\nfor i in range(32): rl4rla.operator(f'VEC_F{i}')(abs)\nrl4rla.operator('VEC_G')(abs)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "room for 32 operators" in done.stderr


def vandermonde(rng, rows, cols):
    A = np.vander(rng.uniform(-1, 1, size=rows), cols)
    return A, A.sum(axis=1) + 0.1 * rng.normal(size=rows)


def test_a_family_of_python(tmp_path):
    rl4rla.family("vandermonde", draw=vandermonde, rows=60, cols=3, doc="powers")
    assert "vandermonde" in rl4rla.families()
    table = rl4rla.compare("precond-gd", "qr", family="vandermonde", repeats=1, instances=3)
    assert (table["excess"] < 1e-8).all() and len(table) == 2
    one = dict(name="gradient", edits=3, open=["iteration"], registers=["v1"], step=0.5, target="ls-gd")
    one |= dict(family=dict(kind="vandermonde", rows=40, cols=3), instances=dict(search=4, select=2, report=2))
    given = {"title": "Powers", "stage": [one]}
    first = rl4rla.discover(given, store=tmp_path / "a.db", threads=1)
    second = rl4rla.discover(given, store=tmp_path / "b.db", threads=2)
    assert first.found and first.record["stages"][0]["reward"] == second.record["stages"][0]["reward"]


def test_a_family_of_labels():
    def labels(rng, rows, cols):
        A = rng.normal(size=(rows, cols))
        return A, (A[:, 0] + rng.normal(size=rows) > 0).astype(float)

    rl4rla.family("coins", draw=labels, task="logistic")
    found = rl4rla.program("newton").evaluate(family="coins", rows=100, cols=3, iterations=20, instances=2)
    assert found["reward"] > 0


RUBBISH = [
    lambda *_: 1 / 0,
    lambda *_: None,
    lambda rng, m, n: (np.ones((m, n)), np.ones(m - 1)),
    lambda rng, m, n: (np.full((m, n), np.nan), np.ones(m)),
    lambda rng, m, n: ("a", "b"),
    lambda: None,
]


@pytest.mark.parametrize("number", range(len(RUBBISH)))
def test_rubbish_of_a_family_is_an_exception(number):
    rl4rla.family(f"rubbish-{number}", draw=RUBBISH[number])
    with pytest.raises((ZeroDivisionError, ValueError, TypeError)):
        rl4rla.compare("precond-gd", "qr", family=f"rubbish-{number}", rows=50, cols=3, repeats=1)
    assert rl4rla.solve(np.eye(3), np.ones(3)).converged


def test_bad_families():
    for name, changes in [
        ("mid-cond", {}),
        ("Upper", {}),
        ("small", dict(rows=2, cols=3)),
        ("none", dict(cols=0)),
        ("elsewhere", dict(task="nothing")),
        ("vectors", dict(task="eigenvalue")),
        ("shifted", dict(task="ridge")),
    ]:
        with pytest.raises(ValueError):
            rl4rla.family(name, draw=vandermonde, **changes)
    with pytest.raises(TypeError):
        rl4rla.family("three", draw=3)
