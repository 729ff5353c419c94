"""Cut one response to the limits of its client, and answer the calls that read on in the stored text."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from keyhole.config.config import MAX_BUDGET, Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.json_rpc import MAX_FOR_CLIENT, Message, encode, response, too_long
from keyhole.extensions.proxy.proxy_relay import ClientVersion, Pending
from keyhole.extensions.proxy.results import (
    MEDIA_BYTES,
    ResultLimits,
    Shortening,
    bound_call_result,
    bound_error,
    bound_resource_result,
    is_within,
    texts_of,
)
from keyhole.extensions.proxy.rewrite import READER, Intent, Policy
from keyhole.outputs.adopt import adopt_outputs
from keyhole.outputs.bound import Bounded, read_and_keep
from keyhole.outputs.keep import keep_in_either, keep_in_store, name_text
from keyhole.outputs.record import BoundCall, KeptOutput, make_output_record
from keyhole.render.budget import Budget, ClientLimits, client_budget, limits_of
from keyhole.store.base import LOCAL, Store
from keyhole.store.ids import random_id
from keyhole.text.output_facts import WHOLE_FILE_CHARS, OutputFacts

if TYPE_CHECKING:
    from keyhole.outputs.keep import Keep
    from keyhole.records import Answer
    from keyhole.retrieval.retrieve import Retrieval
    from keyhole.retrieval.tenants import Tenants

log = logging.getLogger(__name__)

WHOLE_FILE_BYTES: Final = WHOLE_FILE_CHARS + 5_000
"""A response with a whole file of up to this many bytes is not shortened: the limit of hooks, plus JSON around it."""
DATA_KIND: Final = "opaque"
"""The output kind under which base64 data is stored."""

Record = Callable[[BoundCall], None]
"""Records a bounded result, without waiting for the log."""
BoundAnswer = Callable[[Mapping[str, Any], ResultLimits, Shortening], dict[str, Any] | None]
"""Returns an answer cut to its limits, None if it needs no cut."""
OpenStore = Callable[[], tuple[Store, bytes]]
"""Returns the store and the secret of its ids."""


class Bounder:
    """Bounds results for the client that asked for them."""

    def __init__(
        self,
        config: Config,
        policy: Policy,
        open_store: OpenStore,
        clock: Callable[[], float],
        record: Record | None = None,
        spool: str = "",
    ) -> None:
        """`spool`: the folder from which the store adopts outputs, "" for a store that adopts none."""
        self._config = config
        self._policy = policy
        self._open_store = open_store
        self._clock = clock
        self._record = record
        self._spool = spool

    def fits(self, message: Message, pending: Pending) -> bool:
        """Return whether a response is within its limits as it is."""
        return is_within(message.raw, self._limits(message, pending))

    def bound(self, message: Message, pending: Pending, reader: str) -> bytes:
        """Return a response, which may be an error, within its limits. `reader`: the name of the tool that reads on.

        Raises KeyholeError (server_fault) if parts that are not bounded make it too long for any client.
        """
        raw = self._bound(message, pending, reader)
        if len(raw) > MAX_FOR_CLIENT:
            raise KeyholeError(Code.SERVER_FAULT, f"the answer of the server {too_long(len(raw), MAX_FOR_CLIENT)}")
        return raw

    def _bound(self, message: Message, pending: Pending, reader: str) -> bytes:
        name, intent = ("error" if "error" in message.data else "result"), pending.intent
        answer = message.data.get(name)
        if not isinstance(answer, dict) or intent is None:
            return message.raw
        started_at, outputs = self._clock(), dict[int, Bounded]()
        how = Shortening(partial(self._shorten, intent, outputs), partial(self._keep, intent), reader)
        limits = self._limits(message, pending)
        bounded = _work(name, pending.request.method)(answer, limits, how)
        if bounded is None:
            return message.raw
        if self._record and any(each.id for each in outputs.values()):
            seconds = self._clock() - started_at
            self._record(_call(pending, intent, outputs, bounded, limits, started_at, seconds))
        return message.with_data(**{name: bounded}).raw

    def index_oldest(self) -> bool:
        """Index the oldest result that was stored without its search words. Return False if none is left."""
        if self._config.keep_outputs == "off" or not self._spool:
            return False
        try:
            store, _ = self._open_store()
            return adopt_outputs(self._spool, store, most=1) > 0
        except KeyholeError:
            return False

    def _limits(self, message: Message, pending: Pending) -> ResultLimits:
        limits = _limits_of(pending.client)
        media = client_budget(self._config, limits, MAX_BUDGET).bytes or MEDIA_BYTES
        chosen = self._policy.tool_bytes.get(pending.intent.tool) if pending.intent else None
        if chosen is None and pending.intent and pending.intent.is_whole_file and len(message.raw) <= WHOLE_FILE_BYTES:
            chosen = max(WHOLE_FILE_BYTES, client_budget(self._config, limits).size)
        return ResultLimits(_in_bytes(client_budget(self._config, limits, chosen)), media)

    def _shorten(self, intent: Intent, outputs: dict[int, Bounded], text: str, chars: int) -> Callable[[int], Bounded]:
        """Return a function that shortens a text to at most `chars` characters and puts its last result into `outputs`.

        The text is stored unless the settings keep no outputs or the store fails; then no call can read on.
        """
        shorten, place = self._store_and_shorten(intent, text, chars), len(outputs)

        def remember(most: int) -> Bounded:
            outputs[place] = shorten(most)
            return outputs[place]

        return remember

    def _store_and_shorten(self, intent: Intent, text: str, chars: int) -> Callable[[int], Bounded]:
        work = partial(
            read_and_keep, text, intent.query or None, chars, OutputFacts(intent.command, intent.name),
            now=self._clock(),
        )  # fmt: skip
        try:
            store, secret = self._open_store()
            return work(None if self._config.keep_outputs == "off" else self._keep_in(store), secret)
        except KeyholeError as error:
            if error.code is not Code.STORE_UNAVAILABLE:
                raise
            return work()

    def _keep_in(self, store: Store) -> Keep:
        """Return the function that stores outputs: into the spool folder, to be indexed later, or into the store."""
        return keep_in_either(self._spool, self._config.store_max_bytes, store) if self._spool else keep_in_store(store)

    def _keep(self, intent: Intent, data: str, kind: str) -> str:
        """Store base64 data and return its id, "" if it is not stored."""
        if self._config.keep_outputs == "off":
            return ""
        try:
            store, secret = self._open_store()
            kept = name_text(secret, DATA_KIND, data, OutputFacts(name=f"{intent.tool} ({kind})"), self._clock())
            store.put(kept._replace(content_type=kind).artifact(), "")
        except KeyholeError:
            return ""
        return kept.id


def _call(
    pending: Pending,
    intent: Intent,
    outputs: Mapping[int, Bounded],
    result: Mapping[str, Any],
    limits: ResultLimits,
    started_at: float,
    seconds: float,
) -> BoundCall:
    """Return the log record of a bounded result and its stored outputs, without `id`, `session` and `folder`."""
    arguments = pending.request.params.get("arguments")
    return BoundCall(
        id="",
        origin="proxy",
        session="",
        client=f"{pending.client.name} {pending.client.version}".strip(),
        command=intent.command,
        name=intent.name,
        budget=limits.budget.size,
        started_at=started_at,
        seconds=seconds,
        result="\n".join(texts_of(result)),
        outputs=[KeptOutput(each.id, each.kind, each.total, each.omitted) for each in outputs.values() if each.id],
        query=intent.query,
        tool=intent.tool,
        arguments=arguments if isinstance(arguments, Mapping) else {},
    )


def _work(answer: str, method: str) -> BoundAnswer:
    """Return the function that bounds the "result" or the "error" of a method."""
    if answer == "error":
        return bound_error
    return bound_resource_result if method == "resources/read" else bound_call_result


def _in_bytes(budget: Budget) -> Budget:
    """Return the budget with its size as a limit of bytes, because a result of another server may have many texts."""
    return replace(budget, bytes=budget.safe_bytes)


def _limits_of(client: ClientVersion) -> ClientLimits:
    return limits_of(client.name, client.version)


# Stored texts: the store is opened when it is first needed, and answers the calls of read_artifact.


class StoredTexts:
    """The store of bounded results, and Keyhole's own tool, which reads it. Opened by the first use, in that thread."""

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
        """Return the tools of all tenants, which the first call opens."""
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
    """Return an answer as a tool result. Its `Next:` call names the tool as the client sees it."""
    from keyhole.render.fit import result_json

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
