"""Catalogue tables, one TOML file a kind."""
