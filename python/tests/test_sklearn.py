"""Estimators: scikit-learn's own checks, and its coefficients."""

import numpy as np
import pytest
import scipy.sparse

sklearn = pytest.importorskip("sklearn")

from sklearn import datasets, linear_model
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import rl4rla
from rl4rla.sklearn import RandomizedSVD, SketchedLinearRegression, SketchedLogisticRegression, SketchedRidge


@parametrize_with_checks(
    [
        SketchedLinearRegression(),
        SketchedLinearRegression(fit_intercept=False),
        SketchedRidge(),
        SketchedLogisticRegression(),
        RandomizedSVD(),
    ]
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def regressions():
    yield datasets.load_diabetes(return_X_y=True)
    yield datasets.load_linnerud(return_X_y=True)
    yield datasets.make_friedman1(500, 12, noise=0.5, random_state=1)
    yield datasets.make_regression(800, 30, n_targets=3, noise=2.0, random_state=2)
    iris = datasets.load_iris().data
    yield iris[:, :3], iris[:, 3]


def near(ours, theirs):
    scale = max(np.abs(theirs.coef_).max(), 1e-300)
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.abs(ours.coef_ - theirs.coef_).max() <= 1e-8 * scale
    assert np.allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("X, y", list(regressions()))
def test_coefficients_are_those_of_scikit_learn(X, y):
    weights = np.random.default_rng(0).uniform(size=len(X))
    for weight in (None, weights):
        near(SketchedLinearRegression().fit(X, y, weight), linear_model.LinearRegression().fit(X, y, weight))
        for alpha in (0.1, 10.0):
            theirs = linear_model.Ridge(alpha=alpha, solver="svd").fit(X, y, weight)
            near(SketchedRidge(alpha).fit(X, y, weight), theirs)
    near(
        SketchedLinearRegression("sketched-precond-gd-factored", tol=1e-12).fit(X, y),
        linear_model.LinearRegression().fit(X, y),
    )


@pytest.mark.parametrize("load", [datasets.load_breast_cancer, datasets.load_iris, datasets.load_wine])
def test_logistic_coefficients(load):
    X, y = load(return_X_y=True)
    X, y = StandardScaler().fit_transform(X[y < 2]), y[y < 2]
    ours = SketchedLogisticRegression(C=0.5).fit(X, y)
    theirs = linear_model.LogisticRegression(C=0.5, tol=1e-14, max_iter=10000, solver="newton-cholesky").fit(X, y)
    near(ours, theirs)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)


def test_a_discovered_program_is_an_estimator():
    X, y = datasets.load_diabetes(return_X_y=True)
    model = SketchedLinearRegression(rl4rla.program("sketched-precond-gd")).fit(X, y)
    assert model.result_.program == "the program" and model.score(X, y) > 0.5
    with pytest.raises(ValueError, match="no program `nothing`"):
        SketchedLinearRegression("nothing").fit(X, y)


def test_sparse_and_dense_agree():
    S = scipy.sparse.random(200, 10, 0.3, random_state=1, format="csr")
    y = np.sin(np.arange(200.0))
    for estimator in (SketchedLinearRegression(), SketchedRidge(), SketchedRidge(fit_intercept=False)):
        dense = estimator.fit(S.toarray(), y).coef_
        assert np.allclose(estimator.fit(S, y).coef_, dense, atol=1e-12)


def test_what_does_not_converge_is_told():
    X, y = datasets.load_diabetes(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="Not converged"):
        SketchedLinearRegression("ls-gd", max_iter=3).fit(X, y)


def test_svd_is_that_of_scikit_learn():
    X, _ = datasets.load_digits(return_X_y=True)
    ours, theirs = RandomizedSVD(10), TruncatedSVD(10, algorithm="arpack", tol=1e-12, random_state=0)
    coordinates, wanted = ours.fit_transform(X), theirs.fit_transform(X)
    assert np.allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-10)
    assert np.allclose(np.abs(coordinates), np.abs(wanted), atol=1e-6)
    assert np.allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert np.allclose(ours.transform(X), coordinates, atol=1e-8)
