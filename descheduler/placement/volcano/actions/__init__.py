"""Actions of Volcano, a module each, and one table."""
