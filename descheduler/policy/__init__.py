"""Policy documents of both kinds, in and out: decoding with places, validation, defaults. Nothing here runs a plugin."""
