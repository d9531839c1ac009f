"""What we say of pods of koord-scheduler, against what the real one does with them."""
