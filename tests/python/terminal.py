"""A command in a pseudo-terminal: what a person at a keyboard sees and presses."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def command():
    """The path of the command under test: what LEASTACTION says, or what `cargo test` has built."""
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    path = os.environ.get("LEASTACTION", os.path.join(target, "debug", "leastaction"))
    assert os.path.exists(path), f"there is no {path}: build it by `make test`, or set LEASTACTION"
    return path


class Terminal:
    """`leastaction` with arguments, whose terminal has so many rows and columns.

    Standard output is the terminal too unless `stdout` says otherwise (as `subprocess.PIPE` does). Use it in a `with`.
    """

    def __init__(self, *arguments, rows=24, columns=80, stdout=None, cwd=None, env=None):
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns)
        self.modes_before = termios.tcgetattr(self.slave)
        self.seen = b""

        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C reaches the command

        environment = {**os.environ, "TERM": "xterm-256color", **(env or {})}
        self.process = subprocess.Popen(
            [command(), *arguments],
            stdin=self.slave,
            stdout=self.slave if stdout is None else stdout,
            stderr=self.slave,
            cwd=cwd,
            env=environment,
            preexec_fn=take_terminal,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        os.close(self.master)
        os.close(self.slave)

    def resize(self, rows, columns):
        """Gives the terminal another size, as dragging its corner does."""
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds=0.0):
        """Everything seen so far, after waiting so long for more."""
        while select.select([self.master], [], [], seconds)[0]:
            self.seen += os.read(self.master, 65536)
            seconds = 0.0
        return self.seen

    def wait_for(self, pattern, seconds=30.0):
        """Reads until a regular expression (bytes) is seen, and returns its match."""
        end = time.monotonic() + seconds
        while True:
            self.read(0.05)
            if match := re.search(pattern, self.seen, re.S):
                return match
            if self.process.poll() is not None or time.monotonic() > end:
                self.read()
                if match := re.search(pattern, self.seen, re.S):
                    return match
                raise AssertionError(f"no {pattern!r} in {self.seen!r}")

    def press(self, keys):
        """Presses keys: text, or bytes such as b"\\x03" for Ctrl-C."""
        os.write(self.master, keys.encode() if isinstance(keys, str) else keys)

    def finish(self, seconds=30.0):
        """Waits for the end, and returns the exit code and everything seen."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            self.read(0.05)
            if time.monotonic() > end:
                raise AssertionError(f"still running: {self.seen!r}")
        self.read()
        return self.process.returncode, self.seen

    def is_restored(self):
        """Whether the terminal's modes are as they were before."""
        return termios.tcgetattr(self.slave) == self.modes_before
