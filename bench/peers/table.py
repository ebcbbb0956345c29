"""Markdown of what was measured. Needs nothing but Python."""
import os
import pathlib

from contest import typical


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} in a table of {len(header)}: {row}")
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) + " |")
    return "\n".join(lines) + "\n"


def digits(value, count=3):
    """A number with so many digits, without exponents where people write none."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    if not 1e-3 <= abs(value) < 1e5:
        return f"{value:.{count - 1}e}"
    return f"{float(f'{value:.{count}g}'):,.10g}".replace(",", " ")


def duration(seconds):
    """A time in the unit that suits it."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{digits(seconds / size)} {unit}"
    return f"{digits(seconds / 1e-9)} ns"


def errors(tried):
    return ", ".join(f"{name} {value:.0e}" for name, value in tried.errors.items())


def ratio(duel):
    """The median and the quartiles; bold where ours is slower."""
    if duel.ratio is None:
        return "–"
    text = digits(duel.ratio)
    text = f"**{text}**" if duel.ratio > 1 else text
    return text + (f" ({digits(duel.spread[0])}–{digits(duel.spread[1])})" if duel.spread else "")


def missed(duel):
    if duel.missed is None:
        return "none"
    return f"none; nearest: {duel.missed.entry.setting} ({errors(duel.missed)})"


DUEL = ["within", "program", "its setting", "its time", "its errors", "our setting", "our time", "our errors", "ours / theirs"]


def duel_row(duel):
    theirs, ours = ["–"] * 3, ["–"] * 3
    if duel.theirs:
        seconds = typical(duel.times, 1) if duel.times else duel.theirs.seconds
        theirs = [duel.theirs.entry.setting, duration(seconds), errors(duel.theirs)]
        if not duel.ours:
            ours[0] = missed(duel)
    else:
        theirs[0] = missed(duel)
    if duel.ours:
        seconds = typical(duel.times, 0) if duel.times else duel.ours.seconds
        ours = [duel.ours.entry.setting, duration(seconds), errors(duel.ours)]
    return [duel.target, duel.program, *theirs, *ours, ratio(duel)]


def duels(found):
    return table(DUEL, [duel_row(duel) for duel in found])


def summary(blocks):
    """Where ours is slower, and where it does not get there: of (problem, duels)."""
    lines = []
    for problem, found in blocks:
        for duel in found:
            where = f"{problem}, {duel.target}: " if duel.target else f"{problem}: "
            if duel.ratio is not None and duel.ratio > 1:
                lines.append(f"- {where}{digits(duel.ratio)} times as long as {duel.program}")
            elif duel.theirs and not duel.ours:
                lines.append(f"- {where}no setting of ours is within the errors of {duel.program}")
    return "\n".join(lines or ["- nowhere in this run"]) + "\n"


def sweep(tried):
    """All settings that were tried."""
    rows = [[t.entry.program, t.entry.setting, t.failure or duration(t.seconds), errors(t)] for t in tried]
    return "<details><summary>All settings that were tried</summary>\n\n" + table(
        ["program", "setting", "time", "errors"], rows) + "\n</details>\n"


def write(path, text):
    """Writes a file whole or not at all."""
    path = pathlib.Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
