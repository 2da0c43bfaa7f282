"""Solving data: ``solve`` and ``svd``."""

import json
import os
from operator import index

import numpy as np

from rl4rla import _rl4rla
from rl4rla._arrays import matrix, precision, vector, vectors
from rl4rla._command import arguments
from rl4rla._errors import NotConverged


class Result(dict):
    """What came of ``solve``, with its entries as attributes: ``x``, ``intercept``, ``converged``, ``program``, ``why``,
    ``certificate``, ``note`` on the precision of A if it is not float64, and all else that ``rl4rla solve --json`` prints.

    ``x`` has an entry for every column of A, and a column for every right-hand side if b has two dimensions. The
    certificate says how good it is: ``excess`` is ‖A(x − x*)‖/‖Ax − b‖, ``backward_error`` the relative change of A that
    makes x exact, ``forward_error`` bounds ‖x − x*‖/‖x‖, and ``rank`` and ``kappa`` are those of A with columns of length 1.
    ``success``, ``message`` and ``nit`` are there as in results of ``scipy.optimize``.
    """

    @property
    def success(self):
        """Whether it has converged."""
        return self["converged"]

    @property
    def message(self):
        """What is wrong with it, or why its program was chosen."""
        return self["warning"] or self["why"] or "converged"

    @property
    def nit(self):
        """The number of iterations, if there were any."""
        return self.get("iterations") or 0

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the result has no {name!r}; it has {', '.join(self)}") from None

    def __dir__(self):
        return [*super().__dir__(), *self]

    def __repr__(self):
        names = ("x", "intercept", "converged", "program", "why", "note")
        shown = {name: self[name] for name in names if self.get(name) is not None}
        return "\n".join(f"{name:>9}: {value}" for name, value in shown.items())


CERTIFICATE = ["excess", "backward_error", "forward_error", "digits", "rank", "kappa", "relative_gradient"]


def solve(
    A,
    b,
    method="auto",
    *,
    task=None,
    weights=None,
    intercept=False,
    standardise=False,
    lam=None,
    tolerance=None,
    iterations=1000,
    step="auto",
    rank_deficient=None,
    average=False,
    mu=None,
    every=None,
    sketch=None,
    sketch_factor=None,
    batch=None,
    sampling=None,
    summary=False,
    explain=False,
    seed=0,
    threads=None,
    max_memory=None,
    check=True,
):
    """Solves min ‖Ax − b‖, or the task of a program, to a tolerance and with a certificate.

    Parameters
    ----------
    A : array, frame or sparse matrix of m rows and n columns
        A C-ordered float64 array is read in place.
    b : array of m entries, or of m rows and a column for every right-hand side
    method : "auto", the name of a catalogue program or baseline, a path, "run:ID" or a Program
        What solves the problem; with "auto" the data decide.
    task : "least-squares" or "logistic", with "auto" only
    weights : a weight for every row, for least squares
    intercept : whether to fit a constant
    standardise : whether programs see columns of standard deviation 1
    lam : λ of ridge or penalised logistic regression; the intercept is not penalised
    tolerance, iterations, step, rank_deficient, average, mu, every, sketch, sketch_factor, batch, sampling, seed
        As the command's options of these names; ``rl4rla help solve`` explains them.
    summary : whether to compute standard errors, t values and R²
    explain : whether to run all candidates of "auto" for comparison
    threads : their number; no result depends on it
    max_memory : bytes; a copy of A that would take more than half of them is not made, and A is read part by part
        instead, which is slower and refused by programs that need all of A at once [default: the free memory]
    check : whether a result that has not converged is an error

    Raises
    ------
    ValueError
        If the data or the options pose no problem, or columns are dependent and ``rank_deficient`` is "refuse".
    NotConverged
        If the tolerance was not reached; its ``result`` is what was.

    >>> result = solve([[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0], "precond-gd")
    >>> bool(abs(result.x[0] - 2) < 1e-12), result.certificate["rank"]
    (True, 1)
    >>> solve([[1.0, 1.0], [2.0, 2.0]], [1.0, 2.0], "ls-gd")
    Traceback (most recent call last):
        ...
    ValueError: A: the columns are linearly dependent (rank 1 of 2), so the solution is not unique: `2` depends on `1`
    try: rank_deficient="drop" removes `2`; rank_deficient="min-norm" returns the minimum-norm solution; or change the data
    """
    given, names = matrix(A, max_memory=max_memory)
    right, single = vectors(b)
    words = arguments(
        intercept=intercept,
        standardise=standardise,
        **{"lambda": lam},
        tolerance=tolerance,
        iterations=iterations,
        step=step,
        rank_deficient=rank_deficient,
        average=average,
        mu=mu,
        every=every,
        sketch=sketch,
        sketch_factor=sketch_factor,
        batch=batch,
        sampling=sampling,
        summary=summary,
        explain=explain,
        seed=seed,
        task=task,
    )
    line = ["solve", "--matrix=A", *words]
    if not (isinstance(method, str) and method == "auto"):
        line += ["--", named(method)]
    if intercept and names is not None and "(intercept)" in names:
        raise ValueError("a column is already named `(intercept)`, the name of the column that would be added")
    reply = in_python(
        _rl4rla.solve,
        line,
        given,
        right,
        names,
        None if weights is None else vector(weights, "weights"),
        bool(intercept),
        bool(standardise),
        threads or 0,
    )
    result = _result(reply, single, bool(intercept))
    result["note"] = precision(A)
    if check and not result.converged:
        raise NotConverged(result.warning or "not converged: the certificate does not hold", result)
    return result


