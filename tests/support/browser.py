"""Drives headless Chromium through its devtools protocol, over two pipes.

No driver, no port: the browser reads commands from descriptor 3 and writes events to
descriptor 4, JSON with a zero byte at its end (`--remote-debugging-pipe`).
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHROMIUM: Final = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)

NO_CHROMIUM: Final = "there is no Chromium on PATH"

_SECONDS: Final = 30.0
"""How long anything may take on a busy machine."""

_READ: Final = 1 << 16


class BrowserError(Exception):
    """The browser refuses a command, does not answer, or a page's script failed."""


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Start a browser whose profile lies in a folder, and end it."""
    command_out, command_in = os.pipe()
    event_out, event_in = os.pipe()
    arguments = [
        *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update"),
        *("--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio"),
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        "--remote-debugging-pipe",
        f"--user-data-dir={folder / 'profile'}",
    ]
    with (folder / "browser.log").open("wb") as log:
        pid = os.posix_spawn(
            str(CHROMIUM),
            ["chromium", *arguments],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, log.fileno(), 1),
                (os.POSIX_SPAWN_DUP2, log.fileno(), 2),
                (os.POSIX_SPAWN_DUP2, command_out, 3),
                (os.POSIX_SPAWN_DUP2, event_in, 4),
            ],
        )
    os.close(command_out)
    os.close(event_in)
    try:
        started = Browser(command_in, event_out)
        yield started
        started.call("Browser.close")
    finally:
        os.close(command_in)
        os.close(event_out)
        _end(pid)


def _end(pid: int) -> None:
    """Wait for the browser's end, and bring it about where it does not come."""
    for _ in range(100):
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            return
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


