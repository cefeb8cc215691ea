"""`streamlit run app.py`: the page lives in pdexplorer.ui."""

from pdexplorer.ui.page import main

main()
