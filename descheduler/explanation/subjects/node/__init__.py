"""A node as a subject: what is published of it, how it is made, and its tables."""
