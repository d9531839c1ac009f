"""The moves of a plan: which of them need each other, and in which waves and rooms they go."""
