//! Runs a program in a pseudo-terminal: tests type into it and wait for what the terminal shows.
//!
//! All it knows about the program is that it may draw in frames (mode 2026). Everything panics where a test would.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the helpers of tests are tests too"
)]

use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use portable_pty::{Child, MasterPty, PtySize, native_pty_system};

pub use portable_pty::CommandBuilder;

/// The maximum wait for something that must come.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between two reads of the screen.
const LOOK: Duration = Duration::from_millis(3);
/// How long to wait for the last output of a program that has ended: a process it started may still hold the terminal.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// The number of rows kept after they scrolled away.
const SCROLLBACK: usize = 5_000;

/// A program and its terminal.
pub struct TestTerminal {
    shown: Arc<Mutex<TerminalScreen>>,
    writer: Option<Box<dyn std::io::Write + Send>>,
    master: Option<Box<dyn MasterPty + Send>>,
    /// Makes the reading end close with the next bytes.
    closed: Arc<AtomicBool>,
    reading: JoinHandle<()>,
    size: (u16, u16),
    child: Box<dyn Child + Send + Sync>,
}

struct TerminalScreen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
}

/// How many bytes make up whole frames: a drawing that has begun is not shown before its end, as in real terminals.
fn whole_frames(bytes: &[u8]) -> usize {
    let last = |code: &[u8]| bytes.windows(code.len()).rposition(|found| found == code);
    match (last(b"\x1b[?2026h"), last(b"\x1b[?2026l")) {
        (Some(begin), Some(end)) if begin < end => bytes.len(),
        (Some(begin), _) => begin,
        (None, _) => bytes.len(),
    }
}

fn pty_size(rows: u16, cols: u16) -> PtySize {
    PtySize {
        rows,
        cols,
        pixel_width: 0,
        pixel_height: 0,
    }
}

fn cells(count: u16) -> NonZeroU16 {
    count.try_into().unwrap()
}

impl TestTerminal {
    /// Starts a program in a terminal of this size.
    pub fn start(command: CommandBuilder, rows: u16, cols: u16) -> Self {
        let pair = native_pty_system().openpty(pty_size(rows, cols)).unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let shown = Arc::new(Mutex::new(TerminalScreen {
            parser: vt100::Parser::new(cells(rows), cells(cols), SCROLLBACK),
            bytes: Vec::new(),
        }));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let to = Arc::clone(&shown);
        let closed = Arc::new(AtomicBool::new(false));
        let is_closed = Arc::clone(&closed);
        let reading = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            let mut pending = Vec::new();
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if is_closed.load(Ordering::SeqCst) {
                    return;
                }
                pending.extend_from_slice(&bytes[..count]);
                let whole: Vec<u8> = pending.drain(..whole_frames(&pending)).collect();
                let mut to = to.lock().unwrap();
                to.parser.process(&whole);
                to.bytes.extend_from_slice(&whole);
            }
        });
        Self {
            shown,
            writer: Some(pair.master.take_writer().unwrap()),
            master: Some(pair.master),
            closed,
            reading,
            size: (rows, cols),
            child,
        }
    }

    /// Types these keys.
    pub fn keys(&mut self, keys: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// Answers a question of the agent with these keys: it accepts keys only when the keyboard has rested.
    pub fn answers(&mut self, keys: &str) {
        std::thread::sleep(Duration::from_millis(800));
        self.keys(keys);
    }

    /// The text that the terminal shows.
    pub fn shown(&self) -> String {
        self.screen(vt100::Screen::contents)
    }

    /// The text that the terminal shows, after the rows that scrolled away.
    pub fn all(&self) -> String {
        let mut shown = self.shown.lock().unwrap();
        let screen = shown.parser.screen_mut();
        let mut all = Vec::new();
        let mut back = screen.scrollback_len();
        let rows = usize::from(screen.size().0.get());
        while back > 0 {
            screen.set_scrollback(back);
            let page = screen.contents();
            all.extend(page.lines().take(back.min(rows)).map(str::to_owned));
            back = back.saturating_sub(rows);
        }
        screen.set_scrollback(0);
        all.extend(screen.contents().lines().map(str::to_owned));
        all.join("\n")
    }

    /// Every byte that the program wrote.
    pub fn bytes(&self) -> Vec<u8> {
        self.shown.lock().unwrap().bytes.clone()
    }

    /// Reads the terminal's screen.
    pub fn screen<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.shown.lock().unwrap().parser.screen())
    }

    /// Waits until a condition holds.
    #[track_caller]
    pub fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            assert!(begun.elapsed() < PATIENCE, "no {what}:\n{}", self.shown());
            std::thread::sleep(LOOK);
        }
    }

    /// Waits until the terminal shows a text.
    #[track_caller]
    pub fn sees(&self, text: &str) {
        self.until(text, |terminal| terminal.shown().contains(text));
    }

    /// Waits until the terminal no longer shows a text.
    #[track_caller]
    pub fn misses(&self, text: &str) {
        self.until(&format!("end of {text}"), |terminal| {
            !terminal.shown().contains(text)
        });
    }

    /// Resizes the terminal.
    pub fn resize(&mut self, rows: u16, cols: u16) {
        self.size = (rows, cols);
        let mut shown = self.shown.lock().unwrap();
        let screen = shown.parser.screen_mut();
        screen.set_size(cells(rows), cells(cols));
        let master = self.master.as_ref().unwrap();
        master.resize(pty_size(rows, cols)).unwrap();
    }

    /// Closes the terminal, as when its window is closed. The program must write now and then, or redraw when the size
    /// changes, because that is when the reading end notices.
    pub fn close(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        let (rows, cols) = self.size;
        self.resize(rows, cols + 1);
        self.writer = None;
        self.master = None;
    }

    /// Waits until the terminal is back in the state before the program.
    #[track_caller]
    pub fn given_back(&self) {
        self.until("terminal given back", |terminal| {
            terminal.screen(|screen| {
                !screen.bracketed_paste() && !screen.hide_cursor() && !screen.alternate_screen()
            })
        });
    }

    /// The process id of the program.
    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Kills the program as `kill -9` does, and waits until it is gone.
    pub fn kill(&mut self) {
        // The library's own method asks politely first.
        let status = std::process::Command::new("kill")
            .args(["-9", &self.pid().to_string()])
            .status();
        assert!(status.unwrap().success());
        self.child.wait().unwrap();
    }

    /// Waits until the program has ended and all of its output is shown, and returns its exit code.
    #[track_caller]
    pub fn ends(&mut self) -> u32 {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                let ended = Instant::now();
                while !self.reading.is_finished() && ended.elapsed() < LAST_WORDS {
                    std::thread::sleep(LOOK);
                }
                return status.exit_code();
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "it does not end:\n{}",
                self.shown()
            );
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for TestTerminal {
    fn drop(&mut self) {
        // A failed test leaves nothing running.
        let _ = self.child.kill();
    }
}
