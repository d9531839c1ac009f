"""Lists of objects, in pages or as a stream, taken apart as they come in."""
