"""What SECURITY.md promises about versions and rights."""

from __future__ import annotations

from typing import Any

import yaml

from descheduler.version import VERSION
from tests.docs.pages import ROOT

PAGE = (ROOT / "SECURITY.md").read_text("utf-8")


def rules() -> list[dict[str, Any]]:
    """All rules of the roles of `cronjob/base`."""
    documents = yaml.safe_load_all((ROOT / "cronjob" / "base" / "rbac.yaml").read_text("utf-8"))
    return [rule for document in documents for rule in document.get("rules", ())]


def test_latest_release_is_a_supported_version() -> None:
    major_and_minor = VERSION.rpartition(".")[0]

    assert f"| {major_and_minor}, the latest release | yes |" in PAGE


def test_roles_of_the_base_are_as_small_as_promised() -> None:
    allowed = {
        (verb, resource, "resourceNames" in rule)
        for rule in rules()
        for verb in rule["verbs"]
        for resource in rule["resources"]
    }

    assert [each for each in allowed if each[0] in {"watch", "*"} or each[1] in {"secrets", "*"}] == []
    assert {verb for verb, resource, _ in allowed if resource == "pods"} == {"list", "get"}
    changed = {
        resource for verb, resource, is_named in allowed if verb in {"patch", "update", "delete"} and not is_named
    }
    assert changed == {"podmigrationjobs", "podmigrationjobs/status", "reservations"}
    assert "do not allow to read\n  Secrets, to watch, to create or delete pods" in PAGE
