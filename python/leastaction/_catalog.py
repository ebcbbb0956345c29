"""The systems that are ready to run: `la.catalog.double_pendulum(l2=1)`.

>>> import leastaction as la
>>> la.catalog["double-pendulum"].name
'double-pendulum'
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import _native
from ._check import numbers, text, whole
from ._errors import UsageError
from .system import System


class Entry:
    """A system of the catalog: call it for the system, perhaps with other values of parameters, or another size."""

    def __init__(self, name: str, about: str, size: int | None, has_samples: bool) -> None:
        self.name = name
        self.about = about
        self.size = size
        self.has_samples = has_samples
        self.__doc__ = f"{about}\n\nCall it with values of parameters{', and with a size' if size else ''}."

    def __call__(self, *, size: int | None = None, start: Any = None, **parameters: float) -> System:
        pieces = None if size is None else whole(size, "size", 0)
        native = _native.System.catalog(self.name, pieces)
        return System._from_origin(("catalog", self.name, pieces), parameters, start, native)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.about}>"


class Catalog:
    """The systems of the catalog, as attributes."""

    def __init__(self) -> None:
        self._entries = {
            entry[0].replace("-", "_"): Entry(*entry) for entry in _native.catalog()
        }

    def __getattr__(self, name: str) -> Entry:
        try:
            return self.__dict__["_entries"][name]  # type: ignore[no-any-return]
        except KeyError:
            pass
        if name.startswith("_"):
            raise AttributeError(name)
        from .trajectory import _missing

        raise AttributeError(_missing(name, self._entries))

    def __getitem__(self, name: str) -> System:
        return System._from_origin(("catalog", text(name, "a name"), None))

    def items(self) -> list[tuple[str, Entry]]:
        """All entries with their names."""
        return [(entry.name, entry) for entry in self._entries.values()]

    def __dir__(self) -> list[str]:
        return list(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(entry.name for entry in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {entry.about}" for name, entry in self._entries.items())


catalog = Catalog()
