//! The threads that batches run on: a pool of our own, because a forked process has none of its parent's threads.

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Arc, Mutex, PoisonError};

struct Threads {
    /// The process that they live in.
    process: u32,
    pool: Arc<ThreadPool>,
}

// Locked only while the interpreter's lock is held, and never across its release: no fork can find it locked.
static THREADS: Mutex<Option<Threads>> = Mutex::new(None);

/// How many threads to start where nobody says: what the environment says, or as many as the processor runs.
fn default_count() -> usize {
    let asked = ["LINKWORK_THREADS", "RAYON_NUM_THREADS"];
    let mut asked = asked.iter().filter_map(|name| std::env::var(name).ok()?.parse().ok());
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.find(|n| (1..=MOST).contains(n)).unwrap_or_else(available)
}

fn start(count: usize) -> PyResult<Arc<ThreadPool>> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(count)
        .thread_name(|i| format!("linkwork-{i}"))
        .build()
        .map_err(|e| pyo3::exceptions::PyRuntimeError::new_err(format!("cannot start {count} threads: {e}")))?;
    Ok(Arc::new(pool))
}

/// The pool of this process, started when it is first needed.
pub(crate) fn pool(_py: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    started()
}

/// The same for threads that are not the interpreter's, which no process should be forked beside.
pub(crate) fn started() -> PyResult<Arc<ThreadPool>> {
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    let count = match &*threads {
        Some(held) if held.process == process => return Ok(held.pool.clone()),
        Some(held) => held.pool.current_num_threads(),
        None => default_count(),
    };
    let pool = start(count)?;
    let parents = threads.replace(Threads {
        process,
        pool: pool.clone(),
    });
    // Waiting for the threads of another process would take for ever.
    std::mem::forget(parents);
    Ok(pool)
}

/// Sets how many threads batches run on; `None` for as many as the processor runs at once.
///
/// The environment variable `LINKWORK_THREADS` sets it from outside.
///
/// >>> import linkwork as lw
/// >>> before = lw.threads()
/// >>> lw.set_threads(1)
/// >>> lw.threads()
/// 1
/// >>> lw.set_threads(before)
#[pyfunction]
#[pyo3(signature = (count=None))]
pub(crate) fn set_threads(py: Python<'_>, count: Option<usize>) -> PyResult<()> {
    if count == Some(0) {
        let problem = "count is 0; give at least one thread, or None for as many as the processor runs";
        return Err(crate::errors::Error::new_err(problem));
    }
    if let Some(count) = count.filter(|n| *n > MOST) {
        let problem = format!("count is {count}; at most {MOST} threads can be asked for");
        return Err(crate::errors::Error::new_err(problem));
    }
    pool(py)?;
    let next = start(count.unwrap_or_else(default_count))?;
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(threads) = &mut *threads {
        threads.pool = next;
    }
    Ok(())
}

/// More threads than this are a mistake.
const MOST: usize = 4096;

/// How many threads batches run on.
#[pyfunction]
pub(crate) fn threads(py: Python<'_>) -> PyResult<usize> {
    Ok(pool(py)?.current_num_threads())
}
