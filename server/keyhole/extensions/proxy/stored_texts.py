"""Open the store of the proxy when it is first needed, and answer the calls of `read_artifact` from it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from keyhole.extensions.proxy.messages import Message, encode, response
from keyhole.extensions.proxy.rewrite import READER
from keyhole.extensions.proxy.steps import ClientVersion
from keyhole.outputs.record import BoundCall, make_output_record
from keyhole.store.base import LOCAL, Store
from keyhole.store.ids import random_id

if TYPE_CHECKING:
    from keyhole.records import Answer
    from keyhole.retrieval.retrieve import Retrieval
    from keyhole.retrieval.tenants import Tenants

log = logging.getLogger(__name__)


class StoredTexts:
    """The local store, and Keyhole's own tool, which reads it. Loaded by the first use, in the caller's thread."""

    def __init__(self, build: Callable[[], Tenants], folder: str = "") -> None:
        """`folder`: the client's working folder, "" if it is unknown."""
        self._build = build
        self._folder = folder
        self._lock = Lock()
        self._tenants: Tenants | None = None

    def open_store(self, tenant: str = LOCAL) -> tuple[Store, bytes]:
        """Return a tenant's store and the secret of its ids."""
        return self.load().stores.for_tenant(tenant)

    def load(self) -> Tenants:
        """Return the tools of each tenant, loaded once."""
        with self._lock:
            if self._tenants is None:
                self._tenants = self._build()
            return self._tenants

    def record(self, call: BoundCall, tenant: str = LOCAL, session: str = "") -> None:
        """Record a bounded result, unless the settings record no calls. It does not wait for the log."""
        if recording := self._retrieval(tenant).recording:
            whole = replace(call, id=random_id(), session=session, folder=self._folder)
            recording.queue.put(lambda: recording.log.add(make_output_record(whole)))

    async def read(
        self, request: Message, client: ClientVersion, reader: str, tenant: str = LOCAL, session: str = ""
    ) -> Message:
        """Return the response to a call of `read_artifact`, within the limits of the client.

        `session`: the id of the conversation in the log of calls.
        """
        retrieval = await asyncio.to_thread(self._retrieval, tenant)
        arguments = request.params.get("arguments")
        answer = await _read(
            retrieval, arguments if isinstance(arguments, dict) else {}, client, reader, session, self._folder
        )
        return response(request.data["id"], _result(answer, reader))

    async def aclose(self) -> None:
        """Close the store."""
        if self._tenants is not None:
            await self._tenants.aclose()

    def _retrieval(self, tenant: str) -> Retrieval:
        return self.load().of(tenant)


async def _read(
    retrieval: Retrieval, arguments: dict[str, Any], client: ClientVersion, reader: str, session: str, folder: str
) -> Answer:
    from keyhole.retrieval.call import Caller
    from keyhole.retrieval.dispatch import dispatch
    from keyhole.retrieval.progress import no_progress

    caller = Caller(client.name, client.version, session_id=session, folder=folder)
    # The continuation line names the tool as the client sees it.
    overhead = len(encode(reader)) - len(encode(READER))
    return await dispatch(retrieval, READER, arguments, no_progress, caller, overhead=overhead)


def _result(answer: Answer, reader: str) -> dict[str, Any]:
    """Return the result of an answer; its last call has the name that the client sees."""
    from keyhole.budget.fit import result_json

    result = result_json(answer)
    before, mark, call = answer.text.rpartition(f"\nNext: {READER}(")
    if mark and reader != READER:
        result["content"][0]["text"] = f"{before}\nNext: {reader}({call}"
    return result


def reader_schema() -> dict[str, Any]:
    """Return the schema of the arguments of `read_artifact`."""
    from keyhole.retrieval.dispatch import argument_schema

    schema = argument_schema(READER)
    properties = schema["properties"]
    id = {**properties["id"], "description": "The id that a 'Next:' line names."}
    return {**schema, "properties": {**properties, "id": id}}
