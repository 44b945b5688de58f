"""Holds exports to the vendors' types: `python -m tests.support.vendor_types FOLDER`.

FOLDER has the vendors' clients for Node and the TypeScript compiler, as
`make vendortypes` installs them. Their types are made from the published
specifications of the two servers, so that a key that is misspelt, or stands where it
does not belong, is an error of the compiler.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from situate.records import from_line, read_lines
from tests.support.exports import change_lines, files_of, written

TYPES = {
    "elasticsearch": {
        "import": "import type { estypes } from '@elastic/elasticsearch';",
        "index-template.json": "Omit<estypes.IndicesPutIndexTemplateRequest, 'name'>",
        "queries/as-of.json": "estypes.SearchRequest",
        "queries/acl.json": "estypes.SearchRequest",
        "queries/hybrid.json": "estypes.SearchRequest",
        "queries/hybrid-basic.json": "estypes.SearchRequest",
        "actions": "estypes.BulkOperationContainer[]",
        "updates": "estypes.BulkUpdateAction[]",
    },
    "opensearch": {
        "import": (
            "import type { API } from '@opensearch-project/opensearch';\n"
            "import type * as Bulk from "
            "'@opensearch-project/opensearch/api/_types/_core.bulk.d.ts';"
        ),
        "index-template.json": "API.Indices_PutIndexTemplate_RequestBody",
        "queries/as-of.json": "API.Search_RequestBody",
        "queries/acl.json": "API.Search_RequestBody",
        "queries/hybrid.json": "API.Search_RequestBody",
        "queries/hybrid-pipeline.json": "API.SearchPipeline_Put_Request['body']",
        "actions": "Bulk.OperationContainer[]",
        "updates": "Bulk.UpdateAction[]",
    },
}
"""The type of every file of an export, and of what is in the requests."""


def program(name: str, folder: Path) -> str:
    """Give a program that is right where an export fits the types of its vendor."""
    types = TYPES[name]
    values = files_of(name, 4)
    listed = [
        from_line(line, where)
        for part in sorted(folder.glob("bulk-*.ndjson"))
        for where, line in read_lines(part)
    ]
    changes = list(change_lines(listed))
    values["actions"] = [action for action, _ in changes]
    values["updates"] = [source for action, source in changes if "update" in action]
    assert values.keys() | {"import"} == types.keys()
    assert values["updates"]
    lines = [
        f"export const value{number}: {types[key]} = {json.dumps(value)};"
        for number, (key, value) in enumerate(values.items())
    ]
    return "\n".join((types["import"], *lines, ""))


def main() -> int:
    """Check both vendors, and that the check itself can fail."""
    place = Path(sys.argv[1])
    failed = False
    for name in TYPES:
        with written(name) as folder:
            text = program(name, folder)
        for label, source, fits in (
            ("", text, True),
            ("-misspelt", text.replace('"index_patterns"', '"index_pattern"'), False),
            ("-misplaced", text.replace('"script": {', '"scripts": {'), False),
        ):
            path = place / f"{name}{label}.ts"
            path.write_text(source, "utf-8")
            done = subprocess.run(
                [
                    *("node_modules/.bin/tsc", "--noEmit", "--strict"),
                    *("--skipLibCheck", "--module", "nodenext", path.name),
                ],
                cwd=place,
                check=False,
                capture_output=True,
                text=True,
            )
            right = (done.returncode == 0) is fits
            failed |= not right
            print(f"{path.stem}: {'as expected' if right else done.stdout}")  # noqa: T201 - a command
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
