"""Exact contours of a gridded field by marching squares: several, open or closed."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Point = tuple[float, float]

# Edges of a cell: 0 bottom, 1 right, 2 top, 3 left. Corners, anticlockwise from lower left: bits 1, 2, 4, 8.
_SEGMENTS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((3, 0),), 2: ((0, 1),), 3: ((3, 1),), 4: ((1, 2),), 6: ((0, 2),), 7: ((3, 2),), 8: ((2, 3),),
    9: ((2, 0),), 11: ((2, 1),), 12: ((1, 3),), 13: ((1, 0),), 14: ((0, 3),),
}  # fmt: skip


def contour_lines(x: Array, y: Array, field: Array, level: float) -> list[list[Point]]:
    """Polylines where the field (len(y), len(x)) crosses the level, linear between cells; closed ones
    repeat their first point. Cells with a corner that is not finite have none. Axes must rise.
    """
    edges: dict[tuple[int, int, int], list[tuple[int, int, int]]] = {}
    points: dict[tuple[int, int, int], Point] = {}
    finite = np.isfinite(field)
    high = field >= level
    for row in range(len(y) - 1):
        for column in range(len(x) - 1):
            if not finite[row : row + 2, column : column + 2].all():
                continue
            corners = (
                high[row, column], high[row, column + 1], high[row + 1, column + 1], high[row + 1, column],
            )  # fmt: skip
            case = sum(bit << index for index, bit in enumerate(corners))
            for ends in _cell(case, field[row : row + 2, column : column + 2], level):
                keys = [_edge(row, column, edge) for edge in ends]
                for key in keys:
                    points.setdefault(key, _crossing(x, y, field, level, key))
                edges.setdefault(keys[0], []).append(keys[1])
                edges.setdefault(keys[1], []).append(keys[0])
    return _chains(edges, points)


def _cell(case: int, corners: Array, level: float) -> tuple[tuple[int, int], ...]:
    """Segments of one cell; a saddle is cut by the mean of its corners."""
    if case in (5, 10):
        joined = bool(corners.mean() >= level)
        apart = ((3, 0), (1, 2)), ((0, 1), (2, 3))
        return apart[1] if (case == 5) == joined else apart[0]
    return _SEGMENTS.get(case, ())


def _edge(row: int, column: int, edge: int) -> tuple[int, int, int]:
    """A grid edge by its lower or left end and direction (0 along x, 1 along y), shared by neighbouring
    cells.
    """
    return {0: (row, column, 0), 1: (row, column + 1, 1), 2: (row + 1, column, 0), 3: (row, column, 1)}[edge]


def _crossing(x: Array, y: Array, field: Array, level: float, key: tuple[int, int, int]) -> Point:
    row, column, along_y = key
    first = float(field[row, column])
    second = float(field[row + along_y, column + 1 - along_y])
    share = 0.5 if second == first else (level - first) / (second - first)
    if along_y:
        return float(x[column]), float(y[row] + share * (y[row + 1] - y[row]))
    return float(x[column] + share * (x[column + 1] - x[column])), float(y[row])


def _chains(
    edges: dict[tuple[int, int, int], list[tuple[int, int, int]]], points: dict[tuple[int, int, int], Point]
) -> list[list[Point]]:
    """Follow segments from the open ends first, then round the closed ones."""
    left = {key: list(ends) for key, ends in edges.items()}
    starts = sorted(left, key=lambda key: (len(left[key]) != 1, key))
    lines = []
    for start in starts:
        while left[start]:
            line, at = [points[start]], start
            while left[at]:
                to = left[at].pop()
                left[to].remove(at)
                line.append(points[to])
                at = to
            lines.append(line)
    return lines
