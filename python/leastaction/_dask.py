"""Ensembles on many machines: shards as tasks of Dask. The results have the bits of one machine, however many workers there are."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

from . import _native
from ._check import whole
from ._errors import UsageError
from .system import System


def part(system: System, wanted: dict[str, Any], study: dict[str, Any]) -> dict[str, bytes]:
    """Runs a shard, and gives its files."""
    folder = tempfile.mkdtemp(prefix="leastaction-")
    try:
        _native.ensemble(system._native, wanted, {**study, "keep": folder}, None)
        files = {}
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                files[name] = file.read()
        return files
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def spread(client: Any, system: System, wanted: dict[str, Any], study: dict[str, Any], tasks: int | None) -> dict[str, Any]:
    """Runs an ensemble in shards on the workers of a client, and puts them together."""
    if not (hasattr(client, "map") and hasattr(client, "gather") and hasattr(client, "scheduler_info")):
        raise TypeError("client should be a client of Dask: dask.distributed.Client()")
    if study["shard"] is not None or study["keep"] is not None:
        raise UsageError("shard and keep are a client's own business: leave them out")
    if any("=file(" in text for text in study["sample"]):
        raise UsageError("arrays and files are not sampled on other machines: sample distributions")
    workers = max(1, len(client.scheduler_info()["workers"]))
    parts = 4 * workers if tasks is None else whole(tasks, "tasks", 1, 1 << 20)
    threads = study["threads"]
    shards = [{**study, "shard": (i + 1, parts), "threads": threads} for i in range(parts)]
    # A task has no state: when a worker is lost, another one does it again, with the same bits.
    futures = client.map(part, [system] * parts, [wanted] * parts, shards, pure=False, retries=3)
    folder = tempfile.mkdtemp(prefix="leastaction-")
    try:
        directories = []
        for i, files in enumerate(client.gather(futures)):
            directory = os.path.join(folder, str(i))
            os.mkdir(directory)
            directories.append(directory)
            for name, content in files.items():
                with open(os.path.join(directory, name), "wb") as file:
                    file.write(content)
        return dict(_native.merge(directories))
    finally:
        for future in futures:
            future.release()
        shutil.rmtree(folder, ignore_errors=True)
