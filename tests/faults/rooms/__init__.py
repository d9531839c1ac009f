"""What holds room, and what looks like it: placeholders, Reservations, migration jobs, and those who act on them."""
