"""Policy documents of both kinds, in and out: decoding with places, validation and defaults. Runs no plugin."""
