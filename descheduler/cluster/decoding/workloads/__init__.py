"""Controllers of pods, from the bytes of the API to model values."""
