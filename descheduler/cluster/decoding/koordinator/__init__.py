"""Objects of Koordinator, from the bytes of the API to model values."""
