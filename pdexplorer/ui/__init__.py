"""The page: it arranges, it computes nothing."""
