"""Discover randomized linear algebra algorithms as readable programs, and solve data with them.

>>> import numpy as np, rl4rla
>>> A = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
>>> result = rl4rla.solve(A, [1.0, 3.0, 5.0])
>>> result.x.round(12)
array([1., 2.])
>>> result.converged, result.program
(True, 'gram-refinement')

``solve`` and ``svd`` take arrays; ``Program`` is a program to be read, compared, analyzed and exported; ``discover`` and
``explore`` search for programs, and return a ``Run``; ``plan_campaign`` and ``campaign`` return a ``Campaign``: searches with
many seeds; ``compare`` runs programs and classical solvers on the same data. ``rl4rla.sklearn`` has estimators. Results
are those of the command ``rl4rla``, bit for bit, with the same seed.
"""

from rl4rla._campaign import Campaign, campaign, plan_campaign
from rl4rla._errors import ConvergenceWarning, Interrupted, NotConverged
from rl4rla._extending import family, operator, reward_term, task
from rl4rla._program import Program, Verdict, program, programs
from rl4rla._rl4rla import __version__
from rl4rla._run import Run, curricula, discover, explore, resume, runs
from rl4rla._solve import Result, SVD, solve, svd
from rl4rla._compare import baselines, compare, families

__all__ = [
    "Campaign",
    "ConvergenceWarning",
    "Interrupted",
    "NotConverged",
    "Program",
    "Result",
    "Run",
    "SVD",
    "Verdict",
    "__version__",
    "baselines",
    "campaign",
    "compare",
    "curricula",
    "discover",
    "explore",
    "families",
    "family",
    "operator",
    "plan_campaign",
    "program",
    "programs",
    "resume",
    "reward_term",
    "runs",
    "solve",
    "svd",
    "task",
]
