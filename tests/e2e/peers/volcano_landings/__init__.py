"""What we say of pending jobs of Volcano, against what the real one does with them."""
