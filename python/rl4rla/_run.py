"""Searches for programs, and their results."""

import os

from rl4rla import _rl4rla
from rl4rla._arrays import is_sparse, matrix, pair, vector
from rl4rla._command import DEFAULT_STORE, answer, arguments, call, watched
from rl4rla._compare import frame
from rl4rla._errors import Interrupted
from rl4rla._program import Program
from rl4rla._solve import in_python
from rl4rla._toml import toml


class Run:
    """What came of a search: its stages, their programs, Pareto fronts and hall of fame.

    ``record`` is the document that the command prints with ``--json``.
    """

    def __init__(self, record, store=DEFAULT_STORE):
        self.record = record
        self.store = os.fspath(store)

    @property
    def id(self):
        """Its id in the store."""
        return self.record["run"]

    @property
    def found(self):
        """Whether every stage found its target, or an exploration a program that reached the tolerance."""
        return bool(self.record["found"])

    @property
    def seconds(self):
        """Seconds that the search took."""
        return self.record["seconds"]

    @property
    def stages(self):
        """A frame with a row for every stage."""
        left_out = ("front", "candidates")
        rows = [{key: value for key, value in stage.items() if key not in left_out} for stage in self.record["stages"]]
        return frame(rows)

    @property
    def programs(self):
        """The program that each stage chose, by the name of the stage."""
        return {stage["name"]: self._program(stage) for stage in self.record["stages"] if stage["program"]}

    @property
    def program(self):
        """The program of the last stage; the best one of an exploration."""
        found = [stage for stage in self.record["stages"] if stage["program"]]
        if not found:
            raise ValueError(f"run {self.id} found no program")
        return self._program(found[-1])

    def _program(self, stage):
        if self.record["curriculum"] == "explore":
            return Program(stage["program"])
        return Program.named(f"run:{self.id}/{stage['name']}", self.store)

    def front(self, stage=None):
        """The Pareto front of accuracy, work and stability of a stage, the last one by default, as a frame."""
        stages = self.record["stages"]
        if stage is not None:
            stages = [one for one in stages if one["name"] == stage]
            if not stages:
                names = ", ".join(one["name"] for one in self.record["stages"])
                raise ValueError(f"there is no stage {stage!r}; it is one of {names}")
        return frame(stages[-1]["front"])

    @property
    def hall(self):
        """The hall of fame of an exploration, as a frame; what programs did on the user's data is in ``data_...``."""
        rows = [dict(row) for row in self.record.get("hall", [])]
        for row in rows:
            row.update({f"data_{key}": value for key, value in row.pop("on_data", {}).items()})
        return frame(rows)

    def resume(self, **options):
        """The same run, continued if it was interrupted."""
        return resume(self.id, store=self.store, **options)

    def plot(self, stage=None, ax=None):
        """Draws the Pareto front of a stage, or the hall of fame of an exploration: error against work."""
        import matplotlib.pyplot as plt

        ax = ax or plt.subplots()[1]
        if self.record["curriculum"] == "explore":
            hall = self.hall
            ax.scatter(hall["flops"], hall["reward"])
            for place, (flops, reward) in enumerate(zip(hall["flops"], hall["reward"]), 1):
                ax.annotate(f"#{place}", (flops, reward), xytext=(4, 4), textcoords="offset points")
            ax.set(xscale="log", xlabel="flops", ylabel="reward", title=f"Hall of fame of run {self.id}")
            return ax
        front = self.front(stage)
        name = stage or self.record["stages"][-1]["name"]
        ax.plot(front["flops"], front["excess"], "o-")
        for _, row in front.iterrows():
            ax.annotate(
                row["name"] or f"#{row['place']}",
                (row["flops"], row["excess"]),
                xytext=(4, 4),
                textcoords="offset points",
            )
        ax.set(xscale="log", xlabel="flops", ylabel="excess", title=f"Pareto front of {name}")
        if len(front) and (front["excess"] > 0).all():
            ax.set_yscale("log")
        return ax

    def __repr__(self):
        what = "found" if self.found else "not found"
        return f"<Run {self.id}: {self.record['curriculum']}, seed {self.record['seed']}, {what}>"

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{'✓' if stage['found'] else '✗'}</td><td>{_escaped(stage['name'])}</td>"
            f"<td>{_escaped(stage['equation'] or '')}</td></tr>"
            for stage in self.record["stages"]
        )
        return f"<p>{_escaped(repr(self))}</p><table>{rows}</table>"


