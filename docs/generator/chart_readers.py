"""The template of the chart that says which plugins read which kinds, from what each plugin says that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.placement_verification.placement_verification import landing_needs
from descheduler.policy.plugin import Needs, PluginSpec


def readers_template() -> str:
    """The template's file: names of plugins joined by `|`, those that verify placement, and those of a kind."""
    return "\n".join(
        (
            "{{- /* Made by `python -m docs.generate` from what plugins need; edit their specs instead. */ -}}",
            "",
            "{{- /* The plugins that read what decides about placement, joined by |. */ -}}",
            '{{- define "descheduler.verifiers" -}}',
            "|".join(verifiers()),
            "{{- end -}}",
            "",
            "{{- /* The other plugins that read a kind with default arguments, joined by |; empty for none. */ -}}",
            '{{- define "descheduler.readersOf" -}}',
            "{{- get (dict",
            *(f'  "{kind}" "{"|".join(names)}"' for kind, names in readers().items()),
            ") . -}}",
            "{{- end -}}",
            "",
        )
    )


def verifiers() -> list[str]:
    """The plugins that read what decides about placement, by name."""
    return sorted(name for name, needs in _plugins() if _verifies(needs))


def readers() -> Mapping[str, list[str]]:
    """Kind → the other plugins that read it with their default arguments, by name.

    Plugins that a DeschedulerConfiguration alone knows are left out: such a document may read every kind.
    """
    found: dict[str, list[str]] = {}
    for name, needs in _plugins():
        for kind in () if _verifies(needs) else needs.kinds | needs.wanted_kinds:
            found.setdefault(kind, []).append(name)
    return {kind: sorted(names) for kind, names in sorted(found.items())}


def _plugins() -> Iterator[tuple[str, Needs]]:
    for name, spec in REGISTRY.items():
        if not spec.native:
            yield name, _needs(spec)


def _needs(spec: PluginSpec[Any]) -> Needs:
    return spec.needs(spec.defaults(spec.args_type()))


def _verifies(needs: Needs) -> bool:
    return needs.kinds >= landing_needs(owners=True).kinds
