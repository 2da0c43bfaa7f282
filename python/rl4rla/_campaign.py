"""Campaigns: searches over many seeds, computed by processes that share one folder."""

import os
import re
import tempfile

from rl4rla import _rl4rla
from rl4rla._command import DEFAULT_STORE, call
from rl4rla._compare import frame
from rl4rla._errors import Interrupted
from rl4rla._run import _escaped
from rl4rla._solve import python_words
from rl4rla._toml import toml

KINDS = ("sweep", "explore", "audit", "reproduce")

# The parts of the tasks of a search, in the order in which they are drawn, with their colours and hatches.
PARTS = {
    "found": ("#009e73", ""),
    "missed": ("#f0e442", ".."),
    "failed": ("#d55e00", "xx"),
    "running": ("#0072b2", "//"),
    "waiting": ("#d9d9d9", "--"),
    "lost": ("#cc79a7", "||"),
}

COUNTS = ["tasks", "done", "found", "running", "waiting", "failed", "lost"]
SEARCHES = ["kind", "name", "label", *COUNTS, "share", "low", "high"]
FAILURES = ["task", "what", "reason", "advice"]
SUBMISSIONS = ["number", "on", "threads", "where", "chunks", "active"]

# The command exits with it when it was stopped with its work saved.
INTERRUPTED = 130

# Most tasks that are computed at a time, as of the command.
MOST = 1024

# Most searches that are drawn, or listed in a notebook.
LISTED = 60


def _entry(key, doc):
    return property(lambda campaign: campaign.record[key], doc=doc)


