"""From the bytes of objects to values of the model; equal parts of objects become one value."""
