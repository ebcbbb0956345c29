"""What can go wrong, and what one should be told."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """All errors of this package."""


class UsageError(Error, ValueError):
    """What was asked for cannot be: an unknown name, a value out of range, things that exclude each other."""


class ModelError(Error):
    """A model is wrong. The message shows each mistake at its place; `diagnostics` has them as dictionaries with `message`, `help`,
    `file` (if it is one that the text includes), `span` (in characters), `line` and `column` (from 1)."""

    diagnostics: list[dict[str, Any]] = []


class RunError(Error, RuntimeError):
    """What was asked for went wrong. `trajectory` has what was computed until then, if a run failed on its way, and `diagnosis` what
    is known of the place; `results` has what an ensemble or a section found, if that is nothing of use."""

    trajectory: Any = None
    results: Any = None
    diagnosis: dict[str, Any] | None = None


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: no `Error`, so that nobody who goes on after errors goes on after this. What was computed until then is kept: in `trajectory`
    of a run, in `results` of an ensemble or a section."""

    trajectory: Any = None
    results: Any = None


class RunWarning(UserWarning):
    """What to be told of a run: how far the result can be trusted. `code` is a word that stays the same when the sentence changes."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code
