//! What the program ends with.

use std::process::Termination;

/// A number that tells whoever started the program how it went. Unlike the standard library's, it can be read: the Python package
/// runs the program too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    /// It went well.
    pub const SUCCESS: Self = Self(0);
    /// It failed.
    pub const FAILURE: Self = Self(1);

    /// The number.
    pub fn number(self) -> u8 {
        self.0
    }
}

impl From<u8> for ExitCode {
    fn from(number: u8) -> Self {
        Self(number)
    }
}

impl Termination for ExitCode {
    fn report(self) -> std::process::ExitCode {
        self.0.into()
    }
}
