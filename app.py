"""`streamlit run app.py`: the page and its live addresses, as in pdexplorer.ui.asgi."""

from streamlit import App

from pdexplorer.ui.launch import PAGE
from pdexplorer.ui.routes import routes

app = App(PAGE, routes=routes())
