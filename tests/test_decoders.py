"""Types that are read from JSON are known to msgspec before a second thread reads one.

msgspec 0.22 collects what it knows of a type when the type is decoded for the first time, and two threads that do so at
once crash the process (SIGSEGV). Answers of the API server are read by several threads. A decoder of a module is built
when the module is imported; one of `__init__` belongs to an object that one thread makes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]
_DECODING = ("Decoder", "decode", "convert")
_BEFORE_THREADS = {
    "descheduler/kube/authentication/kubeconfig_file.py": "the kubeconfig is read before there is a client"
}


def late_types(source: str) -> Iterator[int]:
    """The lines of functions at which a type is decoded that msgspec may not know yet."""
    if not any(f"{name}(" in source for name in _DECODING):
        return
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, (ast.FunctionDef, ast.Lambda)) and getattr(function, "name", "") != "__init__":
            yield from (
                call.lineno for call in ast.walk(function) if isinstance(call, ast.Call) and _names_a_type(call)
            )


def _names_a_type(call: ast.Call) -> bool:
    if getattr(call.func, "attr", "") not in _DECODING:
        return False
    callee = ast.unparse(call.func)
    names_it = len(call.args) > 1 or any(keyword.arg == "type" for keyword in call.keywords)
    return (callee == "msgspec.json.Decoder" and (bool(call.args) or names_it)) or (
        callee in ("msgspec.json.decode", "msgspec.convert") and names_it
    )


@pytest.mark.parametrize(
    "source",
    [
        "def read(body): return msgspec.json.decode(body, type=Pod)",
        "def read(body): return msgspec.json.Decoder(Pod).decode(body)",
        "def read(raw): return msgspec.convert(raw, Pod)",
        "read = lambda body: msgspec.json.decode(body, type=Pod)",
    ],
)
def test_a_type_that_a_function_decodes_by_itself_is_found(source: str) -> None:
    assert list(late_types(source)) == [1]


@pytest.mark.parametrize(
    "source",
    [
        "decode = msgspec.json.Decoder(Pod).decode\ndef read(body): return decode(body)",
        "def read(body): return msgspec.json.decode(body)",
        "class Reader:\n    def __init__(self): self.decode = msgspec.json.Decoder(Pod).decode",
    ],
)
def test_decoders_of_modules_and_objects_are_fine(source: str) -> None:
    assert list(late_types(source)) == []


def test_no_function_of_the_package_decodes_a_type_by_itself() -> None:
    files = sorted((_ROOT / "descheduler").rglob("*.py"))
    found = {str(file.relative_to(_ROOT)): sorted(set(late_types(file.read_text()))) for file in files}

    assert {name: lines for name, lines in found.items() if lines and name not in _BEFORE_THREADS} == {}
    assert all(found[name] for name in _BEFORE_THREADS)
