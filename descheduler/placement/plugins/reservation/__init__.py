"""`Reservation` of koord-scheduler: room that Reservations hold on nodes, and which pods may use it."""
