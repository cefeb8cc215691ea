"""The page's mark, drawn here: no icon font, no file, nothing fetched."""

_FORK = (
    "<path d='M3 4h5c5 0 6 9 12 9M3 4h5c6 0 6 0 12 0M3 4h17' fill='none' stroke='#7a5cc0' stroke-width='2.4' "
    "stroke-linecap='round' transform='translate(1 3)'/>"
)

ICON = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' width='64' height='64'>{_FORK}</svg>"

LOGO = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 150 24' width='300' height='48'>"
    f"{_FORK}<text x='30' y='17.5' font-family='Source Sans Pro, Source Sans, Helvetica, Arial, sans-serif' "
    "font-size='17' font-weight='600' fill='#7a5cc0'>pdexplorer</text></svg>"
)
