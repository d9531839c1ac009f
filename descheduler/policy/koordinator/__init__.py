"""Documents of koordinator-sh/koordinator, read as its descheduler reads them."""
