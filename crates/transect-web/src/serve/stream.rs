//! Adapts connections to hyper.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::deadline::Deadline;

/// The number of bytes read at once. Requests are short.
const BLOCK: usize = 4 << 10;

/// A connection that reports written bytes to its [`Deadline`].
pub(super) struct Stream {
    tcp: TcpStream,
    deadline: Rc<Deadline>,
}

impl Stream {
    pub(super) fn new(tcp: TcpStream, deadline: Rc<Deadline>) -> Self {
        Self { tcp, deadline }
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut block = [0; BLOCK];
        let length = into.remaining().min(BLOCK);
        let mut block = ReadBuf::new(&mut block[..length]);
        ready!(Pin::new(&mut self.tcp).poll_read(context, &mut block))?;
        into.put_slice(block.filled());
        Poll::Ready(Ok(()))
    }
}

impl Write for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.tcp).poll_write(context, bytes))?;
        self.deadline.note_progress(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.tcp).poll_write_vectored(context, slices))?;
        self.deadline.note_progress(written);
        Poll::Ready(Ok(written))
    }

    /// Otherwise hyper copies every page into its own buffer.
    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(context)
    }
}
