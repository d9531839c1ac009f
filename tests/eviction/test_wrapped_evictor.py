"""An evictor behind one that looks on."""

from __future__ import annotations

import inspect

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.eviction.wrapped_evictor import WrappedEvictor


def test_every_method_and_property_of_an_evictor_is_passed_on_or_goes_through_one_that_is() -> None:
    indirect = {"admits", "admits_now", "lets_go", "request"}  # they go by `filter` and `keep`, or by `request_all`
    members = [*inspect.getmembers(PluginEvictor, inspect.isfunction)]
    members += inspect.getmembers(PluginEvictor, lambda member: isinstance(member, property))
    public = {name for name, _ in members if not name.startswith("_")}

    assert public - indirect <= vars(WrappedEvictor).keys()