def named(program):
    """A program as the command takes it: a name, a path, a run, or its text."""
    from rl4rla._program import Program

    if isinstance(program, Program):
        return program.text
    if isinstance(program, (str, os.PathLike)):
        return os.fspath(program)
    raise TypeError(f"expected the name of a program, a path or a Program, got {type(program).__name__}")


def in_python(function, *values):
    """Calls a function, with the options of the command in its errors as Python has them."""
    try:
        return function(*values)
    except ValueError as error:
        raise ValueError(python_words(str(error))) from None


def python_words(message):
    """Options of the command as arguments of Python.

    >>> python_words("try: --rank-deficient drop removes `b`; or a larger --tolerance, or --lambda 0.1")
    'try: rank_deficient="drop" removes `b`; or a larger tolerance, or lam=0.1'
    """
    import re

    def argument(match):
        name = match[1].replace("-", "_").replace("lambda", "lam")
        value = match[2]
        if value is None:
            return name
        return f"{name}={value}" if value[0].isdigit() else f'{name}="{value}"'

    values = r"drop|min-norm|refuse|auto|best|[0-9][0-9.e+-]*[0-9]|[0-9]"
    message = re.sub(rf"--([a-z][a-z-]+)(?:[ =]({values})\b)?", argument, message)
    return message.replace("or change the file", "or change the data")


def _result(reply, single, intercept):
    text, code, found = reply
    document = json.loads(text)
    result = Result()
    ridge = "path" in document
    if ridge:
        (point,) = document.pop("path")
        point.pop("coefficients", None)
        document.update(point)
    solutions = document.pop("solutions", None)
    coefficients = found.T
    if coefficients.size == 0:
        # Worse than x = 0.
        coefficients = np.full((document["cols"], 1), np.nan)
    x = coefficients[:-1] if intercept else coefficients
    result["x"] = x[:, 0] if single else x
    constant = coefficients[-1] if intercept else np.zeros(coefficients.shape[1])
    result["intercept"] = float(constant[0]) if single else constant
    result["converged"] = code == 0
    result["program"] = document.pop("program", None) or ("ridge" if ridge else None)
    result["why"] = document.pop("reason", None)
    result["certificate"] = {name: document.pop(name) for name in CERTIFICATE if name in document}
    if solutions is not None:
        for solution in solutions:
            solution.pop("coefficients", None)
        result["certificate"]["each"] = solutions
    for name in ("coefficients", "matrix", "files", "predicted", "in_file", "dropped", "converged"):
        document.pop(name, None)
    result.update(document)
    warning = document.get("warning")
    result["warning"] = warning and python_words(warning)
    return result


class SVD(dict):
    """Singular triplets, with its entries as attributes: ``u``, ``s``, ``vt``, ``residuals``, ``converged``, ``method``,
    and ``note`` on the precision of A if it is not float64."""

    __getattr__ = Result.__getattr__
    __dir__ = Result.__dir__

    def __iter__(self):
        """``u, s, vt = svd(A, k)``."""
        return iter((self["u"], self["s"], self["vt"]))


def svd(A, k, *, tolerance=1e-10, iterations=1000, seed=0, threads=None, check=True):
    """The k largest singular values of A, largest first, and their vectors; residuals are measured by products with A.

    >>> u, s, vt = svd(np.diag([3.0, 2.0, 1.0]), 2)
    >>> s.round(12), bool(np.allclose(u * s @ vt, np.diag([3.0, 2.0, 0.0])))
    (array([3., 2.]), True)
    """
    given, _ = matrix(A)
    if isinstance(given, tuple):
        given = np.ascontiguousarray(A.toarray(), np.float64)
    found = in_python(_rl4rla.truncated_svd, given, index(k), float(tolerance), index(iterations), index(seed), threads or 0)
    result = SVD(u=found.pop("left"), s=found.pop("values"), vt=found.pop("right").T, note=precision(A), **found)
    if check and not result.converged:
        raise NotConverged(f"not converged: {result.obstacle}", result)
    return result
