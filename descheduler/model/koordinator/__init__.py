"""Objects of Koordinator that decide about pods."""
