"""Objects of Koordinator as pure values."""
