"""Read Word files: walk their XML and make sections and blocks of it.

Nothing is fetched, run or written. What stands in the margins of pages, in
comments or in deleted passages is not text; what else is left out is said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from situate.errors import ReadError
from situate.readers import frontmatter
from situate.readers.docx import changes, margins
from situate.readers.docx.body import Body, Scene
from situate.readers.docx.fields import blank_codes
from situate.readers.docx.language import commonest
from situate.readers.docx.notes import Notes
from situate.readers.docx.notices import Notices
from situate.readers.docx.numbering import Numbering
from situate.readers.docx.package import Package
from situate.readers.docx.passages import texts
from situate.readers.docx.properties import Properties
from situate.readers.docx.story import Paragraph
from situate.readers.docx.styles import Styles
from situate.readers.docx.writing import Writer
from situate.readers.options import DEFAULTS
from situate.readers.tree import Outline, Read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element

    from situate.readers.docx.story import Story
    from situate.readers.options import ReaderOptions


def read(
    data: bytes,
    source: str,
    *,
    doc_type: str | None = None,
    options: ReaderOptions = DEFAULTS,
) -> Read:
    """Read a Word file (.docx and its variants, of either standard).

    Raises:
        ReadError: it is no Word file, broken, beyond a limit, or has tracked
            changes that `options` refuses; or lxml is not installed.
    """
    package = Package(data, source, options.limits)
    main = package.document()
    notices = Notices()
    changes.notice(main, notices)
    scene = _scene(package, main, notices, options)
    blank_codes(main, scene.content)
    body = Body(scene, package.relationships(package.main))
    story = body.read(main)
    scene.notes.read(scene)
    changed = notices.changes
    if changed is not None and options.tracked_changes == "refuse":
        message = (
            f"{source}: has tracked changes ({changed}); accept or reject them in "
            "Word, or set tracked_changes to 'accept' or 'original'"
        )
        raise ReadError(message)
    outline = Outline()
    Writer(outline, scene.notes, story).write()
    properties = Properties(package)
    described = frontmatter.describe(
        properties.values(title=_title(story), keep=options.keep),
        source=source,
        doc_type=doc_type,
        where="document properties",
    )
    found = margins.read(package, scene.content, options.keep)
    metadata = replace(
        described.metadata,
        language=properties.language
        or commonest(body.languages, scene.styles.languages),
        custom={**described.metadata.custom, **found.custom},
    )
    read = outline.read(
        doc_id=described.doc_id,
        version=described.version,
        metadata=metadata,
        warnings=(
            *_of_changes(changed, options),
            *notices.warnings(),
            *found.warnings,
            *properties.warnings,
            *described.warnings,
        ),
    )
    if changed is None:
        return read
    return replace(read, signs=frozenset({"tracked_changes"}))


def passages(data: bytes, source: str) -> Iterator[str]:
    """Yield the text of every paragraph, notes behind what refers to them.

    Raises:
        ReadError: as `read`.
    """
    return texts(Package(data, source, DEFAULTS.limits))


def _scene(
    package: Package, main: _Element, notices: Notices, options: ReaderOptions
) -> Scene:
    styles = Styles(package.parsed(package.main, "styles"))
    return Scene(
        package=package,
        content=changes.Content(
            "original" if options.tracked_changes == "original" else "accept"
        ),
        styles=styles,
        numbering=Numbering(package.parsed(package.main, "numbering"), styles),
        notes=Notes(package, main),
        notices=notices,
    )


def _title(story: Story) -> str | None:
    """Give the first paragraph in the style for titles."""
    return next(
        (
            thing.title
            for thing in story
            if isinstance(thing, Paragraph) and thing.role == "title" and thing.title
        ),
        None,
    )


def _of_changes(changed: str | None, options: ReaderOptions) -> tuple[str, ...]:
    if changed is None:
        return ()
    taken = "rejected" if options.tracked_changes == "original" else "accepted"
    return (f"has tracked changes ({changed}), read as if all were {taken}",)
