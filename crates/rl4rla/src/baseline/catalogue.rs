//! The table of baselines.

use super::error::BaselineError;
use super::request::{BaselineSolution, Request};
use super::{
    blendenpik, cgls, direct, fossils, iterative_sketching, kaczmarz, lbfgs, low_rank, lsqr, lsrn, newton,
    ridge, sgd, spd, splitting,
};
use crate::problem::{Linear, Logistic, LowRank, Ridge, Spd, Task};
use crate::program::{Registry, Taken};
use std::fmt;

static REGISTERED: Registry<Baseline> = Registry::new();

/// Class of a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MethodGroup {
    /// Factorisations.
    Direct,
    /// FunSearch's initial and retained routines, transcribed from the paper's tables.
    Transcribed,
    /// Iterations on A and b without preconditioning.
    Iterative,
    /// Iterations preconditioned by a sketch.
    Sketched,
    /// Iterations on a few rows at a time.
    Stochastic,
}

impl MethodGroup {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            MethodGroup::Direct => "direct",
            MethodGroup::Transcribed => "transcribed from the paper",
            MethodGroup::Iterative => "iterative",
            MethodGroup::Sketched => "sketched",
            MethodGroup::Stochastic => "stochastic",
        }
    }
}

/// A row of the table.
pub struct BaselineInfo {
    /// The name users write.
    pub name: &'static str,
    /// Its class.
    pub group: MethodGroup,
    /// One line of help.
    pub doc: &'static str,
    /// Original reference.
    pub reference: &'static str,
    /// Whether it draws random numbers.
    pub randomized: bool,
    /// The task it solves.
    pub task: &'static dyn Task,
    /// Flops of one iteration on an m×n matrix, if known.
    pub flops: Option<fn(f64, f64) -> f64>,
    /// Whether it uses A only by products, sketches and factors, so that A may be sparse.
    pub sparse: bool,
    /// The solver.
    pub solve: fn(&Request) -> Result<BaselineSolution, BaselineError>,
}

