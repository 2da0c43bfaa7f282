//! Accuracy: the final residual on a logarithmic scale.
//!
//! acc = clip( (ln 0.1 − ln loss) / (ln 0.1 − ln 10⁻⁶), 0, 1 )
//!
//! In the profile `paper` the loss is the relative residual; in `sound` it is the relative excess over the attainable
//! residual, which is the same for consistent systems and can reach zero for all others.

use super::term::{Formula, RewardTerm};

/// Table row of the accuracy term. A task may define its own scale.
pub static ACCURACY: RewardTerm = RewardTerm {
    key: "acc",
    title: "accuracy",
    doc: "of the final iterate",
    needs: &[],
    sound: Formula::new(|input| {
        let history = input.history();
        input.instance.task.accuracy(&history).unwrap_or_else(|| accuracy(history.ends().1))
    }),
    paper: Formula::new(|input| accuracy(input.loss())),
};

const LARGEST: f64 = 0.1;
const SMALLEST: f64 = 1e-6;

/// The accuracy of a loss.
pub fn accuracy(loss: f64) -> f64 {
    if loss.is_nan() {
        return 0.0;
    }
    ((LARGEST.ln() - loss.ln()) / (LARGEST.ln() - SMALLEST.ln())).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale() {
        assert_eq!(accuracy(0.1), 0.0);
        assert_eq!(accuracy(7.0), 0.0);
        assert!((accuracy(1e-6) - 1.0).abs() < 1e-15);
        assert!((accuracy(1e-6f64.sqrt() * 0.1f64.sqrt()) - 0.5).abs() < 1e-12);
        assert_eq!(accuracy(0.0), 1.0);
        assert_eq!(accuracy(f64::NAN), 0.0);
        assert_eq!(accuracy(f64::INFINITY), 0.0);
    }
}
