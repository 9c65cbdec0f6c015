//! Both ends of pipes in one process.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use windows_sys::Win32::Foundation::ERROR_INVALID_OWNER;

use super::*;

/// Returns a name that no other test uses.
fn name() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!(r"\\.\pipe\transect-sys-{}-{number}", std::process::id()).into()
}

/// Returns the two ends of a pipe: the server's and the client's.
fn pair() -> [Pipe; 2] {
    let name = name();
    let listener = PipeListener::bind(&name).unwrap();
    let client = Pipe::connect(&name).unwrap();
    [accepted(&listener), client]
}

fn accepted(listener: &PipeListener) -> Pipe {
    assert!(listener.wait(&Event::new().unwrap(), None).unwrap());
    listener.accept().unwrap().expect("a client has connected")
}

#[test]
fn pipe_bytes_arrive_in_both_directions() {
    let [server, client] = pair();
    let own = std::process::id();
    assert_eq!((server.client_process().unwrap(), client.server_process().unwrap()), (own, own));
    let mut block = [0; 8];
    assert_eq!(client.try_read(&mut block).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert_eq!(server.write(b"to client").unwrap(), 9);
    client.wait(false, None).unwrap();
    assert_eq!(client.try_read(&mut block).unwrap(), 8);
    assert_eq!(&block, b"to clien");
    assert_eq!(client.try_read(&mut block).unwrap(), 1);
    assert_eq!(client.try_write(b"to server").unwrap(), 9);
    assert_eq!(server.read(&mut block[..3]).unwrap(), 3);
    assert_eq!(server.read(&mut block).unwrap(), 6);
    assert_eq!(&block[..6], b"server");
}

#[test]
fn pipe_full_until_other_end_reads() {
    let [server, client] = pair();
    let sent = vec![7; 10 * BLOCK];
    let mut offered = 0;
    let full = loop {
        match client.try_write(&sent[offered..]) {
            Ok(bytes) => offered += bytes,
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
    assert!(offered < sent.len());
    let (mut read, mut block) = (0, vec![0; BLOCK]);
    while read < offered {
        let bytes = server.read(&mut block).unwrap();
        assert!(bytes > 0 && block[..bytes].iter().all(|&byte| byte == 7));
        read += bytes;
    }
    client.wait(true, None).unwrap();
    assert_eq!(client.try_write(b"more").unwrap(), 4);
    assert_eq!(server.read(&mut block).unwrap(), 4);
}

#[test]
fn pipe_end_after_last_bytes() {
    let [server, client] = pair();
    server.write(b"last").unwrap();
    drop(server);
    let mut block = [0; 8];
    assert_eq!(client.read(&mut block).unwrap(), 4);
    assert_eq!(client.read(&mut block).unwrap(), 0);
    assert_eq!(client.try_read(&mut block).unwrap(), 0);
    assert_eq!(client.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}

#[test]
fn pipe_closed_wakes_reads_and_writes() {
    let [server, client] = pair();
    std::thread::scope(|scope| {
        let read = scope.spawn(|| server.read(&mut [0; 8]).unwrap());
        let write = scope.spawn(|| {
            loop {
                if let Err(error) = server.write(&[7; BLOCK]) {
                    return error.kind();
                }
            }
        });
        server.close();
        assert_eq!(read.join().unwrap(), 0);
        assert_eq!(write.join().unwrap(), io::ErrorKind::BrokenPipe);
    });
    assert_eq!(server.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    drop(server);
    while client.read(&mut [0; BLOCK]).unwrap() > 0 {}
}

#[test]
fn pipe_clients_wait_for_free_instance() {
    let name = name();
    let listener = PipeListener::bind(&name).unwrap();
    assert!(!listener.wait(&Event::new().unwrap(), Some(Duration::ZERO)).unwrap());
    assert!(listener.accept().unwrap().is_none());
    let clients: Vec<_> = (0..20)
        .map(|number: u8| {
            let name = name.clone();
            std::thread::spawn(move || {
                let pipe = Pipe::connect(&name).unwrap();
                pipe.write(&[number]).unwrap();
                pipe.read(&mut [0]).unwrap()
            })
        })
        .collect();
    let mut seen = [false; 20];
    for _ in &clients {
        let server = accepted(&listener);
        let mut block = [0; 2];
        assert_eq!(server.read(&mut block).unwrap(), 1);
        seen[usize::from(block[0])] = true;
        server.write(&[0]).unwrap();
    }
    assert_eq!(seen, [true; 20]);
    clients.into_iter().for_each(|client| assert_eq!(client.join().unwrap(), 1));
}

#[test]
fn pipe_client_gone_before_accept_seen_as_end() {
    let name = name();
    let listener = PipeListener::bind(&name).unwrap();
    for _ in 0..3 {
        let client = Pipe::connect(&name).unwrap();
        client.write(b"x").unwrap();
        drop(client);
        let server = accepted(&listener);
        let mut block = [0; 2];
        while server.read(&mut block).unwrap() > 0 {}
    }
    drop(listener);
    let missing = Pipe::connect(&name).unwrap_err();
    assert_eq!(missing.kind(), io::ErrorKind::NotFound, "{missing}");
}

#[test]
fn pipe_used_after_thread_that_began_has_ended() {
    let name = name();
    let at = name.clone();
    let listener = std::thread::spawn(move || PipeListener::bind(&at).unwrap()).join().unwrap();
    let connect = move || {
        let pipe = Pipe::connect(&name).unwrap();
        assert_eq!(pipe.try_read(&mut [0; 8]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        pipe
    };
    let client = std::thread::spawn(connect);
    let server = loop {
        assert!(listener.wait(&Event::new().unwrap(), None).unwrap());
        if let Some(pipe) = listener.accept().unwrap() {
            break pipe;
        }
    };
    let client = client.join().unwrap();
    server.write(b"x").unwrap();
    assert_eq!(client.read(&mut [0; 8]).unwrap(), 1);
}

#[test]
fn pipe_second_listener_refused() {
    let name = name();
    let first = PipeListener::bind(&name).unwrap();
    let second = PipeListener::bind(&name).unwrap_err().kind();
    assert!(
        [io::ErrorKind::AddrInUse, io::ErrorKind::PermissionDenied].contains(&second),
        "{second}"
    );
    drop(first);
    PipeListener::bind(&name).unwrap();
}

#[test]
fn pipe_belongs_to_user() {
    let [server, client] = pair();
    let own = UserId::current().unwrap();
    assert_eq!((server.owner().unwrap(), client.owner().unwrap()), (own.clone(), own));
}

#[test]
fn pipe_of_other_user_distinguished() {
    let (name, test) = (name(), "pipe_of_other_user_distinguished");
    // The system itself is the owner, and everyone may access it.
    let security = SecurityDescriptor::parse("O:SYD:P(A;;FA;;;WD)").unwrap();
    let _listener = match PipeListener::with_security(&name, security) {
        Err(error) if is(&error, ERROR_INVALID_OWNER) => {
            return transect_testkit::loudly_skip(test, "only Wine gives away an object");
        }
        listener => listener.unwrap(),
    };
    let owner = Pipe::connect(&name).unwrap().owner().unwrap();
    assert_eq!(owner.to_string(), "S-1-5-18");
    assert_ne!(owner, UserId::current().unwrap());
}

#[test]
fn pipe_wait_ends_when_woken_or_something_arrives_or_other_end_closes() {
    let [server, client] = pair();
    let wake = Event::new().unwrap();
    wake.signal();
    assert_eq!(server.wait_or_woken(&wake).unwrap(), (false, true));
    client.try_write(b"a").unwrap();
    assert_eq!(server.wait_or_woken(&wake).unwrap(), (true, false));
    // Bytes that were not read are not an end.
    wake.signal();
    assert!(server.is_woken(&wake).unwrap());
    assert_eq!(server.read(&mut [0; 4]).unwrap(), 1);
    std::thread::scope(|scope| {
        let woken = scope.spawn(|| server.is_woken(&wake).unwrap());
        wake.signal();
        assert!(woken.join().unwrap());
        let woken = scope.spawn(|| server.is_woken(&wake).unwrap());
        drop(client);
        assert!(!woken.join().unwrap());
    });
    assert_eq!(server.wait_or_woken(&wake).unwrap(), (true, false));
    server.close();
    assert!(!server.is_woken(&wake).unwrap());
}
