"""What is asked: the frozen models of a question, their bounds, presets and links."""
