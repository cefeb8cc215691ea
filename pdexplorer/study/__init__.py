"""Repeated questions: the searched comparison, break-evens and maps."""
