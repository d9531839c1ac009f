"""Recorded cycles of Volcano, played through the session."""
