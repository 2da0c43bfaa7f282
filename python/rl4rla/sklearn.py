"""Estimators of scikit-learn that solve with programs of rl4rla.

>>> import numpy as np
>>> from rl4rla.sklearn import SketchedLinearRegression
>>> X = np.arange(12.0).reshape(6, 2) ** 2
>>> model = SketchedLinearRegression().fit(X, X @ [1.0, 2.0] + 3.0)
>>> model.coef_.round(9), round(model.intercept_, 6)
(array([1., 2.]), 3.0)
"""

import warnings
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from rl4rla._solve import solve, svd

__all__ = ["RandomizedSVD", "SketchedLinearRegression", "SketchedLogisticRegression", "SketchedRidge"]


def _solved(*data, **options):
    """The result of ``solve``; one that has not converged is told by a warning."""
    result = solve(*data, check=False, **options)
    if not result.converged:
        if not np.isfinite(result.x).all():
            raise ValueError(f"{result.warning} There are no coefficients to use.")
        warnings.warn(result.warning or "not converged", ConvergenceWarning, stacklevel=3)
    return result


def _seed(random_state):
    """A seed from what scikit-learn takes for randomness."""
    if random_state is None:
        return 0
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(random_state.randint(np.iinfo(np.int32).max))


def _positive(value, name, zero=False):
    if not isinstance(value, Real) or isinstance(value, bool) or not (value >= 0 if zero else value > 0):
        raise ValueError(f"{name} should be a {'nonnegative' if zero else 'positive'} number, got {value!r}")
    return float(value)


class _Linear(RegressorMixin, MultiOutputMixin, BaseEstimator):
    """Regressors with ``coef_`` and ``intercept_``."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit(self, X, y, sample_weight, lam):
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", y_numeric=True, multi_output=True
        )
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if sparse.issparse(X) and self.fit_intercept and (lam is not None or sample_weight is not None):
            # An intercept that is weighted or not penalised needs centred columns.
            X = X.toarray()
        options = dict(
            method=self.program,
            weights=sample_weight,
            intercept=bool(self.fit_intercept),
            lam=lam,
            tolerance=self.tol,
            iterations=self.max_iter,
            seed=_seed(self.random_state),
        )
        single = y.ndim == 1
        several = not single and y.shape[1] > 1
        if several and (lam is not None or self.program != "auto"):
            results = [_solved(X, column, **options) for column in y.T]
            self.coef_ = np.stack([result.x for result in results])
            self.intercept_ = np.array([result.intercept for result in results])
        else:
            right = y if several or single else y[:, 0]
            results = [_solved(X, right, **options)]
            rank = results[0].certificate.get("rank")
            if sparse.issparse(X) and self.fit_intercept and rank is not None and rank <= X.shape[1]:
                # The shortest coefficients, intercept apart, are those of centred columns.
                results = [_solved(X.toarray(), right, **options)]
            self.coef_ = results[0].x.T if several else results[0].x
            self.intercept_ = results[0].intercept
            if not single and not several:
                self.coef_, self.intercept_ = self.coef_[None, :], np.array([self.intercept_])
        self.result_ = results[0] if len(results) == 1 else results
        # A factorisation counts as one.
        self.n_iter_ = max(int(result.get("iterations") or 1) for result in results)
        return self

    def predict(self, X):
        """The prediction for every row."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=["csr", "csc", "coo"], reset=False)
        return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_


class SketchedLinearRegression(_Linear):
    """Least squares, min Σ wᵢ(xᵢᵀc + c₀ − yᵢ)², by a program.

    Parameters
    ----------
    program : "auto", the name of a program or baseline, a path, "run:ID" or a ``Program``
    fit_intercept : whether to fit c₀
    tol : the tolerance; None is that of a backward stable method with "auto", else 1e-10
    max_iter : the iteration limit
    random_state : seed of the sketches

    Attributes
    ----------
    coef_, intercept_ : as in ``sklearn.linear_model.LinearRegression``
    result_ : the ``Result`` of ``rl4rla.solve``, with its certificate
    """

    def __init__(self, program="auto", *, fit_intercept=True, tol=None, max_iter=1000, random_state=0):
        self.program = program
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Fits the coefficients; X may be sparse, and y may have several columns."""
        return self._fit(X, y, sample_weight, None)


class SketchedRidge(_Linear):
    """Ridge regression, min Σ wᵢ(xᵢᵀc + c₀ − yᵢ)² + α‖c‖², by a program for the family ``ridge``, or by one
    factorisation with "auto". The intercept is not penalised. Sparse X is made dense if there is an intercept."""

    def __init__(
        self, alpha=1.0, program="auto", *, fit_intercept=True, tol=None, max_iter=1000, random_state=0
    ):
        self.alpha = alpha
        self.program = program
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Fits the coefficients; X may be sparse, and y may have several columns."""
        return self._fit(X, y, sample_weight, _positive(self.alpha, "alpha", zero=True))


