"""Texts of somebody else's for a message, a log or a terminal, which they must neither steer nor flood."""

from __future__ import annotations


def printable(text: str) -> str:
    """`text` with everything that does not print escaped, line breaks included; safe for a terminal and a log."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def clipped(text: str, most: int) -> str:
    """As `printable`, and cut after `most` characters."""
    return printable(text if len(text) <= most else f"{text[:most]}...")
