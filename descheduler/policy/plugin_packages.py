"""Plugins of other packages, which these offer by Python's entry points.

A package names its plugins in its metadata, so that which there are is known without importing one. A plugin is
imported when its name is looked up, because some policy names it; its code runs with all rights of this program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from descheduler.policy.plugin_faults import Origin, PluginFault, WrongAnswer, fault_of, place_in_foreign_code, text_of

if TYPE_CHECKING:  # takes longer to import than a policy without foreign plugins needs to load
    from importlib.metadata import EntryPoint

PLUGIN_GROUP = "descheduler.plugins"
"""The group of deschedule, balance and filter plugins; each entry is a PluginSpec."""
SCHEDULING_GROUP = "descheduler.scheduling_plugins"
"""The group of scheduling plugins; each entry is a SchedulingPlugin."""

RowType = TypeVar("RowType")
Admit = Callable[[RowType, Origin], RowType]
"""A row of a package as it is used: guarded, so that what its plugin does wrong is a fault of that plugin alone. Raises
WrongAnswer for one that makes no sense."""


class WithPackages(Mapping[str, RowType], Generic[RowType]):
    """Rows of plugins by name: `own`, and those of type `row_type` that packages offer in `group`.

    Only names that were looked up are members, beside the own ones; nothing is imported for any other. An own plugin
    is never replaced. A plugin that cannot be loaded is none, and `failure` says why. `admit` looks at each row first.
    """

    def __init__(self, own: Mapping[str, RowType], group: str, row_type: type[RowType], admit: Admit[RowType]) -> None:
        self._own = own
        self._group = group
        self._row_type = row_type
        self._admit = admit
        self._loaded: dict[str, RowType] = {}
        self._failures: dict[str, str] = {}

    def __getitem__(self, name: str) -> RowType:
        if name in self._own:
            return self._own[name]
        if name not in self._loaded and name not in self._failures:
            self._load(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*self._own, *self._loaded))

    def __len__(self) -> int:
        return len(self._own) + len(self._loaded)

    def failure(self, name: str) -> str:
        """Why the plugin `name`, which some package offers, is not there; empty when none does, or when it is."""
        return self._failures.get(name, "")

    def _load(self, name: str) -> None:
        offers = self._offers.get(name, [])
        if not offers:
            return
        packages = " and ".join(sorted({_package_of(offer) for offer in offers}))
        if len(offers) > 1:
            self._failures[name] = f"packages {packages} both offer it; uninstall all but one"
            return
        row, fault = self._imported(offers[0])
        if row is None:
            self._failures[name] = f"package {packages} offers it, and it cannot be loaded: {fault}"
        else:
            self._loaded[name] = row

    def _imported(self, offer: EntryPoint) -> tuple[RowType | None, str]:
        """What `offer` stands for, or what is wrong with it."""
        origin = Origin(offer.name, offer.dist.name if offer.dist is not None else "", offer.module.partition(".")[0])
        try:
            row = offer.load()
            if not isinstance(row, self._row_type):
                return None, f"{offer.value} is no {self._row_type.__name__}"
            name = getattr(row, "name", offer.name)
            return (self._admit(row, origin), "") if name == offer.name else (None, f"{offer.value} is named {name}")
        except (PluginFault, WrongAnswer) as fault:
            return None, str(fault)
        except BaseException as error:  # whatever the code of others raises while it is imported
            fault_of(origin, error)
            place = place_in_foreign_code(error, origin.root)
            said = text_of(f"{type(error).__name__}: {error}", "the text of an error")
            return None, f"{said} at {place}" if place else said

    @cached_property
    def _offers(self) -> Mapping[str, list[EntryPoint]]:
        from importlib.metadata import entry_points

        offers: dict[str, list[EntryPoint]] = {}
        for offer in entry_points(group=self._group):
            offers.setdefault(offer.name, []).append(offer)
        return offers


class _Kept(Mapping[str, RowType], Generic[RowType]):
    """The rows of `rows` that `keep` is true of."""

    def __init__(self, rows: Mapping[str, RowType], keep: Callable[[RowType], bool]) -> None:
        self.rows = rows
        self._keep = keep

    def __getitem__(self, name: str) -> RowType:
        row = self.rows[name]
        if not self._keep(row):
            raise KeyError(name)
        return row

    def __iter__(self) -> Iterator[str]:
        return (name for name, row in self.rows.items() if self._keep(row))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def of_kind(rows: Mapping[str, RowType], keep: Callable[[RowType], bool]) -> Mapping[str, RowType]:
    """The rows that `keep` is true of; those of packages are looked up as in `rows`."""
    return _Kept(rows, keep)


def load_failure(name: str, rows: object) -> str:
    """Why the plugin `name` of a package is not among `rows`; empty where no package offers it."""
    whole = rows.rows if isinstance(rows, _Kept) else rows
    return whole.failure(name) if isinstance(whole, WithPackages) else ""


def _package_of(offer: EntryPoint) -> str:
    """Name and version of the package that offers a plugin."""
    package = offer.dist
    return "without a name" if package is None else f"{package.name} {package.version}"
