"""The searched fleets: designs on offer, what each carries within limits, and whole instances of the best."""
