//! How many images a request may hold, and how large (API-FACTS 4.7).
//!
//! If there are too many, the oldest are left out, in steps of half the limit, so that the sent messages stay the same
//! between two steps. Which images are left out depends only on the number of images seen.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// If a request holds more images than this, each must be smaller.
pub(super) const MANY: usize = 20;
/// The maximum length of an image's longer side in pixels.
const LONGEST: usize = 8_000;
/// The maximum length of an image's longer side in pixels if there are many images.
const LONGEST_AMONG_MANY: usize = 2_000;
/// The maximum size of one image in bytes.
const MOST_BYTES: usize = 10 * 1024 * 1024;
/// The number of Base64 characters that nearly always contain the image's dimensions; a multiple of four.
const HEAD: usize = 64 * 1024;

/// Whether an image is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ImageDelivery {
    Sent,
    LeftOut,
}

/// Counts images as they are rendered.
#[derive(Debug, Default)]
pub(super) struct ImageCounter {
    /// The maximum number of images in a request; 0 if it is not known.
    most: usize,
    /// The number of images seen so far.
    pub(super) seen: usize,
    /// The number of images left out, counted from the first.
    pub(super) left_out: usize,
    /// The minimum number of images to expect: for a history, all of its images.
    expected: usize,
    /// The number of large images among those sent.
    pub(super) large: usize,
    stage: ImageStage,
    must_begin_anew: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ImageStage {
    /// A history is being rendered, and its images are counted.
    #[default]
    History,
    /// Everything that is rendered is sent.
    Stream,
}

impl ImageCounter {
    /// Creates a counter for a history that is known to hold this many images.
    pub(super) fn expecting(most: usize, expected: usize) -> Self {
        let mut images = Self {
            most,
            expected,
            ..Self::default()
        };
        images.left_out = images.to_leave_out(expected);
        images
    }

    /// Ends the history: everything that is rendered from now on is sent.
    pub(super) fn history_is_over(&mut self) {
        self.stage = ImageStage::Stream;
    }

    pub(super) fn must_begin_anew(&self) -> bool {
        self.must_begin_anew
    }

    pub(super) fn step(&self) -> usize {
        (self.most / 2).max(1)
    }

    /// Returns how many of `seen` images are left out.
    fn to_leave_out(&self, seen: usize) -> usize {
        match self.most {
            0 => 0,
            most => seen.saturating_sub(most).div_ceil(self.step()) * self.step(),
        }
    }

    /// Decides whether to send the image with this Base64 data, which is `None` if the data is stored elsewhere.
    pub(super) fn judge(&mut self, data: Option<&[u8]>) -> ImageDelivery {
        let longest = match data.map(measure) {
            Some(ImageSize::TooLarge) => return ImageDelivery::LeftOut,
            Some(ImageSize::Longest(longest)) => longest,
            Some(ImageSize::Unknown) | None => 0,
        };
        if longest > LONGEST {
            return ImageDelivery::LeftOut;
        }
        let index = self.seen;
        self.seen += 1;
        self.expected = self.expected.max(self.seen);
        if self.stage == ImageStage::Stream {
            let becomes_many = self.seen > MANY && self.large > 0;
            self.must_begin_anew |= becomes_many || self.to_leave_out(self.seen) > self.left_out;
        }
        let is_large = longest > LONGEST_AMONG_MANY;
        if self.must_begin_anew || index < self.left_out || is_large && self.expected > MANY {
            return ImageDelivery::LeftOut;
        }
        self.large += usize::from(is_large);
        ImageDelivery::Sent
    }
}

enum ImageSize {
    TooLarge,
    /// The length of the longer side in pixels.
    Longest(usize),
    /// The data does not state the size.
    Unknown,
}

fn measure(data: &[u8]) -> ImageSize {
    let significant = data.len() - data.iter().rev().take_while(|byte| **byte == b'=').count();
    if significant * 3 / 4 > MOST_BYTES {
        return ImageSize::TooLarge;
    }
    let read = |text: &[u8]| {
        let bytes = STANDARD.decode(text).ok()?;
        let size = imagesize::blob_size(&bytes).ok()?;
        Some(size.width.max(size.height))
    };
    let longest = data.get(..HEAD).and_then(read).or_else(|| read(data));
    longest.map_or(ImageSize::Unknown, ImageSize::Longest)
}
