"""What RemoveDuplicates is made of."""
