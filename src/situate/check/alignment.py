"""Lays two readings of one document side by side, letter by letter.

Only letters, marks and digits count, joined without anything between: so markup,
line breaks and hyphens at their ends make no difference, and neither does where
one reading starts a new passage. What differs is compared word by word. Time and
memory grow with the length of the two.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, chain, groupby
from typing import TYPE_CHECKING, Final

import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_ASCII = regex.compile("[0-9A-Za-z]+")

# Scripts that put no space between words: there every letter is one.
_WORD = regex.compile(
    r"(?V1)[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
    r"|[[\p{L}\p{M}\p{N}]"
    r"--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]+"
)

_BLOCK: Final = 12
"""Letters by which the readings find each other again: two or three words."""

_NEAR: Final = 250
"""Letters between differences that are looked at together: about a paragraph."""

_MOST_JOINED: Final = 4
"""Words that may be written as one elsewhere: `storage-class-name`, `x1`."""

_LONGEST_WORD: Final = 64
"""Letters of a word that is kept whole; what is longer may begin anywhere."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The words of a text, without what stands between them."""

    letters: str
    words: array[int]
    """Where each word begins in `letters`."""
    passages: array[int]
    """Where each passage begins in `letters`."""

    def within(self, stretch: range) -> Iterator[tuple[int, str]]:
        """Yield the words of a stretch with their places; those it cuts are cut."""
        start, end = stretch.start, stretch.stop
        place = bisect_right(self.words, start)
        while start < end:
            follows = self.words[place] if place < len(self.words) else end
            stop = min(follows, end)
            yield start, self.letters[start:stop]
            start, place = stop, place + 1

    def word_at(self, place: int) -> int:
        """Give where the word begins that a place lies in."""
        return self.words[bisect_right(self.words, place) - 1]

    def word_after(self, place: int) -> int:
        """Give where the next word begins, at a place or after it."""
        number = bisect_left(self.words, place)
        return self.words[number] if number < len(self.words) else len(self.letters)

    def passage_of(self, place: int) -> int:
        """Give the number of the passage that a place lies in."""
        return bisect_right(self.passages, place) - 1


def reading(texts: Iterable[str]) -> Reading:
    """Take the words out of passages, in their order."""
    letters: list[str] = []
    words, passages = array("q"), array("q")
    length = 0
    for text in texts:
        passages.append(length)
        found = words_of(text)
        begins = accumulate(map(len, found), initial=length)
        words.extend(begins)
        length = words.pop()
        letters.extend(found)
    return Reading("".join(letters), words, passages)


def words_of(text: str) -> list[str]:
    """Give the words of a text; in scripts without spaces, its letters."""
    return (_ASCII if text.isascii() else _WORD).findall(text)


def differences(one: Reading, other: Reading) -> Iterator[tuple[range, range]]:
    """Yield the ranges where two readings differ, in the order of both.

    Either range may be empty. Between two pairs both say the same. Where `one` has
    something that `other` lacks, its range is of whole words; where it has nothing,
    `other` may say something in the middle of a word.
    """
    landmarks = _landmarks(other.letters)
    here = there = 0
    while True:
        agreed = _agreed(one.letters, here, other.letters, there)
        here, there = here + agreed, there + agreed
        if here == len(one.letters) and there == len(other.letters):
            return
        end, stop = _meeting(one.letters, other.letters, (here, there), landmarks)
        if end > here:
            back = _slack(one, range(here, end), agreed) if stop == there else None
            if back is None:
                back = here - one.word_at(here)
                back = back if back <= min(agreed, _LONGEST_WORD) else 0
                end, stop = _next_word(one, other, (end, stop))
            else:
                end, stop = end - back, stop - back
            here, there = here - back, there - back
        yield range(here, end), range(there, stop)
        here, there = end, stop


def _landmarks(letters: str) -> dict[str, int]:
    """Give the places of those stretches that occur once; -1 for the others."""
    found: dict[str, int] = {}
    for place in range(0, len(letters) - _BLOCK + 1, _BLOCK):
        stretch = letters[place : place + _BLOCK]
        found[stretch] = -1 if stretch in found else place
    return found


def _agreed(one: str, here: int, other: str, there: int) -> int:
    """Count the letters that are the same from two places on."""
    agreed, size = 0, _LONGEST_WORD
    while size:
        stretch = one[here + agreed : here + agreed + size]
        if stretch and stretch == other[there + agreed : there + agreed + size]:
            agreed += len(stretch)
            size *= 2
        else:
            size //= 2
    return agreed


def _meeting(
    one: str, other: str, after: tuple[int, int], landmarks: dict[str, int]
) -> tuple[int, int]:
    """Give the nearest places from which two texts agree again, or their ends.

    As many letters are looked at as are passed over, so a walk stays linear.
    """
    here, there = place, found = after
    meeting = (len(one), len(other))
    distance = sum(meeting) - here - there
    while place - here < distance and place + _BLOCK <= len(one):
        found = landmarks.get(one[place : place + _BLOCK], -1)
        if found >= there and place - here + found - there < distance:
            meeting, distance = (place, found), place - here + found - there
        place += 1
    place, found = meeting
    while place > here and found > there and one[place - 1] == other[found - 1]:
        place, found = place - 1, found - 1
    return place, found


