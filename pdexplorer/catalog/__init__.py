"""What hardware, networks, models and engines are: TOML figures with a source on every number."""
