"""Remember which server has a tool, prompt or resource, and the names under which the client sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.serve.proxy.merge import LISTS, Answers, literal_prefix, merge_lists, public_names
from keyhole.serve.proxy.messages import Message

_NAMED: Final = ("tools", "prompts")
_URIS: Final = {"resources": "uri", "resourceTemplates": "uriTemplate"}


class Routes:
    """The servers of names and URIs, as the lists of the servers state them."""

    def __init__(self, servers: Sequence[str]) -> None:
        self._servers = list(servers)
        self._targets: dict[str, dict[str, tuple[str, str]]] = {field: {} for field in _NAMED}
        """Server and original name by the name that the client sees, of tools and of prompts."""
        self._uris: dict[str, str] = {}
        self._prefixes: dict[str, str] = {}

    def list(self, method: str, answers: Answers) -> dict[str, Any]:
        """Return the merged list of a method for the client, and remember where its entries are."""
        field = LISTS[method]
        ordered = {server: answers[server] for server in self._servers if server in answers}
        if field in _NAMED:
            return merge_lists(field, self._rename(field, ordered))
        known = self._uris if field == "resources" else self._prefixes
        for server, answer in ordered.items():
            for item in answer.get(field) or []:
                known.setdefault(literal_prefix(str(item.get(_URIS[field], ""))), server)
        return merge_lists(field, ordered)

    def route(self, message: Message) -> tuple[str, Message]:
        """Return the server of a request, and the request with the name that this server knows.

        Raises KeyholeError: invalid_argument.
        """
        method, params = message.method, message.params
        reference = params.get("ref") if method == "completion/complete" else params
        reference = reference if isinstance(reference, dict) else {}
        if "uri" in reference and method.startswith(("resources/", "completion/")):
            return self._find_uri(str(reference["uri"])), message
        if method not in ("tools/call", "prompts/get", "completion/complete"):
            raise KeyholeError(Code.INVALID_ARGUMENT, f"{method[:64]!r} is not relayed to one of several servers")
        given = str(reference.get("name"))
        found = self._targets["tools" if method == "tools/call" else "prompts"].get(given)
        if found is None:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"no server has listed {given[:64]!r}")
        server, name = found
        if name == given:
            return server, message
        renamed = {**reference, "name": name}
        return server, message.with_data(params={**params, "ref": renamed} if "ref" in params else renamed)

    def _find_uri(self, uri: str) -> str:
        """Return the server of a resource: that which lists it, else that of the longest template it may belong to."""
        if uri in self._uris:
            return self._uris[uri]
        matches = [prefix for prefix in self._prefixes if uri.startswith(prefix)]
        if matches:
            return self._prefixes[max(matches, key=len)]
        schemes = {known.partition(":")[0]: server for known, server in reversed(self._uris.items())}
        return schemes.get(uri.partition(":")[0], self._servers[0])

    def _rename(self, field: str, answers: Answers) -> dict[str, Mapping[str, Any]]:
        names = {
            server: [str(item.get("name")) for item in answer.get(field) or []] for server, answer in answers.items()
        }
        public = public_names(names)
        self._targets[field] = {shown: target for target, shown in public.items()}
        return {
            server: {
                **answer,
                field: [{**item, "name": public[server, str(item.get("name"))]} for item in answer.get(field) or []],
            }
            for server, answer in answers.items()
        }