class Browser:
    """A running browser."""

    def __init__(self, commands: int, events: int) -> None:
        self._commands = commands
        self._events = events
        self._buffer = b""
        self._calls = 0
        self._pages: dict[str, Page] = {}

    def call(
        self, method: str, session: str | None = None, **parameters: object
    ) -> dict[str, Any]:
        """Send a command and give its result; events on the way go to their pages."""
        self._calls += 1
        number = self._calls
        command = {"id": number, "method": method, "params": parameters}
        if session is not None:
            command["sessionId"] = session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self._commands, data) :]
        while (reply := self._message()).get("id") != number:
            self._hear(reply)
        if "error" in reply:
            message = f"{method}: {reply['error']}"
            raise BrowserError(message)
        result: dict[str, Any] = reply["result"]
        return result

    def open(self, path: Path, *, fragment: str = "") -> Page:
        """Open a file in a page of its own and wait until it is loaded."""
        return self.visit(f"{path.as_uri()}{fragment}")

    def visit(self, address: str) -> Page:
        """Open an address in a page of its own and wait until it is loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)
        page = Page(self, session["sessionId"], target)
        self._pages[session["sessionId"]] = page
        page.start(address)
        return page

    def close(self, page: Page) -> None:
        """Close a page."""
        self._pages.pop(page.session)
        self.call("Target.closeTarget", targetId=page.target)

    def wait(self) -> None:
        """Hear one event."""
        self._hear(self._message())

    def _hear(self, message: dict[str, Any]) -> None:
        page = self._pages.get(message.get("sessionId", ""))
        if page is not None and "method" in message:
            page.hear(message["method"], message["params"])

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._events], [], [], _SECONDS)[0]:
                message = f"no word from the browser for {_SECONDS} seconds"
                raise BrowserError(message)
            read = os.read(self._events, _READ)
            if not read:
                message = "the browser has gone"
                raise BrowserError(message)
            self._buffer += read
        line, _, self._buffer = self._buffer.partition(b"\0")
        message_read: dict[str, Any] = json.loads(line)
        return message_read


class Page:
    """One page: what it asks for, what it says, and hands to use it with."""

    def __init__(self, owner: Browser, session: str, target: str) -> None:
        self._owner = owner
        self.session = session
        self.target = target
        self.requests: list[str] = []
        """Addresses of everything the page asked for, itself first; not data URLs."""
        self.console: list[str] = []
        """Messages, warnings and errors, of scripts and of the browser."""
        self._loaded = False

    def start(self, address: str) -> None:
        """Load an address."""
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")
        self.look()
        self._call("Page.bringToFront")
        self._call("Page.navigate", url=address)
        while not self._loaded:
            self._owner.wait()

    def hear(self, method: str, said: dict[str, Any]) -> None:
        """Note an event."""
        match method:
            case "Page.loadEventFired":
                self._loaded = True
            case "Network.requestWillBeSent":
                if not said["request"]["url"].startswith("data:"):
                    self.requests.append(said["request"]["url"])
            case "Runtime.consoleAPICalled":
                self.console.append(f"{said['type']}: {said['args']}")
            case "Runtime.exceptionThrown":
                self.console.append(f"exception: {said['exceptionDetails']}")
            case "Log.entryAdded":
                self.console.append(
                    f"{said['entry']['level']}: {said['entry']['text']}"
                )

    def look(self, width: int = 1280, height: int = 900, scheme: str = "light") -> None:
        """Set the window's size and the preferred colour scheme."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self._call("Emulation.setEmulatedMedia", features=[feature])

    def run(self, script: str) -> Any:
        """Give the value of an expression, in JSON's types; promises are awaited."""
        result = self._call(
            "Runtime.evaluate",
            expression=script,
            returnByValue=True,
            awaitPromise=True,
        )
        if "exceptionDetails" in result:
            message = f"{script}: {result['exceptionDetails']}"
            raise BrowserError(message)
        return result["result"].get("value")

    def text(self, selector: str) -> str:
        """Give the text of the first element as it is drawn, waiting for it."""
        self.until(f"document.querySelector({json.dumps(selector)})")
        text = self.run(f"document.querySelector({json.dumps(selector)}).innerText")
        assert isinstance(text, str)
        return text

    def count(self, selector: str) -> int:
        """Count the elements that are drawn."""
        count = self.run(
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            ".filter((each) => each.getClientRects().length).length"
        )
        assert isinstance(count, int)
        return count

    def until(self, condition: str) -> None:
        """Wait for an expression to come true."""
        deadline = time.monotonic() + _SECONDS
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > deadline:
                message = f"never came true: {condition}"
                raise BrowserError(message)
            time.sleep(0.01)

    def click(self, selector: str) -> None:
        """Press the middle of the first element with the mouse, as a hand would.

        It is waited for, until it is there and has come to rest.
        """
        self.until(f"document.querySelector({json.dumps(selector)})")
        x, y = self.run(_MIDDLE.format(selector=json.dumps(selector)))
        for kind in ("mousePressed", "mouseReleased"):
            self._call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                clickCount=1,
            )
        self._settle()

    def choose(self, selector: str, text: str) -> None:
        """Choose an option of a list by its text."""
        self.run(
            f"(() => {{ const list = document.querySelector({json.dumps(selector)});"
            "list.value = [...list.options].find("
            f"(each) => each.text === {json.dumps(text)}).value;"
            "list.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )

    def type(self, text: str) -> None:
        """Type a text where the focus is."""
        self._call("Input.insertText", text=text)

    def press(self, *keys: str) -> None:
        """Press keys one after the other, by the names that events give them."""
        for key in keys:
            code = _CODES.get(key, ord(key) if len(key) == 1 else 0)
            known = {"key": key, "windowsVirtualKeyCode": code}
            if len(key) == 1 or key == "Enter":
                known["text"] = "\r" if key == "Enter" else key
            self._call("Input.dispatchKeyEvent", type="keyDown", **known)
            self._call("Input.dispatchKeyEvent", type="keyUp", **known)
            self._settle()

    def _settle(self) -> None:
        """Let a page draw what an input led to: a new address is told of later."""
        self.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")

    def focused(self) -> str:
        """Name what has the focus: its id, else its accessible text, else its tag."""
        name = self.run(
            "(() => { const each = document.activeElement;"
            "return each.id || each.getAttribute('aria-label') ||"
            "each.textContent.trim().slice(0, 40) || each.localName; })()"
        )
        assert isinstance(name, str)
        return name

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Write what is drawn as a PNG, down to the end of the page or not."""
        shot = self._call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=whole
        )
        path.write_bytes(base64.b64decode(shot["data"]))

    def save_into(self, folder: Path) -> None:
        """Let downloads go to a folder without a question."""
        self._owner.call(
            "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder)
        )

    def _call(self, method: str, **parameters: object) -> dict[str, Any]:
        return self._owner.call(method, self.session, **parameters)


_MIDDLE: Final = """
(async () => {{
  const element = document.querySelector({selector});
  element.scrollIntoView({{ block: "nearest" }});
  let [before, after] = [null, element.getBoundingClientRect()];
  while (before?.x !== after.x || before?.y !== after.y) {{
    before = after;
    for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
    after = element.getBoundingClientRect();
  }}
  return [after.x + after.width / 2, after.y + after.height / 2];
}})()
"""

_CODES: Final = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    "PageUp": 33,
    "PageDown": 34,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}
