use serde_json::json;

use super::*;
use crate::job_fingerprint::OperatorFingerprint;
use crate::test_state::small_state;

fn manifest() -> Manifest {
    let operator = OperatorFingerprint::new("agg-1", "window aggregate", &small_state());
    let file = StateFile { path: "agg-0.state".into(), bytes: 17, xxh3: Xxh3(u64::MAX), key_groups: Some((0, 64)) };
    let state = OperatorState {
        uid: operator.uid.clone(),
        kind: operator.kind.clone(),
        tables: operator.tables.clone(),
        parallelism: 2,
        files: vec![file],
    };
    let split = SplitState {
        split: "orders.csv".into(),
        position: json!({"byte": 9_007_199_254_740_993_u64, "line": 3, "tail": "ä\n\"x\""}),
        watermark: Some(i64::MIN),
    };
    Manifest {
        format_version: MANIFEST_VERSION,
        checkpoint_id: CheckpointId(7),
        created_at_ms: 1_767_225_600_000,
        is_savepoint: false,
        job: JobFingerprint::new("orders", vec![operator]),
        max_parallelism: 128,
        operators: vec![state],
        sources: vec![SourceState { uid: "source-0".into(), splits: vec![split] }],
        sinks: vec![SinkState { uid: "sink-2".into(), subtask: 1, token: json!(["part-1.pending"]) }],
        watermarks: vec![SubtaskWatermark { uid: "agg-1".into(), subtask: 0, watermark: None }],
        finished: vec![],
        is_complete: false,
    }
}

fn decode(bytes: &[u8]) -> Result<Manifest, CheckpointError> {
    Manifest::decode(Path::new("chk-7/manifest.json"), bytes)
}

/// The bytes of a file with this JSON and the right checksum.
fn sealed(json: &str) -> Vec<u8> {
    format!("{json}{}", checksum_line(json.as_bytes())).into_bytes()
}

#[test]
fn a_manifest_comes_back_as_it_was() {
    let bytes = manifest().encode();
    assert_eq!(bytes, manifest().encode());
    assert_eq!(decode(&bytes).unwrap(), manifest());
}

/// Tools that read JSON can read the file: it is two values, one after the other.
#[test]
fn the_file_is_json() {
    let bytes = manifest().encode();
    let values: Vec<Value> =
        serde_json::Deserializer::from_slice(&bytes).into_iter().collect::<Result<_, _>>().unwrap();
    assert_eq!(values.len(), 2);
    assert_eq!(values[0]["checkpoint_id"], 7);
    assert_eq!(values[0]["operators"][0]["files"][0]["xxh3"], "ffffffffffffffff");
    assert_eq!(values[0]["operators"][0]["files"][0]["key_groups"], json!([0, 64]));
    let line = bytes.len() - "{\"xxh3\":\"0123456789abcdef\"}\n".len();
    assert_eq!(values[1]["xxh3"], Xxh3::of(&bytes[..line]).to_string());
}

#[test]
fn every_changed_byte_and_every_truncation_is_found() {
    let bytes = manifest().encode();
    let check = |damaged: &[u8]| {
        let error = decode(damaged).unwrap_err();
        assert!(error.to_string().starts_with("checkpoint file chk-7/manifest.json is corrupt: "), "{error}");
    };
    for at in 0..bytes.len() {
        for mask in [0x01, 0x20, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= mask;
            check(&damaged);
        }
        check(&bytes[..at]);
    }
    check(&[bytes.as_slice(), b"\n"].concat());
}

#[test]
fn later_formats_are_refused_by_name() {
    let error = decode(&sealed("{\"format_version\": 2, \"something\": \"else\"}\n")).unwrap_err();
    let expected = "checkpoint file chk-7/manifest.json has format version 2, \
                    but this version reads no later one than 1";
    assert_eq!(error.to_string(), expected);
    assert!(decode(&sealed("{\"format_version\": 0}\n")).is_err());
    assert!(decode(&sealed("{\"format_version\": 1}\n")).is_err(), "the rest is missing");
    assert!(decode(&sealed("[1]\n")).is_err());
}

#[test]
fn unknown_names_are_skipped() {
    let json = String::from_utf8(manifest().encode()).unwrap().replacen('{', "{\"comment\": \"hello\",", 1);
    let end = json.rfind("{\"xxh3\"").unwrap();
    assert_eq!(decode(&sealed(&json[..end])).unwrap(), manifest());
}
