"""Whole clusters that are made up: of any size and from a seed (`generate`), and after the openb trace (`openb`).

`python -m tests.worlds.openb` makes the sample in `config/samples`.
"""
