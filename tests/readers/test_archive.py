"""Archives that nobody vouches for: judged first, unpacked within limits."""

from __future__ import annotations

import struct
import tracemalloc
import warnings
import zipfile
from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.errors import ReadError
from situate.readers.archive import Archive
from situate.readers.options import MEGABYTE, Limits

LIMITS = Limits()

# In an entry of the directory, counted from its signature.
_FLAGS, _METHOD, _PACKED, _SIZE = 8, 10, 20, 24


def archive(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Write an archive."""
    buffer = BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of names that come twice
        with zipfile.ZipFile(buffer, "w", method) as target:
            for name, data in files:
                target.writestr(name, data)
    return buffer.getvalue()


def patched(data: bytes, offset: int, form: str, value: int) -> bytes:
    """Let the first entry of the directory lie in one field."""
    changed = bytearray(data)
    struct.pack_into(form, changed, data.index(b"PK\x01\x02") + offset, value)
    return bytes(changed)


def refusal(data: bytes, name: str | None = None, limits: Limits = LIMITS) -> str:
    """Give what is said when an archive, or a file of it, is refused."""
    with pytest.raises(ReadError) as caught:
        Archive(data, "a.docx", limits).read(name or "")
    message = str(caught.value)
    assert message.startswith("a.docx: ")
    assert "\n" not in message
    return message


def test_files_are_unpacked_by_name() -> None:
    """One that is not there is None."""
    opened = Archive(archive(("a", b"one"), ("b/c", b"two")), "a.docx", LIMITS)

    assert opened.names == ("a", "b/c")
    assert (opened.read("b/c"), opened.read("d")) == (b"two", None)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b"", "broken", id="empty"),
        pytest.param(b"text", "broken", id="text"),
        pytest.param(b"PK\x03\x04" + b"\xff" * 400, "broken", id="noise"),
        pytest.param(archive(("a", b"x" * 99))[:-40], "broken", id="cut"),
        pytest.param(
            patched(archive(("a", b"x")), 6, "<H", 99),
            "broken",
            id="of-a-later-version",
        ),
        pytest.param(
            patched(archive(("a", b"x")), _FLAGS, "<H", 1), "encrypted", id="encrypted"
        ),
        pytest.param(
            archive(("a", b"x"), method=zipfile.ZIP_LZMA), "method", id="lzma"
        ),
        pytest.param(
            archive(("a", b"x"), method=zipfile.ZIP_BZIP2), "method", id="bzip2"
        ),
        pytest.param(
            archive(("a", bytes(2 * MEGABYTE))), "archive bomb", id="packed-too-tight"
        ),
    ],
)
def test_what_is_no_honest_archive_is_refused(data: bytes, said: str) -> None:
    """One line says why."""
    assert said in refusal(data)


def test_small_files_may_be_packed_tight() -> None:
    """A megabyte of zeros harms nobody."""
    opened = Archive(archive(("a", bytes(MEGABYTE))), "a.docx", LIMITS)

    assert len(opened.read("a") or b"") == MEGABYTE


def test_files_together_have_a_limit() -> None:
    """It is looked at before anything is unpacked, and again while it is."""
    limits = Limits(max_unpacked_bytes=100)
    data = archive(("a", b"x" * 60), ("b", b"y" * 60))

    opened = Archive(archive(("a", b"x" * 60)), "a.docx", limits)
    opened.read("a")

    assert "unpacks to 120 bytes, the limit is 100" in refusal(data, limits=limits)
    with pytest.raises(ReadError, match="unpacks to more than 100 bytes"):
        opened.read("a")


@pytest.mark.parametrize("count_lies", [False, True], ids=["honest", "lying"])
def test_a_long_directory_is_refused_before_it_is_read(count_lies: bool) -> None:
    """The count at its end is not believed; each entry read costs half a kilobyte."""
    data = bytearray(archive(*((f"f{n}", b"") for n in range(5_000))))
    if count_lies:
        end = data.rindex(b"PK\x05\x06")
        struct.pack_into("<HH", data, end + 8, 1, 1)

    tracemalloc.start()
    try:
        said = refusal(bytes(data))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert "holds 5,000 files, the limit is 2,000" in said
    assert peak < MEGABYTE


def test_entries_of_an_archive_inside_are_not_counted() -> None:
    """A document may hold a workbook, which is an archive too."""
    inner = archive(*((f"f{n}", b"") for n in range(30)))
    limits = Limits(max_members=10)

    opened = Archive(
        archive(("inner.xlsx", inner), method=zipfile.ZIP_STORED), "a.docx", limits
    )

    assert opened.names == ("inner.xlsx",)


def test_a_file_that_is_larger_than_it_says_is_refused() -> None:
    """No more of it is unpacked than it said."""
    data = archive(("a", bytes(50 * MEGABYTE)))
    small = patched(patched(data, _SIZE, "<I", 1000), _PACKED, "<I", len(data))

    tracemalloc.start()
    try:
        said = refusal(small, "a")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert "'a' in it cannot be unpacked" in said
    assert peak < 2 * MEGABYTE


def test_a_packed_size_beyond_the_archive_does_not_hide_a_bomb() -> None:
    """The directory may say that it is packed loosely."""
    data = patched(archive(("a", bytes(3 * MEGABYTE))), _PACKED, "<I", 3 * MEGABYTE)

    assert "archive bomb" in refusal(data)


def test_files_that_share_their_bytes_stay_within_the_limits() -> None:
    """Entries may overlap; each counts with all it unpacks to."""
    data = bytearray(archive(("a", b"x" * 900)))
    begin, end = data.index(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    entry = bytes(data[begin:end])
    struct.pack_into("<HHL", data, end + 8, 9, 9, 9 * len(entry))
    overlapping = bytes(data[:begin]) + entry * 9 + bytes(data[end:])

    said = refusal(overlapping, limits=Limits(max_unpacked_bytes=5_000))

    assert "unpacks to 8,100 bytes" in said


def test_a_name_that_stands_for_two_files_is_refused() -> None:
    """What one program shows of them another hides; copies do no harm."""
    same = archive(("a", b"one"), ("a", b"one"))
    differ = archive(("a", b"one"), ("a", b"two"))

    assert Archive(same, "a.docx", LIMITS).read("a") == b"one"
    assert "several files named 'a'" in refusal(differ, "a")


def test_damage_is_found_when_a_file_is_read() -> None:
    """The others can be read."""
    data = archive(("a", b"one" * 9), ("b", b"two"), method=zipfile.ZIP_STORED)
    opened = Archive(data.replace(b"oneone", b"oneeno", 1), "a.docx", LIMITS)

    assert opened.read("b") == b"two"
    with pytest.raises(ReadError, match=r"^a\.docx: 'a' in it cannot be unpacked"):
        opened.read("a")


@given(st.data())
def test_no_byte_of_an_archive_breaks_more_than_the_reading(
    data: st.DataObject,
) -> None:
    """Whatever is changed, a file is read or one error is raised."""
    whole = bytearray(archive(("a", b"one" * 50), ("b", b"two")))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] = data.draw(st.integers(0, 255))

    with suppress(ReadError):
        opened = Archive(bytes(whole), "a.docx", LIMITS)
        for name in opened.names:
            opened.read(name)
