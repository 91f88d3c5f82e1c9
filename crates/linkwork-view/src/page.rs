//! The built page: that of the checkout if it is there, else the one that was there when the program was built.

use std::path::Path;

/// What the program was built with, if there was a page then.
#[cfg(linkwork_page)]
const EMBEDDED: Option<&[u8]> = Some(include_bytes!(env!("LINKWORK_PAGE")));
#[cfg(not(linkwork_page))]
const EMBEDDED: Option<&[u8]> = None;

/// The page, or one line that says how to get it.
pub fn page() -> Result<Vec<u8>, String> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("page/index.html");
    find(&place, EMBEDDED)
}

fn find(place: &Path, embedded: Option<&[u8]>) -> Result<Vec<u8>, String> {
    let built = std::fs::read(place).ok();
    built.or_else(|| embedded.map(<[u8]>::to_vec)).ok_or_else(|| {
        "this program was built without the viewer's page; `cargo xtask viewer` in the checkout makes it (it needs Node.js and npm)".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_a_page_says_so_in_one_line() {
        let nowhere = Path::new("/nowhere/index.html");
        let problem = find(nowhere, None).unwrap_err();
        assert!(problem.contains("cargo xtask viewer") && !problem.contains('\n'));
        assert_eq!(find(nowhere, Some(b"x")).unwrap(), b"x");
    }
}
