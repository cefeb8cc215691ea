"""`streamlit run app.py`: the page and its live addresses, as in pdexplorer.ui.asgi."""

from streamlit import App

from pdexplorer.ui.launch import PAGE
from pdexplorer.ui.warm import beside_the_page

app = App(PAGE, **beside_the_page())
