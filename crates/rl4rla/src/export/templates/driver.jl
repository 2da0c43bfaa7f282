using LinearAlgebra: LAPACKException, SingularException

"""The numbers of a file, line by line; none if there is no such file."""
function lines(folder, name)
    path = joinpath(folder, name * ".txt")
    return isfile(path) ? [parse.(Float64, split(line)) for line in eachline(path)] : Vector{Float64}[]
end

"""Runs a program on the data of a folder and on draws that were made elsewhere, in the order they are asked for."""
function run_on(folder, program)
    matrix(rows) = isempty(rows) ? zeros(0, 0) : permutedims(reduce(hcat, rows))
    A, b, x0 = matrix(lines(folder, "A")), vec(matrix(lines(folder, "b"))), vec(matrix(lines(folder, "x0")))
    sketches, samples = lines(folder, "sketches"), lines(folder, "samples")
    sketch(s, m) = matrix([popfirst!(sketches) for _ in 1:s])
    # Rows are counted from zero in the files, and from one here.
    sample(p, k) = Int.(popfirst!(samples)) .+ 1
    results = Vector{Float64}[]
    program(A, b, x0, sketch, sample, x -> push!(results, copy(x)))
    open(joinpath(folder, "results.txt"), "w") do file
        for x in results
            println(file, join(x, " "))
        end
    end
end

"""Runs a program with its own defaults and draws; what came of it, or why nothing did, goes into a file."""
function try_on(folder, name, program)
    numbers(part) = collect(reinterpret(Float64, read(joinpath(folder, part * ".bin"))))
    b, x0 = numbers("b"), numbers("x0")
    A = permutedims(reshape(numbers("A"), length(x0), :))
    text = try
        found = program(A, b, x0)
        string(Int(found.converged), " ", found.iterations, "\n", join(found.x, " "))
    catch problem
        refused = problem isa Union{SingularException, LAPACKException, DivideError, DomainError}
        (refused ? "refused: " : "") * sprint(showerror, problem)
    end
    write(joinpath(folder, name * ".txt"), text)
end
