"""Comparisons of programs and classical solvers."""

from rl4rla import _rl4rla
from rl4rla._arrays import matrix, pair, vector
from rl4rla._command import answer, arguments, call, watched
from rl4rla._solve import in_python, named


def compare(programs=(), baselines="all", *, data=None, intercept=False, standardise=False, progress=None, **options):
    """Runs programs and classical solvers on the same problem: a frame with a row for every solver, the best first.

    The problem is ``data=(A, b)``, or drawn from a family: ``family="mid-cond", rows=10000, cols=50, kappa=[1e6]``. Other
    options are those of ``rl4rla compare``, such as ``repeats``, ``iterations`` and ``seed``. Times are medians.

    >>> table = compare("sketched-precond-gd-factored", "qr,lsqr", family="mid-cond", rows=500, cols=5, repeats=1)
    >>> sorted(table["solver"])
    ['lsqr', 'qr', 'sketched-precond-gd-factored']
    """
    if isinstance(programs, (list, tuple)):
        words = [named(program) for program in programs]
    else:
        words = [named(programs)]
    options = dict(options, baselines=baselines or None)
    if data is None:
        document, _ = in_python(lambda: call("compare", *words, progress=progress, **options))
    else:
        A, b = pair(data)
        given, _ = matrix(A)
        options.update(intercept=intercept, standardise=standardise)
        line = ["compare", "--matrix=A", *arguments(**options), "--", *words]
        right = vector(b, "b")
        with watched(progress) as watcher:
            reply = in_python(_rl4rla.compare, line, given, right, bool(intercept), bool(standardise), watcher)
        document, _ = answer(reply)
    return frame(document["rows"])


def frame(rows, columns=None):
    """Rows as a frame of pandas, which has ``columns`` even if there are no rows."""
    import pandas

    return pandas.DataFrame(rows, columns=columns)


def baselines():
    """The names of the classical solvers.

    >>> "lsqr" in baselines()
    True
    """
    return [item["name"] for item in call("list", "baselines")[0]["items"]]


def families():
    """The names of the families that problems are drawn from.

    >>> "mid-cond" in families()
    True
    """
    return [item["name"] for item in call("list", "families")[0]["items"]]
