"""Searches: equal to the command's, interrupted and resumed, with progress; programs; comparisons."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import rl4rla
from conftest import STAGE


def without_times(record):
    """A record without what differs between two runs of the same search."""
    if isinstance(record, dict):
        return {key: without_times(value) for key, value in record.items() if key not in ("seconds", "run", "name")}
    return [without_times(item) for item in record] if isinstance(record, list) else record


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    store = tmp_path_factory.mktemp("store") / "runs.db"
    return rl4rla.discover("subsampled-ls-gd", store=store, seed=3)


def test_discover_equals_the_command(command, tmp_path, run):
    record, code = command("discover", "subsampled-ls-gd", "--seed", 3, "--store", tmp_path / "runs.db")
    assert code == 0 and run.found
    assert without_times(run.record) == without_times(record)


def test_a_run_has_stages_programs_and_fronts(run):
    assert list(run.stages["found"]) == [True] * len(run.stages)
    assert run.program.matched == "subsampled-ls-gd" and run.program == run.programs[list(run.programs)[-1]]
    front = run.front()
    assert {"excess", "flops", "program", "name"} <= set(front.columns) and len(front)
    with pytest.raises(ValueError, match="there is no stage"):
        run.front("nothing")
    assert run.resume().record == run.record
    assert run.id in set(rl4rla.runs(run.store)["run"])
    assert "✓" in run._repr_html_()


def test_a_run_is_drawn(run):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = run.plot()
    assert ax.get_xlabel() == "flops" and len(ax.texts) == len(run.front())


def test_a_curriculum_as_a_dictionary(tmp_path):
    told = []
    run = rl4rla.discover({"title": "Mine", "stage": [STAGE]}, store=tmp_path / "runs.db", progress=told.append)
    assert run.found and run.program.matched == "ls-gd"
    found = rl4rla.solve(np.eye(4)[:, :3] + 0.1, np.ones(4), run.program, check=False)
    assert found.x.shape == (3,)


def test_progress_is_told(tmp_path):
    told = []
    rl4rla.discover("block-kaczmarz", store=tmp_path / "runs.db", progress=told.append)
    assert any("playout" in message for message in told)


def test_progress_is_a_bar_of_tqdm(tmp_path, capsys):
    pytest.importorskip("tqdm")
    rl4rla.discover("subsampled-ls-gd", store=tmp_path / "runs.db", progress=True)
    assert "stage 1 of" in capsys.readouterr().err
    with pytest.raises(TypeError, match="progress should be"):
        rl4rla.discover("subsampled-ls-gd", store=tmp_path / "runs.db", progress=3)


def test_explore(tmp_path):
    run = rl4rla.explore("mid-cond", rows=500, cols=8, kappa=[10], edits=3, hall=2, evolve=0, store=tmp_path / "runs.db")
    assert len(run.hall) and run.program.equation
    assert run.plot() is not None


def test_ctrl_c_keeps_the_run(tmp_path):
    """The process is back within a second, and the run resumes to the uninterrupted result."""
    script = textwrap.dedent(
        """
        import sys, time, rl4rla
        print("ready", flush=True)
        try:
            rl4rla.discover("block-kaczmarz", store=sys.argv[1], progress=lambda message: print(message, flush=True))
        except KeyboardInterrupt:
            print("stopped", flush=True)
            sys.exit(7)
        """
    )
    store = tmp_path / "runs.db"
    with subprocess.Popen([sys.executable, "-c", script, store], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if "playout" in line:
                break
        os.kill(process.pid, signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait() == 7 and rest.endswith("stopped\n")
    (row,) = rl4rla.runs(store).to_dict("records")
    assert row["status"] == "interrupted"
    resumed = rl4rla.resume("last", store=store).record
    whole = rl4rla.discover("block-kaczmarz", store=tmp_path / "whole.db").record
    assert without_times(resumed) == without_times(whole)


def test_programs():
    program = rl4rla.program("sketched-precond-gd")
    assert rl4rla.Program(program.text) == program and hash(rl4rla.Program(str(program))) == hash(program)
    assert program._repr_latex_().startswith("$") and "SKETCH" in str(program)
    same = program.equivalent("sketched-precond-gd-factored")
    assert same and same["symbolic"] and not program.equivalent("precond-gd")
    assert program.cost["setup"] != "0"
    space = {}
    exec(program.export("python"), space)
    assert callable(space["sketched_precond_gd"])
    assert "solve" in program.export("rust") or "fn " in program.export("rust")


def test_analysis_equals_the_command(command):
    found = rl4rla.program("ls-gd").analyze(family="mid-cond", kappa=[10], rows=200, cols=4, replicates=3)
    wanted, _ = command(
        *("analyze", "ls-gd", "--quick", "--family", "mid-cond", "--kappa", 10, "--rows", 200, "--cols", 4),
        *("--replicates", 3),
    )
    for key in ("contraction", "step_range", "flops", "map"):
        assert found[key] == wanted[key]


def test_compare_on_data_and_families(data):
    table = rl4rla.compare(["precond-gd"], "qr,lsqr", data=data, intercept=True, repeats=1)
    assert set(table["solver"]) == {"precond-gd", "qr", "lsqr"} and (table["excess"] < 1e-9).all()
    assert table.loc[table["solver"] == "qr", "seconds"].item() > 0
    for bad in (dict(data=3), dict(data=(np.ones((3, 1)), np.ones(2))), dict(family="nothing")):
        with pytest.raises(ValueError):
            rl4rla.compare([], "qr", **bad)


def wide_enough():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(400, 10)) * np.arange(1.0, 11.0)
    return A, A @ np.ones(10) + rng.normal(size=400)


SHORT = dict(without_matrices=True, edits=3, hall=2, held_out=2, evolve=0)


def test_explore_for_data_equals_the_command(command, tmp_path):
    A, b = wide_enough()
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "b.npy", b)
    run = rl4rla.explore((A, b), store=tmp_path / "runs.db", **SHORT)
    words = ["--without-matrices", "--edits", 3, "--hall", 2, "--held-out", 2, "--evolve", 0]
    files = ["--matrix", tmp_path / "A.npy", "--rhs", tmp_path / "b.npy"]
    record, code = command("explore", *files, *words, "--store", tmp_path / "other.db")
    assert code == 0 and run.record["hall"] == record["hall"]
    hall = run.hall
    assert hall["data_ending"][0] == "reached" and hall["data_iterations"][0] > 1
    best = np.linalg.norm(A @ np.linalg.lstsq(A, b)[0] - b) / np.linalg.norm(b)
    assert abs(hall["data_residual"][0] / best - 1) < 1e-8
    assert "drawn problems" in run.record["searched_on"] and run.record["request"]["resembles"] == "A"
    assert run.plot() is not None and run.resume().record["hall"] == record["hall"]


def test_explore_takes_frames_sparse_matrices_and_an_intercept(tmp_path):
    import pandas
    import scipy.sparse

    A, b = wide_enough()
    wanted = rl4rla.explore((A, b), intercept=True, store=tmp_path / "runs.db", **SHORT).record["hall"]
    for other in (pandas.DataFrame(np.asfortranarray(A)), scipy.sparse.csr_matrix(A)):
        assert rl4rla.explore((other, b), intercept=True, store=tmp_path / "runs.db", **SHORT).record["hall"] == wanted


def test_bad_data_for_explore(tmp_path):
    A, b = wide_enough()
    store = tmp_path / "runs.db"
    for bad in ((A,), (A, b, b), (A, b[:-1]), (A[:5], b[:5]), (A[:, :2], b), (A * np.nan, b), (np.ones((40, 10)), b[:40])):
        with pytest.raises(ValueError):
            rl4rla.explore(bad, store=store, **SHORT)
    with pytest.raises(ValueError):
        rl4rla.explore("mid-cond", intercept=True, store=store)
    with pytest.raises(ValueError):
        rl4rla.explore((A, b), rows=1000, store=store)
    with pytest.raises(TypeError):
        rl4rla.explore(A, store=store)


def test_progress_without_tqdm_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="needs tqdm"):
        rl4rla.discover("subsampled-ls-gd", store=tmp_path / "runs.db", progress=True)
