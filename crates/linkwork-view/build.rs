//! Puts the built page into the program, if it is there. Nothing is built here.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(linkwork_page)");
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let file = Path::new(&here).join("page/index.html");
    println!("cargo::rerun-if-changed={}", file.display());
    if file.is_file() {
        println!("cargo::rustc-env=LINKWORK_PAGE={}", file.display());
        println!("cargo::rustc-cfg=linkwork_page");
    }
}
