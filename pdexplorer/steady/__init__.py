"""The closed-form answer for a fleet under steady load, vectorised over numpy arrays."""
