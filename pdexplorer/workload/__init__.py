"""What arrives: lengths, arrivals, prefix hits and traces as arrays of requests."""