class Campaign:
    """How a campaign goes: its tasks by state, what was found so far, and what failed.

    ``record`` is the document that the command prints with ``--json``, of the moment at which the campaign was opened,
    planned, refreshed, computed or collected; ``folder`` is where it is.

    >>> stage = dict(name="gradient", edits=3, open=["iteration"], registers=["v1"], step=0.5, target="ls-gd",
    ...              family=dict(kind="low-cond", rows=40, cols=4), instances=dict(search=6, select=4, report=4))
    >>> sweep = dict(curricula=[{"title": "Mine", "stage": [stage]}], seeds=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     night = plan_campaign({"sweep": [sweep]}, os.path.join(folder, "night"))
    ...     night
    ...     night.compute(threads=2)
    ...     night.searches[["done", "found", "share"]].to_dict("records")
    ...     night.collect(os.path.join(folder, "runs.db"))
    <Campaign night: 0 of 3 tasks done, 0 found, 3 waiting>
    <Campaign night: 3 of 3 tasks done, 3 found>
    [{'done': 3, 'found': 3, 'share': 1.0}]
    3
    """

    def __init__(self, record, folder):
        self.record = record
        self.folder = os.path.abspath(folder)

    title = _entry("title", "Its title.")
    tasks = _entry("tasks", "Number of tasks: searches with one seed each.")
    done = _entry("done", "Tasks with a result; those that failed are not among them.")
    found = _entry("found", "Tasks among those done that found their targets.")
    running = _entry("running", "Tasks in jobs or processes that run.")
    waiting = _entry("waiting", "Tasks that are not handed out, in a queue, or in a process that cannot be seen from here.")
    failed = _entry("failed", "Tasks that ended with an error: see ``failures``.")
    lost = _entry("lost", "Tasks handed out, without a result, and in no running or queued job: ``compute`` takes them up.")
    complete = _entry("complete", "Whether all tasks are done.")
    seconds_left = _entry("seconds_left", "Estimate of the seconds until then; ``None`` while nothing runs.")
    notes = _entry("notes", "What a person should know, as a list of sentences.")

    @property
    def searches(self):
        """What was found so far, as a frame with a row for every search.

        ``share`` is that of the tasks done that found their targets, from ``low`` to ``high`` its 95 % confidence
        interval; they are NaN where nothing is done.
        """
        return frame([_row(search) for search in self.record["searches"]], SEARCHES)

    @property
    def failures(self):
        """The first tasks that ended with an error, with the reasons, as a frame; ``failed`` counts all of them."""
        return frame(self.record["failures"], FAILURES)

    @property
    def submissions(self):
        """The jobs or the process of each submission, its chunks, and those that are queued or running, as a frame."""
        return frame(self.record["submissions"], SUBMISSIONS)

    def refresh(self):
        """The same campaign as it is now."""
        return self._after("status")

    def compute(self, threads=None, *, failed=False, set_aside=False, take_over=False, progress=None):
        """Computes in this process the tasks that have no result and are in no other process or job, ``threads`` at a time.

        After Ctrl-C everything computed is saved, and calling it again continues; so does ``rl4rla campaign resume``. Tasks
        that failed are computed again only with ``failed=True``; with ``set_aside=True``, so are those whose results are
        damaged, and with ``take_over=True`` those that others may be computing.
        """
        threads = _rl4rla.threads() if threads is None else threads
        if isinstance(threads, bool) or not hasattr(threads, "__index__"):
            raise TypeError(f"threads should be a whole number, got {type(threads).__name__}")
        threads = threads.__index__()
        if not 1 <= threads <= MOST:
            raise ValueError(f"threads should be from 1 to {MOST}, got {threads}")
        options = dict(failed=failed, set_aside=set_aside, take_over=take_over)
        for name, value in options.items():
            if not isinstance(value, bool):
                raise TypeError(f"{name} should be True or False, got {type(value).__name__}")
        return self._after("resume", local=threads, progress=progress, **options)

    def collect(self, store=DEFAULT_STORE, progress=None):
        """Verifies all results, and enters the runs into a store: the number of those that were not there yet.

        It may be repeated, also while the campaign goes on. ``record`` then tells of it: ``entered``, ``present``,
        ``missing``, and ``audits``, which have no place in a store. If a result is damaged, nothing is entered.
        """
        return self._after("collect", store=os.fspath(store), progress=progress).record["entered"]

    def _after(self, step, **options):
        """The same campaign after a step of the command."""
        self.record = _step(step, self.folder, **options)
        return self

    def plot(self, ax=None):
        """Draws the tasks of every search as a bar: found, missed, failed, running, waiting, lost."""
        import matplotlib.pyplot as plt

        searches = [_row(search) for search in self.record["searches"]]
        shown = searches[:LISTED]
        ax = ax or plt.subplots(figsize=(8, 1.4 + 0.3 * len(shown)), layout="constrained")[1]
        # A row each: two searches may have the same name.
        places = range(len(shown))
        begin = [0] * len(shown)
        for part, (color, hatch) in PARTS.items():
            lengths = [row["done"] - row["found"] if part == "missed" else row[part] for row in shown]
            if any(lengths):
                ax.barh(places, lengths, left=begin, color=color, hatch=hatch, label=part)
                begin = [so_far + length for so_far, length in zip(begin, lengths)]
        names = [f"{row['kind']} {row['name']} {row['label']}".strip() for row in shown]
        ax.set_yticks(list(places), [name.replace("$", r"\$") for name in names])
        ax.invert_yaxis()
        title = self.title.replace("$", r"\$")
        if len(shown) < len(searches):
            title += f" (the first {len(shown)} of {len(searches)} searches)"
        ax.set(xlabel="tasks", title=title)
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
        return ax

    def __repr__(self):
        return f"<Campaign {self.title}: {self._summary()}>"

    def _summary(self):
        words = [f"{self.done} of {self.tasks} tasks done", f"{self.found} found"]
        others = ("running", "waiting", "failed", "lost")
        return ", ".join(words + [f"{self.record[state]} {state}" for state in others if self.record[state]])

    def _repr_html_(self):
        rows = [_row(search) for search in self.record["searches"]]
        counts = [key for key in COUNTS if key in ("tasks", "done", "found") or self.record[key]]
        head = ["", "", "search", *counts, "share", "95 % interval"]
        lines = [
            [
                *(row[key] for key in ("kind", "name", "label", *counts)),
                f"{row['share']:.3g}" if row["done"] else "–",
                f"{row['low']:.2f}–{row['high']:.2f}" if row["done"] else "–",
            ]
            for row in rows[:LISTED]
        ]
        cells = lambda tag, line: "".join(f"<{tag}>{_escaped(cell)}</{tag}>" for cell in line)  # noqa: E731
        table = "".join(f"<tr>{cells('td', line)}</tr>" for line in lines)
        left_out = len(rows) - len(lines)
        after = [f"and {left_out} other searches"] if left_out else []
        after += [f"{failure['what']} failed: {failure['reason']}" for failure in self.record["failures"][:3]]
        after += self.notes
        return (
            f"<p>{_escaped(repr(self))}</p><table><tr>{cells('th', head)}</tr>{table}</table>"
            + "".join(f"<p>{_escaped(words)}</p>" for words in after)
        )


def _row(search):
    """A search as a row, with the share of the tasks done that found their targets, and its interval.

    >>> _row({"done": 0, "found": 0, "interval": None})
    {'done': 0, 'found': 0, 'share': nan, 'low': nan, 'high': nan}
    """
    row = {key: value for key, value in search.items() if key != "interval"}
    low, high = search["interval"] or (float("nan"), float("nan"))
    share = search["found"] / search["done"] if search["done"] else float("nan")
    return dict(row, share=share, low=low, high=high)


def _step(step, path, **options):
    """The document of a step of a campaign."""
    try:
        document, code = call(f"campaign {step}", path, **options)
    except ValueError as error:
        # No part of a path is an option.
        message = str(error).replace(path, "\ue000")
        raise ValueError(_words(message).replace("\ue000", path)) from None
    if code == INTERRUPTED:
        raise Interrupted("interrupted; everything computed is saved: compute() continues")
    return document


