"""One pure function a chart: a tidy frame in, an Altair chart out; one theme."""
