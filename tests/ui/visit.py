"""A visit to the page without a browser, and what the tests read off it."""

from streamlit.testing.v1 import AppTest

from pdexplorer.ui.launch import PAGE


def visit(**query):
    page = AppTest.from_file(str(PAGE), default_timeout=60)
    for key, value in query.items():
        page.query_params[key] = value
    page.run()
    assert not page.exception
    return page


def verdict(page):
    return next(m.value for m in page.markdown if m.value.startswith("#### "))


def address(page):
    return {key: value[0] if isinstance(value, list) else value for key, value in page.query_params.items()}


def change(page, key, value):
    page.number_input(key=f"in.{key}").set_value(value).run()
    assert not page.exception
    return page
