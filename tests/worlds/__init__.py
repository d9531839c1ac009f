"""Whole clusters that are made up: of any size and from a seed (`generate`), after the openb trace (`openb`), small and
with something for every strategy (`shop`), and as one tenant could make them to slow a run down (`hostile`).

`python -m tests.worlds.shop` and `python -m tests.worlds.openb` make the samples in `config/samples`.
"""
