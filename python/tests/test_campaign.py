"""Campaigns: planned, computed, interrupted and continued, shown, collected; equal to what the command computes."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import rl4rla
from conftest import STAGE
from rl4rla._campaign import PARTS
from rl4rla._toml import toml

MINE = {"title": "Mine", "stage": [STAGE]}
SWEEP = dict(curricula=[MINE], methods=["best", "random"], seed=7, seeds=4)
STATES = ("done", "running", "waiting", "failed", "lost")


def without_times(record):
    """A record without what differs between two runs of the same search."""
    if isinstance(record, dict):
        return {key: without_times(value) for key, value in record.items() if key != "seconds"}
    return [without_times(item) for item in record] if isinstance(record, list) else record


def records(store):
    """The records of all runs of a store, by their ids."""
    ids = rl4rla.runs(store)["run"]
    return {run: without_times(rl4rla.resume(run, store=store).record) for run in ids}


@pytest.fixture
def night(tmp_path):
    return rl4rla.plan_campaign({"sweep": [SWEEP]}, tmp_path / "night")


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("computed") / "night"
    return rl4rla.plan_campaign({"sweep": [SWEEP]}, folder).compute(threads=2)


def test_a_campaign_from_the_plan_to_the_store(night, tmp_path):
    assert (night.title, night.tasks, night.waiting, night.done, night.complete) == ("night", 8, 8, 0, False)
    assert night.record["assumed"] == 2 and night.record["seconds"] > 0 and not len(night.submissions)
    assert night.searches["share"].isna().all() and repr(night).endswith("8 waiting>")
    assert night.compute(threads=2, progress=lambda message: None) is night
    assert night.complete and night.done == 8 and sum(night.record[state] for state in STATES) == night.tasks
    assert night.seconds_left is None and night.notes == [] and not len(night.failures)
    assert list(night.submissions["on"]) == ["local"] and list(night.submissions["active"]) == [0]
    assert list(night.submissions["threads"]) == [2]
    store = tmp_path / "runs.db"
    assert night.collect(store) == 8 and len(rl4rla.runs(store)) == 8
    assert (night.record["present"], night.record["missing"]) == (0, 0)
    assert night.collect(store=str(store)) == 0 and night.record["present"] == 8
    assert rl4rla.campaign(night.folder).record == night.refresh().record


def test_runs_equal_those_of_one_machine_and_of_the_command(command, computed, tmp_path):
    computed.collect(tmp_path / "runs.db")
    words = ["--methods", "best,random", "--seed", 7, "--seeds", 4]
    _, code = command("sweep", *words, "--store", tmp_path / "one.db", toml(MINE))
    assert code == 0
    keys = "".join(f"{key} = {json.dumps(value)}\n" for key, value in dict(SWEEP, curricula=[toml(MINE)]).items())
    (tmp_path / "other.toml").write_text(f"[[sweep]]\n{keys}")
    for step in (["plan", "other.toml"], ["submit", "other", "--local", 2], ["collect", "other", "--store", "other.db"]):
        _, code = command("campaign", *step, cwd=tmp_path)
        assert code == 0
    mine, one, other = (records(tmp_path / name) for name in ("runs.db", "one.db", "other.db"))
    assert len(mine) == 8 and mine == one == other


def test_a_campaign_of_the_command_is_opened_and_continued(command, tmp_path):
    """Both are of the same build, and see the same."""
    (tmp_path / "night.toml").write_text(
        f"title = 'Night'\n[[audit]]\ncurriculum = {json.dumps(toml(MINE))}\nseeds = 2\n[[sweep]]\n"
        f"curricula = [{json.dumps(toml(MINE))}]\nseeds = 3\n"
    )
    record, code = command("campaign", "plan", tmp_path / "night.toml", cwd=tmp_path)
    assert code == 0
    night = rl4rla.campaign(tmp_path / "night")
    assert night.record == {key: record[key] for key in night.record} and night.title == "Night"
    night.compute(threads=1)
    record, code = command("campaign", "status", tmp_path / "night")
    assert code == 0 and record == night.record and record["complete"]
    assert night.collect(tmp_path / "runs.db") == 3
    (audit,) = night.record["audits"]
    assert audit["stages"] and set(night.searches["kind"]) == {"sweep", "audit"}


def test_frames(computed):
    searches = computed.searches
    assert list(searches["tasks"]) == [4, 4] and searches["done"].sum() == 8
    assert np.array_equal(searches["share"], searches["found"] / searches["done"])
    for row, search in zip(searches.to_dict("records"), computed.record["searches"]):
        assert [row["low"], row["high"]] == search["interval"] and row["low"] <= row["share"] <= row["high"]
        assert row["label"] == search["label"] and "interval" not in row
    assert list(computed.failures.columns) == ["task", "what", "reason", "advice"]
    assert list(computed.submissions.columns) == ["number", "on", "threads", "where", "chunks", "active"]


def results(campaign):
    return sorted(path for path in pathlib.Path(campaign.folder, "results").rglob("*") if path.is_file())


def test_tasks_without_results_are_taken_up_by_the_same_process(night):
    """This process has begun them and still runs, but does not work on them any more."""
    wanted = {path.name: path.read_text() for path in results(night.compute(threads=2))}
    for path in results(night)[2:5]:
        path.unlink()
    assert (night.refresh().lost, night.running, night.complete) == (3, 0, False)
    assert night.compute(threads=2).complete and len(night.submissions) == 2
    found = {path.name: path.read_text() for path in results(night)}
    assert found.keys() == wanted.keys()
    # Nothing is left to do.
    assert len(night.compute(threads=2).submissions) == 2


def test_damaged_results_are_told_and_computed_again(night, tmp_path):
    path = results(night.compute(threads=2))[0]
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match=r"nothing was entered: 1 file [^§]*try: compute\(set_aside=True\)"):
        night.collect(tmp_path / "runs.db")
    assert night.compute(set_aside=True).complete
    assert night.collect(tmp_path / "runs.db") == 8
    assert len(list(pathlib.Path(night.folder, "damaged").iterdir())) == 1


def test_failures_are_shown(computed, tmp_path):
    failures = [dict(task=3, what="sweep <Mine>, seed 8", reason="the family `$x$` is unknown", advice=None)]
    searches = [dict(computed.record["searches"][0], done=1, found=1, failed=3, interval=[0.2, 1.0])]
    counts = dict(tasks=4, done=1, found=1, failed=3, complete=False, notes=["a note & more"], title="<b>")
    record = dict(computed.record, searches=searches, failures=failures, **counts)
    shown = rl4rla.Campaign(record, tmp_path)
    assert shown.failures["reason"][0] == failures[0]["reason"] and shown.failed == 3
    assert repr(shown) == "<Campaign <b>: 1 of 4 tasks done, 1 found, 3 failed>"
    page = shown._repr_html_()
    for words in ("&lt;b&gt;", "sweep &lt;Mine&gt;, seed 8 failed", "a note &amp; more", "<th>failed</th>", "0.20–1.00"):
        assert words in page, page
    assert "<b>" not in page and "<th>lost</th>" not in page


def test_notebooks_show_the_partial_table(night):
    page = night._repr_html_()
    assert page.count("<tr>") == 3 and page.count("<td>–</td>") == 4 and "8 waiting" in page
    page = night.compute(threads=2)._repr_html_()
    assert "8 of 8 tasks done" in page and "<td>–</td>" not in page and "waiting" not in page
    many = dict(night.record, searches=night.record["searches"] * 50)
    assert "and 40 other searches" in rl4rla.Campaign(many, night.folder)._repr_html_()


def test_a_campaign_is_drawn(computed, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    counts = dict(tasks=21, done=5, found=3, failed=1, running=4, waiting=5, lost=6)
    searches = [dict(computed.record["searches"][0], **counts), computed.record["searches"][1]]
    record = dict(computed.record, title="costs $5$ $", searches=searches)
    ax = rl4rla.Campaign(record, tmp_path).plot()
    widths = {bars.get_label(): [bar.get_width() for bar in bars] for bars in ax.containers}
    assert list(widths) == list(PARTS) and [widths[part][0] for part in PARTS] == [3, 2, 1, 4, 5, 6]
    drawn = [patch.get_hatch() or "" for patch in ax.get_legend().get_patches()]
    assert len(set(drawn)) == len(PARTS) and drawn == [bars[0].get_hatch() or "" for bars in ax.containers]
    ends = [max(bar.get_x() + bar.get_width() for bars in ax.containers for bar in [bars[row]]) for row in (0, 1)]
    assert ends == [21, 4] and len(ax.get_yticklabels()) == 2
    ax.figure.canvas.draw()
    other = matplotlib.pyplot.subplots()[1]
    assert computed.plot(ax=other) is other
    many = rl4rla.Campaign(dict(record, searches=searches * 50), tmp_path).plot()
    assert len(many.get_yticks()) == 60 and "first 60 of 100" in many.get_title()
    matplotlib.pyplot.close("all")


def test_ctrl_c_keeps_results_and_the_same_process_continues(tmp_path):
    script = textwrap.dedent(
        """
        import sys, rl4rla
        night = rl4rla.plan_campaign({"sweep": [{"curricula": ["block-kaczmarz"], "seeds": 3}]}, sys.argv[1])

        def tell(message):
            print(message, flush=True)

        try:
            night.compute(threads=2, progress=tell)
        except KeyboardInterrupt:
            night.refresh()
            print("stopped", night.done, night.running, night.lost, flush=True)
        again = night.compute(threads=2)
        print("ended", again.done, again.found, len(again.submissions), again.collect(sys.argv[2]), flush=True)
        """
    )
    line = [sys.executable, "-c", script, tmp_path / "night", tmp_path / "runs.db"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if "playout" in line or "tasks" in line:
                break
        os.kill(process.pid, signal.SIGINT)
        rest = process.stdout.read().splitlines()
        assert process.wait() == 0, rest
    stopped = [line.split() for line in rest if line.startswith("stopped")]
    done, running, lost = map(int, stopped[0][1:])
    assert running == 0 and done < 3 and done + lost == 3
    # All are found, by two submissions, and all enter the store.
    assert rest[-1].split() == ["ended", "3", "3", "2", "3"]
    whole = rl4rla.plan_campaign({"sweep": [{"curricula": ["block-kaczmarz"], "seeds": 3}]}, tmp_path / "whole")
    whole.compute(threads=2).collect(tmp_path / "whole.db")
    assert records(tmp_path / "runs.db") == records(tmp_path / "whole.db")


def test_a_callback_that_raises_stops_and_everything_continues(tmp_path):
    class Enough(Exception):
        pass

    def progress(message):
        raise Enough(message)

    night = rl4rla.plan_campaign({"sweep": [{"curricula": ["block-kaczmarz"], "seeds": 2}]}, tmp_path / "night")
    with pytest.raises(Enough):
        night.compute(threads=1, progress=progress)
    assert not night.refresh().running and night.compute(threads=2).complete


def test_progress_is_a_bar_of_tqdm(night, capsys):
    pytest.importorskip("tqdm")
    assert night.compute(threads=1, progress=True).complete
    assert "[00:" in capsys.readouterr().err
    with pytest.raises(TypeError, match="progress should be"):
        night.compute(progress=3)


def test_functions_of_the_user_are_called_by_tasks(tmp_path):
    """Their exceptions are raised, and a mended function goes on where they stopped."""
    broken = [True]

    def draw(rng, rows, cols):
        if broken[0]:
            raise ZeroDivisionError("not yet")
        A = rng.normal(size=(rows, cols))
        return A, A @ np.ones(cols) + rng.normal(size=rows)

    rl4rla.family("for-campaigns", draw=draw, rows=40, cols=4)
    stage = dict(STAGE, family=dict(kind="for-campaigns", rows=40, cols=4))
    del stage["target"]
    sweep = dict(curricula={"title": "Own", "stage": [dict(stage, target="ls-gd")]}, seeds=2)
    night = rl4rla.plan_campaign({"sweep": [sweep]}, tmp_path / "night")
    with pytest.raises(ZeroDivisionError, match="not yet"):
        night.compute(threads=2)
    broken[0] = False
    assert night.compute(threads=2, failed=True).complete


def test_folders_with_any_name(tmp_path):
    for name in ("my night", "100% of $HOME", "it's; `ls` --failed", "übung", "-n", "a\nb"):
        folder = tmp_path / name
        night = rl4rla.plan_campaign({"sweep": [dict(SWEEP, seeds=1)]}, folder).compute(threads=1)
        assert night.complete and night.folder == str(folder) and rl4rla.campaign(folder).title == name
        assert night.collect(folder / "runs.db") == 2


def test_a_relative_folder_stays_where_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(toml(MINE))
    (tmp_path / "night.toml").write_text("[[sweep]]\ncurricula = ['mine.toml']\nseeds = 2\n")
    planned = rl4rla.plan_campaign("night.toml")
    opened, named = rl4rla.campaign("night"), rl4rla.plan_campaign(pathlib.Path("night.toml"), folder="other")
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    assert planned.compute(threads=1).complete and opened.refresh().complete and not named.refresh().done


def test_what_cannot_be_is_a_value_error(night, tmp_path):
    for folder in (tmp_path / "none", tmp_path, tmp_path / "none --failed", "", "a\0b", tmp_path / "x\ud800"):
        with pytest.raises(ValueError) as error:
            rl4rla.campaign(folder)
        assert str(error.value).strip()
    with pytest.raises(ValueError, match="there is no campaign in .*none --failed: .*\ntry: the folder that `plan_campaign` has made"):
        rl4rla.campaign(tmp_path / "none --failed")
    with pytest.raises(ValueError, match="has a campaign already"):
        rl4rla.plan_campaign({"sweep": [SWEEP]}, night.folder)
    for threads in (0, -1, 1025, 10**30):
        with pytest.raises(ValueError, match="threads should be from 1 to 1024"):
            night.compute(threads=threads)
    file = tmp_path / "night.txt"
    file.write_bytes(b"\xff")
    for bad in (tmp_path / "none.toml", tmp_path, file, "", "night\0.toml"):
        with pytest.raises(ValueError):
            rl4rla.plan_campaign(bad, tmp_path / "other")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.jsonl").write_text("{}")
    with pytest.raises(ValueError):
        rl4rla.campaign(tmp_path / "broken")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    "table, words",
    [
        ({}, "^the campaign has no tasks"),
        ({"titel": "x"}, "^unknown field `titel`"),
        ({"sweep": [{}]}, "CURRICULA"),
        ({"sweep": [dict(SWEEP, seeds=0)]}, "seeds"),
        ({"sweep": [dict(SWEEP, sede=1)]}, r"^\[\[sweep\]\]: key `sede`: `sweep` has no option of this name\ntry: `seed`"),
        ({"sweep": [dict(SWEEP, zzzzzz=1)]}, "`rl4rla sweep --help` shows all"),
        ({"sweep": [dict(SWEEP, threads=2)]}, "not part of what a task computes"),
        ({"sweep": [dict(SWEEP, curricula=["nothing"])]}, "nothing"),
        ({"sweep": [dict(SWEEP, curricula=[])]}, "the list is empty"),
        ({"sweep": [dict(SWEEP, curricula=[{"title": "x"}])]}, "key `stage`: missing"),
        ({"explore": [dict(kappa=float("nan"))]}, "kappa takes numbers of at least 1"),
        ({"explore": [dict(held_out=-1)]}, "held_out"),
        ({"slurm": {"cpus": 0}, "sweep": [SWEEP]}, "cpus"),
        ({"title": "\ud800", "sweep": [SWEEP]}, "surrogates not allowed"),
    ],
)
def test_bad_tables_are_value_errors(tmp_path, table, words):
    with pytest.raises(ValueError, match=words) as error:
        rl4rla.plan_campaign(table, tmp_path / "night")
    assert "campaign.toml" not in str(error.value) and not (tmp_path / "night").exists()


def test_wrong_types_are_type_errors(night, tmp_path):
    for folder in (None, 3, b"night", ["night"], night):
        with pytest.raises(TypeError):
            rl4rla.campaign(folder)
    for file, folder in [
        (3, "x"),
        (None, "x"),
        ([SWEEP], "x"),
        ({"sweep": [SWEEP]}, None),
        ({"sweep": [SWEEP]}, 3),
        ({"sweep": SWEEP}, tmp_path / "x"),
        ({"sweep": ["block-kaczmarz"]}, tmp_path / "x"),
        ({"sweep": [{3: 4}]}, tmp_path / "x"),
        ({"sweep": [dict(SWEEP, seeds=None)]}, tmp_path / "x"),
        ({"sweep": [dict(SWEEP, curricula=[object()])]}, tmp_path / "x"),
        (tmp_path / "night.toml", 3),
    ]:
        with pytest.raises(TypeError):
            rl4rla.plan_campaign(file, folder)
    for threads in (1.5, "2", True, [2]):
        with pytest.raises(TypeError, match="threads should be a whole number"):
            night.compute(threads=threads)
    for options in (dict(failed=1), dict(take_over="yes"), dict(set_aside=None), dict(dry_run=True)):
        with pytest.raises(TypeError):
            night.compute(**options)
    for store in (None, 3):
        with pytest.raises(TypeError):
            night.collect(store)
    assert night.compute(threads=np.int32(2)).complete
