//! Figures as data: panels with axes, and series of points in them.

/// Scale of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AxisScale {
    /// Linear.
    Linear,
    /// Logarithmic; nonpositive values are left out.
    Log,
}

/// An axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// The quantity, with its unit.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: AxisScale,
    /// The range; determined by the points if not given.
    pub range: Option<[f64; 2]>,
    /// Names of the categories at 0, 1, 2, … for a categorical axis.
    pub classes: Vec<String>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: AxisScale::Linear, range: None, classes: vec![] }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), scale: AxisScale::Log, range: None, classes: vec![] }
    }

    /// A categorical axis: the first class is at 0, the next at 1.
    pub fn classes(label: impl Into<String>, classes: Vec<String>) -> Axis {
        let range = Some([-0.5, classes.len() as f64 - 0.5]);
        Axis { label: label.into(), scale: AxisScale::Linear, range, classes }
    }

    /// The same axis with this range.
    #[must_use]
    pub fn within(mut self, low: f64, high: f64) -> Axis {
        self.range = Some([low, high]);
        self
    }
}

/// A colour of the palette, together with a dash pattern and a marker, so that colour is never the only distinction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ink(pub usize);

/// How the points of a series are drawn.
#[derive(Clone, PartialEq, Debug)]
pub enum Marker {
    /// Points joined by lines.
    Line,
    /// Points joined by steps: a value holds until the next.
    Steps,
    /// Separate points.
    Dots,
    /// The area between the points and these upper ends, drawn behind everything else.
    Band(Vec<f64>),
    /// Coloured cells around the points, one unit wide and high: a heat map.
    Cells(Shades),
}

/// The values of the cells of a heat map, and its colour scale.
#[derive(Clone, PartialEq, Debug)]
pub struct Shades {
    /// The quantity, with its unit.
    pub label: String,
    /// A value for each point, on a logarithmic scale; NaN marks a failure.
    pub values: Vec<f64>,
    /// The values of the first and the last colour; values outside are clipped.
    pub ends: [f64; 2],
}

/// Where the name of a series is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Label {
    /// In the legend of the figure, once for all panels with a series of this name.
    Legend,
    /// Next to its last point.
    Beside,
    /// Not at all: the series belongs to another one.
    Hidden,
}

/// A series of points.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub ink: Ink,
    /// How it is drawn.
    pub mark: Marker,
    /// Where its name is shown.
    pub label: Label,
    /// The points; NaN interrupts a line. Points beyond the range of an axis, and those at infinity, are marked at the
    /// edge of the panel.
    pub points: Vec<[f64; 2]>,
}

impl Series {
    /// A series that is named in the legend.
    pub fn new(
        name: impl Into<String>,
        ink: Ink,
        mark: Marker,
        points: impl IntoIterator<Item = [f64; 2]>,
    ) -> Series {
        Series { name: name.into(), ink, mark, label: Label::Legend, points: points.into_iter().collect() }
    }

    /// The same series with its name elsewhere.
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
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The series, drawn in this order.
    pub series: Vec<Series>,
}

/// Panels side by side, with a common legend.
#[derive(Clone, PartialEq, Debug)]
pub struct Figure {
    /// Base name of its files.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Explanation, and how the data were produced.
    pub caption: String,
    /// Its panels, row by row.
    pub panels: Vec<Panel>,
    /// Number of panels per row where there is room.
    pub columns: usize,
}
