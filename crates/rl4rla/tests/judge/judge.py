"""An interpreter of programs that shares no code with the one it judges: NumPy, and the documents of the language.

Reads a list of pairs as JSON, {"geometry", "update", "p", "q"} each, runs both programs of every pair on the
same instances with the same draws, and prints for each pair how they compare: from the true start, and from a general
point as functions; null for a pair with an operator that it does not know.
"""

import json
import re
import sys

import numpy as np

CARRIED = ("m1", "m2", "u1")
EPS = np.finfo(float).eps
STEP = 0.61
MU = 0.29
LAMBDA = 0.31
EVERY = 3


class Fails(Exception):
    """The program cannot go on."""


def parse(text):
    """The instructions of setup and of the iteration: (targets, operator, operands)."""
    sections = {"setup": [], "iteration": []}
    section = None
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line in ("setup:", "iteration:"):
            section = line[:-1]
        elif section and line:
            target, _, call = line.rpartition("=")
            name, operands = re.fullmatch(r"\s*(\w+)\((.*)\)", call).groups()
            split = lambda names: [n.strip() for n in names.split(",") if n.strip()]
            sections[section].append((split(target), name, split(operands)))
    return sections


def reads(instruction):
    _, name, operands = instruction
    return set(operands) | ({"A", "b"} if name == "SUBSAMPLING" else set())


def live_code(instructions, needed):
    """The instructions that what is needed afterwards depends on, and what they need."""
    kept = []
    for instruction in reversed(instructions):
        if needed & set(instruction[0]):
            needed = (needed - set(instruction[0])) | reads(instruction)
            kept.append(instruction)
    return kept[::-1], needed


class Program:
    """The live code of a program."""

    def __init__(self, text):
        sections = parse(text)
        after = {"v1"}
        while True:
            self.iteration, before = live_code(sections["iteration"], set(after))
            if before & set(CARRIED) <= after:
                break
            after |= before & set(CARRIED)
        self.setup, _ = live_code(sections["setup"], before | {"x"})
        looks_back = any(name in ("PREVIOUS", "REFRESH") for _, name, _ in self.iteration) or "d" in before
        self.carries = bool(after - {"v1"}) or looks_back
        self.written = {name for targets, _, _ in self.iteration for name in targets}

    def is_known(self):
        """Whether every operator has an arithmetic here."""
        return all(name in OPERATORS or name == "DO_NOTHING" for _, name, _ in self.setup + self.iteration)


class Instance:
    """A problem with its draws: sketches and uniform numbers for samples, by section and by sample."""

    def __init__(self, geometry, rows, cols, sketch, batch, seed):
        rng = np.random.default_rng(seed)
        u, _ = np.linalg.qr(rng.standard_normal((rows, cols)))
        v, _ = np.linalg.qr(rng.standard_normal((cols, cols)))
        spectrum = np.linspace(1.0, 0.4, cols)
        self.A = (v if geometry == "symmetric" else u) * spectrum @ v.T
        self.b = rng.standard_normal(rows)
        self.start, self.other = rng.standard_normal(cols), rng.standard_normal(cols)
        self.carried = {"m1": rng.standard_normal(cols), "u1": rng.standard_normal(rows)}
        self.carried["m2"] = self.carried["m1"]
        self.batch = batch
        self.sketches = rng.standard_normal((12, sketch, rows)) / np.sqrt(sketch)
        self.uniform = rng.random((12, 12, batch))
        self.noise = rng.standard_normal(self.A.shape)
        self.geometry = geometry

    def shaken(self):
        """The same problem, moved by far more than rounding and far less than anything that is meant."""
        other = Instance.__new__(Instance)
        other.__dict__.update(self.__dict__)
        moved = self.A * (1 + 1e-11 * self.noise)
        other.A = (moved + moved.T) / 2 if self.geometry == "symmetric" else moved
        return other


def vector(operation):
    return lambda machine, *values: operation(*values)


class Matrix:
    """A matrix, and whether it is triangular by how it was made."""

    def __init__(self, entries, upper=False):
        self.entries, self.upper = entries, upper


def triangular(matrix):
    if (np.abs(np.diag(matrix.entries)) < np.finfo(float).tiny).any():
        raise Fails
    return np.triu(matrix.entries)


