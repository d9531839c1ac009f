"""Texts that users read are in the plain words of kubectl and the Kubernetes documentation.

The texts are every string of the package that is prose, the types, metrics, reasons and arguments by way of the
reference pages made from them, the comments and notes of the manifests, and all pages. Code is not prose: identifiers,
backquotes, code blocks, and links. Docstrings are for developers: they may use our own words, but no riddles.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]

_EVERYWHERE = {
    # Riddles, and English that has to be read twice.
    r"\banew\b": "again",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"(?<!there\s)\b(is|was|are|were) no (?!longer\b|more\b|less\b)[a-z]": "is not a",
    r"\bmay not\b": "is not allowed to, must not, or might not",
    r", say[ ,]|\bsay (?=\d)": "for example",
    r"\bcannot be told\b|\bas far as can be told\b": "unknown",
    r"\bhas done so\b": "reached",
    r"\bhangs? on\b": "depends on",
    r"\bnobody\b": "who is meant, or: no …",
    r"\bbroken off\b": "interrupted",
    r"\bleft out of account\b": "ignored",
    r"\bof its own accord\b|\bgood news\b": "a plain word",
    r"(?<![\w,.-])1 (pods|nodes|evictions|requests|replicas|plugins|namespaces|objects|disruptions)\b": "the singular",
    # Machinery is not a person.
    r"\b(plugins?|pods?|nodes?|scheduler|run|program|policy|budget|that|it) (may )?wants?\b": "selects, requests",
    r"\bwants? (it|them) gone\b|\bwants gone\b": "selected by",
    r"\b(stands?|stood|has|have) against\b": "blocks, blocked by",
    r"\bturn(s|ed)? (it|them|pods) (away|down)\b": "refuses",
    r"\b(lets?|to let) (it|them|pods|a pod|the pod|pods whose [a-z ]+) go\b": "allows the eviction of",
    r"\bpods? (may|might|can) (only )?go\b": "can be evicted",
    r"\b(plugins?|pods?|polic(y|ies)|containers?|what [a-z]+)( that)? (asks?|asked) for\b": "requests, selects",
    r"\b(gives?|gave|given) (it |its lease |the lease )?back\b": "releases",
    r"\bon the move\b": "migrating, evicted",
    r"\bat fault\b": "invalid, the cause",
    r"\blast word\b": "takes precedence",
    r"\bshall\b": "must, or the imperative",
}
"""Pattern of a text, without regard to case: what to write instead."""

_OUTSIDE_EXPLANATIONS = {
    # Our own words for what Kubernetes has words for; the pages of docs/explanation introduce and use them.
    r"\b(un)?judged\b": "checked, decided",
    r"\bbooked\b|\bbooks\b": "planned, granted",
    r"\bsettled?\b": "once the pod is gone",
    r"\blands?\b|\blanded\b": "is scheduled onto",
    r"\bpods? (that )?stays?\b": "not evicted",
    r"\bkeeps (it|them|the pod|every pod|pods)\b": "blocks the eviction of",
    r"\bpods? (are |is |was |were )?kept\b": "not evicted",
    r"\bcomes? back\b|\bcame back\b": "is created again, is scheduled onto the same node",
}

_IN_DOCSTRINGS = {
    r"\bnobody(’s|'s)?\b": "who is meant, or: no …",
    r"\b(stands?|stood) against\b": "blocks",
    r"\blet(s|ting)? ([a-z]+ )?([a-z]+ )?go\b": "passes, admits, frees",
    r"\A(That|Those|What|Its) of\b": "the subject: The limits of …, The part of …",
}
"""Patterns that docstrings do not have."""

_CODE = re.compile(r"`[^`]*`|<!--.*?-->|\]\([^)]*\)", re.DOTALL)
_FENCE = re.compile(r"^ *(```|~~~).*?^ *\1\s*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"(?:^|\s)#+( .*)")


def _without_code(text: str) -> str:
    """`text` with an ellipsis for each piece of code, on the same lines."""
    return _CODE.sub(lambda match: "…" + "\n" * match[0].count("\n"), text)


def _docstrings(tree: ast.AST) -> set[int]:
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def _for_developers(tree: ast.AST) -> set[int]:
    """Strings that only a developer meets: messages of assertions and of errors that stand for a defect."""
    found = set()
    for node in ast.walk(tree):
        raised = node.exc if isinstance(node, ast.Raise) else None
        is_defect = isinstance(raised, ast.Call) and ast.unparse(raised.func) in ("AssertionError", "ValueError")
        if isinstance(node, ast.Assert) or is_defect:
            found |= {id(inner) for inner in ast.walk(node)}
    return found


def texts_of_code(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The prose among the strings of a module, with their lines: what is no docstring and more than one word."""
    others = _docstrings(tree) | _for_developers(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in others and " " in text.strip():
                yield node.lineno, _without_code(text)


def texts_of_docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The docstrings of a module, those of attributes included, with their lines."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(ast.Constant(value=str(text))):
                yield node.lineno, _without_code(text)


def prose_of_page(text: str) -> Iterator[tuple[int, str]]:
    """A page without its code, as one text: its sentences go over several lines."""
    yield 1, _without_code(_FENCE.sub(lambda match: "\n" * match[0].count("\n"), text))


def comments_of_manifest(text: str) -> Iterator[tuple[int, str]]:
    """The comments of a YAML file as one text."""
    comments = (_COMMENT.search(line) for line in text.splitlines())
    yield 1, _without_code("\n".join(match[1] if match else "" for match in comments))


def faults(texts: Iterable[tuple[int, str]], patterns: dict[str, str]) -> list[str]:
    """A line for each place where a text meets a pattern, with what to write instead."""
    return [
        f"{line + text.count(chr(10), 0, match.start())}: {match[0]!r}; write: {instead}"
        for line, text in texts
        for pattern, instead in patterns.items()
        for match in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE)
    ]


