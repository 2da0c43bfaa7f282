import os
import warnings

import numpy as np


class Replay:
    """Draws that were made elsewhere, in the order they are asked for."""

    def __init__(self, folder):
        self.sketches = iter(lines(folder, "sketches"))
        self.samples = iter(lines(folder, "samples"))

    def sketch(self, s, m):
        return np.array([next(self.sketches) for _ in range(s)])

    def sample(self, p, k):
        return np.array(next(self.samples), dtype=int)


def lines(folder, name):
    path = os.path.join(folder, name + ".txt")
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [[float(number) for number in line.split()] for line in file]


def run(name, program):
    A, b, x0 = (np.array(lines(name, part)) for part in ("A", "b", "x0"))
    results = []
    program(A, b.ravel(), x0.ravel(), Replay(name), lambda x: results.append(np.array(x)))
    with open(os.path.join(name, "results.txt"), "w") as file:
        file.writelines(" ".join(repr(float(number)) for number in x) + "\n" for x in results)


def numbers(folder, name):
    return np.fromfile(os.path.join(folder, name + ".bin"), dtype="<f8")


def try_on(folder, name, program):
    """Runs a program with its own defaults and draws; what came of it, or why nothing did, goes into a file."""
    b, x0 = numbers(folder, "b"), numbers(folder, "x0")
    A = numbers(folder, "A").reshape(-1, len(x0))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = program(A, b, x0)
        text = f"{int(found.converged)} {found.iterations}\n" + " ".join(repr(float(number)) for number in found.x)
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        text = f"refused: {error}\n"
    except Exception as error:
        text = f"{type(error).__name__}: {error}\n"
    with open(os.path.join(folder, name + ".txt"), "w") as file:
        file.write(text)