def mat_inv(machine, matrix):
    if matrix.upper:
        return Matrix(np.linalg.inv(triangular(matrix)), True)
    m = matrix.entries
    try:
        inverse = np.linalg.inv(m)
        if np.linalg.norm(m, 1) * np.linalg.norm(inverse, 1) <= 0.01 / (len(m) * EPS):
            return Matrix(inverse)
    except np.linalg.LinAlgError:
        pass
    return Matrix(np.linalg.pinv(m, rcond=len(m) * EPS))


def triangular_solve(machine, first, second):
    if isinstance(first, Matrix):
        return np.linalg.solve(triangular(first), second)
    return np.linalg.solve(triangular(second).T, first)


def mat_vec_solve(machine, matrix, v):
    sigma = np.linalg.svd(matrix.entries, compute_uv=False)
    if sigma[-1] <= 100 * len(v) * EPS * sigma[0]:
        raise Fails
    return np.linalg.solve(matrix.entries, v)


def hhqr(machine, matrix):
    n = matrix.entries.shape[1]
    r = np.linalg.qr(matrix.entries, mode="r")
    r = np.where(np.diag(r) < 0, -1.0, 1.0)[:, None] * r
    return Matrix(np.vstack([r, np.zeros((n - len(r), n))]), True)


def sketch(machine, value):
    s = machine.instance.sketches[machine.time]
    return Matrix(s @ value.entries) if isinstance(value, Matrix) else s @ value


def subsampling(machine, weights):
    a, b = machine.values["A"].entries, machine.values["b"]
    uniform = machine.instance.uniform[machine.time, machine.samples]
    machine.samples += 1
    rows = np.minimum(np.searchsorted(np.cumsum(weights), uniform), len(weights) - 1)
    scales = 1 / np.sqrt(len(rows) * weights[rows])
    return Matrix(scales[:, None] * a[rows]), scales * b[rows]


def leverage(machine, matrix):
    squares = (matrix.entries**2).sum(axis=1)
    if not squares.sum() > 0:
        raise Fails
    return squares / squares.sum()


def product(machine, p, q):
    return Matrix(p.entries @ q.entries, p.upper and q.upper)


def previous(machine, value):
    """The operand of the same call in the iteration before, or in the first one itself."""
    before = machine.memory.get(machine.place, value)
    machine.memory[machine.place] = value
    return before


OPERATORS = {
    "VEC_VEC_ADD": vector(np.add),
    "VEC_VEC_SUB": vector(np.subtract),
    "VEC_VEC_DOT": vector(np.dot),
    "MAT_VEC_MUL": lambda machine, m, v: m.entries @ v,
    "VEC_MAT_MUL": lambda machine, v, m: v @ m.entries,
    "SCALAR_VEC_MUL": vector(np.multiply),
    "SCALAR_DIV": vector(lambda a, b: a / b if b != 0 else 0.0),
    "MAT_MAT_MUL": product,
    "MAT_MAT_TRANS_MUL": lambda machine, p, q: Matrix(p.entries @ q.entries.T),
    "MAT_TRANS_MAT_MUL": lambda machine, p, q: Matrix(p.entries.T @ q.entries),
    "MAT_INV": mat_inv,
    "TRIANGULAR_SOLVE": triangular_solve,
    "HHQR": hhqr,
    "SKETCH": sketch,
    "SUBSAMPLING": subsampling,
    "LEVERAGE_SCORE": leverage,
    "VEC_SIGMOID": vector(lambda v: 1 / (1 + np.exp(-v))),
    "VEC_DSIGMOID": vector(lambda p: p * (1 - p)),
    "VEC_MAT_SCALE": lambda machine, v, m: Matrix(np.sqrt(v)[:, None] * m.entries),
    "MAT_GRAM": lambda machine, m: Matrix(m.entries.T @ m.entries),
    "MAT_VEC_SOLVE": mat_vec_solve,
    "VEC_NORMALIZE": vector(lambda v: v / np.linalg.norm(v)),
    "VEC_VEC_MUL": vector(np.multiply),
    "VEC_ABS": vector(np.abs),
    "PREVIOUS": previous,
    "REFRESH": lambda machine, u, v: u if (machine.time - 1) % EVERY == 0 else v,
}


