"""What may have hidden documents that a listing lacks: a mount, a link, a move.

Whoever looks only for files takes a share that is not mounted for a deletion. Nothing
here decides what an index loses; it says where documents may be that were not seen.
"""

from __future__ import annotations

import os
from collections import defaultdict
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from situate.corpus import Places, fixed_part, path_id
from situate.errors import SituateError
from situate.files import is_folder, resolved
from situate.index.safety import Gap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from situate import corpus
    from situate.corpus import Found
    from situate.index.state import DocumentState
    from situate.pipeline.jobs import Job


class Whereabouts:
    """Where the documents of a corpus stand, seen from the folder of its config."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._places = Places()
        self._folder = str(resolved(job.folder))

    def of(self, path: Path) -> str:
        """Give the place of a file, folders' links followed."""
        return self._seen(self._places.of(path))

    def gaps(self, found: Found) -> tuple[Gap, ...]:
        """Give all that leaves open whether a listing is complete."""
        told = [*found.gaps, *found.doubts]
        return tuple(Gap(reason=gap.reason, below=self._below(gap)) for gap in told)

    def moved(self, found: Found) -> tuple[Gap, ...]:
        """List once more, and say whether anything moved meanwhile."""
        try:
            again = self._job.survey()
        except SituateError as error:
            return (Gap(reason=str(error)),)
        if _told(again) == _told(found):
            return ()
        return (Gap(reason="documents moved while they were listed"),)

    def emptied(
        self, gone: Iterable[DocumentState], listed: Iterable[Path]
    ) -> tuple[Gap, ...]:
        """Say which folders of documents that are gone look as if unmounted.

        `listed` are the files that were found; manifests may name some that are not.
        """
        held = {
            path_id(parent)
            for path in listed
            if os.path.lexists(path)
            for parent in PurePath(self.of(path)).parents
        }
        waiting: defaultdict[PurePath, list[DocumentState]] = defaultdict(list)
        for document in gone:
            waiting[PurePath(document.path).parent].append(document)
        gaps: dict[Gap, None] = {}
        for folder, documents in waiting.items():
            if link := self._link_above(folder, held):
                gaps[link] = None
            # What is there and no glob matches any more is not hidden.
            elif not all(map(self._is_there, documents)):
                gaps.update(dict.fromkeys(self._unheld(folder, held)))
        return tuple(gaps)

    def is_folder(self, document: DocumentState) -> bool:
        """Tell whether a folder stands where a document was."""
        return is_folder(self._job.folder / document.path)

    def _below(self, gap: corpus.Gap) -> str | None:
        """Give the place that a gap is about.

        Behind a link that is anywhere: it need not have led there before.
        """
        if gap.below is None:
            return None
        real, plain = str(resolved(gap.below)), gap.below
        if plain.is_relative_to(self._job.folder):
            plain = Path(self._folder) / plain.relative_to(self._job.folder)
        place = self._seen(real)
        is_plain = real == os.path.normpath(plain)
        return place if is_plain and place != "." else None

    def _seen(self, path: str) -> str:
        return path_id(PurePath(os.path.relpath(path, self._folder)))

    def _is_there(self, document: DocumentState) -> bool:
        return os.path.lexists(self._job.folder / document.path)

    def _link_above(self, folder: PurePath, held: set[str]) -> Gap | None:
        """Say that a folder is a link now behind which nothing was found."""
        for each in (folder, *folder.parents):
            path = self._job.folder / each
            # The folder of the config may be a link itself, and always was one.
            if (
                each.name
                and _is_link(path)
                and self._seen(str(resolved(path))) not in held
            ):
                reason = (
                    f"folder {path_id(each)!r} held documents and is a link now, "
                    "behind which none was found; remove it if they are gone for good"
                )
                return Gap(reason=reason, below=path_id(each))
        return None

    def _unheld(self, folder: PurePath, held: set[str]) -> Iterator[Gap]:
        """Say that nothing stands in the nearest folder that there still is."""
        for each in (folder, *folder.parents):
            place = path_id(each)
            try:
                with os.scandir(self._job.folder / each) as entries:
                    is_empty = all(entry.name.startswith(".") for entry in entries)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                # Whoever had to look into it has said so.
                return
            # Elsewhere, behind links, nobody knows what a glob would match.
            real = self._seen(str(resolved(self._job.folder / each)))
            if is_empty or (self._is_walked(place) and real not in held):
                reason = (
                    f"folder {place!r} held documents and has none left; "
                    "remove it if they are gone for good, or delete them in a manifest"
                )
                yield Gap(reason=reason, below=place)
            return

    @cached_property
    def _starts(self) -> frozenset[str]:
        return frozenset(
            self._seen(str(resolved(self._job.folder / fixed_part(pattern))))
            for pattern in self._job.config.corpus.globs
        )

    def _is_walked(self, place: str) -> bool:
        """Tell whether a folder lies below the fixed part of a glob."""
        return any(
            place.startswith(f"{start}/")
            or (start == "." and place != "." and not place.startswith("../"))
            for start in self._starts
        )


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except OSError:
        return False


def _told(found: Found) -> tuple[list[Path], Sequence[object]]:
    return [source.path for source in found.sources], (*found.gaps, *found.doubts)
