from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Iterator, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Floats = NDArray[np.float64]
_Method = str | PathLike[str] | Program
_Path = str | PathLike[str]
_Progress = bool | Callable[[str], object] | None

_Function = TypeVar("_Function", bound=Callable[..., Any])

__version__: str

class NotConverged(RuntimeError):
    result: Result | SVD | None
    def __init__(self, message: str, result: Result | SVD | None = None) -> None: ...

class Interrupted(RuntimeError):
    run: str | None
    def __init__(self, message: str, run: str | None = None) -> None: ...

class ConvergenceWarning(UserWarning): ...

class Result(dict[str, Any]):
    x: _Floats
    intercept: float | _Floats
    converged: bool
    program: str
    why: str | None
    certificate: dict[str, Any]
    warning: str | None
    note: str | None
    @property
    def success(self) -> bool: ...
    @property
    def message(self) -> str: ...
    @property
    def nit(self) -> int: ...
    def __getattr__(self, name: str) -> Any: ...

class SVD(dict[str, Any]):
    u: _Floats
    s: _Floats
    vt: _Floats
    residuals: _Floats
    converged: bool
    method: str
    note: str | None
    def __iter__(self) -> Iterator[Any]: ...
    def __getattr__(self, name: str) -> Any: ...

class Verdict(dict[str, Any]):
    def __bool__(self) -> bool: ...

class Program:
    document: dict[str, Any]
    name: str | None
    text: str
    def __init__(self, text: str, name: str | None = None) -> None: ...
    @classmethod
    def named(cls, name: _Path, store: _Path = ...) -> Program: ...
    @property
    def equation(self) -> str: ...
    @property
    def latex(self) -> str: ...
    @property
    def matched(self) -> str | None: ...
    @property
    def cost(self) -> dict[str, str]: ...
    def equivalent(self, other: _Method, shape: Literal["tall", "square", "symmetric"] | None = None) -> Verdict: ...
    def analyze(
        self, *, quick: bool = True, threads: int | None = None, progress: _Progress = None, **options: Any
    ) -> dict[str, Any]: ...
    def evaluate(self, *, threads: int | None = None, progress: _Progress = None, **options: Any) -> dict[str, Any]: ...
    def export(
        self, to: Literal["python", "rust", "julia", "latex", "json"] = "python", **options: Any
    ) -> str: ...

class Run:
    record: dict[str, Any]
    store: str
    def __init__(self, record: dict[str, Any], store: _Path = ...) -> None: ...
    @property
    def id(self) -> str: ...
    @property
    def found(self) -> bool: ...
    @property
    def seconds(self) -> float: ...
    @property
    def stages(self) -> Any: ...
    @property
    def programs(self) -> dict[str, Program]: ...
    @property
    def program(self) -> Program: ...
    def front(self, stage: str | None = None) -> Any: ...
    @property
    def hall(self) -> Any: ...
    def resume(self, **options: Any) -> Run: ...
    def plot(self, stage: str | None = None, ax: Any = None) -> Any: ...

class Campaign:
    record: dict[str, Any]
    folder: str
    def __init__(self, record: dict[str, Any], folder: _Path) -> None: ...
    @property
    def title(self) -> str: ...
    @property
    def tasks(self) -> int: ...
    @property
    def done(self) -> int: ...
    @property
    def found(self) -> int: ...
    @property
    def running(self) -> int: ...
    @property
    def waiting(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def lost(self) -> int: ...
    @property
    def complete(self) -> bool: ...
    @property
    def seconds_left(self) -> float | None: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def searches(self) -> Any: ...
    @property
    def failures(self) -> Any: ...
    @property
    def submissions(self) -> Any: ...
    def refresh(self) -> Campaign: ...
    def compute(
        self,
        threads: int | None = None,
        *,
        failed: bool = False,
        set_aside: bool = False,
        take_over: bool = False,
        progress: _Progress = None,
    ) -> Campaign: ...
    def collect(self, store: _Path = ..., progress: _Progress = None) -> int: ...
    def plot(self, ax: Any = None) -> Any: ...

def solve(
    A: ArrayLike | Any,
    b: ArrayLike | Any,
    method: _Method = "auto",
    *,
    task: Literal["least-squares", "logistic"] | None = None,
    weights: ArrayLike | None = None,
    intercept: bool = False,
    standardise: bool = False,
    lam: float | None = None,
    tolerance: float | None = None,
    iterations: int = 1000,
    step: float | Literal["auto"] = "auto",
    rank_deficient: Literal["refuse", "drop", "min-norm"] | None = None,
    average: bool = False,
    mu: float | None = None,
    every: int | None = None,
    sketch: str | None = None,
    sketch_factor: float | None = None,
    batch: int | None = None,
    sampling: Literal["unbiased", "released"] | None = None,
    summary: bool = False,
    explain: bool = False,
    seed: int = 0,
    threads: int | None = None,
    max_memory: int | None = None,
    check: bool = True,
) -> Result: ...
def svd(
    A: ArrayLike | Any,
    k: int,
    *,
    tolerance: float = 1e-10,
    iterations: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    check: bool = True,
) -> SVD: ...
def operator(
    name: str,
    operands: Sequence[Literal["vector", "scalar"]] = ("vector",),
    result: Literal["vector", "scalar"] = "vector",
    doc: str | None = None,
) -> Callable[[_Function], _Function]: ...
def reward_term(
    key: str, doc: str | None = None
) -> Callable[[_Function], _Function]: ...
def family(
    name: str,
    *,
    draw: Callable[[np.random.Generator, int, int], tuple[ArrayLike, ArrayLike]],
    task: str = "linear",
    rows: int = 200,
    cols: int = 5,
    doc: str | None = None,
) -> None: ...
def task(
    name: str,
    *,
    draw: Callable[[np.random.Generator, int, int], tuple[ArrayLike, ArrayLike]],
    solve: Callable[[_Floats, _Floats], ArrayLike],
    loss: Callable[[_Floats, _Floats, _Floats], float],
    rows: int = 200,
    cols: int = 5,
    update: Literal["subtract", "assign"] = "subtract",
    doc: str | None = None,
) -> None: ...
def program(name: _Path, store: _Path = ...) -> Program: ...
def programs() -> list[str]: ...
def discover(
    curriculum: _Path | Mapping[str, Any],
    *,
    method: str = "best",
    seed: int = 0,
    store: _Path = ...,
    threads: int | None = None,
    progress: _Progress = None,
    **options: Any,
) -> Run: ...
def explore(
    family: str | tuple[ArrayLike | Any, ArrayLike | Any] | None = None,
    *,
    intercept: bool = False,
    standardise: bool = False,
    seed: int = 0,
    store: _Path = ...,
    threads: int | None = None,
    progress: _Progress = None,
    **options: Any,
) -> Run: ...
def resume(
    run: str | Run = "last",
    *,
    store: _Path = ...,
    threads: int | None = None,
    progress: _Progress = None,
    **options: Any,
) -> Run: ...
def runs(store: _Path = ...) -> Any: ...
def curricula() -> list[str]: ...
def campaign(folder: _Path) -> Campaign: ...
def plan_campaign(
    file: _Path | Mapping[str, Any], folder: _Path | None = None, *, store: _Path = ...
) -> Campaign: ...
def compare(
    programs: _Method | Sequence[_Method] = (),
    baselines: str | Sequence[str] | None = "all",
    *,
    data: tuple[Any, Any] | None = None,
    intercept: bool = False,
    standardise: bool = False,
    progress: _Progress = None,
    **options: Any,
) -> Any: ...
def baselines() -> list[str]: ...
def families() -> list[str]: ...
