"""The viewer's page from Python."""

import urllib.error
import urllib.request

import pytest

import linkwork as lw


def shown(what, *options):
    try:
        return lw.view(what, *options)
    except lw.Error as problem:
        if "without the viewer's page" in str(problem):
            pytest.skip("the program was built without the page")
        raise


def test_a_model_is_served_and_shown_in_a_notebook():
    with shown(lw.Model.example("arm7"), "--simulate") as page:
        assert page.url in page._repr_html_() and "<iframe" in page._repr_html_()
        with urllib.request.urlopen(page.url + "scene.json") as answer:
            assert b'"name":"arm7"' in answer.read()
        url = page.url
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url, timeout=5)


def test_what_cannot_be_shown_says_why():
    with pytest.raises(lw.Error, match="no built-in robot and no file"):
        lw.view("nothing.urdf")
