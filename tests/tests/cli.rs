//! The command line as scripts see it: rows on stdout, everything else on stderr, and the exit code.

mod cli {
    mod binary;
    mod errors;
    mod formats;
    mod readme;
    mod scripts;
    mod stops;
}
