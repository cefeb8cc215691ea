"""Preset files: a title, why it is here, and only what differs from the defaults."""
