use crate::functions::check::{check, check_constant, check_error};

/// The digests of "abc" that the standards give as examples.
#[test]
fn digests_of_the_standards() {
    check("MD5('abc')", "900150983cd24fb0d6963f7d28e17f72");
    check("SHA1('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d");
    check("SHA224('abc')", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7");
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    check("SHA256('abc')", sha256);
    check_constant("SHA2('abc', 256)", sha256);
    check(
        "SHA512('abc')",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    );
    check("SHA1(CAST(NULL AS STRING))", "NULL");
    check_error("SHA2('abc', 5)", "SHA2 has 224, 256, 384 or 512 bits, written out");
}

#[test]
fn sha1_pads_to_one_block_or_two() {
    // FIPS 180's message of 56 bytes, whose length needs a block of its own.
    check(
        "SHA1('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq')",
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
    );
    check("SHA1('')", "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}
