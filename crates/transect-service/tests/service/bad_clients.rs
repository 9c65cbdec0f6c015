//! Clients that send malformed requests, disconnect or do not read do not affect others.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use transect_cache::{CacheOptions, Level};
use transect_service::protocol::{
    ErrorCode, ErrorReply, FrameReader, Kind, MAX_ANSWER_BYTES, MAX_REQUEST_BYTES, PathsEncoder,
    Request, VERSION, append_frame,
};
use transect_service::{CACHED_FIELDS, Client, Error, Event, ServeOptions};
use transect_testkit::{TempDir, wait_until};

use crate::raw::{RawStream, connect};
use crate::support::Served;

/// Returns the error that the service sends before it disconnects; skips earlier answers.
fn error_reply(stream: &mut RawStream) -> ErrorReply {
    let mut inbox = FrameReader::new(MAX_ANSWER_BYTES);
    loop {
        while !inbox.is_ready().unwrap() {
            assert!(inbox.fill(stream).unwrap() > 0, "it hung up without a word");
        }
        let frame = inbox.take();
        if frame.kind == Kind::ERROR {
            let reply = ErrorReply::parse(frame.payload).unwrap();
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
            assert_eq!(rest, b"", "it hangs up");
            return reply;
        }
    }
}

#[test]
fn malformed_frames_get_error_others_unaffected() {
    let served = Served::new(Level::Frozen);
    let mut bystander = served.client();
    let frame = |kind: u8, payload: &[u8]| {
        let mut out = Vec::new();
        append_frame(&mut out, kind, |out| out.extend_from_slice(payload));
        out
    };
    let too_long = (MAX_REQUEST_BYTES as u32 + 1).to_le_bytes().to_vec();
    for nonsense in [
        vec![0; 4],
        vec![0xFF; 64],
        too_long,
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        frame(0, b""),
        frame(200, b""),
        frame(Kind::Hello.request(), b"nobody"),
        frame(Kind::Hello.request(), b""),
        frame(Kind::Stats.request(), b"more"),
        frame(Kind::Attributes.request(), &[0, 0, 9]),
        frame(Kind::Attributes.request(), &[0, 0, 0, 255, 0]),
        frame(Kind::Exists.request(), &[0, 0, 255, 255, 255, 255]),
        frame(Kind::Resolve.request(), &[0, 0, 255, 255, 255, 255]),
        frame(Kind::Invalidate.request(), &[9, 0, b'/']),
    ] {
        let mut stream = connect(&served);
        stream.write_all(&nonsense).unwrap();
        let reply = error_reply(&mut stream);
        assert_eq!(reply.code, Some(ErrorCode::Malformed), "{nonsense:?}: {reply:?}");
        served.assert_answers_to(&mut bystander);
    }
}

#[test]
fn random_bytes_others_unaffected() {
    let served = Served::new(Level::Frozen);
    let mut state = 88_172_645_463_325_252_u64;
    for round in 0..200 {
        let noise = (0..100).flat_map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        });
        let mut stream = connect(&served);
        // As a frame, so that more than its length is looked at. If it is a request after all, the
        // empty frame that follows ends the connection.
        let mut out = Vec::new();
        append_frame(&mut out, round % 10, |out| out.extend(noise));
        out.extend([0; 4]);
        let _ = stream.write_all(&out);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    served.assert_answers();
}

#[test]
fn other_version_error_names_version() {
    let served = Served::new(Level::Frozen);
    let mut stream = connect(&served);
    let mut out = Vec::new();
    Request::Hello { version: VERSION + 1 }.append(&mut out, |_| {});
    stream.write_all(&out).unwrap();
    let reply = error_reply(&mut stream);
    assert_eq!(reply.code, Some(ErrorCode::Version));
    assert_eq!(reply.text, "it speaks version 1, not 2");
}

#[test]
fn client_killed_in_frame_dropped() {
    let served = Served::new(Level::Frozen);
    let mut out = Vec::new();
    Request::Attributes { want: CACHED_FIELDS, follow: false }.append(&mut out, |out| {
        let mut encoder = PathsEncoder::new(out);
        (0..100).for_each(|number| encoder.push(format!("/no/{number}").as_bytes()));
    });
    for cut in [1, 4, 5, 7, out.len() / 2, out.len() - 1] {
        let mut stream = connect(&served);
        stream.write_all(&out[..cut]).unwrap();
    }
    served.wait_for("a client is gone", |event| matches!(event, Event::Broken { .. }));
    served.assert_answers();
}

