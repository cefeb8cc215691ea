"""The tabs below the first screen, one file a tab; each works only while open."""
