//! A program in a pseudo-terminal, and what its screen shows.
//!
//! The program is this test binary itself, run again with a variable set.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use longhaul_agent::screen::{Options, run};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use tokio::sync::mpsc::unbounded_channel;

use super::fake::Fake;

/// Says that this process is the program, and where it says that its host has finished.
const DONE: &str = "LONGHAUL_TEST_SCREEN_DONE";
/// The longest wait for something that must come.
const PATIENCE: Duration = Duration::from_secs(30);

/// The program, when this binary is run as such; else nothing.
#[test]
fn child() {
    let Some(done) = std::env::var_os(DONE).map(PathBuf::from) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let ended = runtime.block_on(async {
        let (tell, events) = unbounded_channel();
        let workspace = PathBuf::from(std::env::var_os("LONGHAUL_TEST_WORKSPACE").unwrap());
        let options = Options::from_env(workspace, |name| std::env::var(name).ok());
        let host = Fake::new(tell, move || std::fs::write(&done, "finished").unwrap());
        run(host, events, options).await
    });
    // The terminal may be gone: nothing more is written to it.
    std::process::exit(if ended.is_ok() { 0 } else { 3 });
}

/// How much of what was written is whole: a drawing that has begun is not shown before its end, as terminals do it.
fn whole_frames(bytes: &[u8]) -> usize {
    let last = |code: &[u8]| bytes.windows(code.len()).rposition(|found| found == code);
    match (last(b"\x1b[?2026h"), last(b"\x1b[?2026l")) {
        (Some(begin), Some(end)) if begin < end => bytes.len(),
        (Some(begin), _) => begin,
        (None, _) => bytes.len(),
    }
}

/// The program and its terminal.
pub(super) struct Terminal {
    parser: Arc<Mutex<(vt100::Parser, Vec<u8>)>>,
    writer: Option<Box<dyn std::io::Write + Send>>,
    master: Option<Box<dyn MasterPty + Send>>,
    /// Has the reading end close with the next bytes.
    closed: Arc<AtomicBool>,
    pub(super) child: Box<dyn Child + Send + Sync>,
    pub(super) folder: tempfile::TempDir,
}

impl Terminal {
    /// Starts the program in a terminal of 80 columns and 24 rows.
    pub(super) fn start() -> Self {
        Self::with(&[])
    }

    /// The same with variables set.
    pub(super) fn with(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("work/src")).unwrap();
        std::fs::write(folder.path().join("work/src/parser.rs"), "").unwrap();
        Self::within(folder, variables)
    }

    /// The same in a folder that an earlier program has left.
    pub(super) fn within(folder: tempfile::TempDir, variables: &[(&str, &str)]) -> Self {
        let size = PtySize {
            rows: 24,
            cols: 80,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
        command.args(["--exact", "screen::pty::child", "--nocapture", "--quiet"]);
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        command.env("LONGHAUL_HOME", folder.path().join("home"));
        command.env("LONGHAUL_TEST_WORKSPACE", folder.path().join("work"));
        command.env(DONE, folder.path().join("done"));
        for (name, value) in variables {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let (rows, cols) = (24.try_into().unwrap(), 80.try_into().unwrap());
        let parser = vt100::Parser::new(rows, cols, 1_000);
        let parser = Arc::new(Mutex::new((parser, Vec::new())));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let to = Arc::clone(&parser);
        let closed = Arc::new(AtomicBool::new(false));
        let is_closed = Arc::clone(&closed);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            let mut pending = Vec::new();
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if is_closed.load(Ordering::SeqCst) {
                    return;
                }
                pending.extend_from_slice(&bytes[..count]);
                let whole: Vec<u8> = pending.drain(..whole_frames(&pending)).collect();
                let mut to = to.lock().unwrap();
                to.0.process(&whole);
                to.1.extend_from_slice(&whole);
            }
        });
        Self {
            parser,
            writer: Some(pair.master.take_writer().unwrap()),
            master: Some(pair.master),
            closed,
            child,
            folder,
        }
    }

    /// Types.
    pub(super) fn keys(&mut self, keys: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// What the terminal shows.
    pub(super) fn shown(&self) -> String {
        self.parser.lock().unwrap().0.screen().contents()
    }

    /// What it shows and what was scrolled away.
    pub(super) fn all(&self) -> String {
        let mut parser = self.parser.lock().unwrap();
        let screen = parser.0.screen_mut();
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

    /// Every byte the program wrote.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.parser.lock().unwrap().1.clone()
    }

    /// The terminal itself.
    pub(super) fn screen<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.parser.lock().unwrap().0.screen())
    }

    /// Waits until something is so.
    pub(super) fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            assert!(begun.elapsed() < PATIENCE, "no {what}:\n{}", self.shown());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the terminal shows something.
    pub(super) fn sees(&self, text: &str) {
        self.until(text, |terminal| terminal.shown().contains(text));
    }

    /// Waits until the terminal does not show something.
    pub(super) fn misses(&self, text: &str) {
        self.until(&format!("end of {text}"), |terminal| {
            !terminal.shown().contains(text)
        });
    }

    /// Waits until the prompt is there and nothing is worked on.
    pub(super) fn is_idle(&self) {
        self.until("empty prompt", |terminal| {
            let shown = terminal.shown();
            shown.contains("> what shall be done?") && !shown.contains("esc to")
        });
    }

    /// Gives the terminal another size.
    pub(super) fn resize(&self, rows: u16, cols: u16) {
        let size = PtySize {
            rows,
            cols,
            pixel_width: 0,
            pixel_height: 0,
        };
        let mut parser = self.parser.lock().unwrap();
        parser
            .0
            .screen_mut()
            .set_size(rows.try_into().unwrap(), cols.try_into().unwrap());
        self.master.as_ref().unwrap().resize(size).unwrap();
    }

    /// Closes the terminal, as when its window is closed. The program must be writing.
    pub(super) fn close(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        self.writer = None;
        self.master = None;
    }

    /// Waits until the terminal is as it was before the program.
    pub(super) fn given_back(&self) {
        self.until("terminal given back", |terminal| {
            terminal.screen(|screen| {
                !screen.bracketed_paste() && !screen.hide_cursor() && !screen.alternate_screen()
            })
        });
    }

    /// Waits until the program has ended, and says whether its host had finished and it ended well.
    pub(super) fn ends(&mut self) -> bool {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "it does not end:\n{}",
                self.shown()
            );
            std::thread::sleep(Duration::from_millis(5));
        };
        let done = std::fs::read_to_string(self.folder.path().join("done"));
        status.success() && done.is_ok_and(|done| done == "finished")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        let _ = self.child.kill();
    }
}
