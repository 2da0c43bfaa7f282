"""Operators, families, tasks and reward terms that are Python functions.

They are slower than those of the library: every call takes the interpreter's lock and copies its arrays. Results are
deterministic if the functions are. They must not run commands of this package, such as ``discover``; ``solve`` is fine.
They exist until Python ends, and runs that use them can only be resumed after they are registered again.
"""

from rl4rla import _rl4rla


def operator(name, operands=("vector",), result="vector", doc=None):
    """Makes a function an operator of programs: ``@rl4rla.operator("VEC_CLIP")``.

    ``operands`` has a "vector" or "scalar" for every argument, and ``result`` is one of them; all vectors have the same
    length. The function gets and returns arrays of float64. A result that is not finite is a failure of the program.

    >>> import numpy as np, rl4rla
    >>> @rl4rla.operator("VEC_CLIP", doc="v, cut off at 1")
    ... def clip(v):
    ...     return np.clip(v, -1.0, 1.0)
    >>> rl4rla.Program('''
    ... iteration:
    ...   v1 = MAT_VEC_MUL(A, x)
    ...   v1 = VEC_VEC_SUB(v1, b)
    ...   v1 = VEC_CLIP(v1)
    ...   v1 = VEC_MAT_MUL(v1, A)
    ... ''').equation
    'xₜ₊₁ = xₜ − η Aᵀ VEC_CLIP(A xₜ − b)'
    """

    def register(function):
        if not callable(function):
            raise TypeError(f"expected a function, got {type(function).__name__}")
        summary = doc or (function.__doc__ or "a function of Python").strip().splitlines()[0]
        _rl4rla.register_operator(name, function, list(operands), result, summary)
        return function

    return register


def family(name, *, draw, task="linear", rows=200, cols=5, doc=None):
    """Adds a family of problems to a task, for curricula, comparisons and ``family:`` in programs.

    ``draw`` is a function of a NumPy generator, rows and columns that returns (A, b), and draws from that generator alone. The
    task solves them: "linear" by a factorisation of A, "logistic" by Newton's method, a task of Python by its ``solve``. A linear
    system is divided by the norm of A, as in the families of the library; a stage's ``scale = "raw"`` leaves it as it is.

    >>> import numpy as np, rl4rla
    >>> def vandermonde(rng, rows, cols):
    ...     A = np.vander(rng.uniform(-1, 1, size=rows), cols)
    ...     return A, A.sum(axis=1) + 0.1 * rng.normal(size=rows)
    >>> rl4rla.family("vandermonde", draw=vandermonde)
    >>> "vandermonde" in rl4rla.families()
    True
    """
    _function("draw", draw)
    _rl4rla.register_family(name, doc or "a family of Python", task, draw, rows, cols)


def task(name, *, draw, solve, loss, rows=200, cols=5, update="subtract", doc=None):
    """Adds a task, and a family of problems with its name, that curricula and programs may use.

    Parameters
    ----------
    draw : function of a NumPy generator, rows and columns that returns (A, b)
        It must draw from that generator alone.
    solve : function of A and b that returns the solution by a method that is trusted
    loss : function of A, b and x; its least value is that of the solution
    rows, cols : the default size of problems
    update : "subtract" for x ← x − η·v1, "assign" for x ← v1
    doc : the goal, in one line

    The excess of x is its loss above the least, relative to that of x = 0.
    """
    if update not in ("subtract", "assign"):
        raise ValueError(f'update should be "subtract" or "assign", got {update!r}')
    for what, function in (("draw", draw), ("solve", solve), ("loss", loss)):
        _function(what, function)
    _rl4rla.register_task(name, doc or "a task of Python", draw, solve, loss, rows, cols, update == "assign")


def _function(what, function):
    if not callable(function):
        raise TypeError(f"{what} should be a function, got {type(function).__name__}")


def reward_term(key, doc=None):
    """Makes a function a reward term: ``@rl4rla.reward_term("steady")``. Curricula may then give its key a weight.

    The function gets the losses and the excesses of a run, at the start and after every iteration, and its flops. It
    returns a number from 0 to 1: less is raised to 0, more is cut to 1.
    """

    def register(function):
        if not callable(function):
            raise TypeError(f"expected a function, got {type(function).__name__}")
        _rl4rla.register_term(key, function, doc or (function.__doc__ or key).strip().splitlines()[0])
        return function

    return register
