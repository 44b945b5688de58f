"""Keys for the vendors' providers; nothing they are sent with leaves the machine."""

from __future__ import annotations

import pytest

from tests.support.vendors import KEY, VENDORS, Vendor


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for vendor in VENDORS:
        monkeypatch.setenv(vendor.variable, KEY)


@pytest.fixture(params=VENDORS, ids=lambda vendor: vendor.name)
def vendor(request: pytest.FixtureRequest) -> Vendor:
    """Give each vendor in turn."""
    chosen: Vendor = request.param
    return chosen
