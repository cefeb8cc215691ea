"""Measured files in, calibration and accuracy out."""
