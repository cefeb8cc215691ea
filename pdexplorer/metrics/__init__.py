"""From records or closed form to an Outcome: percentiles, goodput, utilisation and money."""
