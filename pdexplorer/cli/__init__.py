"""The shell command: one file a command, and what they share."""
