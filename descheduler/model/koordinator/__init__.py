"""Objects of Koordinator as decoded values."""
