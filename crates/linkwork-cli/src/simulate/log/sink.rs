//! Where logs go: a file, or in tests something that fails.

use std::fs::File;
use std::io::{Read, Result, Seek, Write};

/// What can be written, read again and cut off.
pub(crate) trait Sink: Read + Write + Seek + Send {
    /// Leaves the first so many bytes.
    fn cut(&mut self, length: u64) -> Result<()>;
}

impl Sink for File {
    fn cut(&mut self, length: u64) -> Result<()> {
        self.set_len(length)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::Sink;
    use std::io::{Cursor, Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};
    use std::sync::{Arc, Mutex};

    /// Bytes in memory whose writes take half of what is given from some call on, and then fail, as a full disk does.
    #[derive(Clone)]
    pub(in super::super) struct Failing {
        pub(in super::super) bytes: Arc<Mutex<Cursor<Vec<u8>>>>,
        /// Writes to come that succeed; none for all.
        pub(in super::super) left: Option<usize>,
    }

    impl Failing {
        pub(in super::super) fn after(writes: Option<usize>) -> Self {
            Self {
                bytes: Arc::default(),
                left: writes,
            }
        }

        pub(in super::super) fn taken(&self) -> Vec<u8> {
            self.bytes.lock().unwrap().get_ref().clone()
        }
    }

    impl Write for Failing {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            let mut inner = self.bytes.lock().unwrap();
            match &mut self.left {
                Some(0) => {
                    // What is there already can be written over; a disk that is full takes nothing more.
                    let room = inner.get_ref().len().saturating_sub(inner.position() as usize);
                    match room.min(bytes.len()) {
                        0 => Err(Error::from(ErrorKind::StorageFull)),
                        n => inner.write(&bytes[..n]),
                    }
                }
                Some(left) => {
                    *left -= 1;
                    let n = if *left == 0 {
                        bytes.len().div_ceil(2)
                    } else {
                        bytes.len()
                    };
                    inner.write(&bytes[..n])
                }
                None => inner.write(bytes),
            }
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    impl Read for Failing {
        fn read(&mut self, out: &mut [u8]) -> Result<usize> {
            self.bytes.lock().unwrap().read(out)
        }
    }

    impl Seek for Failing {
        fn seek(&mut self, to: SeekFrom) -> Result<u64> {
            self.bytes.lock().unwrap().seek(to)
        }
    }

    impl Sink for Failing {
        fn cut(&mut self, length: u64) -> Result<()> {
            self.bytes.lock().unwrap().get_mut().truncate(length as usize);
            Ok(())
        }
    }
}
