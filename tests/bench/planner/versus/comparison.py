"""What a comparison is: a row of the table that the command prints from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from descheduler.optimizer import Limits


class MissingDataError(Exception):
    """A comparison cannot run; the message says which file or program it needs, and where it was looked for."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says. `data` is a file or a folder; `limits` None: those of the comparison itself.

    `longer` limits the run beside which the usual one is put; None: there is none.
    """

    data: Path | None
    limits: Limits | None
    longer: Limits | None
    num_seeds: int
    num_workers: int

    def limits_or(self, seconds: float) -> Limits:
        """The limits of each plan, `seconds` unless the command line says otherwise."""
        return self.limits or Limits(seconds=seconds)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison. `lines` loads its worlds, runs both sides and says what came of each world, as it comes.

    `rival` is what it is beside, `needs` the data or the program that it cannot do without ("" for nothing).
    """

    name: str
    rival: str
    needs: str
    lines: Callable[[Options], Iterable[str]]


def data_files(data: Path | None, folder: str, patterns: Iterable[str]) -> Iterator[Path]:
    """The file `data`, or the files of its subfolder `folder`, else its own. Raises MissingDataError for none."""
    if data is None:
        raise MissingDataError("no data: give --data, or set DESCHEDULER_BENCH_DATA")
    if data.is_file():
        yield data
        return
    place = data / folder if (data / folder).is_dir() else data
    found = sorted({path for pattern in patterns for path in place.glob(pattern)})
    if not found:
        raise MissingDataError(f"no file {' or '.join(patterns)} in {place}")
    yield from found
