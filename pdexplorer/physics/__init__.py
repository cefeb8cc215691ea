"""What one step, one transfer and one instance cost: parameters, bytes, FLOP, seconds."""
