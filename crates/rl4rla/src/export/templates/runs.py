# What runs the iterations of exported Python functions. A line that ends with `#? CONDITION` is for some of them.
#% Solution-squares
class Solution(NamedTuple):
    """What came of a run."""

    x: np.ndarray
    converged: bool  # whether x meets the tolerance
    iterations: int
    step: float
    residual: float  # ‖Ax − b‖
    gradient: float  # the largest |aⱼᵀr|/(‖aⱼ‖‖r‖) of all columns aⱼ of A, r = Ax − b
#% find_step
def find_step(direction, A, b, x):
    """The harmonic mean of exact line searches along the first directions: it tends to the best constant step."""
    step = 1.0  #? told step
    r, steps, first = A @ x - b, [], 0.0
    for t in range(16):
        v = direction(x)  #? hidden
        v, _, _ = direction(x)  #? shown
        Av = A @ v
        gain, cost = r @ Av, Av @ Av
        first = max(first, cost)
        if not (gain > 0 and 1e-6 * first < cost < np.inf):
            break
        step = gain / cost
        steps.append(step)
        x, r = x - step * v, r - step * Av
    # Steps come to alternate between two values, so an even number of the last ones is taken.
    steps = steps[min(8, len(steps) // 2) :]
    steps = steps[len(steps) % 2 if len(steps) > 1 else 0 :]
    return len(steps) / sum(1 / step for step in steps) if steps else 0.0
#% find_step-random
def find_step(direction, A, b, x):
    """The step that is best for 16 directions from the start together."""
    step = 1.0  #? told step
    t = 0  #? remembers
    r, gain, cost = A @ x - b, 0.0, 0.0
    for _ in range(16):
        v = direction(x)  #? hidden
        v, _, _ = direction(x)  #? shown
        Av = A @ v
        gain, cost = gain + r @ Av, cost + Av @ Av
    return gain / cost if gain > 0 and cost < np.inf else 0.0
#% measurable
def measurable(M):
    """Whether squares neither overflow nor vanish in the lengths of its columns."""
    lengths = np.linalg.norm(M, axis=0)
    return bool(np.all((lengths > 1e-140) & (lengths < 1e140) | ~M.any(axis=0)))
#% spectrum
def spectrum(A, lengths):
    """Σ and Vᵀ of A = UΣVᵀ with columns of length 1, without those for columns of zeros."""
    R = np.linalg.qr(A / np.where(lengths > 0, lengths, 1), mode="r")
    _, sigma, Vt = np.linalg.svd(R, full_matrices=False)
    rank = max(1, np.count_nonzero(lengths))
    return sigma[:rank], Vt[:rank]
#% descend-squares
def descend(direction, A, b, x0, step, tolerance, iterations, callback):  #? shown
def descend(direction, A, b, x0, step, tolerance, iterations, callback, every):  #? hidden
    """Repeats x ← x − η·direction(x) from x0; an η that is not given is found, and halved while the run diverges."""
    norm, lengths, size, eps = np.linalg.norm, np.linalg.norm(A, axis=0), np.linalg.norm(b), np.finfo(float).eps
    first = norm(A @ x0 - b)  #? shown
    r = A @ x0 - b  #? hidden
    first = norm(r)  #? hidden
    if not (measurable(A) and measurable(b) and first < np.inf):
        raise ValueError("b and the columns of A must be finite, and zero or of a length between 1e-140 and 1e140")
    units, parts = np.where(lengths > 0, lengths, 1), None

    def small(x, r, g):
        # What every solution has, and what costs little to see.
        limit = tolerance * norm(r) + 4 * eps * (lengths @ np.abs(x) + size)
        return norm(r) < np.inf and np.all(np.abs(g) <= limit * lengths)

    def solves(x, r, g):
        # Where columns nearly depend on each other a small gradient says little. But ‖Σ⁻¹Vᵀg‖ = ‖A(x − x*)‖.
        nonlocal parts
        parts = spectrum(A, lengths) if parts is None else parts
        sigma, Vt = parts
        if sigma[-1] <= max(A.shape) * eps * sigma[0]:
            return False
        excess, kappa = norm(Vt @ (g / units) / sigma), sigma[0] / sigma[-1]
        # What rounding leaves to a stable method; large coefficients do not excuse more than 5e-5‖b‖.
        rounding = min(8 * eps * kappa, 1e-4) * norm(r) + 4 * eps * (sigma[0] * norm(lengths * x) + size)
        return excess <= max(tolerance * norm(r), min(rounding, 5e-5 * size))

    def good(x, r, g):
        return tolerance > 0 and (norm(r) <= tolerance * size or small(x, r, g) and solves(x, r, g))

    found = step is None
    step = find_step(direction, A, b, x0) if found else step
    for _ in range(13 if found else 1):
        x, t = x0, 0
        while t < iterations and np.isfinite(x).all():
            v, r, g = direction(x)  #? shown
            if good(x, r, g):  #? shown
            look = t % every == 0  # that costs a pass over A  #? hidden
            r = A @ x - b if look else r  #? hidden
            if look and good(x, r, A.T @ r):  #? hidden
                break
            if found and not norm(r) <= 100 * first:
                break
            v = direction(x)  #? hidden
            x, t = x - step * v, t + 1
            if callback is not None:
                callback(x)
        r = A @ x - b
        if norm(r) <= (1 + 1e-9) * first:
            break
        step = step / 2 if found else step
    if found and not norm(r) <= (1 + 1e-9) * first:
        x, r = x0, A @ x0 - b
    g = A.T @ r
    converged = bool(good(x, r, g))
    gradient = np.max(np.abs(g) / units) / (norm(r) or 1)
    if tolerance > 0 and not converged:
        warnings.warn(f"not converged after {t} iterations: gradient {gradient:.1e}", RuntimeWarning, stacklevel=3)
    return Solution(x, converged, t, step, norm(r), gradient)
#% Solution-entropy
class Solution(NamedTuple):
    """What came of a run."""

    x: np.ndarray
    converged: bool  # whether x meets the tolerance
    iterations: int
    step: float  # the last one
    gradient: float  # the largest |aⱼᵀr|/(‖aⱼ‖‖r‖) of all columns aⱼ of A, r = σ(Ax) − b
#% line_search
def line_search(z, Av, b):
    """A step that makes the loss at z − η·Av least: where its slope is a tenth of the first one."""

    def slope(step):
        return (expit(z - step * Av) - b) @ Av

    low, high, first = 0.0, 1.0, slope(0.0)
    if not 0 < first < np.inf:
        return 0.0
    while slope(high) > 0.1 * first and high < 1e100:
        low, high = high, 2 * high
    for _ in range(60):
        step = high if slope(high) >= -0.1 * first else (low + high) / 2
        if abs(slope(step)) <= 0.1 * first:
            return step
        low, high = (step, high) if slope(step) > 0 else (low, step)
    return low
#% descend-entropy
def descend(direction, A, b, x, step, tolerance, iterations, callback):
    """Repeats x ← x − η·direction(x), with a line search for every η that is not given."""
    norm, lengths = np.linalg.norm, np.linalg.norm(A, axis=0)
    if not measurable(A) or not np.isin(b, (0, 1)).all():
        raise ValueError("the columns of A must be zero or of a length between 1e-140 and 1e140, and b must hold 0 and 1")

    def gradient(r, g):
        return np.max(np.abs(g) / np.where(lengths > 0, lengths, 1)) / (norm(r) or 1)

    found, t = step is None, 0
    step = 1.0 if found else step
    while t < iterations and np.isfinite(x).all():
        v, r, g = direction(x)  #? shown
        r = expit(A @ x) - b  #? hidden
        g = A.T @ r  #? hidden
        if tolerance > 0 and gradient(r, g) <= tolerance:
            break
        v = direction(x)  #? hidden
        step = line_search(A @ x, A @ v, b) if found else step
        x, t = x - step * v, t + 1
        if callback is not None:
            callback(x)
    r = expit(A @ x) - b
    left = gradient(r, A.T @ r)
    converged = bool(left <= tolerance) and tolerance > 0
    if tolerance > 0 and not converged:
        warnings.warn(f"not converged after {t} iterations: gradient {left:.1e}", RuntimeWarning, stacklevel=3)
    return Solution(x, converged, t, step, left)
#% Solution-eigenvector
class Solution(NamedTuple):
    """What came of a run."""

    x: np.ndarray
    converged: bool  # whether x meets the tolerance
    iterations: int
    eigenvalue: float  # λ = xᵀAx/xᵀx
    residual: float  # ‖Ax − λx‖/(|λ|‖x‖)
#% iterate-eigenvector
def iterate_until(advance, A, x, tolerance, iterations, callback):
    """Repeats x ← advance(x) until Ax = λx to the tolerance."""
    # Beyond that squares vanish or overflow.
    if not all(1e-140 < np.linalg.norm(given) < 1e140 for given in (A, x)):
        raise ValueError("the norms of A and x0 must lie between 1e-140 and 1e140")

    def judged(x, Ax):
        value = x @ Ax / (x @ x)
        return value, np.linalg.norm(Ax - value * x) / (abs(value) * np.linalg.norm(x))

    t = 0
    while t < iterations and np.isfinite(x).all():
        y, Ax = advance(x)  #? shown
        if tolerance > 0 and judged(x, Ax)[1] <= tolerance:  #? shown
        if tolerance > 0 and judged(x, A @ x)[1] <= tolerance:  #? hidden
            break
        y = advance(x)  #? hidden
        x, t = y, t + 1
        if callback is not None:
            callback(x)
    value, residual = judged(x, A @ x)
    converged = bool(residual <= tolerance) and tolerance > 0
    if tolerance > 0 and not converged:
        warnings.warn(f"not converged after {t} iterations: residual {residual:.1e}", RuntimeWarning, stacklevel=3)
    return Solution(x, converged, t, value, residual)
#% Solution-standstill
class Solution(NamedTuple):
    """What came of a run."""

    x: np.ndarray
    converged: bool  # whether the last iteration changed no more than the tolerance
    iterations: int
    change: float  # what it changed, as a part of the length of x
#% iterate-standstill
def iterate_until(advance, x, tolerance, iterations, callback):
    """Repeats x ← advance(x) until that changes x no more."""
    t, change = 0, np.inf
    while t < iterations and np.isfinite(x).all() and (tolerance == 0 or change > tolerance):
        y = advance(x)
        change = np.linalg.norm(y - x) / (np.linalg.norm(y) or 1)
        x, t = y, t + 1
        if callback is not None:
            callback(x)
    converged = bool(change <= tolerance) and tolerance > 0
    if tolerance > 0 and not converged:
        warnings.warn(f"not converged after {t} iterations: change {change:.1e}", RuntimeWarning, stacklevel=3)
    return Solution(x, converged, t, change)
