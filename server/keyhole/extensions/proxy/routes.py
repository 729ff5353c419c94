"""Find the server of a request, and rewrite the names and URIs in messages between its own and the client's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.merge import LISTS
from keyhole.extensions.proxy.messages import Message
from keyhole.extensions.proxy.names import APP_SCHEME, Names

NAMED: Final = frozenset({"tools/call", "prompts/get"})
_ENTRY_KEYS: Final = {"tools": "name", "prompts": "name", "resources": "uri", "resourceTemplates": "uriTemplate"}
"""The key of an entry of each list that has its name or URI."""

ShowUri = Callable[[str], str]


class Routes:
    """The messages of several servers, with the names and URIs that the client sees."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def route(self, message: Message) -> tuple[str, Message]:
        """Return the server of a request, and the request with the name or URI that this server knows.

        Raises KeyholeError: invalid_argument.
        """
        params, method = message.params, message.method
        key = "ref" if method == "completion/complete" else ""
        reference = params.get(key) if key else params
        reference = reference if isinstance(reference, dict) else {}
        if "uri" in reference and method.startswith(("resources/", "completion/")):
            server, own = self._names.find_uri(str(reference["uri"]))
            renamed = {**reference, "uri": own}
        elif method in NAMED or key:
            server, own = self._names.find(str(reference.get("name")))
            renamed = {**reference, "name": own}
        else:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"{method[:64]!r} is not relayed to one of several servers")
        return server, message.with_data(params={**params, key: renamed} if key else renamed)

    def show_list(self, server: str, name: str, items: list[Any]) -> list[Any]:
        """Return the entries of a server's list as the client sees them, without those that cannot be named."""
        key, shown = _ENTRY_KEYS[name], dict[str, Any]()
        for item in items:
            if isinstance(given := item.get(key), str):
                form = self._names.shown(server, given) if key == "name" else self._names.shown_uri(server, given)
                shown.setdefault(form, {**self._show_app(server, item), key: form})
        return list(shown.values())

    def show_answer(self, server: str, method: str, answer: Message) -> Message:
        """Return a server's answer with the URIs that the client sees; unchanged if it contains none."""
        result = answer.result
        if result is None or method in LISTS:
            return answer

        def show(uri: str) -> str:
            return self._names.shown_uri(server, uri)

        shown = dict(result)
        for key, rewrite in (("content", _show_block), ("contents", _show_uri), ("messages", _show_message)):
            if isinstance(values := result.get(key), list):
                shown[key] = [rewrite(value, show) for value in values]
        return answer if shown == result else answer.with_data(result=shown)

    def show_notification(self, server: str, message: Message) -> Message:
        """Return a server's notification with the URI that the client sees."""
        uri = message.params.get("uri")
        if message.method != "notifications/resources/updated" or not isinstance(uri, str):
            return message
        return message.with_data(params={**message.params, "uri": self._names.shown_uri(server, uri)})

    def _show_app(self, server: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a tool whose MCP App, named in `_meta`, has the URI that the client sees."""
        meta = item.get("_meta")
        ui = meta.get("ui") if isinstance(meta, dict) else None
        uri = ui.get("resourceUri") if isinstance(ui, dict) else None
        if not isinstance(meta, dict) or not isinstance(ui, dict) or not isinstance(uri, str):
            return item
        if not uri.startswith(APP_SCHEME):
            return item
        return {**item, "_meta": {**meta, "ui": {**ui, "resourceUri": self._names.shown_uri(server, uri)}}}


def _show_uri(value: Any, show: ShowUri) -> Any:
    return (
        {**value, "uri": show(value["uri"])} if isinstance(value, dict) and isinstance(value.get("uri"), str) else value
    )


def _show_block(block: Any, show: ShowUri) -> Any:
    """Return a block of content whose link or resource has the URI that the client sees."""
    if not isinstance(block, dict):
        return block
    if block.get("type") == "resource_link":
        return _show_uri(block, show)
    return (
        {**block, "resource": _show_uri(block["resource"], show)}
        if block.get("type") == "resource" and "resource" in block
        else block
    )


def _show_message(message: Any, show: ShowUri) -> Any:
    """Return a message of a prompt whose content has the URI that the client sees."""
    return (
        {**message, "content": _show_block(message["content"], show)}
        if isinstance(message, dict) and "content" in message
        else message
    )
