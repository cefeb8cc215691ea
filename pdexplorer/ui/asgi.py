"""The page and its live addresses as one application: `streamlit run` and any ASGI server take `app`."""

import streamlit as st

from pdexplorer.ui.launch import PAGE
from pdexplorer.ui.warm import beside_the_page

app = st.App(PAGE, **beside_the_page())