def _escaped(text):
    import html

    return html.escape(str(text))


def _search(command, words, store, threads, progress, options):
    work = lambda: call(command, *words, store=store, threads=threads, progress=progress, **options)  # noqa: E731
    return _run(in_python(work)[0], store)


def _run(document, store):
    if document.get("interrupted"):
        message = f"interrupted; everything computed is saved: rl4rla.resume({document['run']!r}) continues"
        raise Interrupted(message, document["run"])
    return Run(document, store)


def discover(curriculum, *, method="best", seed=0, store=DEFAULT_STORE, threads=None, progress=None, **options):
    """Runs the stages of a curriculum: a ``Run``.

    ``curriculum`` is a built-in name, a path to a TOML file, or a dictionary with the same keys. Everything computed is in
    the store: after Ctrl-C, ``resume("last")`` continues, with the same result. ``progress`` is ``True`` for a bar of tqdm, or
    a function that is called with messages. Other options are those of ``rl4rla discover``, such as ``budget``.

    >>> import os, tempfile
    >>> stage = dict(name="gradient", edits=3, open=["iteration"], registers=["v1"], step=0.5, target="ls-gd",
    ...              family=dict(kind="low-cond", rows=40, cols=4), instances=dict(search=6, select=4, report=4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = discover({"title": "Mine", "stage": [stage]}, store=os.path.join(folder, "runs.db"))
    ...     run.found, run.program.equation
    (True, 'xₜ₊₁ = xₜ − η Aᵀ (A xₜ − b)')
    """
    if not isinstance(curriculum, (str, os.PathLike)):
        curriculum = toml(curriculum)
    options = dict(options, method=method, seed=seed)
    return _search("discover", [os.fspath(curriculum)], os.fspath(store), threads, progress, options)


def explore(
    family=None,
    *,
    intercept=False,
    standardise=False,
    seed=0,
    store=DEFAULT_STORE,
    threads=None,
    progress=None,
    **options,
):
    """Searches from the empty program, without curriculum or target: a ``Run`` with a hall of fame.

    ``family`` is the name of a family, or the data (A, b). Then the search runs on drawn problems that resemble the data in
    size, condition number, leverage and share of b outside the range of A, all of them estimated, and the programs it finds are
    also run on the data: ``data_...`` in ``hall``. Other options are those of ``rl4rla explore``, such as ``rows``, ``cols``,
    ``kappa`` and ``tolerance``; what is given is not estimated.
    """
    options = dict(options, seed=seed)
    if isinstance(family, (tuple, list)):
        return _explore_for(family, bool(intercept), bool(standardise), os.fspath(store), threads, progress, options)
    if not (family is None or isinstance(family, str)):
        raise TypeError(f"explore takes the name of a family or the pair (A, b), got {type(family).__name__}")
    options.update(family=family, intercept=intercept, standardise=standardise)
    return _search("explore", [], os.fspath(store), threads, progress, options)


def _explore_for(data, intercept, standardise, store, threads, progress, options):
    A, b = pair(data)
    given, names = matrix(A.toarray() if is_sparse(A) else A)
    line = ["explore", "--json", "--matrix=A", "--rhs=b", *arguments(**options, store=store)]
    line += [flag for flag, wanted in (("--intercept", intercept), ("--standardise", standardise)) if wanted]
    right = vector(b, "b")

    def work():
        with watched(progress) as watcher:
            return answer(_rl4rla.explore(line, given, right, names, intercept, standardise, threads or 0, watcher))

    return _run(in_python(work)[0], store)


def resume(run="last", *, store=DEFAULT_STORE, threads=None, progress=None, **options):
    """Continues an interrupted run, or reads a finished one; the result is the uninterrupted one, bit for bit."""
    run = run.id if isinstance(run, Run) else run
    return _search("resume", [run], os.fspath(store), threads, progress, options)


def runs(store=DEFAULT_STORE):
    """The runs in a store, as a frame."""
    return frame(in_python(lambda: call("list", "runs", store=store))[0]["items"])


def curricula():
    """The names of the built-in curricula.

    >>> "sketched-precond-gd" in curricula()
    True
    """
    return [item["name"] for item in call("list", "curricula")[0]["items"]]
