"""Arrays, frames and sparse matrices, as the compiled part takes them."""

import numpy as np

from rl4rla import _rl4rla


def is_sparse(A):
    """Whether A is a sparse matrix or array of SciPy."""
    return hasattr(A, "tocsr") and hasattr(A, "nnz")


def matrix(A, name="A", max_memory=None):
    """What the compiled part takes for a matrix, and the names of its columns if it has any.

    A C-ordered float64 array is read in place. Anything else, F-ordered and strided arrays, float32, integers and frames,
    is copied once, row by row, as float64; except that a float64 or float32 array whose copy would take more than half of
    ``max_memory``, or of the free memory, is read in place too, part by part.

    >>> given, names = matrix(np.ones((3, 2), order="F"))
    >>> given.flags.c_contiguous, names
    (True, None)
    """
    if is_sparse(A):
        return _compressed(A, name), None
    names = column_names(A)
    array = _plain(A, name)
    if array.ndim != 2:
        raise ValueError(f"{name} should have two dimensions, got {array.ndim}")
    _filled(array.shape, name)
    if _in_parts(array, max_memory):
        return array, names
    array = np.ascontiguousarray(array, dtype=np.float64)
    # An array that is not aligned, or not in the byte order of the machine, is copied too.
    return np.require(array, np.float64, ["C", "A"]), names


def _in_parts(array, max_memory):
    """Whether an array is to be read part by part, because a copy would be too large."""
    if array.dtype not in (np.float64, np.float32) or not array.dtype.isnative:
        return False
    if array.dtype == np.float64 and array.flags.c_contiguous and array.flags.aligned:
        return False
    # Small arrays are copied without looking at the memory.
    if max_memory is None and array.size < 1 << 20:
        return False
    limit = _rl4rla.free_memory() if max_memory is None else max_memory
    return 8 * array.size > limit / 2


def _filled(shape, name):
    if 0 in shape:
        raise ValueError(f"{name} should have at least one row and one column, got {shape[0]}×{shape[1]}")


def _compressed(A, name):
    if np.dtype(A.dtype).kind not in "fiub":
        raise ValueError(f"{name} should hold real numbers, got {A.dtype}")
    if A.ndim != 2:
        raise ValueError(f"{name} should have two dimensions, got {A.ndim}")
    _filled(A.shape, name)
    if max(A.shape) > np.iinfo(np.int32).max:
        raise ValueError(f"{name} should have less than 2^31 rows and columns if it is sparse, got {A.shape[0]}×{A.shape[1]}")
    rows = A.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is A else rows
        rows.sum_duplicates()
    return (
        rows.shape,
        np.ascontiguousarray(rows.indptr, np.int64),
        np.ascontiguousarray(rows.indices, np.int32),
        np.ascontiguousarray(rows.data, np.float64),
    )


def _plain(values, name):
    """An array of numbers, or what can be converted to one; missing values are not to be taken for numbers."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries; leave out their rows, or fill them")
    array = np.asarray(values)
    return array if array.dtype.kind in "fiub" else _numbers(array, name)


def _numbers(array, name):
    """Objects as numbers, if they are some."""
    if array.dtype.kind == "c":
        raise ValueError(f"{name} should hold real numbers. Complex data not supported")
    if array.dtype.kind in "mM":
        raise ValueError(f"{name} should hold numbers, got {array.dtype}; subtract a date and divide by a unit of time")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} should hold numbers, got {array.dtype}: {error}") from None


def column_names(A):
    """The names of a frame's columns, if all are strings.

    >>> column_names(np.ones((2, 2))) is None
    True
    """
    columns = getattr(A, "columns", None)
    if columns is None or not hasattr(A, "to_numpy"):
        return None
    names = list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def vectors(b, name="b"):
    """One or several right-hand sides as columns of float64, and whether there was only one."""
    if is_sparse(b):
        b = b.toarray()
    array = _plain(b, name)
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} should have one or two dimensions, got {array.ndim}")
    single = array.ndim == 1
    array = array.astype(np.float64, copy=False)
    return (array[:, None] if single else array), single


def precision(A):
    """A word on the precision, if A is not given in that of the work, float64.

    >>> precision(np.ones((2, 2), np.float32))
    'A is float32; the work is done in float64, as there are no kernels for float32'
    >>> precision(np.ones((2, 2))), precision([[1.0]])
    (None, None)
    """
    dtypes = getattr(A, "dtypes", None)
    given = {str(dtype).lower() for dtype in ([getattr(A, "dtype", None)] if dtypes is None else list(dtypes))}
    if len(given) != 1 or not given <= {"float16", "float32", "float128", "longdouble"}:
        return None
    (name,) = given
    return f"A is {name}; the work is done in float64, as there are no kernels for {name}"


def pair(data):
    """A and b.

    >>> pair((1, 2))
    (1, 2)
    """
    try:
        A, b = data
    except (TypeError, ValueError):
        raise ValueError("data should be the pair (A, b)") from None
    return A, b


def vector(values, name):
    """A vector of float64."""
    array = _plain(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} should have one dimension, got {array.ndim}")
    return np.ascontiguousarray(array, dtype=np.float64)