def _patterns_for(path: Path) -> dict[str, str]:
    if path.is_relative_to(_ROOT / "docs" / "explanation") or path == _ROOT / "docs" / "glossary.md":
        return _EVERYWHERE
    return _EVERYWHERE | _OUTSIDE_EXPLANATIONS


def _found(folder: str, *patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for path in (_ROOT / folder).glob(pattern))


_PAGES = [
    *_found(".", "*.md"),
    *_found("docs", "**/*.md"),
    *_found("config", "**/*.md"),
    *_found("cronjob", "**/*.md", "**/NOTES.txt"),
]
_MANIFESTS = [*_found("cronjob", "**/*.yaml"), *_found("config", "**/*.yaml")]


def _faults_of(paths: Iterable[Path], texts_of: Callable[[str], Iterable[tuple[int, str]]]) -> list[str]:
    """The faults of all these files, each with the file's name."""
    return [
        f"{path.relative_to(_ROOT)}:{fault}"
        for path in paths
        for fault in faults(texts_of(path.read_text(encoding="utf-8")), _patterns_for(path))
    ]


def test_texts_of_the_program_and_its_docstrings_are_in_plain_words() -> None:
    found = []
    for path in _found("descheduler", "**/*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        of_module = faults(texts_of_code(tree), _patterns_for(path)) + faults(texts_of_docstrings(tree), _IN_DOCSTRINGS)
        found += [f"{path.relative_to(_ROOT)}:{fault}" for fault in of_module]

    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "None where nobody knows the time.",
        "The limit that stands against the eviction.",
        "Asks for what the filters let go of.",
        "Those of a run.",
        "That of the first window.",
    ],
)
def test_a_riddle_in_a_docstring_is_found(text: str) -> None:
    assert faults([(1, text)], _IN_DOCSTRINGS)


def test_a_docstring_with_its_subject_first_is_not_found() -> None:
    module = '"""The limits of a run, and those of its pods."""\nLIMIT = 1\n"""As upstream has it."""\n'

    texts = list(texts_of_docstrings(ast.parse(module)))

    assert [text for _, text in texts] == ["The limits of a run, and those of its pods.", "As upstream has it."]
    assert faults(texts, _IN_DOCSTRINGS) == []


def test_pages_are_in_plain_words() -> None:
    assert _faults_of(_PAGES, prose_of_page) == []


def test_comments_of_manifests_are_in_plain_words() -> None:
    assert _faults_of(_MANIFESTS, comments_of_manifest) == []


_BAD = [
    "the program may not list nodes",
    "the text is no number",
    "stop later than this, say 5m",
    "the next run starts anew",
    "mend the policy",
    "Evicts 1 pods",
    "namespace online may lose 150 pods a run and has done so",
    "242 cannot be told",
    "what else stands against its eviction",
    "A wants it gone",
    "a pod that nobody measured",
    "the decision hangs on the time",
    "onUnknown: allow lets them go",
    "pods may go when they fit another node",
    "the cluster that was judged",
    "evictions that the run has booked",
    "where the replacement lands",
    "the budget keeps it",
    "x: the pod stays",
    "Pods kept, by reason",
    "what plugins asked for is refused",
    "the run gives its Lease back",
    "the number of pods on the move",
    "flags have the last word",
]
_GOOD = [
    "is not allowed to list nodes",
    "a deadline that is no longer valid",
    "there is no node",
    "stop after this time, for example 5m",
    "Evicts 11 pods",
    "Evicts 1 pod on 1,001 nodes",
    "the kubelet keeps its log in this folder",
    "a label selector stays empty",
    "selected by A, blocked by PodDisruptionBudget",
    "landing of each move",
    "the pod requests more CPU than is allocatable",
    "the Lease is released at the end of the run",
    "read `may not` as `is not allowed to`",
]


@pytest.mark.parametrize("text", _BAD)
def test_a_bad_sentence_is_found(text: str) -> None:
    assert faults([(1, text)], _EVERYWHERE | _OUTSIDE_EXPLANATIONS)


@pytest.mark.parametrize("text", _GOOD)
def test_a_plain_sentence_is_not_found(text: str) -> None:
    assert faults(prose_of_page(text), _EVERYWHERE | _OUTSIDE_EXPLANATIONS) == []


def test_docstrings_identifiers_and_words_to_developers_are_not_texts_for_users() -> None:
    module = '"""It is no text."""\nassert x, "it is no x"\nraise ValueError("it is no y")\nrole = "judged"\n'

    assert list(texts_of_code(ast.parse(module + 'print("it is no z")\n'))) == [(5, "it is no z")]


def test_code_on_a_page_is_not_prose() -> None:
    page = "one\n```text\nit is no x\n```\n`is no` two\n"

    assert faults(prose_of_page(page), _EVERYWHERE) == []
