//! From the type a file holds to the type a table declares: only where every value has a place.

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, make_array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::*;
use arrow::error::ArrowError;

use super::super::scalar::unit_nanos;
use super::super::zone::Zone;

/// Does every value of `stored` have a place in `declared`?
pub(super) fn can_conform(stored: &DataType, declared: &DataType) -> bool {
    use DataType::*;
    match (stored, declared) {
        (Dictionary(_, value), _) => can_conform(value, declared),
        (Utf8 | LargeUtf8 | Utf8View, Utf8) | (Binary | LargeBinary | BinaryView | FixedSizeBinary(_), Binary) => true,
        (Float32, Float64) => true,
        (Time32(_) | Time64(_), Time32(_) | Time64(_)) | (Timestamp(_, _), Timestamp(_, _)) => true,
        (Decimal32(p, s) | Decimal64(p, s) | Decimal128(p, s), Decimal128(precision, scale)) => {
            s == scale && p <= precision
        }
        (List(stored) | LargeList(stored), List(declared)) => can_conform(stored.data_type(), declared.data_type()),
        (Map(stored, _), Map(declared, _)) => can_conform(stored.data_type(), declared.data_type()),
        (Struct(stored), Struct(declared)) => {
            let mut pairs = stored.iter().zip(declared);
            stored.len() == declared.len() && pairs.all(|(s, d)| can_conform(s.data_type(), d.data_type()))
        }
        (stored, declared) if stored.is_integer() && declared.is_signed_integer() => {
            let has_room = width(stored) < width(declared);
            has_room || (stored.is_signed_integer() && width(stored) == width(declared))
        }
        (stored, declared) => stored == declared,
    }
}

fn width(integer: &DataType) -> usize {
    integer.primitive_width().unwrap_or(0)
}

/// The same values as `declared`. An instant is taken as its wall time in UTC where none is declared; where one is
/// declared, a wall time is read in `zone`.
pub(super) fn conform(array: &ArrayRef, declared: &DataType, zone: Zone) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == declared {
        return Ok(array.clone());
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let DataType::Timestamp(unit, tz) = declared else { return cast_with_options(array, declared, &options) };
    let DataType::Timestamp(stored_unit, stored_tz) = array.data_type() else {
        return cast_with_options(array, declared, &options);
    };
    let without_zone = retag(array, DataType::Timestamp(*stored_unit, None))?;
    let mut array = cast_with_options(&without_zone, &DataType::Timestamp(*unit, None), &options)?;
    if let (Zone::Other(_), None, Some(_)) = (zone, stored_tz, tz) {
        let per_second = 1_000_000_000 / unit_nanos(*unit);
        let ints = retag(&array, DataType::Int64)?;
        let instants: PrimitiveArray<Int64Type> = ints.as_primitive::<Int64Type>().unary(|wall| {
            let seconds = wall.div_euclid(per_second);
            zone.to_utc_seconds(seconds) * per_second + wall.rem_euclid(per_second)
        });
        array = std::sync::Arc::new(instants);
    }
    retag(&array, declared.clone())
}

/// The same bits under another type of the same width.
fn retag(array: &ArrayRef, data_type: DataType) -> Result<ArrayRef, ArrowError> {
    Ok(make_array(array.to_data().into_builder().data_type(data_type).build()?))
}
