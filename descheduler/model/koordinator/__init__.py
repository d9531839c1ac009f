"""Objects of Koordinator and what their fields mean: pure values."""
