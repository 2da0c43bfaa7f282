//! Available memory, and what happens to a command that needs more.

use crate::failure::{BAD_INPUT, Failure};
use crate::page::printable_json;
use rl4rla::data::size;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Assumed limit if the system does not report the free memory.
const CAUTIOUS: u64 = 4 << 30;

/// Available bytes: free memory, or what is left of the limits of the process and of its control group.
pub fn left() -> u64 {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let status = read("/proc/self/status");
    let ways = [
        field(&read("/proc/meminfo"), "MemAvailable:"),
        below_limits(&read("/proc/self/limits"), &status),
        within_group(Path::new("/sys/fs/cgroup"), &read("/proc/self/cgroup")),
    ];
    ways.into_iter().flatten().min().unwrap_or(CAUTIOUS)
}

/// Rejects work that needs more bytes than available, before it starts.
pub fn afford(bytes: u128, what: &str, advice: &str) -> Result<(), Failure> {
    let left = left();
    if bytes <= u128::from(left) {
        return Ok(());
    }
    let bytes = size(u64::try_from(bytes).unwrap_or(u64::MAX));
    let message = format!("{what} would take {bytes} of memory, but only {} are free", size(left));
    Err(Failure::new(message).advise(advice))
}

/// Has blocks of a megabyte and more returned to the system when they are freed. By default, glibc keeps blocks of up
/// to 32 MiB from when the first of their size is freed, and a search that draws its problems again and again takes
/// twice the memory it holds.
pub fn return_freed_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code)]
    // SAFETY: this sets a number, before any other thread is started.
    unsafe {
        nix::libc::mallopt(nix::libc::M_MMAP_THRESHOLD, 1 << 20);
    }
}

/// Bytes of a page of memory; where pages are larger, advice about parts of them is refused and nothing is lost.
const PAGE: usize = 4096;

/// Blocks from which on large pages are asked for: touching a new page of 4 kB takes longer than filling it.
const LARGE: usize = 2 << 20;

/// Asks for large pages for a block, of which there may be none.
fn prefer_large_pages(place: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    if bytes >= LARGE && !place.is_null() {
        let first = place.align_offset(PAGE);
        let whole = (bytes - first) / PAGE * PAGE;
        #[allow(unsafe_code)]
        // SAFETY: the pages are within a block that was just allocated, and advice changes no contents.
        unsafe {
            nix::libc::madvise(place.add(first).cast(), whole, nix::libc::MADV_HUGEPAGE);
        }
    }
}

/// A number of kB in a Linux status file, in bytes.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// What is left of `ulimit -v` and `ulimit -d`.
fn below_limits(limits: &str, status: &str) -> Option<u64> {
    let left = |limit: &str, used: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
        let most: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(most.saturating_sub(field(status, used)?))
    };
    [left("Max address space", "VmSize:"), left("Max data size", "VmData:")].into_iter().flatten().min()
}

/// What is left of the limits of the control group and its parents: version 2, or version 1 with a memory folder.
fn within_group(root: &Path, groups: &str) -> Option<u64> {
    let left = |folder: &Path, names: [&str; 3]| {
        let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
        let [most, used, idle] = names;
        // Inactive page cache is reclaimed on demand.
        let statistics = read("memory.stat").unwrap_or_default();
        let idle = statistics.lines().find_map(|line| line.strip_prefix(idle)?.trim().parse().ok());
        let used = number(used)?.saturating_sub(idle.unwrap_or(0));
        Some(number(most)?.saturating_sub(used))
    };
    let along = |top: &Path, path: &str, names: [&str; 3]| {
        let own = top.join(path.trim_start_matches('/'));
        // Inside a container the group may have another path, so its parents are checked too.
        let folders = own.ancestors().take_while(|folder| folder.starts_with(top));
        folders.filter_map(|folder| left(folder, names)).min()
    };
    let each = groups.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        match rest.split_once(':')? {
            ("", path) => along(root, path, ["memory.max", "memory.current", "inactive_file "]),
            (kinds, path) if kinds.split(',').any(|kind| kind == "memory") => {
                let names = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "];
                along(&root.join("memory"), path, names)
            }
            _ => None,
        }
    });
    each.min()
}

/// The system's allocator, with large pages for large blocks. A command that runs out of memory prints a message and ends with exit code 2; otherwise it
/// would abort, or panic deep inside a factorisation.
pub struct Allocator;

// SAFETY: every call is passed to the system's allocator unchanged, and its result returned.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        granted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        granted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        granted(unsafe { System.realloc(place, layout, size) }, size)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        unsafe { System.dealloc(place, layout) }
    }
}

fn granted(place: *mut u8, bytes: usize) -> *mut u8 {
    prefer_large_pages(place, bytes);
    static ENDING: AtomicBool = AtomicBool::new(false);
    thread_local!(static SPEAKING: Cell<bool> = const { Cell::new(false) });
    // There may be no memory for the message either: then the allocation fails and the process aborts.
    if place.is_null() && !SPEAKING.replace(true) {
        while ENDING.swap(true, Ordering::SeqCst) {
            // Another thread has run out of memory and is printing the message.
            std::thread::sleep(Duration::from_secs(1));
        }
        let message = format!("there is no memory for another {}", size(bytes as u64));
        let failure =
            Failure::new(message).advise("a smaller problem, or higher limits (ulimit, memory of the job)");
        if crate::interrupt::wants_json() {
            crate::put(&printable_json(&failure.json()));
        }
        crate::complain(&failure);
        std::process::exit(i32::from(BAD_INPUT));
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_the_process() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max data size             unlimited            unlimited            bytes\n\
                      Max address space         1048576000           unlimited            bytes\n";
        let status = "VmSize:\t  524288 kB\nVmData:\t   1024 kB\n";
        assert_eq!(below_limits(limits, status), Some(1048576000 - (512 << 20)));
        assert_eq!(below_limits(&limits.replace("unlimited ", "2097152   "), status), Some(1 << 20));
        assert_eq!(below_limits("", status), None);
        // If the limit is exceeded, nothing is left.
        assert_eq!(below_limits(&limits.replace("1048576000", "1024"), status), Some(0));
    }

    #[test]
    fn limits_of_control_groups() {
        let root = std::env::temp_dir().join(format!("rl4rla-groups-{}", std::process::id()));
        let put = |file: &str, text: &str| {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("job/step/memory.max", "max\n");
        put("job/step/memory.current", "100\n");
        put("job/memory.max", "5000\n");
        put("job/memory.current", "3000\n");
        put("job/memory.stat", "anon 1000\ninactive_file 1500\nactive_file 500\n");
        assert_eq!(within_group(&root, "0::/job/step\n"), Some(3500));
        assert_eq!(within_group(&root, "0::/elsewhere\n"), None);
        put("memory/box/memory.limit_in_bytes", "9000\n");
        put("memory/box/memory.usage_in_bytes", "2000\n");
        assert_eq!(within_group(&root, "4:cpu,memory:/box\n0::/\n"), Some(7000));
        assert_eq!(within_group(&root, "nonsense"), None);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn more_than_there_is_is_refused() {
        assert!(left() > 0 && afford(1, "a byte", "").is_ok());
        let failure = afford(u128::MAX, "everything", "less").unwrap_err();
        assert!(failure.to_string().contains("everything would take 18.4 EB of memory, but only "));
    }
}
