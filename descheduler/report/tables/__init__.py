"""What people read on a terminal: tables and the lines that sum them up."""
