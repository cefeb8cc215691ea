"""The tails: a SimPy replay of requests through a fleet, one flat record a request."""
