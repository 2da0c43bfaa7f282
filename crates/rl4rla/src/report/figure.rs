//! Figures as data: panels with axes, and series of points in them.

/// How numbers are laid out along an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AxisScale {
    /// Evenly.
    Linear,
    /// By their logarithm; what is not positive is left out.
    Log,
}

/// An axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// What it measures, with its unit.
    pub label: String,
    /// How.
    pub scale: AxisScale,
    /// From where to where; what the points need, if not given.
    pub range: Option<[f64; 2]>,
    /// The names of what stands at 0, 1, 2, …, where the axis has classes and not numbers.
    pub classes: Vec<String>,
}

impl Axis {
    /// An evenly spaced axis.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: AxisScale::Linear, range: None, classes: vec![] }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: AxisScale::Log, range: None, classes: vec![] }
    }

    /// An axis of classes: the first one stands at 0, the next at 1.
    pub fn classes(label: impl Into<String>, classes: Vec<String>) -> Axis {
        let range = Some([-0.5, classes.len() as f64 - 0.5]);
        Axis { label: label.into(), scale: AxisScale::Linear, range, classes }
    }

    /// The same with these ends.
    #[must_use]
    pub fn within(mut self, low: f64, high: f64) -> Axis {
        self.range = Some([low, high]);
        self
    }
}

/// A colour of the palette, together with a dash pattern and a marker, so that none is told by colour alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ink(pub usize);

/// How the points of a series are drawn.
#[derive(Clone, PartialEq, Debug)]
pub enum Marker {
    /// Joined by lines.
    Line,
    /// Joined by steps: a value holds until the next.
    Steps,
    /// Each on its own.
    Dots,
    /// The area between the points and these upper ends; drawn behind everything else.
    Band(Vec<f64>),
    /// Coloured cells around the points, one unit wide and high: a heat map.
    Cells(Shades),
}

/// The values of the cells of a heat map, and what its colours stand for.
#[derive(Clone, PartialEq, Debug)]
pub struct Shades {
    /// What is shown, with its unit.
    pub label: String,
    /// A value for each point, shown by its logarithm; a failure where it is not a number.
    pub values: Vec<f64>,
    /// The values of the first and the last colour; what is beyond has the colour of the end.
    pub ends: [f64; 2],
}

/// Where the name of a series stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Label {
    /// In the legend of the figure, once for all panels that have a series of this name.
    Legend,
    /// Beside its last point.
    Beside,
    /// Nowhere: the series belongs to another one.
    Hidden,
}

/// Points that belong together.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub ink: Ink,
    /// How it is drawn.
    pub mark: Marker,
    /// Where its name stands.
    pub label: Label,
    /// The points; what is not finite breaks a line.
    pub points: Vec<[f64; 2]>,
}

impl Series {
    /// A series named in the legend.
    pub fn new(
        name: impl Into<String>,
        ink: Ink,
        mark: Marker,
        points: impl IntoIterator<Item = [f64; 2]>,
    ) -> Series {
        Series { name: name.into(), ink, mark, label: Label::Legend, points: points.into_iter().collect() }
    }

    /// The same with its name elsewhere.
    #[must_use]
    pub fn labelled(mut self, label: Label) -> Series {
        self.label = label;
        self
    }
}

/// One pair of axes.
#[derive(Clone, PartialEq, Debug)]
pub struct Panel {
    /// What it shows.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// What is drawn, the first one lowest.
    pub series: Vec<Series>,
}

/// Panels side by side, with one legend.
#[derive(Clone, PartialEq, Debug)]
pub struct Figure {
    /// The name of its files.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What to see in it, and how it was made.
    pub caption: String,
    /// Its panels, from left to right and from top to bottom.
    pub panels: Vec<Panel>,
    /// How many stand side by side where there is room.
    pub columns: usize,
}
