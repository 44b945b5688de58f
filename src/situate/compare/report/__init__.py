"""Shows a comparison as one HTML page that needs nothing but itself, and as JSON.

The verdict comes first, then what to know before believing it, then figures, then
every question. Verdict, tables and plots are markup and need no script; the browser
of questions draws itself from values. What documents say is text throughout, and the
page asks the network for nothing.
"""

from __future__ import annotations

from situate.compare.report.page import page
from situate.compare.report.record import to_json

__all__ = ["page", "to_json"]
