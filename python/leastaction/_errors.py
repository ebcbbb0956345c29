"""Errors and warnings."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """All errors of this package."""


class UsageError(Error, ValueError):
    """The request cannot be fulfilled: an unknown name, a value out of range, things that exclude each other."""


class ModelError(Error):
    """A model is wrong. The message shows each mistake at its place; `diagnostics` has them as dictionaries with `message`, `help`,
    `file` (if it is one that the text includes), `span` (in characters), `line` and `column` (from 1)."""

    diagnostics: list[dict[str, Any]] = []


class RunError(Error, RuntimeError):
    """The computation failed. If a run failed, `trajectory` has what was computed until then, and `diagnosis` what
    is known of the place; `results` has what an ensemble or a section found, if that is nothing of use."""

    trajectory: Any = None
    results: Any = None
    diagnosis: dict[str, Any] | None = None


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: not an `Error`, so that code that handles errors does not catch it. What was computed until then is kept: in `trajectory`
    of a run, in `results` of an ensemble or a section."""

    trajectory: Any = None
    results: Any = None


class RunWarning(UserWarning):
    """A warning about a run: how far the result can be trusted. `code` is a word that stays the same when the sentence changes."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code
