"""Texts in the `.motion` language, and the command line.

>>> import leastaction as la
>>> la.format("coord   x\\nkinetic x'^2 / 2")
"coord x\\nkinetic x'^2/2\\n"
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from . import _native
from ._asked import asked
from ._check import text
from .system import System


def format(source: str) -> str:
    """A text in its usual form, as `leastaction fmt` writes it."""
    return str(_native.format(text(source, "source")))


def check(source: Any) -> None:
    """Finds what is wrong with a text, or a system, before a run: what it says, its equations of motion, its start, its method and its outputs. An
    error says what is; else nothing.

    >>> import leastaction as la
    >>> la.check("coord x\\nkinetic x'^2/2\\nrun method rk5")
    Traceback (most recent call last):
    ...
    leastaction._errors.ModelError: ...
    """
    if isinstance(source, System):
        _native.check(source._native, source._asked())
        return
    _native.check(_native.System.text("model", text(source, "source"), os.getcwd()), asked())


def command(*arguments: Any) -> int:
    """Runs the command line with these arguments, as `leastaction` in a terminal does, and gives its exit code: 0 if it went well."""
    # In a process of its own: it listens to Ctrl-C in its own way, and may end at once by it.
    words = [text(os.fspath(each), "an argument") for each in arguments]
    return subprocess.run([sys.executable, "-m", "leastaction", *words], check=False).returncode
