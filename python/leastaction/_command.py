"""The command `leastaction`, which the package brings along."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Runs the command line."""
    from . import _native

    # The command listens to Ctrl-C by itself, and keeps what was computed.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.command(["leastaction", *sys.argv[1:]]))
