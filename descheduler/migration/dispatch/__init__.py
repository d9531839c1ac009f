"""How evictions are dispatched: their order, pace and limits, and what is made of answers."""
