"""Amounts of resources as people write them: cpu comes in milli cores, everything else in whole units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from descheduler.model.requests import CPU, EPHEMERAL_STORAGE, MEMORY

_BYTES = frozenset({MEMORY, EPHEMERAL_STORAGE})
_BYTES_IN_DOMAINS = ("/gpu-memory", "/batch-memory", "/mid-memory")
"""Extended resources of Koordinator that count bytes; the old domain of GPUs is kubernetes.io."""
_STEPS = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def amount_text(resource: str, amount: int) -> str:
    """Such as `500m` or `2` for cpu, `1.5Gi` for memory and other bytes, `3` for the rest."""
    if resource == CPU:
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    return _bytes_text(amount) if _is_bytes(resource) else str(amount)


def cpu_texts(amounts: Sequence[int]) -> list[str]:
    """Milli cores as cores, such as `15.4`: to one decimal, or to as many more as tell them apart."""
    texts: list[str] = []
    for decimals in (1, 2, 3):
        texts = [f"{amount / 1000:.{decimals}f}".rstrip("0").rstrip(".") for amount in amounts]
        if len({*texts, "0"}) == len({*amounts, 0}):
            break
    return texts


def amount_of(resource: str, amount: int) -> str:
    """Such as `4 CPU` or `16Gi memory`."""
    return f"{amount_text(resource, amount)} {'CPU' if resource == CPU else resource}"


def amount_of_most(resource: str, amount: int, most: int) -> str:
    """Such as `16 CPU of 7.4`, or `5Gi memory of 4Gi`: cores in both."""
    if resource == CPU:
        text, limit = cpu_texts((amount, most))
        return f"{text} CPU of {limit}"
    return f"{amount_of(resource, amount)} of {amount_text(resource, most)}"


def amounts_text(amounts: Iterable[tuple[str, int]]) -> str:
    """Such as `cpu 500m, memory 1Gi`; `nothing` without any."""
    return ", ".join(f"{resource} {amount_text(resource, amount)}" for resource, amount in amounts) or "nothing"


def short_amounts_text(amounts: Mapping[str, int]) -> str:
    """Such as `gpu-core 50, gpu-memory 8Gi`, by names without their domains; empty without any."""
    return ", ".join(f"{name.rpartition('/')[2]} {amount_text(name, amount)}" for name, amount in amounts.items())


def _is_bytes(resource: str) -> bool:
    return resource in _BYTES or resource.startswith("hugepages-") or resource.endswith(_BYTES_IN_DOMAINS)


def _bytes_text(amount: int) -> str:
    """Exact where that is short, else to two decimals."""
    step, rest = 0, abs(amount)
    while rest >= 1024 and step + 1 < len(_STEPS):
        rest //= 1024
        step += 1
    value = amount / 1024**step
    text = f"{value:.2f}".rstrip("0").rstrip(".") if step else str(amount)
    return f"{text}{_STEPS[step]}"


def percent_text(part: int, whole: int) -> str:
    """The share as `rounded_percent` writes it, `?` of nothing."""
    return rounded_percent(100 * part / whole) if whole else "?"


def rounded_percent(percent: float, limit: float | None = None) -> str:
    """Such as `79.4%` or `85%`: whatever people read in percent, so that one figure looks the same wherever it is.

    To one decimal. Short of the whole it is never 100%, so that a node with room does not look full, and what is over
    or under a `limit` has as many decimals as it takes to show that.
    """
    for decimals in (1, 3, 6):
        text = f"{percent:.{decimals}f}".rstrip("0").rstrip(".")
        if float(text) != limit:
            break
    return "99.9%" if percent < 100 and float(text) == 100 else f"{text}%"
