//! A storage of one's own: each append becomes a numbered file of a folder. A file appears under its name only when it is
//! complete and synced, so that the lines of an append are stored together or not at all.
//!
//! `cargo run -p longhaul --example own_storage`. Without `ANTHROPIC_API_KEY` the simulator answers.

mod support;

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use longhaul::prelude::*;
use longhaul::{AppendPosition, StorageError};

struct FolderStorage {
    folder: PathBuf,
}

impl FolderStorage {
    /// The files so far, oldest first.
    fn parts(&self) -> io::Result<Vec<PathBuf>> {
        let files = fs::read_dir(&self.folder)?.map(|file| Ok(file?.path()));
        let mut files: Vec<PathBuf> = files.collect::<io::Result<_>>()?;
        files.retain(|path| path.extension().is_some_and(|end| end == "part"));
        files.sort();
        Ok(files)
    }

    fn write(&self, lines: &[Bytes]) -> io::Result<()> {
        let number = self.parts()?.len();
        let unfinished = self.folder.join("unfinished");
        let mut file = File::create(&unfinished)?;
        file.write_all(&lines.join(&b'\n'))?;
        file.sync_all()?;
        fs::rename(unfinished, self.folder.join(format!("{number:08}.part")))?;
        // The name is safe once the folder is.
        File::open(&self.folder)?.sync_all()
    }
}

impl Storage for FolderStorage {
    fn load(&self) -> Result<Vec<Bytes>, StorageError> {
        let mut lines = Vec::new();
        for part in self.parts().map_err(StorageError::custom)? {
            let text = fs::read(part).map_err(StorageError::custom)?;
            lines.extend(
                text.split(|byte| *byte == b'\n')
                    .map(Bytes::copy_from_slice),
            );
        }
        Ok(lines)
    }

    fn append(&self, lines: &[Bytes]) -> Result<AppendPosition, StorageError> {
        self.write(lines).map_err(StorageError::custom)?;
        Ok(AppendPosition::AfterLast)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(io::stdout()).await
}

pub(crate) async fn run(mut out: impl Write) -> Result<(), Box<dyn Error>> {
    let (client, _simulator) = support::connect().await?;
    let client = Arc::new(client);
    let folder = tempfile::tempdir()?;
    for visit in 1..=2 {
        let folder = folder.path().to_owned();
        let mut session = Session::builder()
            .model(client.clone())
            .prompt(Prompt::new(support::MODEL, "You are friendly."))
            .storage(FolderStorage { folder })
            .open_async()
            .await?;
        session
            .say(format!("Hello, this is visit {visit}."))
            .await?;
        session.turn().await?;
        let messages = session.engine().live().entries().len();
        writeln!(out, "visit {visit}: {messages} messages")?;
    }
    Ok(())
}
