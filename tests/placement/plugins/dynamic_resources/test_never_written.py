"""Claims, slices, classes and taint rules are read and never written."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import descheduler

ROOT = Path(descheduler.__file__).parent
PLURALS = ("resourceclaims", "resourceclaimtemplates", "deviceclasses", "resourceslices", "devicetaintrules")
BASE = ROOT.parent / "cronjob" / "base" / "rbac.yaml"


@pytest.mark.parametrize("plural", PLURALS)
def test_no_module_spells_the_path_of_the_objects(plural: str) -> None:
    """Whoever writes an object has to spell its path; for lists it follows from the name of the kind."""
    found = {str(file.relative_to(ROOT)) for file in ROOT.rglob("*.py") if f'"{plural}"' in file.read_text()}

    assert found == set()


def test_roles_allow_nothing_but_listing_them() -> None:
    rules = [rule for role in yaml.safe_load_all(BASE.read_text()) for rule in role.get("rules", ())]
    of_devices = [rule for rule in rules if "resource.k8s.io" in rule["apiGroups"]]

    assert [rule["verbs"] for rule in of_devices] == [["list"]]
    assert sorted(of_devices[0]["resources"]) == sorted(PLURALS)
