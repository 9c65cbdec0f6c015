//! Users, by their security identifiers (SIDs), and objects that belong to one user alone.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, OwnedHandle};
use std::ptr::null_mut;

use windows_sys::Win32::Foundation::LocalFree;
use windows_sys::Win32::Security::Authorization::{
    ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::Win32::Security::{
    GetKernelObjectSecurity, GetLengthSid, GetSecurityDescriptorOwner, GetTokenInformation,
    OWNER_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR, PSID, SECURITY_ATTRIBUTES, TOKEN_ACCESS_MASK,
    TOKEN_QUERY, TOKEN_USER, TokenUser,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use super::status::{done, owned};
use super::system::wide;

/// A user. Shown as text, such as `S-1-5-21-…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserId(Vec<u8>);

impl UserId {
    /// Returns the user of this process.
    pub fn current() -> io::Result<Self> {
        let token = own_token(TOKEN_QUERY)?;
        let found = grown(|block, bytes, needed| {
            // SAFETY: the token is open; the block is writable and as long as stated.
            unsafe {
                GetTokenInformation(token.as_raw_handle(), TokenUser, block.cast(), bytes, needed)
            }
        })?;
        // SAFETY: the system has written a `TOKEN_USER` to the aligned block, with a pointer to a
        // SID in the same block.
        unsafe { Self::copy(found.as_ptr().cast::<TOKEN_USER>().read().User.Sid) }
    }

    /// Returns the owner of an object of the system. The handle must permit reading its access
    /// (`READ_CONTROL`, part of every read access to files).
    ///
    /// # Errors
    /// Any error that the system reports, or the object has no owner.
    pub fn owner(object: impl AsHandle) -> io::Result<Self> {
        let object = object.as_handle();
        let mut descriptor = grown(|block, bytes, needed| {
            // SAFETY: the handle is borrowed, hence open; the block is writable and as long as
            // stated.
            unsafe {
                GetKernelObjectSecurity(
                    object.as_raw_handle(),
                    OWNER_SECURITY_INFORMATION,
                    block.cast(),
                    bytes,
                    needed,
                )
            }
        })?;
        let (mut owner, mut by_default) = (null_mut(), 0);
        // SAFETY: the system has written a security descriptor to the aligned block; both results
        // are ours to write.
        done(unsafe {
            GetSecurityDescriptorOwner(
                descriptor.as_mut_ptr().cast(),
                &raw mut owner,
                &raw mut by_default,
            )
        })?;
        // SAFETY: the owner is null or a SID in the block.
        unsafe { Self::copy(owner) }
    }

    /// Copies a SID.
    ///
    /// # Safety
    /// It is null or valid.
    unsafe fn copy(sid: PSID) -> io::Result<Self> {
        if sid.is_null() {
            return Err(io::Error::other("it has no owner"));
        }
        // SAFETY: the caller passes a valid SID, which is as long as the system says.
        let bytes = unsafe {
            std::slice::from_raw_parts(sid.cast::<u8>().cast_const(), GetLengthSid(sid) as usize)
        };
        Ok(Self(bytes.to_vec()))
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Revision, number of parts, authority in big-endian order, parts in little-endian order.
        let Some(([revision, _, authority @ ..], parts)) = self.0.split_first_chunk::<8>() else {
            return f.write_str("S-?");
        };
        let authority = authority.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        write!(f, "S-{revision}-{authority}")?;
        let (parts, _) = parts.as_chunks();
        parts.iter().try_for_each(|&part| write!(f, "-{}", u32::from_le_bytes(part)))
    }
}

/// Opens the access token of this process.
pub(super) fn own_token(access: TOKEN_ACCESS_MASK) -> io::Result<OwnedHandle> {
    let mut token = null_mut();
    // SAFETY: the handle of the process itself is always valid; `token` is ours to write, and new.
    unsafe {
        done(OpenProcessToken(GetCurrentProcess(), access, &raw mut token))?;
        owned(token)
    }
}

/// Calls `get` with a block that is large enough, and returns the block. `get` receives the block,
/// its size in bytes, and the place for the size that is needed; it returns 0 on failure.
fn grown(get: impl Fn(*mut u64, u32, *mut u32) -> i32) -> io::Result<Vec<u64>> {
    // Larger than a descriptor with one SID, and aligned for pointers.
    let mut block = vec![0_u64; 64];
    loop {
        let (bytes, mut needed) = (size_of_val(block.as_slice()) as u32, 0);
        match done(get(block.as_mut_ptr(), bytes, &raw mut needed)) {
            Err(_) if needed > bytes => block.resize(needed.div_ceil(8) as usize, 0),
            answer => return answer.map(|()| block),
        }
    }
}

/// A security descriptor: the owner of a new object, and who may access it.
#[derive(Debug)]
pub(super) struct SecurityDescriptor(Vec<u64>);

impl SecurityDescriptor {
    /// Returns the descriptor of an object that belongs to a user, and that no other user may access.
    pub(super) fn private_to(user: &UserId) -> io::Result<Self> {
        // Owner; a protected list (P), so that nothing is inherited; all rights (FA) to the user.
        Self::parse(&format!("O:{user}D:P(A;;FA;;;{user})"))
    }

    /// Parses a descriptor (Security Descriptor Definition Language).
    pub(super) fn parse(text: &str) -> io::Result<Self> {
        let text = wide(OsStr::new(text))?;
        let (mut found, mut bytes): (PSECURITY_DESCRIPTOR, u32) = (null_mut(), 0);
        // SAFETY: the text ends with NUL; both results are ours to write.
        done(unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                text.as_ptr(),
                SDDL_REVISION_1,
                &raw mut found,
                &raw mut bytes,
            )
        })?;
        let mut copy = vec![0_u64; bytes.div_ceil(8) as usize];
        // SAFETY: the system has allocated a descriptor of this many bytes without pointers into
        // itself (it is self-relative), and the copy has room for them. Nothing uses the original
        // afterwards.
        unsafe {
            found.cast::<u8>().copy_to_nonoverlapping(copy.as_mut_ptr().cast(), bytes as usize);
            LocalFree(found);
        }
        Ok(Self(copy))
    }

    /// Returns the attributes for a call that creates an object. They point into this value.
    pub(super) fn attributes(&self) -> SECURITY_ATTRIBUTES {
        SECURITY_ATTRIBUTES {
            nLength: size_of::<SECURITY_ATTRIBUTES>() as u32,
            lpSecurityDescriptor: self.0.as_ptr().cast_mut().cast(),
            bInheritHandle: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_id_shown_as_text() {
        let bytes = [1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0];
        assert_eq!(UserId(bytes.to_vec()).to_string(), "S-1-5-32-544");
        let own = UserId::current().unwrap();
        assert!(own.to_string().starts_with("S-1-"), "{own}");
        assert_eq!(own, UserId::current().unwrap());
    }

    #[test]
    fn security_descriptor_malformed_refused() {
        assert!(SecurityDescriptor::parse("D:(A;;FA;;").is_err());
    }
}
