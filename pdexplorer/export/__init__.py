"""Answers as files: JSON, CSV, memo, standalone charts."""
