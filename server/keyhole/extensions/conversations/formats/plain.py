"""Read objects of SDKs as plain JSON values, and change a value deep in them without changing their kind. Pure.

A program keeps its conversation in dicts, in objects of an SDK (pydantic models, dataclasses, other mappings), or in
dicts that hold such objects: `{"role": "assistant", "content": response.content}`.
"""

from __future__ import annotations

import base64
import copy
import dataclasses
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from typing import Any, Final

from keyhole.extensions.conversations.formats.values import Path

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def is_readable(item: object) -> bool:
    """Return True if an item can be read as a JSON object."""
    return isinstance(item, Mapping) or _fields(item) is not None


def plain(value: Any) -> Any:
    """Return a value as plain dicts, lists and scalars. A value that is plain already is returned itself.

    Bytes become base64. An object of an unknown kind becomes `{"type": NAME}` with the name of its class.
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is dict:
        return _plain_dict(value)
    if isinstance(value, list | tuple):
        parts = [plain(each) for each in value]
        is_same = kind is list and all(map(_is_same, parts, value))
        return value if is_same else parts
    return _plain_object(value)


def _plain_dict(value: dict[Any, Any]) -> dict[Any, Any]:
    if not all(isinstance(name, str) for name in value):
        value = {str(name): each for name, each in value.items()}
    changed = {}
    for name, each in value.items():
        if type(each) not in _SCALARS:
            seen = plain(each)
            if seen is not each:
                changed[name] = seen
    return {**value, **changed} if changed else value


def _is_same(one: object, other: object) -> bool:
    return one is other


def _plain_object(value: Any) -> Any:
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str | int | float):  # their subclasses
        return next(kind(value) for kind in (str, int, float) if isinstance(value, kind))
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    fields = _fields(value)
    return {"type": type(value).__name__} if fields is None else plain(fields)


def _fields(value: Any) -> dict[str, Any] | None:
    """Return the set fields of an object, named as in the API; None if it is no object with fields."""
    if isinstance(value, type):
        return None
    if hasattr(value, "model_dump"):
        # Not deeper: nested objects may have other kinds, and warnings about a nested dict say nothing here.
        names = _api_names(value)
        extra = getattr(value, "model_extra", None) or {}
        found = {names.get(name, name): getattr(value, name) for name in (*names, *extra)}
    elif dataclasses.is_dataclass(value):
        found = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    elif hasattr(value, "to_dict"):
        found = dict(value.to_dict())
    else:
        return None
    return {name: each for name, each in found.items() if each is not None}


def _api_names(model: Any) -> dict[str, str]:
    """Return the names of a pydantic model's fields with the names that the API gives them."""
    fields: Mapping[str, Any] = type(model).model_fields
    return {name: getattr(field, "serialization_alias", None) or field.alias or name for name, field in fields.items()}


def original_at(value: Any, path: Path) -> Any:
    """Return the value at a path of an item, as it is there; None if a field is missing."""
    for key in path:
        if isinstance(key, int):
            value = value[key]
        elif isinstance(value, Mapping):
            value = value.get(key)
        else:
            value = getattr(value, _attribute(value, key), None)
    return value


def replace_at(value: Any, path: Path, new: Any) -> Any:
    """Return a value of the same kind in which the value at a path is another. What is not on the path is shared."""
    if not path:
        return shape_like(value, new)
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        return [*value[:key], replace_at(value[key], rest, new), *value[key + 1 :]]
    if isinstance(value, Mapping):
        return {**value, key: replace_at(value.get(key), rest, new)}
    return _with_field(value, key, rest, new)


def _with_field(value: Any, key: str, rest: Path, new: Any) -> Any:
    name = _attribute(value, key)
    if hasattr(value, "model_copy"):
        return value.model_copy(update={name: replace_at(getattr(value, name, None), rest, new)})
    if not hasattr(value, key):  # known by its dictionary only
        return replace_at(plain(value), (key, *rest), new)
    changed = copy.copy(value)
    object.__setattr__(changed, key, replace_at(getattr(value, key), rest, new))
    return changed


def _attribute(value: Any, key: str) -> str:
    """Return the name of an object's attribute that the API gives a name."""
    names = _api_names(value) if hasattr(value, "model_dump") else {}
    return next((name for name, shown in names.items() if key in (shown, name)), key)


def shape_like(sample: Any, value: Any) -> Any:
    """Return a plain value as the kind of object that a sample is, or unchanged if that kind cannot hold it."""
    if isinstance(value, list) and isinstance(sample, Sequence) and not isinstance(sample, str):
        samples = list(sample)
        return [next((made for each in samples if (made := _build(each, part)) is not None), part) for part in value]
    made = _build(sample, value)
    return value if made is None else made


def _build(sample: Any, value: Any) -> Any:
    """Return an object of a sample's class with plain values, or None."""
    if not isinstance(value, dict) or isinstance(sample, type):
        return None
    if dataclasses.is_dataclass(sample):
        return _build_dataclass(sample, value)
    if not hasattr(sample, "model_validate"):
        return None
    try:
        return type(sample).model_validate(value)
    except ValueError:  # pydantic's errors are ValueErrors
        return None


def _build_dataclass(sample: Any, value: dict[str, Any]) -> Any:
    """Return an object of a dataclass, or None if its fixed fields, such as `part_kind`, have other values."""
    names = {field.name for field in dataclasses.fields(sample) if field.init}
    given = {name: shape_like(getattr(sample, name, None), each) for name, each in value.items() if name in names}
    try:
        for name in given:
            if isinstance(getattr(sample, name, None), bytes) and isinstance(given[name], str):
                given[name] = base64.b64decode(given[name], validate=True)
        made = type(sample)(**given)
    except (TypeError, ValueError):  # dataclasses of pydantic check their fields
        return None
    return made if all(getattr(made, name, None) == value[name] for name in value.keys() - names) else None
