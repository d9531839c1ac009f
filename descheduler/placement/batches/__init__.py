"""Many replacements together: whether all of them land, in every order, in some, or in none."""
