"""What holds for frameworks: none of them tells its makers that a test has run."""

from __future__ import annotations

import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
