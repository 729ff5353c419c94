"""Which requests a page is waited for."""

from __future__ import annotations

from keyhole.extensions.browser.page_session import MAX_WAIT, NetworkActivity


class Page:
    """Sends the events of a page to a NetworkActivity with a clock that stands still."""

    def __init__(self) -> None:
        self.now = 100.0
        self.network = NetworkActivity(lambda: self.now)

    def start(self, number: str, kind: str) -> None:
        self.network.handler("Network.requestWillBeSent")({"requestId": number, "type": kind}, "")

    def end(self, number: str, event: str = "Network.loadingFinished") -> None:
        self.network.handler(event)({"requestId": number}, "")


def test_a_network_is_idle_some_time_after_the_last_request_has_ended() -> None:
    page = Page()
    page.start("1", "Script")
    page.start("2", "Fetch")
    page.end("1")
    page.now += 1
    assert not page.network.is_idle(0)
    page.end("2", "Network.loadingFailed")
    assert page.network.is_idle(0)
    assert not page.network.is_idle(0.2)
    page.now += 0.25
    assert page.network.is_idle(0.2)


def test_streams_and_images_are_counted_but_not_waited_for() -> None:
    page = Page()
    for number, kind in enumerate(("EventSource", "WebSocket", "Image")):
        page.start(str(number), kind)
    assert page.network.is_idle(0)
    assert page.network.requests == 3


def test_a_request_that_takes_too_long_is_not_waited_for() -> None:
    page = Page()
    page.start("1", "XHR")
    page.now += MAX_WAIT - 0.5
    assert not page.network.is_idle(0)
    page.now += 0.5
    assert page.network.is_idle(0)


def test_the_status_is_that_of_the_last_document() -> None:
    page = Page()
    respond = page.network.handler("Network.responseReceived")
    respond({"requestId": "1", "type": "Document", "response": {"status": 404}}, "")
    respond({"requestId": "2", "type": "Fetch", "response": {"status": 500}}, "")
    assert page.network.status == 404
