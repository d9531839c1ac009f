"""Makes the pages of `docs/reference` from the code: one module a page."""
