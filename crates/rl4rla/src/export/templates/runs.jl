# What runs the iterations of exported Julia functions. A line that ends with `#? CONDITION` is for some of them.
#% find_step
"""The harmonic mean of exact line searches along the first directions: it tends to the best constant step."""
function find_step(direction, A, b, x)
    step = 1.0 #? told step
    r, steps, first = A * x - b, Float64[], 0.0
    for t in 0:15
        v = direction(x) #? hidden
        v, _, _ = direction(x) #? shown
        Av = A * v
        gain, cost = dot(r, Av), dot(Av, Av)
        first = max(first, cost)
        if !(gain > 0 && 1e-6 * first < cost < Inf)
            break
        end
        step = gain / cost
        push!(steps, step)
        x, r = x - step * v, r - step * Av
    end
    # Steps come to alternate between two values, so an even number of the last ones is taken.
    steps = steps[(min(8, length(steps) ÷ 2) + 1):end]
    steps = steps[(length(steps) > 1 ? 1 + length(steps) % 2 : 1):end]
    return isempty(steps) ? 0.0 : length(steps) / sum(1 ./ steps)
end
#% find_step-random
"""The step that is best for 16 directions from the start together."""
function find_step(direction, A, b, x)
    step = 1.0 #? told step
    t = 0 #? remembers
    r, gain, cost = A * x - b, 0.0, 0.0
    for _ in 1:16
        v = direction(x) #? hidden
        v, _, _ = direction(x) #? shown
        Av = A * v
        gain, cost = gain + dot(r, Av), cost + dot(Av, Av)
    end
    return gain > 0 && cost < Inf ? gain / cost : 0.0