def _words(message):
    """Steps of the command as methods of a campaign; what only a terminal does stays as it is.

    >>> _words("unusable\\ntry: rl4rla campaign resume 'my night' --set-aside, which moves them")
    'unusable\\ntry: compute(set_aside=True), which moves them'
    >>> _words("try: `rl4rla campaign resume night --failed --local 2`, once the cause is fixed")
    'try: `compute(failed=True)`, once the cause is fixed'
    >>> _words("then `rl4rla campaign resume`; or `rl4rla campaign cancel night`, or --folder FOLDER")
    'then `compute()`; or `rl4rla campaign cancel night`, or folder FOLDER'
    >>> _words("try: `rl4rla sweep --help` shows all")
    'try: `rl4rla sweep --help` shows all'
    """
    shell_word = r"(?:\$?'(?:\\'|[^'])*'|\\'|[\w./:=+@%#\ue000-])+"
    # --local is what compute() does.
    step = rf"rl4rla campaign (\w+)(?: {shell_word}(?: --(?!local\b)([a-z-]+))?(?: --local \d+)?)?"

    def method(match):
        if match[1] == "resume":
            return f"compute({match[2].replace('-', '_')}=True)" if match[2] else "compute()"
        return {"collect": "collect()", "plan": "plan_campaign"}.get(match[1], match[0])

    other = "`rl4rla (?!campaign )[^`]*`"
    parts = re.split(f"({step}|{other})", message)
    # Of every match: itself, and its two groups.
    text = [python_words(part) for part in parts[0::4]]
    steps = [re.sub(step, method, part) for part in parts[1::4]]
    return "".join(part for pair in zip(text, [*steps, ""]) for part in pair)


def campaign(folder):
    """Opens the campaign of a folder: a ``Campaign``.

    It may be computed meanwhile by Slurm jobs, by other processes and on other machines.
    """
    folder = os.path.abspath(_path(folder, "the folder of a campaign"))
    return Campaign(_step("status", folder), folder)


def plan_campaign(file, folder=None, *, store=DEFAULT_STORE):
    """Plans the tasks of a campaign in a new folder: a ``Campaign``, of which nothing is handed out yet.

    ``file`` is a path to a campaign file (TOML), whose name without its extension is the folder unless another is given; or a
    dictionary with the same keys, whose ``sweep``, ``explore``, ``audit`` and ``reproduce`` are lists of dictionaries with the
    options of these commands; curricula may be dictionaries too. Runs in ``store`` tell how long tasks will take: ``record["seconds"]``.

    Submit to Slurm from a terminal, ``rl4rla campaign submit FOLDER``, because jobs run the command, not the package.
    """
    store = os.fspath(store)
    if isinstance(file, (str, os.PathLike)):
        folder = None if folder is None else _path(folder, "the folder of a campaign")
        document = _step("plan", _path(file, "a campaign file"), folder=folder, store=store)
        return Campaign(document, document["folder"] if folder is None else folder)
    if folder is None and isinstance(file, dict):
        raise TypeError("a campaign that is planned from a dictionary needs a folder")
    text = _file(file, folder)
    folder = os.path.abspath(_path(folder, "the folder of a campaign"))
    with tempfile.TemporaryDirectory() as passing:
        path = os.path.join(passing, "campaign.toml")
        with open(path, "w", encoding="utf-8") as written:
            written.write(text)
        try:
            document = _step("plan", path, folder=folder, store=store)
        except ValueError as error:
            # Neither the file nor its lines are the user's.
            raise ValueError(re.sub(rf"{re.escape(path)}: (?:line \d+(?:, |: ))?", "", str(error))) from None
    return Campaign(document, folder)


def _path(path, what):
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{what} should be a path, got {type(path).__name__}")
    if not os.fspath(path):
        raise ValueError(f"the path of {what} is empty")
    return os.fspath(path)


def _file(tables, folder):
    """A campaign file with these tables.

    >>> print(_file({"jobs": {"minutes": 10}, "explore": [{"held_out": 2}]}, "runs/night"))
    title = "night"
    jobs = { minutes = 10 }
    [[explore]]
    held-out = 2
    <BLANKLINE>
    """
    if isinstance(tables, dict):
        title = os.path.basename(os.path.abspath(_path(folder, "the folder of a campaign")))
        tables = {"title": title, **tables}
        for kind in set(KINDS) & set(tables):
            tables[kind] = _searches(kind, tables[kind])
    else:
        raise TypeError(f"a campaign should be a path or a dictionary, got {type(tables).__name__}")
    return toml(tables, "a campaign", KINDS)


def _searches(kind, searches):
    """The tables of a kind: keys are options, as in Python or as in the terminal, and curricula may be dictionaries."""
    if not isinstance(searches, (list, tuple)):
        raise TypeError(f"{kind} should be a list of dictionaries, got {type(searches).__name__}")
    named = lambda key: key.replace("_", "-") if isinstance(key, str) else key  # noqa: E731
    return [
        {named(key): _texts(value) if key in ("curricula", "curriculum") else value for key, value in table.items()}
        if isinstance(table, dict)
        else table
        for table in searches
    ]


def _texts(curricula):
    """Curricula, with those that are dictionaries as texts."""
    if isinstance(curricula, (list, tuple)):
        return [_texts(curriculum) for curriculum in curricula]
    return toml(curricula) if isinstance(curricula, dict) else curricula
