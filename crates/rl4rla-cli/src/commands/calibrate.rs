//! `rl4rla calibrate`.

use super::solve::calibration;
use crate::args::{Calibrate, Shared};
use crate::failure::Failure;
use crate::page::{Page, faint, table};
use crate::progress;
use rl4rla::solve::Speeds;
use serde_json::json;

/// Measures the speeds of this machine and keeps them.
pub fn run(args: &Calibrate, shared: &Shared) -> Result<Page, Failure> {
    args.threads.apply()?;
    progress::doing("measuring the speed of this machine");
    let speeds = Speeds::measured();
    let path = calibration(&shared.store);
    let json = json!(speeds);
    std::fs::write(&path, format!("{json:#}\n")).map_err(|error| {
        Failure::new(format!("cannot write {}: {error}", path.display())).advise("another --store")
    })?;
    let giga = |value: f64, unit: &str| format!("{:.1} {unit}", value / 1e9);
    let rows = [
        ("pass over A", giga(speeds.pass, "GB/s")),
        ("AᵀA", giga(speeds.gram, "Gflop/s")),
        ("(AP⁻¹)ᵀAP⁻¹", giga(speeds.precond_gram, "Gflop/s")),
        ("Householder factor", giga(speeds.qr, "Gflop/s")),
        ("Cholesky factor", giga(speeds.cholesky, "Gflop/s")),
        ("sparse sketch", giga(speeds.sketch, "G nonzeros/s")),
        ("threads", speeds.threads.to_string()),
    ];
    let text = table(rows.map(|(what, value)| vec![what.into(), value]));
    Ok(Page::ok(json, text + &faint(&format!("wrote {}\n", path.display()))))
}
