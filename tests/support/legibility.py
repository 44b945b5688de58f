"""Judges a drawn page: does it scroll sideways, can its text be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tests.support.browser import Page

# WCAG 2.2, 1.4.3, level AA: 4.5 to 1, and 3 to 1 for text of 24 px, or of 18.66 px in
# bold. Colours are those that the browser computed, laid over each other down to the
# page's own; a canvas turns any notation of a colour into bytes.
_FAINT: Final = """
(() => {
  const often = { willReadFrequently: true };
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", often);
  const known = new Map();
  const bytes = (colour) => {
    if (!known.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = ([r, g, b, a], below) =>
    [r, g, b].map((value, at) => value * a + below[at] * (1 - a)).concat(1);
  const light = (colour) => {
    const [r, g, b] = colour
      .slice(0, 3)
      .map((value) => value / 255)
      .map((value) =>
        value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    if (!element) return bytes(getComputedStyle(document.body).backgroundColor);
    const own = bytes(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, ground(element.parentElement));
  };
  const faint = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (!text || element.closest("script, noscript, :disabled")) continue;
    if (!element.checkVisibility() || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const below = ground(element);
    const ink = element instanceof SVGElement ? style.fill : style.color;
    const levels = [light(over(bytes(ink), below)), light(below)].sort((a, b) => b - a);
    const ratio = (levels[0] + 0.05) / (levels[1] + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5))
      faint.add(`${ratio.toFixed(2)} ${element.localName}: ${text.slice(0, 30)}`);
  }
  return [...faint];
})()
"""

_WIDE: Final = """
(() => {
  const most = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= most) return [];
  return [...document.body.querySelectorAll("*")]
    .filter((each) => each.getBoundingClientRect().right > most + 1)
    .map((each) => `${each.localName}#${each.id}.${each.getAttribute("class")}`)
    .concat("the page scrolls sideways");
})()
"""


def faint(page: Page) -> list[str]:
    """Give the texts that stand out from their ground too little, with the ratio."""
    found = page.run(_FAINT)
    assert isinstance(found, list)
    return found


def too_wide(page: Page) -> list[str]:
    """Give what reaches past the right edge where that makes the page scroll."""
    found = page.run(_WIDE)
    assert isinstance(found, list)
    return found