end
#% measurable
"""Whether squares neither overflow nor vanish where a vector is so long."""
measurable(length) = length == 0 || 1e-140 < length < 1e140
#% spectrum
"""Σ and Vᵀ of A = UΣVᵀ with columns of length 1, without those for columns of zeros."""
function spectrum(A, lengths)
    parts = svd(qr(A ./ [length > 0 ? length : 1.0 for length in lengths]').R)
    rank = max(1, count(>(0), lengths))
    return parts.S[1:min(rank, end)], parts.Vt[1:min(rank, end), :]
end
#% descend-squares
"""Repeats x ← x − η·direction(x) from x0; an η that is not given is found, and halved while the run diverges."""
function descend(direction, A, b, x0, step, tolerance, iterations, callback) #? shown
function descend(direction, A, b, x0, step, tolerance, iterations, callback, every) #? hidden
    lengths, bound, first = [norm(a) for a in eachcol(A)], norm(b), norm(A * x0 - b)
    usable, parts = measurable(bound) && all(measurable, lengths), nothing
    # What every solution has, and what costs little to see.
    limit(x, r) = tolerance * norm(r) + 4 * eps() * (dot(lengths, abs.(x)) + bound)
    small(x, r, g) = norm(r) < Inf && all(abs.(g) .<= limit(x, r) .* lengths)
    # Where columns nearly depend on each other a small gradient says little. But ‖Σ⁻¹Vᵀg‖ = ‖A(x − x*)‖.
    function solves(x, r, g)
        parts = isnothing(parts) ? spectrum(A, lengths) : parts
        sigma, Vt = parts
        if sigma[end] <= maximum(size(A)) * eps() * sigma[1]
            return false
        end
        excess, kappa = norm((Vt * (g ./ max.(lengths, floatmin()))) ./ sigma), sigma[1] / sigma[end]
        # What rounding leaves to a stable method; large coefficients do not excuse more than 5e-5‖b‖.
        rounding = min(8 * eps() * kappa, 1e-4) * norm(r) + 4 * eps() * (sigma[1] * norm(lengths .* x) + bound)
        return excess <= max(tolerance * norm(r), min(rounding, 5e-5 * bound))
    end
    met(x, r, g) = norm(r) <= tolerance * bound || (small(x, r, g) && solves(x, r, g))
    good(x, r, g) = tolerance > 0 && usable && met(x, r, g)
    found = isnothing(step)
    step = found ? find_step(direction, A, b, x0) : step
    x, r, t = x0, A * x0 - b, 0
    for _ in 1:(found ? 13 : 1)
        x, t = x0, 0
        while t < iterations && all(isfinite, x)
            v, r, g = direction(x) #? shown
            if good(x, r, g) #? shown
            look = t % every == 0  # that costs a pass over A #? hidden
            r = look ? A * x - b : r #? hidden
            if look && good(x, r, A' * r) #? hidden
                break
            end
            if found && !(norm(r) <= 100 * first)
                break
            end
            v = direction(x) #? hidden
            x, t = x - step * v, t + 1
            callback(x)
        end
        r = A * x - b
        if norm(r) <= (1 + 1e-9) * first
            break
        end
        step = found ? step / 2 : step
    end
    if found && !(norm(r) <= (1 + 1e-9) * first)
        x, r = x0, A * x0 - b
    end
    g = A' * r
    converged, residual = good(x, r, g), norm(r)
    gradient = maximum(abs.(g) ./ max.(lengths, floatmin())) / (residual > 0 ? residual : 1.0)
    if tolerance > 0 && !converged
        @warn "not converged" iterations = t gradient
    end
    return (; x, converged, iterations = t, step, residual, gradient)
end
#% line_search
"""A step that makes the loss at z − η·Av least: where its slope is a tenth of the first one."""
function line_search(z, Av, b)
    slope(step) = dot(1 ./ (1 .+ exp.(step .* Av .- z)) .- b, Av)
    low, high, first = 0.0, 1.0, slope(0.0)
    if !(0 < first < Inf)
        return 0.0
    end
    while slope(high) > 0.1 * first && high < 1e100
        low, high = high, 2 * high
    end
    for _ in 1:60
        step = slope(high) >= -0.1 * first ? high : (low + high) / 2
        if abs(slope(step)) <= 0.1 * first
            return step
        end
        low, high = slope(step) > 0 ? (step, high) : (low, step)
    end
    return low
end
#% descend-entropy
"""Repeats x ← x − η·direction(x), with a line search for every η that is not given."""
function descend(direction, A, b, x, step, tolerance, iterations, callback)
    lengths = [norm(a) for a in eachcol(A)]
    misfit(x) = 1 ./ (1 .+ exp.(-(A * x))) .- b
    cosine(r, g) = maximum(abs.(g) ./ max.(lengths, floatmin())) / (norm(r) > 0 ? norm(r) : 1.0)
    good(left) = tolerance > 0 && all(measurable, lengths) && left <= tolerance
    found, t = isnothing(step), 0
    step = found ? 1.0 : step
    while t < iterations && all(isfinite, x)
        v, r, g = direction(x) #? shown
        if good(cosine(r, g)) #? shown
        r = misfit(x) #? hidden
        if good(cosine(r, A' * r)) #? hidden
            break
        end
        v = direction(x) #? hidden
        step = found ? line_search(A * x, A * v, b) : step
        x, t = x - step * v, t + 1
        callback(x)
    end
    r = misfit(x)
    gradient = cosine(r, A' * r)
    converged = good(gradient)
    if tolerance > 0 && !converged
        @warn "not converged" iterations = t gradient
    end
    return (; x, converged, iterations = t, step, gradient)
end
#% iterate-eigenvector
"""Repeats x ← advance(x) until Ax = λx to the tolerance, λ = xᵀAx/xᵀx."""
function iterate_until(advance, A, x, tolerance, iterations, callback)
    quotient(x, Ax) = dot(x, Ax) / dot(x, x)
    left(x, Ax) = norm(Ax - quotient(x, Ax) * x) / (abs(quotient(x, Ax)) * norm(x))
    good(residual) = tolerance > 0 && residual <= tolerance
    t = 0
    while t < iterations && all(isfinite, x)
        y, Ax = advance(x) #? shown
        if good(left(x, Ax)) #? shown
        if good(left(x, A * x)) #? hidden
            break
        end
        y = advance(x) #? hidden
        x, t = y, t + 1
        callback(x)
    end
    eigenvalue, residual = quotient(x, A * x), left(x, A * x)
    converged = good(residual)
    if tolerance > 0 && !converged
        @warn "not converged" iterations = t residual
    end
    return (; x, converged, iterations = t, eigenvalue, residual)
end
#% iterate-standstill
"""Repeats x ← advance(x) until that changes x no more."""
function iterate_until(advance, x, tolerance, iterations, callback)
    t, change = 0, Inf
    while t < iterations && all(isfinite, x) && (tolerance == 0 || change > tolerance)
        y = advance(x)
        change = norm(y - x) / (norm(y) > 0 ? norm(y) : 1.0)
        x, t = y, t + 1
        callback(x)
    end
    converged = tolerance > 0 && change <= tolerance
    if tolerance > 0 && !converged
        @warn "not converged" iterations = t change
    end
    return (; x, converged, iterations = t, change)
end
