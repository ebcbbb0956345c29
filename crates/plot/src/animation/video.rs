//! Videos, which the program `ffmpeg` makes of frames.

use super::frame::Painter;
use super::tempo::Tempo;
use crate::error::PictureError;
use leastaction_output::replace_named;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where `ffmpeg` is among the folders of a PATH: the first that can be run.
#[must_use]
pub fn ffmpeg(path: &OsStr) -> Option<PathBuf> {
    let name = format!("ffmpeg{}", std::env::consts::EXE_SUFFIX);
    let runs = |file: &PathBuf| {
        let mut asked = Command::new(file);
        asked.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        asked.status().is_ok()
    };
    let files = std::env::split_paths(path).map(|folder| folder.join(&name));
    files.filter(|file| file.is_file()).find(runs)
}

/// Writes a video beside its place, and then moves it there.
pub(crate) fn save(painter: &mut Painter<'_>, program: &Path, path: &Path) -> Result<(), PictureError> {
    replace_named(path, |part| encode(painter, program, part))
}

fn encode(painter: &mut Painter<'_>, program: &Path, part: &Path) -> Result<(), PictureError> {
    let (width, height) = painter.size();
    let tempo = painter.tempo();
    let mut file = OsString::from("file:");
    file.push(part);
    let failed = |error: std::io::Error| PictureError::Ffmpeg {
        status: "not started".to_owned(),
        message: error.to_string(),
    };
    let mut child = Command::new(program)
        .args(["-nostdin", "-loglevel", "error", "-y", "-f", "rawvideo", "-pixel_format", "rgb24"])
        .args(["-video_size", &format!("{width}x{height}")])
        .args(["-framerate", &format!("{}", 1.0 / tempo.duration()), "-i", "pipe:0", "-an"])
        .args(["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-r", &Tempo::RATE.to_string(), "-f", "mp4"])
        // Not a bare name: ffmpeg takes `-i.mp4` for an option, and `http:x.mp4` for a place to send it to.
        .arg(file)
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

#[cfg(all(test, unix))]
mod tests {
    use super::{ffmpeg, save};
    use crate::animation::frame::{Canvas, Painter};
    use crate::animation::tempo::Tempo;
    use crate::error::PictureError;
    use crate::scene::Scene;
    use leastaction_language::Drawing;
    use leastaction_output::{Path as Course, Record};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};

    /// A folder with a program `ffmpeg` that does what a script says.
    fn folder(name: &str, script: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("leastaction-video-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let program = folder.join("ffmpeg");
        // What it is asked to write to comes last, as an address of a file; a question for its version writes nothing.
        let last = "for last; do :; done\ncase \"$last\" in -version) exit;; esac\nlast=${last#file:}\n";
        fs::write(&program, format!("#!/bin/sh\n{last}{script}")).expect("a script");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
        // Another test that starts a program at this moment may hold the script open for writing until that program runs: so long it cannot be run itself.
        let is_busy = || {
            let run = std::process::Command::new(&program).arg("-version").status();
            run.is_err_and(|error| error.kind() == std::io::ErrorKind::ExecutableFileBusy)
        };
        (0..200)
            .take_while(|_| is_busy())
            .for_each(|_| std::thread::sleep(std::time::Duration::from_millis(10)));
        folder
    }

    fn saved(folder: &Path) -> (Result<(), PictureError>, Tempo, (u32, u32)) {
        saved_as(folder, &folder.join("film.mp4"))
    }

    fn saved_as(folder: &Path, path: &Path) -> (Result<(), PictureError>, Tempo, (u32, u32)) {
        let times: Vec<_> = (0..=80).map(|i| f64::from(i) / 10.0).collect();
        let axes = vec![times.iter().map(|t| t.sin()).collect(), times.iter().map(|t| t.cos()).collect()];
        let record = Record { times, paths: vec![Course { name: "a".into(), axes }], ..Record::default() };
        let scene = Scene::of(&Drawing::new(), &record).expect("a place");
        let tempo = Tempo::of(&record.times);
        let mut painter =
            Painter::new(&record, &scene, tempo, "test", Canvas::Usual { density: 0.25 }).expect("finite");
        let program = ffmpeg(folder.as_os_str()).expect("the script");
        let saved = save(&mut painter, &program, path);
        (saved, tempo, painter.size())
    }

    #[test]
    fn every_frame_is_sent() {
        let folder = folder("sent", "cat > \"$last\"\n");
        let (result, tempo, (width, height)) = saved(&folder);
        result.expect("a video");
        let bytes = fs::metadata(folder.join("film.mp4")).expect("the film").len();
        assert_eq!(bytes, tempo.frames as u64 * u64::from(width * height * 3));
        assert_eq!((width % 2, height % 2), (0, 0));
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 2);
        fs::remove_dir_all(folder).expect("gone");
    }

    #[test]
    fn what_ffmpeg_says_is_passed_on_and_nothing_is_left() {
        let folder = folder("failed", "echo part > \"$last\"\necho no codec >&2\nexit 3\n");
        let error = saved(&folder).0.expect_err("it failed").to_string();
        assert!(error.contains("no codec") && error.contains('3'), "{error}");
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 1);
        fs::remove_dir_all(folder).expect("gone");
    }

    /// A name that is no address of a file, neither an option nor a place on the net, whatever it begins with.
    #[test]
    fn files_have_whole_names() {
        let folder = folder("names", "cat > /dev/null\necho \"$last\" > \"$last\"\n");
        let (result, ..) = saved_as(&folder, Path::new("http:film.mp4"));
        result.expect("a video");
        let written = fs::read_to_string("http:film.mp4").expect("the film");
        fs::remove_file("http:film.mp4").expect("gone");
        assert!(written.starts_with('/') && written.trim_end().ends_with(".part"), "{written}");
        fs::remove_dir_all(folder).expect("gone");
    }

    /// Nothing is written through a link that somebody put where the video is made.
    #[test]
    fn videos_are_made_in_new_files() {
        let folder = folder("links", "cat > \"$last\"\n");
        fs::write(folder.join("victim"), "whole").expect("a file");
        for name in ["film.mp4", ".film.mp4"] {
            for count in 0..100 {
                let foreseen = [
                    format!("{name}.{}.part", std::process::id()),
                    format!("{name}.{}-{count}.part", std::process::id()),
                ];
                for link in foreseen {
                    let _ = std::os::unix::fs::symlink("victim", folder.join(link));
                }
            }
        }
        saved(&folder).0.expect("a video");
        assert_eq!(fs::read_to_string(folder.join("victim")).expect("the file"), "whole");
        fs::remove_dir_all(folder).expect("gone");
    }

    /// A file of that name that cannot be run does not hide one that can.
    #[test]
    fn what_cannot_run_is_passed_over() {
        let good = folder("good", "");
        for (name, mode) in [("mode", 0o644), ("empty", 0o755)] {
            let bad = folder(name, "");
            fs::write(bad.join("ffmpeg"), b"\x7fELF").expect("a file");
            fs::set_permissions(bad.join("ffmpeg"), fs::Permissions::from_mode(mode)).expect("a mode");
            let path = std::env::join_paths([&bad, &good]).expect("a path");
            assert_eq!(ffmpeg(&path), Some(good.join("ffmpeg")), "{name}");
            fs::remove_dir_all(bad).expect("gone");
        }
        fs::remove_dir_all(good).expect("gone");
    }

    #[test]
    fn folders_without_ffmpeg_have_none() {
        assert_eq!(ffmpeg("/nowhere:/nor/here".as_ref()), None);
    }
}
