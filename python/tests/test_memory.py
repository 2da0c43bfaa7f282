"""A C-ordered float64 array is read in place, and a large F-ordered one part by part."""

import subprocess
import sys
import textwrap

import pytest

SCRIPT = textwrap.dedent(
    """
    import resource, sys, numpy as np, rl4rla
    rows = int(sys.argv[1])
    rng = np.random.default_rng(0)
    A = np.empty((rows, 128))
    for block in np.array_split(A, max(rows // 10000, 1)):
        block[:] = rng.normal(size=block.shape)
    b = A[:, 0].copy()
    rl4rla.solve(A[:1000], b[:1000])
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    before = peak()
    if sys.argv[2] == "F":
        # Rows and columns exchange their roles, so that nothing is copied here.
        A = A.reshape(-1).reshape(128, -1).T
        b = A[:, 0].copy()
        before = peak()
    result = rl4rla.solve(A, b, *sys.argv[3:], max_memory=1)
    print((peak() - before) / A.nbytes, result.program)
    """
)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured on Linux")
@pytest.mark.parametrize("order, method", [("C", []), ("C", ["sketched-precond-gd-factored"]), ("F", [])])
def test_no_copy_of_the_matrix(order, method):
    line = [sys.executable, "-c", SCRIPT, "100000", order, *method]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    share = float(done.stdout.split()[0])
    # A part of 32 MB, and its copy in other coordinates, are a share of 0.6 of 102 MB.
    assert share < (0.3 if order == "C" else 0.8), done.stdout
