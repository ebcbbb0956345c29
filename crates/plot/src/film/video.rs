//! Videos, which the program `ffmpeg` makes of frames.

use super::frame::Painter;
use super::tempo::Tempo;
use crate::error::PictureError;
use leastaction_output::FileError;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where `ffmpeg` is among the folders of a PATH.
#[must_use]
pub fn ffmpeg(path: &OsStr) -> Option<PathBuf> {
    let name = format!("ffmpeg{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(path).map(|folder| folder.join(&name)).find(|file| file.is_file())
}

/// Writes a video beside its place, and then moves it there.
pub(crate) fn save(painter: &mut Painter<'_>, program: &Path, path: &Path) -> Result<(), PictureError> {
    let mut name = path.file_name().map(ToOwned::to_owned).unwrap_or_default();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let refused = |reason| FileError::Write { path: path.to_owned(), reason }.into();
    let made = film(painter, program, &part).and_then(|()| fs::rename(&part, path).map_err(refused));
    if made.is_err() {
        // It may never have come to be.
        let _ = fs::remove_file(&part);
    }
    made
}

fn film(painter: &mut Painter<'_>, program: &Path, part: &Path) -> Result<(), PictureError> {
    let (width, height) = painter.size();
    let tempo = painter.tempo();
    let failed = |error: std::io::Error| PictureError::Ffmpeg {
        status: "not started".to_owned(),
        message: error.to_string(),
    };
    let mut child = Command::new(program)
        .args(["-nostdin", "-loglevel", "error", "-y", "-f", "rawvideo", "-pixel_format", "rgb24"])
        .args(["-video_size", &format!("{width}x{height}")])
        .args(["-framerate", &format!("{}", 1.0 / tempo.duration()), "-i", "pipe:0", "-an"])
        .args(["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-r", &Tempo::RATE.to_string(), "-f", "mp4"])
        .arg(part)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    // What it says is read while it works: it would wait for somebody to.
    let mut errors = child.stderr.take();
    let listener = std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = errors.as_mut().map(|errors| errors.read_to_end(&mut said));
        String::from_utf8_lossy(&said).trim().to_owned()
    });
    let mut sent = Ok(());
    if let Some(mut frames) = child.stdin.take() {
        sent = (0..tempo.frames).try_for_each(|frame| frames.write_all(&painter.paint(frame)));
    }
    let status = child.wait().map_err(failed)?;
    let mut message = listener.join().unwrap_or_default();
    match sent {
        Ok(()) if status.success() => return Ok(()),
        Err(error) if message.is_empty() => message = error.to_string(),
        _ => {}
    }
    Err(PictureError::Ffmpeg { status: status.to_string(), message })
}
