# What exported Julia functions bring along where they call it.
#% sketch-sjlt
"""A random s×m matrix S with E[SᵀS] = I: $count entries ±1/√$nonzeros in every column, at distinct rows."""
function $name(rng, s, m)
    k = min($nonzeros, s)
    rows, columns, entries = Int[], Int[], Float64[]
    for j in 1:m
        taken = Int[]
        # Floyd's sampling: k distinct rows with one draw each.
        for last in (s - k + 1):s
            drawn = rand(rng, 1:last)
            push!(taken, drawn in taken ? last : drawn)
        end
        append!(rows, taken)
        append!(columns, fill(j, k))
        append!(entries, rand(rng, [-1.0, 1.0], k) ./ sqrt(k))
    end
    return sparse(rows, columns, entries, s, m)
end
#% sketch-countsketch
"""A random s×m matrix S with E[SᵀS] = I: one entry ±1 in every column, at a random row."""
function countsketch(rng, s, m)
    return sparse(rand(rng, 1:s, m), collect(1:m), rand(rng, [-1.0, 1.0], m), s, m)
end
#% sketch-gaussian
"""A random s×m matrix S with E[SᵀS] = I: independent normal entries of variance 1/s."""
function gaussian(rng, s, m)
    return randn(rng, s, m) ./ sqrt(s)
end
#% sketch-srht
"""Random signs, a Hadamard transform, then some of its rows."""
struct Hadamard
    signs::Vector{Float64}
    picked::Vector{Int}
end

"""A random s×m matrix S with E[SᵀS] = I; its rows are distinct as long as there are enough."""
function srht(rng, s, m)
    height = nextpow(2, m)
    picked = s <= height ? randperm(rng, height)[1:s] : rand(rng, 1:height, s)
    return Hadamard(rand(rng, [-1.0, 1.0], m), picked)
end

function Base.:*(S::Hadamard, M::AbstractVecOrMat)
    m, height = size(M, 1), nextpow(2, size(M, 1))
    H = zeros(height, size(M, 2))
    H[1:m, :] = S.signs .* M
    half = 1
    while half < height
        for start in 1:(2 * half):height
            low, high = start:(start + half - 1), (start + half):(start + 2 * half - 1)
            sums, differences = H[low, :] + H[high, :], H[low, :] - H[high, :]
            H[low, :] = sums
            H[high, :] = differences
        end
        half *= 2
    end
    SM = H[S.picked, :] ./ sqrt(length(S.picked))
    return M isa AbstractVector ? vec(SM) : SM
end
#% rows_by-unbiased
"""k row numbers, drawn independently with probabilities p."""
function rows_by(rng, p, k)
    sums = cumsum(p)
    return [searchsortedlast(sums, rand(rng) * sums[end]) + 1 for _ in 1:k]
end
#% rows_by-released
"""k different row numbers, drawn with probabilities p: those with the least exponential times of these rates."""
function rows_by(rng, p, k)
    return sortperm(randexp(rng, length(p)) ./ p)[1:k]
end
#% subsample-unbiased
"""k rows of A and b, drawn with probabilities p, row i times 1/√(k·pᵢ): then E[(SA)ᵀ(SA)] = AᵀA."""
function subsample(A, b, p, k, sample)
    rows = sample(p, k)
    scale = 1 ./ sqrt.(k .* p[rows])
    return scale .* A[rows, :], scale .* b[rows]
end
#% subsample-released
"""k different rows of A and b, drawn with probabilities p."""
function subsample(A, b, p, k, sample)
    rows = sample(p, k)
    return A[rows, :], b[rows]
end
#% probabilities
"""Probabilities proportional to the squared row norms of M."""
function probabilities(M)
    norms = vec(sum(abs2, M; dims = 2))
    return norms ./ sum(norms)
end
#% triangle
"""R of M = QR with a nonnegative diagonal, square also where M has more columns than rows: RᵀR = MᵀM."""
function triangle(M)
    n = size(M, 2)
    R = qr(M).R
    signs = [copysign(1.0, R[i, i]) for i in 1:size(R, 1)]
    return vcat(signs .* R, zeros(n - size(R, 1), n))
end
#% inverse
"""M⁻¹, or the pseudo-inverse where M is singular to working precision."""
function inverse(M)
    precision = size(M, 1) * eps()
    factors = lu(M; check = false)
    if issuccess(factors)
        X = inv(factors)
        if opnorm(M, 1) * opnorm(X, 1) <= 0.01 / precision
            return X
        end
    end
    return pinv(Matrix(M); rtol = precision)
end
#% stacked
"The rows of one matrix above those of another; a vector is one row."
function stacked(above, below)
    rows(M) = M isa AbstractVector ? permutedims(M) : M
    return vcat(rows(above), rows(below))
end
#% orthonormal_rows
"The rows of M made orthonormal, from the first to the last; a row that depends on those above becomes zero."
function orthonormal_rows(M)
    Q = zeros(size(M))
    for i in axes(M, 1)
        row = M[i, :]
        # Once leaves an error that is large relative to a small rest, twice does not.
        for least in (0.0, 1e-13, 0.5)
            length = norm(row)
            if !(length > least)
                row = zero(row)
                break
            end
            row = row / length
            if least < 0.5
                for j in 1:i-1
                    row = row - dot(Q[j, :], row) * Q[j, :]
                end
            end
        end
        Q[i, :] = row
    end
    return Q
end
#% leading_ritz_vector
"The unit vector v in the row space of M with the largest vᵀAv, for a symmetric A."
function leading_ritz_vector(M, A)
    Q = orthonormal_rows(M)
    Q = Q[[any(!iszero, row) for row in eachrow(Q)], :]
    H = Q * A * Q'
    y = eigen(Symmetric((H + H') / 2)).vectors[:, end]
    v = Q' * (y[1] >= 0 ? y : -y)
    return v / norm(v)
end
#% shifted_triangle
"R of M on top of √shift·I: RᵀR = MᵀM + shift·I, without the square of a condition number."
function shifted_triangle(M, shift)
    n = size(M, 2)
    return triangle(vcat(M, sqrt(shift) * Matrix(1.0I, n, n)))
end
#% nystrom
"G of orthogonal rows such that I − GᵀG is, up to a factor, the Nyström preconditioner of M + shift·I."
function nystrom(M, shift, S)
    Y = S * M
    W = S * Matrix(Y')
    precision = size(Y, 1) * eps()
    largest = maximum(abs, diag(W))
    iszero(largest) && return zero(Y)
    # Shifted by the size of its rounding errors, so that it has a Cholesky factor.
    C = cholesky(Symmetric((W + W') / 2 + precision * largest * I))
    factors = svd(C.L \ Y)
    values = factors.S .^ 2
    least = minimum(values[values .> precision * values[1]])
    return sqrt.(max.(values .- least, 0) ./ max.(values .+ shift, least)) .* factors.Vt
end
