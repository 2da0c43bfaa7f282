from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

_Floats = NDArray[np.float64]
_Single = NDArray[np.float32]
_Sparse = tuple[tuple[int, int], NDArray[np.int64], NDArray[np.int32], _Floats]

def call(
    arguments: Sequence[str], threads: int = 0, progress: Callable[[str], object] | None = None
) -> tuple[str, int]: ...
def compare(
    arguments: Sequence[str],
    matrix: _Floats | _Single | _Sparse,
    b: _Floats,
    intercept: bool,
    standardise: bool,
    progress: Callable[[str], object] | None = None,
) -> tuple[str, int]: ...
def explore(
    arguments: Sequence[str],
    matrix: _Floats | _Single | _Sparse,
    b: _Floats,
    names: Sequence[str] | None,
    intercept: bool,
    standardise: bool,
    threads: int = 0,
    progress: Callable[[str], object] | None = None,
) -> tuple[str, int]: ...
def solve(
    arguments: Sequence[str],
    matrix: _Floats | _Single | _Sparse,
    b: _Floats,
    names: Sequence[str] | None,
    weights: _Floats | None,
    intercept: bool,
    standardise: bool,
    threads: int,
) -> tuple[str, int, _Floats]: ...
def truncated_svd(
    matrix: _Floats | _Single | _Sparse, k: int, tolerance: float, passes: int, seed: int, threads: int
) -> dict[str, Any]: ...
def register_operator(
    name: str, function: Callable[..., Any], operands: Sequence[str], result: str, doc: str
) -> None: ...
def register_family(
    name: str, doc: str, task: str, draw_with: Callable[..., Any], rows: int, cols: int
) -> None: ...
def register_term(key: str, function: Callable[..., Any], doc: str) -> None: ...
def register_task(
    name: str,
    doc: str,
    draw_with: Callable[..., Any],
    solve: Callable[..., Any],
    loss: Callable[..., Any],
    rows: int,
    cols: int,
    assign: bool,
) -> None: ...
def free_memory() -> int: ...
def threads() -> int: ...
