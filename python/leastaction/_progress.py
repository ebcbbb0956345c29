"""How far things are: a line on a terminal or in a notebook, for what takes longer than a second."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._check import kind

#: What is over sooner shows nothing.
PATIENCE = 1.0
#: The line changes so often.
PACE = 0.2

Tell = Callable[[float, str], None]


@contextmanager
def watched(progress: Any, title: str) -> Iterator[Tell | None]:
    """How to show progress: by a function of the caller, by a line, or not at all."""
    if callable(progress):
        yield progress
        return
    if not any(progress is known for known in (None, True, False)):
        raise TypeError(f"progress should be True, False, or a function of the part that is done and a text, not {kind(progress)}")
    if progress is False or progress is None and not _is_seen():
        yield None
        return
    begun = time.monotonic()
    shown = begun + PATIENCE - PACE
    width = 0

    def tell(fraction: float, place: str) -> None:
        nonlocal shown, width
        now = time.monotonic()
        if now - shown < PACE:
            return
        shown = now
        left = (now - begun) * (1 / fraction - 1) if fraction > 0 else float("inf")
        # Of some work nobody knows how much there is.
        part = "" if math.isnan(fraction) else f"{fraction:4.0%}, "
        line = f"{title}: {part}{place}" + (f", {left:.0f} s left" if left < 1e9 else "")
        print("\r" + line.ljust(width), end="", file=sys.stderr, flush=True)
        width = len(line)

    try:
        yield tell
    finally:
        if width:
            print("\r" + " " * width + "\r", end="", file=sys.stderr, flush=True)


def _is_seen() -> bool:
    """Whether progress is visible: at a terminal, or in a notebook."""
    return sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
