//! The `traceframe` program; everything is in the library.

fn main() -> std::process::ExitCode {
    traceframe::cli::main()
}
