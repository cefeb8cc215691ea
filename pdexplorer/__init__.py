"""When does splitting prefill and decode onto separate pools pay?"""

MODEL_VERSION = "0.1"
"""Changes whenever the same scenario may give other numbers; links carry it."""
