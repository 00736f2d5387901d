//! Compressed responses, unpacked so that their usage can be read: off the path of requests, and never more than a
//! bounded part.
//!
//! A response may be crafted to expand a thousandfold. The length that is read of it is bounded, and so is the window
//! that a format may request.

use std::io::{self, Read};
use std::panic::AssertUnwindSafe;

use brotli_decompressor::Decompressor;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

/// The window that zstd may use, as for all of HTTP (RFC 9659).
const ZSTD_WINDOW: u64 = 8 << 20;
/// Bytes read at once.
const PIECE: usize = 64 << 10;

/// How a response is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentEncoding {
    Brotli,
    Deflate,
    Gzip,
    Zstd,
}

impl ContentEncoding {
    /// The encoding with this name in `content-encoding`; `None` if the response is not compressed, or in an unknown
    /// way.
    pub(super) fn of(name: &str) -> Option<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "br" => Some(Self::Brotli),
            "deflate" => Some(Self::Deflate),
            "gzip" | "x-gzip" => Some(Self::Gzip),
            "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Passes on the unpacked data piece by piece, until it ends, is damaged, is longer than `most`, or no more is
    /// wanted.
    pub(super) fn unpack(
        self,
        packed: &[u8],
        most: usize,
        mut give: impl FnMut(&[u8]) -> UnpackDemand,
    ) {
        let unpacking = AssertUnwindSafe(|| {
            let Ok(unpacking) = self.reader(packed) else {
                return;
            };
            let mut unpacking = unpacking.take(most as u64);
            let mut piece = vec![0; PIECE];
            while let Ok(length @ 1..) = unpacking.read(&mut piece) {
                let part = piece.get(..length).unwrap_or_default();
                if give(part) == UnpackDemand::NoMore {
                    return;
                }
            }
        });
        // Whatever an upstream sends, and whatever a library makes of it, the usage log continues.
        let _ = std::panic::catch_unwind(unpacking);
    }

    /// All unpacked data, but never more than `most`.
    pub(super) fn whole(self, packed: &[u8], most: usize) -> Vec<u8> {
        let mut whole = Vec::new();
        self.unpack(packed, most, |part| {
            whole.extend_from_slice(part);
            UnpackDemand::More
        });
        whole
    }

    fn reader(self, packed: &[u8]) -> io::Result<Box<dyn Read + '_>> {
        let unreadable = || io::Error::from(io::ErrorKind::InvalidData);
        Ok(match self {
            // The variant with large windows may request a gigabyte; HTTP does not allow that variant.
            Self::Brotli if packed.first().is_some_and(|first| first & 0x7f == 0x11) => {
                return Err(unreadable());
            }
            Self::Brotli => Box::new(Decompressor::new(packed, PIECE)),
            Self::Gzip => Box::new(MultiGzDecoder::new(packed)),
            // Some servers leave out the wrapper that the name stands for.
            Self::Deflate => match packed {
                [first, second, ..]
                    if first & 0x0f == 8
                        && u16::from_be_bytes([*first, *second]).is_multiple_of(31) =>
                {
                    Box::new(ZlibDecoder::new(packed))
                }
                _ => Box::new(DeflateDecoder::new(packed)),
            },
            Self::Zstd => {
                let decoder = StreamingDecoder::new_with_max_window_size(packed, ZSTD_WINDOW);
                Box::new(decoder.map_err(|_| unreadable())?)
            }
        })
    }
}

/// Whether more is to be unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnpackDemand {
    More,
    NoMore,
}
