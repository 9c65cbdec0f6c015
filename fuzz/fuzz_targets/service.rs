//! The messages between a service and its clients.
//!
//! With arbitrary bytes, no parser of frames, requests or answers panics. Encoded paths are decoded
//! unchanged.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use transect_service::protocol::{
    ByteReader, ErrorReply, Frame, FrameReader, MAX_REQUEST_BYTES, PathList, PathsEncoder, Request,
    ServerInfo, WireLayout, take_attributes, take_exists, take_resolved, take_stats,
};

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Stream(&'a [u8]),
    Request { kind: u8, payload: &'a [u8] },
    Answers(&'a [u8]),
    ListSink(Vec<&'a [u8]>),
}

fuzz_target!(|input: Input<'_>| match input {
    Input::Stream(bytes) => stream(bytes),
    Input::Request { kind, payload } => request(Frame { kind, payload }),
    Input::Answers(bytes) => answers(bytes),
    Input::ListSink(paths) => round_trip(&paths),
});

fn stream(mut bytes: &[u8]) {
    let mut inbox = FrameReader::new(MAX_REQUEST_BYTES);
    loop {
        match inbox.is_ready() {
            Ok(true) => request(inbox.take()),
            Ok(false) if inbox.fill(&mut bytes).expect("BUG: a slice can be read") > 0 => {}
            _ => return,
        }
    }
}

fn request(frame: Frame<'_>) {
    let _ = Request::parse(frame, &mut PathList::default());
}

fn answers(bytes: &[u8]) {
    let layout = WireLayout::new(WireLayout::ALL);
    let mut from = ByteReader(bytes);
    while take_attributes(&mut from, layout).is_ok() {}
    let _ = take_exists(&mut ByteReader(bytes));
    let _ = take_resolved(&mut ByteReader(bytes), layout);
    let _ = take_stats(bytes);
    let _ = ServerInfo::parse(bytes);
    let _ = ErrorReply::parse(bytes);
}

fn round_trip(paths: &[&[u8]]) {
    let mut out = Vec::new();
    let mut encoder = PathsEncoder::new(&mut out);
    paths.iter().for_each(|path| encoder.push(path));
    drop(encoder);
    let mut list = PathList::default();
    list.take(&mut ByteReader(&out)).expect("BUG: what was encoded is valid");
    assert!(list.iter().eq(paths.iter().copied()));
}
