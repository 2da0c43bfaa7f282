"""What tests share: the command, if it was built, and data."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]

# A stage that is found within milliseconds.
STAGE = dict(
    name="gradient",
    edits=3,
    open=["iteration"],
    registers=["v1"],
    step=0.5,
    target="ls-gd",
    family=dict(kind="low-cond", rows=40, cols=4),
    instances=dict(search=6, select=4, report=4),
)


def pytest_addoption(parser):
    parser.addoption("--fuzz", type=int, default=300, help="number of fuzzed calls")


@pytest.fixture(scope="session")
def command():
    """Runs the command and returns its JSON document; skips where it was not built."""
    path = os.environ.get("RL4RLA", ROOT / "target" / "release" / "rl4rla")
    if not pathlib.Path(path).exists():
        pytest.skip("the command was not built: cargo build --release")

    def run(*words, cwd=None):
        done = subprocess.run([path, *map(str, words), "--json"], capture_output=True, text=True, cwd=cwd)
        return json.loads(done.stdout), done.returncode

    return run


@pytest.fixture
def data():
    """A well-conditioned problem with noise."""
    rng = np.random.default_rng(5)
    A = rng.normal(size=(400, 6))
    return A, A @ np.arange(1.0, 7.0) + 0.1 * rng.normal(size=400) + 2.0