class SketchedLogisticRegression(ClassifierMixin, BaseEstimator):
    """Logistic regression with two classes and the penalty ‖c‖²/(2C), by Newton's method or another program for that
    task, such as "regularized-newton-sketch". The intercept is not penalised. Sparse X is made dense."""

    def __init__(
        self, C=1.0, program="auto", *, fit_intercept=True, tol=1e-10, max_iter=1000, random_state=0
    ):
        self.C = C
        self.program = program
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X, y):
        """Fits the coefficients to two classes."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            kind = "1 class" if len(self.classes_) == 1 else f"{len(self.classes_)} classes"
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        X = X.toarray() if sparse.issparse(X) else X
        auto = isinstance(self.program, str) and self.program == "auto"
        self.result_ = _solved(
            X,
            labels.astype(np.float64),
            method=self.program,
            task="logistic" if auto else None,
            intercept=bool(self.fit_intercept),
            lam=1.0 / _positive(self.C, "C"),
            tolerance=self.tol,
            iterations=self.max_iter,
            seed=_seed(self.random_state),
        )
        self.coef_ = self.result_.x[None, :]
        self.intercept_ = np.array([self.result_.intercept])
        self.n_iter_ = max(int(self.result_.iterations), 1)
        return self

    def decision_function(self, X):
        """The logarithm of the odds of the second class."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=["csr", "csc", "coo"], reset=False)
        return (safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_).ravel()

    def predict(self, X):
        """The more likely class."""
        check_is_fitted(self)
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def predict_proba(self, X):
        """The probability of each class."""
        second = np.exp(-np.logaddexp(0.0, -self.decision_function(X)))
        return np.column_stack([1.0 - second, second])

    def predict_log_proba(self, X):
        """Logarithms of the probabilities, which do not underflow."""
        odds = self.decision_function(X)
        return np.column_stack([-np.logaddexp(0.0, odds), -np.logaddexp(0.0, -odds)])


class RandomizedSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The leading singular vectors as features, as in ``sklearn.decomposition.TruncatedSVD``, with residuals measured to a
    tolerance. Sparse X is made dense."""

    def __init__(self, n_components=2, *, tol=1e-10, max_iter=1000, random_state=0):
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    def fit(self, X, y=None):
        """Computes the singular vectors."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        """Computes the singular vectors, and returns X in their coordinates."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C")
        k = self.n_components
        rows, cols = X.shape
        if not isinstance(k, Integral) or not 1 <= k <= min(rows, cols):
            message = f"n_components = {k!r} should be from 1 to the smaller of n_samples = {rows} and n_features = {cols}"
            raise ValueError(message)
        X = X.toarray() if sparse.issparse(X) else X
        found = svd(
            X, k, tolerance=self.tol, iterations=self.max_iter, seed=_seed(self.random_state), check=False
        )
        if not found.converged:
            warnings.warn(f"not converged: {found.obstacle}", ConvergenceWarning, stacklevel=2)
        self.components_ = found.vt
        self.singular_values_ = found.s
        coordinates = found.u * found.s
        self.explained_variance_ = np.var(coordinates, axis=0)
        total = np.var(X, axis=0).sum()
        self.explained_variance_ratio_ = self.explained_variance_ / total if total > 0 else np.zeros(k)
        self.n_iter_ = int(found.passes)
        self.result_ = found
        return coordinates

    def transform(self, X):
        """X in the coordinates of the singular vectors."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=["csr", "csc"], reset=False)
        return safe_sparse_dot(X, self.components_.T, dense_output=True)

    def inverse_transform(self, X):
        """Rows from their coordinates."""
        check_is_fitted(self)
        return np.asarray(X) @ self.components_
