"""One replacement: what competes with it, where it lands, or why it does not."""
