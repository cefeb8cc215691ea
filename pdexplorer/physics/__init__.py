"""How long one engine step and one KV transfer take, and what fits in memory."""
