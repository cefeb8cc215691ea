"""Published results to compare with: what each claims, and the scenario it was measured in."""