def _slack(of: Reading, lost: range, most: int) -> int | None:
    """Say how far up a lost stretch may be seen so that it is whole words.

    Of `Ask first. Ask twice.` beside `Ask twice.` it is the first sentence.
    """
    start = lost.start
    for begin in (of.passages[of.passage_of(start)], of.word_at(start)):
        back = start - begin
        if (
            back <= min(most, _NEAR)
            and of.letters[begin:start] == of.letters[lost.stop - back : lost.stop]
        ):
            return back
    return None


def _next_word(
    one: Reading, other: Reading, meeting: tuple[int, int]
) -> tuple[int, int]:
    """Move a meeting to where the next word begins, if both agree so far."""
    here, there = meeting
    ahead = one.word_after(here) - here
    if (
        ahead <= _LONGEST_WORD
        and one.letters[here : here + ahead] == other.letters[there : there + ahead]
    ):
        return here + ahead, there + ahead
    return meeting


class Lost:
    """The words of one reading that another does not have."""

    def __init__(self, one: Reading, other: Reading, extra: Iterable[str]) -> None:
        """Compare; `extra` are texts that the other has as well, anywhere."""
        self._one = one
        # What has no counterpart where it stands may have been moved there.
        self._spare = Counter(word for text in extra for word in words_of(text))
        self._begins, self._ends = array("q"), array("q")
        wanted: list[range] = []
        found: Counter[str] = Counter()
        reached = 0
        for here, there in differences(one, other):
            if there.start - reached > _NEAR:
                self._compare(wanted, found)
                wanted, found = [], Counter()
            reached = there.stop
            wanted.append(here)
            found.update(word for _, word in other.within(there))
        self._compare(wanted, found)

    def _compare(self, wanted: list[range], found: Counter[str]) -> None:
        """Note the words of some stretches that those beside them do not have.

        Passages that are there whole take theirs before those that are not.
        """
        words = chain.from_iterable(map(self._one.within, wanted))
        partly: list[tuple[int, str]] = []
        for _, group in groupby(words, lambda at: self._one.passage_of(at[0])):
            passage = tuple(group)
            counts = Counter(word for _, word in passage)
            if all(found[word] >= count for word, count in counts.items()):
                found.subtract(counts)
            else:
                partly.extend(passage)
        missing = []
        for place, word in partly:
            if found[word] > 0:
                found[word] -= 1
            else:
                missing.append((place, word))
        for place, word in _apart(missing, found):
            if not _take_in_pieces(word, found):
                self._begins.append(place)
                self._ends.append(place + len(word))
        # In-place operators look at every count there is.
        self._spare.update(found)

    def by_passage(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the number of each passage that lost words, and these. Ask once."""
        places = zip(self._begins, self._ends, strict=True)
        for number, group in groupby(places, lambda at: self._one.passage_of(at[0])):
            words = [self._one.letters[begin:end] for begin, end in group]
            lost = self._not_moved(words)
            if lost:
                yield number, lost

    def _not_moved(self, words: list[str]) -> tuple[str, ...]:
        """Leave out what stands elsewhere, if nearly all of it does.

        Some words of a lost sentence stand in any text.
        """
        counts = Counter(words)
        moved = counts & self._spare
        if 4 * _letters(moved) < 3 * _letters(counts):
            return tuple(words)
        self._spare.subtract(moved)
        lost = []
        for word in words:
            if moved[word]:
                moved[word] -= 1
            else:
                lost.append(word)
        return tuple(lost)


def _apart(
    words: Sequence[tuple[int, str]], found: Counter[str]
) -> Iterator[tuple[int, str]]:
    """Yield the words that are not found written as one with those after them."""
    first = 0
    while first < len(words):
        place, joined = words[first]
        last = first + 1
        for at, word in words[last : first + _MOST_JOINED]:
            if at != place + len(joined):
                break
            joined += word
            last += 1
            if found[joined] > 0:
                found[joined] -= 1
                first = last
                break
        if first < last:
            yield words[first]
            first += 1


def _take_in_pieces(word: str, found: Counter[str]) -> bool:
    """Take a word that was cut between chunks, piece by piece."""
    for cut in range(1, min(len(word), _LONGEST_WORD)):
        pieces = Counter((word[:cut],))
        begin = cut
        while begin and found[word[:cut]] > 0:
            ends = range(min(len(word), begin + _LONGEST_WORD), begin, -1)
            taken = (word[begin:end] for end in ends)
            piece = next((p for p in taken if found[p] > pieces[p]), "")
            pieces[piece] += 1
            begin = begin + len(piece) if piece else 0
            if begin == len(word):
                found.subtract(pieces)
                return True
    return False


def _letters(counts: Counter[str]) -> int:
    return sum(len(word) * count for word, count in counts.items())
