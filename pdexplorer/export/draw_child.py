"""The drawing process: one order a line on standard input; `ok SIZE` or `bad SIZE` and so many bytes back."""

import json
import sys

import vl_convert

_SCALE = 2.0  # PNG pixels per unit: sharp on dense screens and in slides
_PIXELS_PER_INCH = 72.0


def main() -> None:
    """Draws until its owner closes the pipe."""
    for line in sys.stdin.buffer:
        try:
            order = json.loads(line)
            word, body = b"ok", _drawn(order["kind"], order["spec"])
        except Exception as error:  # whatever it is, the owner is told and the next chart is drawn
            word, body = b"bad", " ".join(str(error).split()).encode()
        sys.stdout.buffer.write(word + b" " + str(len(body)).encode() + b"\n" + body)
        sys.stdout.buffer.flush()


def _drawn(kind: str, spec: dict[str, object]) -> bytes:
    # no address is allowed: a chart carries its data, and nothing is fetched from anywhere
    if kind == "png":
        return vl_convert.vegalite_to_png(spec, scale=_SCALE, ppi=_PIXELS_PER_INCH, allowed_base_urls=[])
    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]).encode()


if __name__ == "__main__":
    main()
