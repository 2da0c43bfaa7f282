"""Programs: reading, printing, comparing, analyzing and exporting them."""

import os

from rl4rla._command import DEFAULT_STORE, call
from rl4rla._solve import in_python, named


class Verdict(dict):
    """What ``Program.equivalent`` found; true if the programs are equal in exact arithmetic."""

    def __bool__(self):
        return self["equivalent"] is True


class Program:
    """A program: its text, its equation, its cost.

    >>> program = Program('''
    ... iteration:
    ...   v1 = MAT_VEC_MUL(A, x)
    ...   v1 = VEC_VEC_SUB(v1, b)
    ...   v1 = VEC_MAT_MUL(v1, A)
    ... ''')
    >>> print(program.equation)
    xₜ₊₁ = xₜ − η Aᵀ (A xₜ − b)
    >>> program.matched
    'ls-gd'
    >>> bool(program.equivalent("ls-gd")), bool(program.equivalent("landweber", shape="symmetric"))
    (True, False)
    """

    def __init__(self, text, name=None):
        if not isinstance(text, str):
            raise TypeError(f"expected the text of a program, got {type(text).__name__}")
        self._load(text if "\n" in text else text + "\n", DEFAULT_STORE)
        self.name = name or self.matched

    def _load(self, words, store):
        self.document, _ = _command("show", words, store=store)
        self.name = self.document["name"]
        self.text = self._with_header()

    def _with_header(self):
        """The text, with what a reader of it has to know: the family and the update."""
        text = self.document["program"]
        family = self.document.get("family")
        return f"family: {family}\n{text}" if family and not text.startswith("family:") else text

    @classmethod
    def named(cls, name, store=DEFAULT_STORE):
        """The program of the catalogue with this name, or of a file, or of a run in the store: "run:ID"."""
        program = cls.__new__(cls)
        program._load(os.fspath(name), store)
        return program

    @property
    def equation(self):
        """Its equation."""
        return self.document["equation"]

    @property
    def latex(self):
        """Its equation in LaTeX."""
        return self.document["latex"]

    @property
    def matched(self):
        """The name of the same program in the catalogue, if it is there."""
        return self.document["matched"]

    @property
    def cost(self):
        """Flops, as a formula in m, n and the sizes of sketches and samples: once, and in every iteration.

        >>> Program.named("ls-gd").cost["iteration"]
        '4mn + m + 2n'
        """
        document = self.document
        return {
            "setup": document["flops_setup"],
            "iteration": document["flops_iteration"],
            "total": document["flops"],
        }

    def equivalent(self, other, shape=None):
        """Whether it is the same algorithm as another, by algebra and by execution: a ``Verdict`` with the reasons."""
        verdict, _ = _command("equiv", self.text, named(other), shape=shape)
        return Verdict(verdict)

    def analyze(self, *, quick=True, threads=None, progress=None, **options):
        """When it converges, how fast and at what cost; options are those of ``rl4rla analyze``, such as
        ``kappa=[10, 100]`` and ``family="mid-cond"``."""
        document, _ = _command(
            "analyze", self.text, quick=quick, threads=threads, progress=progress, **options
        )
        return document

    def evaluate(self, *, threads=None, progress=None, **options):
        """Its reward with its terms on fresh instances; options are those of ``rl4rla evaluate``."""
        document, _ = _command("evaluate", self.text, threads=threads, progress=progress, **options)
        return document

    def export(self, to="python", **options):
        """Its code in "python", "rust", "julia", "latex" or "json", which runs without this package.

        >>> "def " in Program.named("ls-gd").export("python")
        True
        """
        document, _ = _command("export", self._argument(), to=to, **options)
        return document["text"]

    def _argument(self):
        """Its name if the catalogue has it, so that exported code is called by it."""
        return self.name if self.name == self.matched else self.text

    def _repr_latex_(self):
        return f"$\\displaystyle {self.latex}$"

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<Program {self.name or 'not in the catalogue'}: {self.equation}>"

    def __eq__(self, other):
        return isinstance(other, Program) and self.document["id"] == other.document["id"]

    def __hash__(self):
        return hash(self.document["id"])


def _command(command, *words, **options):
    return in_python(lambda: call(command, *words, **options))


def program(name, store=DEFAULT_STORE):
    """The program of the catalogue with this name, or of a file, or of a run in the store: "run:ID".

    >>> program("landweber")
    <Program landweber: xₜ₊₁ = xₜ − η (A xₜ − b)>
    """
    return Program.named(name, store)


def programs():
    """The names of the catalogue.

    >>> "sketched-precond-gd" in programs()
    True
    """
    document, _ = _command("list", "programs")
    return [item["name"] for item in document["items"]]
