"""Values on the command line that click does not know, read by callbacks of the options, and names of files."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from descheduler.model.text.duration import parse_duration

if TYPE_CHECKING:
    from descheduler.model.kube_version import KubeVersion

_EVICTIONS_IN_BACKGROUND = "EvictionsInBackground"
_GATES = (_EVICTIONS_IN_BACKGROUND, "AllAlpha", "AllBeta")
_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_LONGEST_FRACTION = 7


def read_instant(_ctx: click.Context, _option: click.Parameter, text: str | None) -> datetime | None:
    """The instant in UTC; digits below a microsecond are dropped."""
    if text is None:
        return None
    match = _RFC3339.fullmatch(text)
    if match is not None:
        day, time_of_day, fraction, zone = match.groups()
        try:
            spelled = f"{day}T{time_of_day}{(fraction or '')[:_LONGEST_FRACTION]}{zone.upper()}"
            return datetime.fromisoformat(spelled).astimezone(UTC)
        except (ValueError, OverflowError):
            pass  # a thirteenth month, or an hour that no date of this calendar has in UTC
    raise click.BadParameter(f"{text!r} is not a time with a zone, such as 2026-06-30T12:00:00Z.")


def read_duration(_ctx: click.Context, _option: click.Parameter, text: str | None) -> timedelta | None:
    """A Go duration above zero."""
    if text is None:
        return None
    try:
        duration = parse_duration(text)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from error
    if duration <= timedelta(0):
        raise click.BadParameter(f"{text!r} is not above zero.")
    return duration


def read_rate(_ctx: click.Context, _option: click.Parameter, rate: float | None) -> float | None:
    """A finite number; None for zero, which leaves the choice to the policy."""
    if rate is not None and not (math.isfinite(rate) and rate >= 0):
        raise click.BadParameter(f"{rate} is not a number from zero up.")
    return rate or None


def read_kube_version(_ctx: click.Context, _option: click.Parameter, text: str | None) -> KubeVersion | None:
    """The nearest version that is described; None for an empty text, which leaves the choice to others."""
    if not text:
        return None
    from descheduler.model.kube_version import KubeVersion, KubeVersionError

    try:
        return KubeVersion.parse(text)
    except KubeVersionError as error:
        raise click.BadParameter(f"{error}.") from error


def read_feature_gates(_ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> Mapping[str, bool]:
    """The gates in force by name; of several settings of one gate the last one counts."""
    gates: dict[str, bool] = {}
    for pair in filter(None, (part.strip() for text in texts for part in text.split(","))):
        name, _, switch = pair.partition("=")
        if name not in _GATES:
            raise click.BadParameter(f"feature gate {name!r} is not known, only {', '.join(_GATES)}.")
        if switch.lower() not in ("true", "false"):
            raise click.BadParameter(f"{pair!r} is neither {name}=true nor {name}=false.")
        gates[name] = switch.lower() == "true"
    # The one gate there is is an alpha one.
    return {_EVICTIONS_IN_BACKGROUND: gates.get(_EVICTIONS_IN_BACKGROUND, gates.get("AllAlpha", False))}


_STANDARD_STREAM = "-"
_TAKEN = "descheduler.standard_input_is_taken"


def read_file_name(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """The name of a file, which is not empty: an empty variable in a script would stand for the present folder."""
    if text == "":
        raise click.BadParameter("the file name is empty.")
    return text


def read_output_name(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """The name of a file to write beside a document, which takes standard output."""
    if text == _STANDARD_STREAM:
        raise click.BadParameter("standard output is used for the plan; name a file (./- for a file named -).")
    return read_file_name(ctx, option, text)


def read_input_name(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """The name of a file to read; - is standard input, which can be read once by all parameters together."""
    if text == _STANDARD_STREAM:
        if ctx.meta.get(_TAKEN):
            raise click.BadParameter("standard input can be read once; name a file (./- for a file named -).")
        ctx.meta[_TAKEN] = True
    return read_file_name(ctx, option, text)


def read_input_names(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Names of files to read, each as `read_input_name`."""
    for text in texts:
        read_input_name(ctx, option, text)
    return texts


def input_path(name: str) -> Path | Literal["-"]:
    """The file that was named; - is standard input."""
    return "-" if name == "-" else Path(name)


def file_source(file: str) -> tuple[Path | str, str | None]:
    """The file, or the text of standard input and its name in messages for -. Raises click.UsageError without one."""
    if file != "-":
        return Path(file), None
    if sys.stdin is None:
        raise click.UsageError("standard input is closed; name a file.")
    return sys.stdin.buffer.read().decode("utf-8", errors="replace"), "<stdin>"
