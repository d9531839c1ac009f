"""Whole clusters that are made up: of any size and from a seed (`generate`), after the openb trace (`openb`), and as
one tenant could make them to slow a run down (`hostile`).

`python -m tests.worlds.openb` makes the sample in `config/samples`.
"""
