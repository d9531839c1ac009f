"""An observer that shares no code with the program, and notes each promise that it breaks."""
