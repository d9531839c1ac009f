"""The plan as a document: what is in it, how it is made from decisions, and how a file of it is read."""
