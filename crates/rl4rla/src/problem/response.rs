//! The type of a target, and its prediction from a solution.

use super::instance_error::InstanceError;
use super::logistic::sigmoid;

/// The type of the target column.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Response {
    /// A number, which aᵀx predicts.
    Number,
    /// One of two values, the smaller first; σ(aᵀx) is the probability of the larger.
    Classes([f64; 2]),
}

impl Response {
    /// The two distinct values of the labels.
    pub fn classes(labels: &[f64]) -> Result<Response, InstanceError> {
        let first = *labels.first().ok_or(InstanceError::Empty { rows: 0, cols: 0 })?;
        let Some(&second) = labels.iter().find(|label| **label != first) else {
            return Err(InstanceError::OneClass { value: first });
        };
        let known = [first.min(second), first.max(second)];
        match labels.iter().position(|label| !known.contains(label)) {
            Some(row) => Err(InstanceError::ThirdClass { row, value: labels[row], known }),
            None => Ok(Response::Classes(known)),
        }
    }

    /// What aᵀx predicts: the number, or the probability of the larger value.
    pub fn predict(self, product: f64) -> f64 {
        match self {
            Response::Number => product,
            Response::Classes(_) => sigmoid(product),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_two_values_are_labels() {
        for (labels, known) in [
            (&[1.0, 0.0, 1.0][..], [0.0, 1.0]),
            (&[-1.0, 1.0], [-1.0, 1.0]),
            (&[2.0, 1.0, 1.0], [1.0, 2.0]),
            (&[7.5, -3.0], [-3.0, 7.5]),
            (&[0.0, -0.0, 1.0], [0.0, 1.0]),
        ] {
            assert_eq!(Response::classes(labels), Ok(Response::Classes(known)));
        }
        assert_eq!(Response::classes(&[3.0; 4]), Err(InstanceError::OneClass { value: 3.0 }));
        let third = InstanceError::ThirdClass { row: 2, value: 0.5, known: [0.0, 1.0] };
        assert_eq!(Response::classes(&[0.0, 1.0, 0.5]), Err(third));
        assert_eq!((Response::Number.predict(-2.0), Response::Classes([0.0, 1.0]).predict(0.0)), (-2.0, 0.5));
    }
}
