"""How schedulers are set up."""
