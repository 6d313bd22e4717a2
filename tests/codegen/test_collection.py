"""Which tests run."""

from __future__ import annotations

import pytest


def test_the_tests_of_the_folder_build_are_collected(pytestconfig: pytest.Config) -> None:
    """pytest leaves out folders of that name unless a hook says otherwise."""
    folder = pytestconfig.rootpath / "tests" / "codegen" / "build"
    assert "build" in pytestconfig.getini("norecursedirs")
    assert pytestconfig.hook.pytest_ignore_collect(collection_path=folder, config=pytestconfig) is False
