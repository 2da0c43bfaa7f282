# What exported Python functions bring along where they call it.
#% Draws
class Draws:
    """The random objects of a run. Any object with the same methods will do in its place."""

    def __init__(self, rng=None):
        self.rng = np.random.default_rng(rng)
#% sketch-sjlt
    def sketch(self, s, m):
        """A random s×m matrix S with E[SᵀS] = I: $count entries ±1/√$nonzeros in every column, at distinct rows."""
        k = min($nonzeros, s)
        rows = np.empty((m, k), dtype=int)
        # Floyd's sampling: k distinct rows for every column, with one draw each.
        for i, last in enumerate(range(s - k, s)):
            drawn = self.rng.integers(0, last + 1, size=m)
            taken = (rows[:, :i] == drawn[:, None]).any(axis=1)
            rows[:, i] = np.where(taken, last, drawn)
        entries = self.rng.choice([-1.0, 1.0], size=m * k) / np.sqrt(k)
        columns = np.repeat(np.arange(m), k)
        return sparse.csr_array((entries, (rows.ravel(), columns)), shape=(s, m))
#% sketch-countsketch
    def sketch(self, s, m):
        """A random s×m matrix S with E[SᵀS] = I: one entry ±1 in every column, at a random row."""
        rows = self.rng.integers(0, s, size=m)
        entries = self.rng.choice([-1.0, 1.0], size=m)
        return sparse.csr_array((entries, (rows, np.arange(m))), shape=(s, m))
#% sketch-gaussian
    def sketch(self, s, m):
        """A random s×m matrix S with E[SᵀS] = I: independent normal entries of variance 1/s."""
        return self.rng.standard_normal((s, m)) / np.sqrt(s)
#% sketch-srht
    def sketch(self, s, m):
        """A random s×m matrix S with E[SᵀS] = I: random signs, a Hadamard transform, then s of its rows."""
        size = 1 << (m - 1).bit_length()
        signs = self.rng.choice([-1.0, 1.0], size=m)
        picked = self.rng.choice(size, size=s, replace=s > size)

        def apply(M):
            M = M.reshape(m, -1)
            H = np.zeros((size, M.shape[1]))
            H[:m] = signs[:, None] * M
            half = 1
            while half < size:
                H = H.reshape(-1, 2, half, M.shape[1])
                H = np.stack([H[:, 0] + H[:, 1], H[:, 0] - H[:, 1]], axis=1)
                half *= 2
            return H.reshape(size, -1)[picked] / np.sqrt(s)

        return LinearOperator((s, m), matvec=lambda v: apply(v).ravel(), matmat=apply, dtype=float)
#% sample-unbiased
    def sample(self, p, k):
        """k row numbers, drawn independently with probabilities p."""
        return self.rng.choice(len(p), size=k, p=p)
#% sample-released
    def sample(self, p, k):
        """k different row numbers, drawn with probabilities p."""
        return self.rng.choice(len(p), size=k, p=p, replace=False)
#% subsample-unbiased
def subsample(A, b, p, k, draws):
    """k rows of A and b, drawn with probabilities p, row i times 1/√(k·pᵢ): then E[(SA)ᵀ(SA)] = AᵀA."""
    rows = draws.sample(p, k)
    scale = 1 / np.sqrt(k * p[rows])
    return scale[:, None] * A[rows], scale * b[rows]
#% subsample-released
def subsample(A, b, p, k, draws):
    """k different rows of A and b, drawn with probabilities p."""
    rows = draws.sample(p, k)
    return A[rows], b[rows]
#% probabilities
def probabilities(M):
    """Probabilities proportional to the squared row norms of M."""
    norms = np.sum(M**2, axis=1)
    return norms / norms.sum()
#% triangle
def triangle(M):
    """R of M = QR with a nonnegative diagonal, square also where M has more columns than rows: RᵀR = MᵀM."""
    R = np.linalg.qr(M, mode="r")
    R = np.copysign(1.0, np.diag(R))[:, None] * R
    return np.vstack([R, np.zeros((M.shape[1] - len(R), M.shape[1]))])
#% inverse
def inverse(M):
    """M⁻¹, or the pseudo-inverse where M is singular to working precision."""
    precision = len(M) * np.finfo(float).eps
    try:
        X = np.linalg.inv(M)
        if np.linalg.norm(M, 1) * np.linalg.norm(X, 1) <= 0.01 / precision:
            return X
    except np.linalg.LinAlgError:
        pass
    return np.linalg.pinv(M, rcond=precision)
#% orthonormal_rows
def orthonormal_rows(M):
    """The rows of M made orthonormal, from the first to the last; a row that depends on those above becomes zero."""
    Q = np.zeros(M.shape)
    for i, row in enumerate(M):
        # Once leaves an error that is large relative to a small rest, twice does not.
        for least in [0.0, 1e-13, 0.5]:
            length = np.linalg.norm(row)
            if not length > least:
                row = np.zeros(len(row))
                break
            row = row / length
            if least < 0.5:
                for above in Q[:i]:
                    row = row - (above @ row) * above
        Q[i] = row
    return Q
#% leading_ritz_vector
def leading_ritz_vector(M, A):
    """The unit vector v in the row space of M with the largest vᵀAv, for a symmetric A."""
    Q = orthonormal_rows(M)
    Q = Q[np.any(Q != 0, axis=1)]
    H = Q @ A @ Q.T
    y = np.linalg.eigh((H + H.T) / 2)[1][:, -1]
    v = (y if y[0] >= 0 else -y) @ Q
    return v / np.linalg.norm(v)
#% shifted_triangle
def shifted_triangle(M, shift):
    """R of M on top of √shift·I: RᵀR = MᵀM + shift·I, without the square of a condition number."""
    return triangle(np.vstack([M, np.sqrt(shift) * np.eye(M.shape[1])]))
#% nystrom
def nystrom(M, shift, S):
    """G of orthogonal rows such that I − GᵀG is, up to a factor, the Nyström preconditioner of M + shift·I."""
    Y = S @ M
    W = S @ Y.T
    precision = len(Y) * np.finfo(float).eps
    largest = np.max(np.abs(np.diag(W)))
    if largest == 0:
        return np.zeros(Y.shape)
    # Shifted by the size of its rounding errors, so that it has a Cholesky factor.
    C = np.linalg.cholesky((W + W.T) / 2 + precision * largest * np.eye(len(Y)))
    _, sigma, V = np.linalg.svd(solve_triangular(C, Y, lower=True), full_matrices=False)
    values = sigma**2
    least = np.min(values[values > precision * values[0]])
    return np.sqrt(np.maximum(values - least, 0) / np.maximum(values + shift, least))[:, None] * V
