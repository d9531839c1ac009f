"""The hill climb: single moves and swaps that better the guide, evaluated a node at a time by numpy."""