#[test]
fn client_not_reading_others_unaffected() {
    let mut served = Served::new(Level::Frozen);
    let mut deaf = connect(&served);
    let mut out = Vec::new();
    Request::Attributes { want: CACHED_FIELDS, follow: false }.append(&mut out, |out| {
        let mut encoder = PathsEncoder::new(out);
        (0..2000).for_each(|number| encoder.push(format!("/{number}").as_bytes()));
    });
    let written = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // Soon neither side accepts more: the service waits for the client, which does not read.
        let writer = scope.spawn(|| {
            while deaf.write_all(&out).is_ok() {
                written.fetch_add(1, Ordering::Relaxed);
            }
        });
        wait_until("the client is answered", || written.load(Ordering::Relaxed) > 4);
        for _ in 0..10 {
            served.assert_answers();
        }
        served.stop();
        served.ended();
        writer.join().unwrap();
    });
    // A service that went on reading would have kept the answers in memory.
    assert!(written.into_inner() < 1000);
}

#[test]
fn many_clients_at_once() {
    let served = Served::new(Level::Frozen);
    std::fs::create_dir(served.temp.join("sub")).unwrap();
    for file in 0..500 {
        std::fs::write(served.temp.join(format!("sub/{file}")), vec![b'x'; file]).unwrap();
    }
    std::thread::scope(|scope| {
        for client in 0..8 {
            let served = &served;
            scope.spawn(move || {
                let mut asks = served.client();
                for round in 0..10 {
                    let number = |index: usize| (index * 7 + client + round) % 500;
                    let path = |index| served.temp.join(format!("sub/{}", number(index)));
                    let paths: Vec<PathBuf> = (0..3000).map(path).collect();
                    let answers = asks.attributes(&paths, CACHED_FIELDS, false).unwrap();
                    for (index, answer) in answers.iter().enumerate() {
                        assert_eq!(answer.unwrap().size(), Some(number(index) as u64));
                    }
                }
            });
        }
    });
    let counts = served.server.cache().counts();
    assert!(counts.queries + counts.listings < 8 * 1000, "{counts:?}");
}

/// Returns half of a request for attributes.
fn half_a_request() -> Vec<u8> {
    let mut out = Vec::new();
    Request::Attributes { want: CACHED_FIELDS, follow: false }.append(&mut out, |out| {
        PathsEncoder::new(out).push(b"/usr");
    });
    out.truncate(out.len() / 2);
    out
}

#[test]
fn half_open_connections_make_room() {
    let mut options = ServeOptions::default();
    options.connections = 4;
    let served = Served::with(CacheOptions::new(Level::Frozen), options, TempDir::new());
    let mut bystander = served.client();
    let half = |bytes: &[u8]| {
        let mut stream = connect(&served);
        // It may be closed already.
        let _ = stream.write_all(bytes);
        stream
    };
    // Nothing, half of a length, a length of 1 MiB and nothing else, half of a frame.
    let request = half_a_request();
    let starts = [&b""[..], &[1, 0], &(MAX_REQUEST_BYTES as u32).to_le_bytes(), &request];
    let open: Vec<RawStream> = starts.iter().cycle().take(200).map(|start| half(start)).collect();
    served.assert_answers();
    // It is still served.
    served.assert_answers_to(&mut bystander);
    drop(open);
}

#[cfg(unix)]
#[test]
fn ten_thousand_half_open_connections_new_client_served() {
    use transect_testkit::{in_own_process, loudly_skip, raise_descriptor_limit};

    let test = "ten_thousand_half_open_connections_new_client_served";
    // The limit of descriptors applies to the whole process.
    in_own_process(&format!("bad_clients::{test}"), || {
        const CONNECTIONS: u64 = 10_000;
        let limit = raise_descriptor_limit();
        if limit.is_some_and(|limit| limit < CONNECTIONS + 1000) {
            return loudly_skip(test, format!("only {limit:?} descriptors are allowed"));
        }
        let mut served = Served::new(Level::Frozen);
        let request = half_a_request();
        let mut open = Vec::new();
        for _ in 0..CONNECTIONS {
            let mut stream = connect(&served);
            let _ = stream.write_all(&request);
            open.push(stream);
        }
        served.assert_answers();
        served.stop();
        served.ended();
    });
}

#[test]
fn endless_frame_disconnected() {
    let served = Served::new(Level::Frozen);
    let mut stream = connect(&served);
    let block = vec![0xFF; 1 << 20];
    let mut sent = 0;
    while let Ok(bytes) = stream.write(&block) {
        sent += bytes;
        assert!(sent < 64 << 20, "it reads on");
    }
    served.assert_answers();
}

#[test]
fn too_many_clients_busy_until_one_disconnects() {
    let mut options = ServeOptions::default();
    options.connections = 2;
    let served = Served::with(CacheOptions::new(Level::Frozen), options, TempDir::new());
    let (one, _two) = (served.client(), served.client());
    match Client::connect(&served.socket()) {
        Err(Error::Remote(reply)) => {
            assert_eq!(reply.code, Some(ErrorCode::Busy));
        }
        other => panic!("{other:?}"),
    }
    drop(one);
    served.wait_for("the first has hung up", |event| matches!(event, Event::Disconnected { .. }));
    let _ = served.client();
}
