//! A page of memory that processes share: a few numbers that all of them see at once.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

/// How long it is: the least that can be shared.
const PAGE: usize = 4 << 10;

/// A page that holds a `T` of atomics, as one process sees it.
#[derive(Debug)]
pub(crate) struct Page<T>(NonNull<T>);

// SAFETY: the page is only ever accessed through the atomics in it.
unsafe impl<T: Sync> Send for Page<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Page<T> {}

impl<T> Page<T> {
    /// Maps memory that came from [`memory`], here or in another process.
    pub(crate) fn map(memory: impl AsFd, access: ProtFlags) -> io::Result<Page<T>> {
        const { assert!(size_of::<T>() <= PAGE) };
        let sealed = rustix::fs::fcntl_get_seals(&memory)?.contains(SealFlags::SHRINK);
        if !sealed || rustix::fs::fstat(&memory)?.st_size != PAGE as i64 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: a new mapping at a place the system chooses; nothing else can be there.
        let page = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), PAGE, access, MapFlags::SHARED, memory, 0)?
        };
        NonNull::new(page.cast()).map(Page).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    pub(crate) fn get(&self) -> &T {
        // SAFETY: mapped until this is dropped, longer than a few atomics, aligned as a page is, and
        // any bytes are valid ones. Its length is sealed, so the memory cannot go away.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for Page<T> {
    fn drop(&mut self) {
        // SAFETY: nobody has a reference into it any more; it was mapped with this length.
        let _never_fails = unsafe { rustix::mm::munmap(self.0.as_ptr().cast(), PAGE) };
    }
}

/// Memory for a page that can be shared.
pub(crate) fn memory(name: &CStr) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let memory = rustix::fs::memfd_create(name, flags)?;
    rustix::fs::ftruncate(&memory, PAGE as u64)?;
    rustix::fs::fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW)?;
    Ok(memory)
}
