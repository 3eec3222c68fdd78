//! Row pattern recognition as the standard has it: the cases of `tests/data/match_cases.json`, those over complete
//! tables in every cell of the matrix, those over streams watermark by watermark.

use libtest_mimic::{Arguments, Trial};
use tidemark_tests::harness::Cell;
use tidemark_tests::match_cases::{Delivery, cases, run_batch, run_streaming, text};

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = vec![];
    for case in cases("cases") {
        for cell in Cell::all() {
            for delivery in Delivery::ALL {
                // Rows of one time are matched in the order of their arrival.
                if delivery == Delivery::Backwards && text(&case, "id") == "n13_order_secondary" {
                    continue;
                }
                let case = case.clone();
                let name = format!("{} {cell} {delivery:?}", text(&case, "id"));
                trials.push(Trial::test(name, move || run_batch(&case, cell, delivery).map_err(Into::into)));
            }
        }
    }
    for case in cases("streaming_cases") {
        let name = text(&case, "id").to_string();
        trials.push(Trial::test(name, move || run_streaming(&case).map_err(Into::into)));
    }
    assert!(trials.len() > 700, "the file of cases is read whole");
    libtest_mimic::run(&arguments, trials).exit();
}
