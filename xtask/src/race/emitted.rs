//! Forward dynamics as emitted source code, compiled for this machine and timed as `linkwork bench` times its own.

use super::rival::Robot;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the harness around the emitted function does: 64 random states in rotation, batches of calls, the least mean.
const HARNESS: &str = r#"
fn main() {
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let mut states = Vec::new();
    for _ in 0..64 {
        let mut q = [0.0; NQ];
        q.iter_mut().for_each(|x| *x = 3.0 * next());
        let (mut qd, mut tau) = ([0.0; NV], [0.0; NV]);
        qd.iter_mut().for_each(|x| *x = next());
        tau.iter_mut().for_each(|x| *x = next());
        states.push((q, qd, tau));
    }
    let mut out = [0.0; NV];
    let mut least = f64::INFINITY;
    for _ in 0..200 {
        let start = std::time::Instant::now();
        for i in 0..2000 {
            let (q, qd, tau) = std::hint::black_box(&states[i % 64]);
            evaluate(q, qd, tau, &mut out);
            std::hint::black_box(&out);
        }
        least = least.min(start.elapsed().as_nanos() as f64 / 2000.0);
    }
    println!("{{\"alg\": \"emitted\", \"min\": {least:.1}}}");
}
"#;

/// A program that times the emitted forward dynamics of a robot; quaternions need not be of length one for it.
pub(super) fn program(linkwork: &Path, robot: &Robot, target: &Path) -> Result<PathBuf, String> {
    let mut derive = Command::new(linkwork);
    derive.args(["derive", "inv(Mass) (T - C)", "--robot"]).arg(&robot.file);
    if robot.free {
        derive.arg("--floating");
    }
    if robot.follows()? {
        derive.arg("--ignore-couplings");
    }
    let output = derive.args(["--emit", "rust"]).output();
    let output = output.map_err(|e| format!("cannot run {}: {e}", linkwork.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let source = String::from_utf8_lossy(&output.stdout).into_owned();
    let (nq, nv) = (length(&source, "q: &[f64; "), length(&source, "tau: &[f64; "));
    let (Some(nq), Some(nv)) = (nq, nv) else {
        return Err("the emitted function has no q and tau".to_owned());
    };
    let harness = HARNESS.replace("NQ", &nq).replace("NV", &nv);
    let name = &robot.name;
    let (file, program) = (
        target.join(format!("emitted_{name}.rs")),
        target.join(format!("emitted_{name}")),
    );
    std::fs::write(&file, source + &harness).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut compile = Command::new(rustc);
    compile.args([
        "--edition",
        "2021",
        "-C",
        "opt-level=3",
        "-C",
        "target-cpu=native",
        "-o",
    ]);
    let done = compile.arg(&program).arg(&file).status();
    match done {
        Ok(status) if status.success() => Ok(program),
        Ok(_) => Err(format!("rustc refused {}", file.display())),
        Err(e) => Err(format!("cannot run rustc: {e}")),
    }
}

/// The number that follows some text.
fn length(source: &str, before: &str) -> Option<String> {
    let rest = &source[source.find(before)? + before.len()..];
    Some(rest.chars().take_while(char::is_ascii_digit).collect())
}
