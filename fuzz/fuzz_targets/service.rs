//! What is said between a service and those who ask it.
//!
//! Of arbitrary bytes: no frame, request or answer makes a parser panic. Of paths: what goes in comes out.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use transect_service::protocol::{
    Bytes, Complaint, Frame, Greeting, Inbox, LONGEST_REQUEST, Layout, PathList, PathsEncoder,
    Request, take_answer, take_holder, take_presence, take_stats,
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
    let mut inbox = Inbox::new(LONGEST_REQUEST);
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
    let layout = Layout::new(Layout::ALL);
    let mut from = Bytes(bytes);
    while take_answer(&mut from, layout).is_ok() {}
    let _ = take_presence(&mut Bytes(bytes));
    let _ = take_holder(&mut Bytes(bytes), layout);
    let _ = take_stats(bytes);
    let _ = Greeting::parse(bytes);
    let _ = Complaint::parse(bytes);
}

fn round_trip(paths: &[&[u8]]) {
    let mut out = Vec::new();
    let mut encoder = PathsEncoder::new(&mut out);
    paths.iter().for_each(|path| encoder.push(path));
    drop(encoder);
    let mut list = PathList::default();
    list.take(&mut Bytes(&out)).expect("BUG: what was encoded is valid");
    assert!(list.iter().eq(paths.iter().copied()));
}
