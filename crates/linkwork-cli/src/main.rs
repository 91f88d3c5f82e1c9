//! The `linkwork` program; all of it is in the library beside this.

fn main() -> linkwork_cli::ExitCode {
    linkwork_cli::run(std::env::args_os())
}