impl fmt::Debug for BaselineInfo {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A baseline: a reference to its row.
#[derive(Clone, Copy, Debug)]
pub struct Baseline(pub &'static BaselineInfo);

impl Baseline {
    /// All baselines: the built-in ones and those registered since.
    pub fn all() -> impl Iterator<Item = Baseline> {
        BASELINES.iter().map(Baseline).chain(REGISTERED.all())
    }

    /// Registers a solver by name for comparisons; an error if the name is taken.
    pub fn register(row: &'static BaselineInfo) -> Result<Baseline, Taken> {
        REGISTERED.add(Baseline(row), |known| known.0.name == row.name, BASELINES.iter().map(Baseline))
    }

    /// The baseline of this name.
    pub fn named(name: &str) -> Option<Baseline> {
        Baseline::all().find(|baseline| baseline.info().name == name)
    }

    /// The baselines for a task.
    pub fn of(task: &'static dyn Task) -> impl Iterator<Item = Baseline> {
        Baseline::all().filter(move |baseline| baseline.info().task == task)
    }

    /// This baseline's row of the table.
    pub fn info(self) -> &'static BaselineInfo {
        self.0
    }

    /// Solves a problem; an error if A is sparse and the method needs all its entries.
    pub fn solve(self, request: &Request) -> Result<BaselineSolution, BaselineError> {
        match self.0.sparse || request.A.is_dense() {
            true => (self.0.solve)(request),
            false => Err(BaselineError::NotDense),
        }
    }
}

const LINEAR: BaselineInfo = BaselineInfo {
    name: "",
    group: MethodGroup::Direct,
    doc: "",
    reference: "",
    randomized: false,
    task: &Linear,
    flops: None,
    sparse: false,
    solve: direct::qr,
};
const SKETCHED: BaselineInfo =
    BaselineInfo { sparse: true, group: MethodGroup::Sketched, randomized: true, ..LINEAR };

/// All baselines.
pub static BASELINES: [BaselineInfo; 25] = [
    BaselineInfo {
        name: "normal-equations",
        sparse: true,
        doc: "Cholesky of AᵀA; AlgoTune's solver for LOW_COND and MID_COND, transcribed from the paper's table",
        reference: "Press et al., AlgoTune, 2025",
        solve: direct::normal_equations,
        ..LINEAR
    },
    BaselineInfo {
        name: "qr",
        sparse: true,
        doc: "Householder QR of [A b]",
        reference: "Golub, Numerische Mathematik 7, 1965",
        solve: direct::qr,
        ..LINEAR
    },
    BaselineInfo {
        name: "svd",
        sparse: true,
        doc: "singular value decomposition, as `lstsq`; any rank and shape; AlgoTune's solver for MID_COND with high leverage, transcribed from the paper's table",
        reference: "Golub and Reinsch, Numerische Mathematik 14, 1970",
        solve: direct::svd,
        ..LINEAR
    },
    BaselineInfo {
        name: "jacobi",
        group: MethodGroup::Transcribed,
        doc: "FunSearch's initial routine, not found by a model, transcribed from the paper's table: x ← D⁻¹(b − (A − D)x), D the diagonal; square systems",
        reference: "Jacobi, Astronomische Nachrichten 22, 1845",
        flops: Some(splitting::jacobi_flops),
        solve: splitting::jacobi,
        ..LINEAR
    },
    BaselineInfo {
        name: "funsearch",
        group: MethodGroup::Transcribed,
        doc: "FunSearch's retained routine, transcribed from the paper's table: x ← L⁻¹(b − (A − L)x), L the lower triangle, with a solve in every iteration",
        reference: "Romera-Paredes et al., Nature 625, 2024 (the search); Seidel, 1874 (the iteration)",
        flops: Some(splitting::funsearch_flops),
        solve: splitting::funsearch,
        ..LINEAR
    },
    BaselineInfo {
        name: "lsqr",
        sparse: true,
        group: MethodGroup::Iterative,
        doc: "Golub-Kahan bidiagonalisation; iterations grow with the condition number",
        reference: "Paige and Saunders, ACM TOMS 8, 1982",
        solve: lsqr::lsqr,
        ..LINEAR
    },
    BaselineInfo {
        name: "cgls",
        sparse: true,
        group: MethodGroup::Iterative,
        doc: "conjugate gradients on the normal equations",
        reference: "Hestenes and Stiefel, J. Res. NBS 49, 1952",
        solve: cgls::cgls,
        ..LINEAR
    },
    BaselineInfo {
        name: "blendenpik",
        doc: "LSQR preconditioned by the R of a sketch of 4n rows, from the sketched solution",
        reference: "Avron, Maymounkov and Toledo, SIAM J. Sci. Comput. 32, 2010",
        solve: blendenpik::blendenpik,
        ..SKETCHED
    },
    BaselineInfo {
        name: "lsrn",
        doc: "LSQR preconditioned by the SVD of a Gaussian sketch of 2n rows; any rank",
        reference: "Meng, Saunders and Mahoney, SIAM J. Sci. Comput. 36, 2014",
        solve: lsrn::lsrn,
        ..SKETCHED
    },
    BaselineInfo {
        name: "iterative-sketching",
        doc: "one sketch, then steps with damping and momentum; forward stable",
        reference: "Epperly, SIAM J. Matrix Anal. Appl. 45, 2024",
        solve: iterative_sketching::iterative_sketching,
        ..SKETCHED
    },
    BaselineInfo {
        name: "fossils",
        doc: "sketch of 12n rows, heavy-ball inner solver, two refinements; backward stable",
        reference: "Epperly, Meier and Nakatsukasa, arXiv 2406.03468, 2024",
        solve: fossils::fossils,
        ..SKETCHED
    },
    BaselineInfo {
        name: "kaczmarz",
        group: MethodGroup::Stochastic,
        doc: "randomized Kaczmarz, rows sampled by their squared norms",
        reference: "Strohmer and Vershynin, J. Fourier Anal. Appl. 15, 2009",
        randomized: true,
        solve: kaczmarz::kaczmarz,
        ..LINEAR
    },
    BaselineInfo {
        name: "sgd",
        group: MethodGroup::Stochastic,
        doc: "stochastic gradient descent, batches of 100 rows sampled by their squared norms, averaged",
        reference: "Jain et al., JMLR 18, 2018",
        randomized: true,
        solve: sgd::sgd,
        ..LINEAR
    },
    BaselineInfo {
        name: "lbfgs",
        group: MethodGroup::Iterative,
        doc: "L-BFGS with 10 pairs and backtracking, no regularization; AlgoTune's method for logistic regression in the paper's table",
        reference: "Liu and Nocedal, Math. Program. 45, 1989",
        task: &Logistic,
        solve: lbfgs::lbfgs,
        ..LINEAR
    },
    BaselineInfo {
        name: "newton-direct",
        doc: "Newton's method with full steps and the exact Hessian + 10⁻⁸I; AlgoTune's reference solver, transcribed from the paper's text",
        reference: "Press et al., AlgoTune, 2025",
        task: &Logistic,
        solve: newton::newton_direct,
        ..LINEAR
    },
    BaselineInfo {
        name: "ridge-qr",
        doc: "Householder QR of A on top of √λ·I",
        reference: "Golub, Numerische Mathematik 7, 1965",
        task: &Ridge,
        solve: ridge::ridge_qr,
        ..LINEAR
    },
    BaselineInfo {
        name: "ridge-cgls",
        sparse: true,
        group: MethodGroup::Iterative,
        doc: "conjugate gradients on (AᵀA + λI)x = Aᵀb",
        reference: "Hestenes and Stiefel, J. Res. NBS 49, 1952",
        task: &Ridge,
        solve: cgls::cgls,
        ..LINEAR
    },
    BaselineInfo {
        name: "ridge-pcgls",
        doc: "CGLS for (AᵀA + λI)x = Aᵀb, preconditioned by the factor of SA on top of √λ·I for a sparse sketch of 4n rows",
        reference: "Avron, Clarkson and Woodruff, APPROX/RANDOM, 2017",
        task: &Ridge,
        solve: ridge::ridge_pcgls,
        ..SKETCHED
    },
    BaselineInfo {
        name: "cholesky",
        doc: "Cholesky of A + λI",
        reference: "Benoit, Bulletin Géodésique 2, 1924",
        task: &Spd,
        solve: spd::cholesky,
        ..LINEAR
    },
    BaselineInfo {
        name: "cg",
        group: MethodGroup::Iterative,
        doc: "conjugate gradients on (A + λI)x = b",
        reference: "Hestenes and Stiefel, J. Res. NBS 49, 1952",
        task: &Spd,
        solve: spd::cg,
        ..LINEAR
    },
    BaselineInfo {
        name: "nystrom-pcg",
        sparse: false,
        doc: "conjugate gradients preconditioned by a Nyström approximation of A from a sparse sketch of 0.15n rows",
        reference: "Frangella, Tropp and Udell, SIAM J. Matrix Anal. Appl. 44, 2023",
        task: &Spd,
        solve: spd::nystrom_pcg,
        ..SKETCHED
    },
    BaselineInfo {
        name: "truncated-svd",
        doc: "singular value decomposition by way of QR: the best approximation of rank k",
        reference: "Eckart and Young, Psychometrika 1, 1936; Golub and Reinsch, Numerische Mathematik 14, 1970",
        task: &LowRank,
        solve: low_rank::truncated_svd,
        ..LINEAR
    },
    BaselineInfo {
        name: "randomized-svd",
        sparse: false,
        doc: "range of a Gaussian sketch of k + 10 rows after two power iterations, and the SVD of A restricted to it",
        reference: "Halko, Martinsson and Tropp, SIAM Review 53, 2011",
        task: &LowRank,
        solve: low_rank::randomized_svd,
        ..SKETCHED
    },
    BaselineInfo {
        name: "block-krylov",
        sparse: false,
        doc: "all blocks of two power iterations on a Gaussian sketch of k + 10 rows, and the SVD of A restricted to their space",
        reference: "Musco and Musco, NIPS 2015",
        task: &LowRank,
        solve: low_rank::block_krylov,
        ..SKETCHED
    },
    BaselineInfo {
        name: "subspace-iteration",
        group: MethodGroup::Iterative,
        doc: "power iterations on a random block of k rows, orthonormal in between, until the singular values rest",
        reference: "Rutishauser, Numerische Mathematik 13, 1969",
        randomized: true,
        task: &LowRank,
        solve: low_rank::subspace_iteration,
        ..LINEAR
    },
];