class Machine:
    def __init__(self, instance, x):
        rows, cols = instance.A.shape
        self.instance, self.time, self.samples = instance, 0, 0
        self.memory, self.place = {}, 0
        self.values = {
            "A": Matrix(instance.A),
            "b": instance.b,
            "x": x,
            "eta": STEP,
            "mu": MU,
            "lambda": LAMBDA,
            "p1": np.full(rows, 1 / rows),
            "d": np.zeros(cols),
            "m1": np.zeros(cols),
            "m2": np.zeros(cols),
            "u1": np.zeros(rows),
        }

    def run(self, instructions, time):
        self.time, self.samples = time, 0
        for self.place, (targets, name, operands) in enumerate(instructions):
            if name == "DO_NOTHING":
                continue
            try:
                result = OPERATORS[name](self, *(self.values[operand] for operand in operands))
            except np.linalg.LinAlgError as error:
                raise Fails from error
            results = result if isinstance(result, tuple) else (result,)
            for target, value in zip(targets, results):
                entries = value.entries if isinstance(value, Matrix) else value
                if not np.isfinite(entries).all():
                    raise Fails
                self.values[target] = value


def course(program, instance, update, anywhere, iterations):
    """The iterates up to the first failure."""
    begin = np.zeros_like(instance.start) if update == "subtract" else instance.start
    setup_x = instance.other if anywhere and update == "assign" else begin
    machine = Machine(instance, setup_x)
    found = []
    try:
        machine.run(program.setup, 0)
        left = dict(machine.values)
        # A run starts where setup has put x, and a function is tried elsewhere.
        started = any("x" in targets for targets, _, _ in program.setup)
        machine.values["x"] = instance.start if anywhere else left["x"] if started else begin
        carried = {m: instance.carried[m] if anywhere else left[m] for m in CARRIED}
        d = left["d"]
        for t in range(1, iterations + 1):
            machine.values = {**left, "x": machine.values["x"], "d": d, **carried}
            machine.run(program.iteration, t)
            carried = {m: machine.values[m] for m in CARRIED}
            v1 = machine.values["v1"]
            x = machine.values["x"]
            if update == "subtract":
                x = x - STEP * v1
            elif update == "assign":
                x = v1
            if not np.isfinite(x).all():
                raise Fails
            d = x - machine.values["x"]
            machine.values["x"] = x
            found.append(v1 if update == "answer" else x)
    except Fails:
        pass
    return found, begin


def apart(x, y):
    return np.linalg.norm(x - y) / max(np.linalg.norm(x), np.linalg.norm(y), 1e-6)


def is_steady(program, instance, update, anywhere, iterations, found):
    again, _ = course(program, instance.shaken(), update, anywhere, iterations)
    return len(found) == len(again) and all(apart(x, y) < 1e-7 for x, y in zip(found, again))


def compare(p, q, instances, update, anywhere):
    """How two programs compare, whether anything moved, and whether what was seen is more than rounding."""
    iterations = 4 if anywhere else 6
    largest, ran, moved, steady = 0.0, False, False, True
    # Where one stops before the other: after how many iterations.
    stops = []
    for instance in instances:
        (xs, begin), (ys, _) = (course(program, instance, update, anywhere, iterations) for program in (p, q))
        steady &= all(
            is_steady(program, instance, update, anywhere, iterations, found) for program, found in ((p, xs), (q, ys))
        )
        if len(xs) != len(ys):
            stops.append(min(len(xs), len(ys)))
        for x, y in zip(xs, ys):
            ran = True
            moved |= update == "answer" or apart(x, begin) > 1e-12
            largest = max(largest, apart(x, y))
    if largest > 1e-5:
        said = "differ"
    elif stops and ran and largest < 1e-8 and len(stops) < len(instances) and not any(stops):
        said = "sizes"
    elif stops:
        said = "domain"
    elif not ran:
        said = "none"
    else:
        said = "agree" if largest < 1e-8 else "unclear"
    return {"said": said, "moved": bool(moved), "steady": bool(steady)}


def main():
    sizes = {
        "tall": [(9, 3, 5, 2), (14, 4, 7, 9)],
        "square": [(4, 4, 3, 3), (5, 5, 5, 8)],
        "symmetric": [(4, 4, 3, 3), (5, 5, 5, 8)],
    }
    instances = {
        geometry: [Instance(geometry, *size, seed) for seed, size in enumerate(all_sizes)]
        for geometry, all_sizes in sizes.items()
    }
    pairs = json.load(sys.stdin)
    answers = []
    with np.errstate(all="ignore"):
        for pair in pairs:
            p, q = Program(pair["p"]), Program(pair["q"])
            if not (p.is_known() and q.is_known()):
                answers.append(None)
                continue
            judge = lambda anywhere: compare(p, q, instances[pair["geometry"]], pair["update"], anywhere)
            answers.append({"start": judge(False), "map": judge(True), "carries": p.carries or q.carries})
    json.dump(answers, sys.stdout)


main()
