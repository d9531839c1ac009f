"""The devices of nodes: what there is of them, and what of it is given out."""
