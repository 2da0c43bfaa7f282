"""Notebooks run from beginning to end."""

import pathlib
import shutil

import pytest

nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
import nbformat

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "notebooks"


def test_there_are_notebooks():
    assert len(list(FOLDER.glob("*.ipynb"))) >= 3


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    copy = shutil.copy(path, tmp_path)
    notebook = nbformat.read(copy, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()


def test_stopping_a_kernel_keeps_the_run(tmp_path):
    """The stop button of a notebook during `discover` ends the cell, and the run is kept."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(cwd=str(tmp_path))
    try:
        # What follows is not to be skipped because of the interrupt.
        search = "import rl4rla\nrl4rla.discover('newton-sketch', progress=print)"
        client.execute(search, stop_on_error=False)
        told = ""
        while "playout" not in told:
            message = client.get_iopub_msg(timeout=60)
            told = message["content"].get("text", "") if message["msg_type"] == "stream" else ""
        manager.interrupt_kernel()
        while True:
            message = client.get_iopub_msg(timeout=30)
            if message["msg_type"] == "error":
                assert message["content"]["ename"] == "KeyboardInterrupt"
                break
        reply = client.execute_interactive("assert rl4rla.runs()['status'][0] == 'interrupted'", timeout=30)
        assert reply["content"]["status"] == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
