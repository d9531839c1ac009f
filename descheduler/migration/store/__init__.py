"""Where migration jobs are kept, so that a run that ends anywhere is taken up by the next."""
