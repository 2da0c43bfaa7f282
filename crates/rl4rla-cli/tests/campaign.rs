//! `campaign` and `--campaign` from the plan to the store, on a cluster that is a few scripts: what Slurm does wrong, what
//! people and file systems do to the folder, and that the runs are those of one machine whatever happens.

#![cfg(unix)]

mod common;
mod campaign {
    pub mod builds;
    pub mod cancel;
    pub mod commands;
    pub mod damage;
    pub mod files;
    pub mod limits;
    pub mod local;
    pub mod signals;
    pub mod site;
    pub mod slurm_fails;
    pub mod space;
    pub mod whole;
}
