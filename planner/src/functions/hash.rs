//! Digests, as lower-case hexadecimal text.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion_common::{Result, exec_err};
use datafusion_expr::{ColumnarValue, ScalarUDF};

use super::adapted::invoke;
use super::call::Call;
use super::encoding::write_hex;
use super::param::Param::{Bytes, Long};
use super::scalar::{Returns, ScalarFunction, takes};

mod sha1;

pub(super) fn functions() -> Vec<ScalarFunction> {
    use datafusion_functions::crypto;
    let text = || Returns::Type(DataType::Utf8);
    vec![
        ScalarFunction::new("md5", takes(&[Bytes]), text(), |call| digest(call, &crypto::md5())),
        ScalarFunction::new("sha1", takes(&[Bytes]), text(), sha1),
        ScalarFunction::new("sha224", takes(&[Bytes]), text(), |call| digest(call, &crypto::sha224())),
        ScalarFunction::new("sha256", takes(&[Bytes]), text(), |call| digest(call, &crypto::sha256())),
        ScalarFunction::new("sha384", takes(&[Bytes]), text(), |call| digest(call, &crypto::sha384())),
        ScalarFunction::new("sha512", takes(&[Bytes]), text(), |call| digest(call, &crypto::sha512())),
        ScalarFunction::new("sha2", takes(&[Bytes, Long]), text(), sha2),
    ]
}

const LOWER: &[u8; 16] = b"0123456789abcdef";

/// The digest by a function of DataFusion's, which gives bytes or already text.
fn digest(call: &Call<'_>, udf: &ScalarUDF) -> Result<ArrayRef> {
    let argument = ColumnarValue::Array(call.full(0)?);
    let digests = invoke(udf, vec![argument], vec![Arc::clone(&call.fields[0])], call.rows, Arc::default())?;
    if !digests.data_type().is_binary() {
        return Ok(cast(&digests, &DataType::Utf8)?);
    }
    let digests = cast(&digests, &DataType::Binary)?;
    let digests = digests.as_binary::<i32>();
    call.build_texts(|row, out| digests.is_valid(row).then(|| write_hex(digests.value(row), LOWER, out)))
}

fn sha1(call: &Call<'_>) -> Result<ArrayRef> {
    let bytes = call.bytes(0)?;
    call.build_texts(|row, out| bytes.get(row).map(|b| write_hex(&sha1::digest(b), LOWER, out)))
}

/// SHA-2 of so many bits, which must be the same for all rows.
fn sha2(call: &Call<'_>) -> Result<ArrayRef> {
    use datafusion_functions::crypto;
    let udf = match call.longs(1)?.constant() {
        Some(Some(224)) => crypto::sha224(),
        Some(Some(256)) => crypto::sha256(),
        Some(Some(384)) => crypto::sha384(),
        Some(Some(512)) => crypto::sha512(),
        _ => return exec_err!("SHA2 has 224, 256, 384 or 512 bits, written out"),
    };
    digest(call, &udf)
}

#[cfg(test)]
mod tests;
