"""Read a static model: a table with one vector for each token. The vector of a text is the mean of its tokens' vectors.

The models of Model2Vec have this form (Minish Lab, https://github.com/MinishLab/model2vec), and so do the static models
of sentence-transformers. There is no network of layers, so a passage takes a fraction of a millisecond.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.inference import measure_passages
from keyhole.extensions.models.manifest import TABLE, TOKENIZER, Manifest
from keyhole.runtime.installation import check_extra
from keyhole.text.parse_json import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    Rows = np.ndarray[Any, np.dtype[Any]]

TABLE_NAMES: Final = ("embeddings", "embedding.weight")
"""The names of the table in files of Model2Vec and of sentence-transformers."""
ROW_WEIGHTS: Final = "weights"
"""A weight for each token, in files of Model2Vec."""
ROW_NUMBERS: Final = "mapping"
"""The row of each token, in files of Model2Vec where tokens share rows."""
HEADER_BYTES: Final = 8
"""The length of the header, as an integer, is at the beginning of a file in the format safetensors."""
MAX_HEADER_BYTES: Final = 1 << 20
"""Bytes. The header of a table with three arrays has some hundreds."""
DTYPES: Final = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I8": "i1", "I32": "<i4", "I64": "<i8"}
"""numpy's names of the types of numbers in safetensors files."""


class StaticTable:
    """A table of vectors, of which only the rows that texts need are read into memory."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        """Open the table and the tokenizer.

        Raises KeyholeError: invalid_argument if a package is missing, internal_error if the files are not those of a
        static model.
        """
        check_extra("semantic", user="a local model")
        import tokenizers

        with _converted_faults(f"the model {manifest.name} cannot be loaded"):
            arrays = map_arrays(folder / TABLE)
            self._table = next(arrays[name] for name in TABLE_NAMES if name in arrays)
            self._weights, self._rows = arrays.get(ROW_WEIGHTS), arrays.get(ROW_NUMBERS)
            tokenizer = tokenizers.Tokenizer.from_buffer((folder / TOKENIZER).read_bytes())
            tokenizer.no_padding()
            tokenizer.enable_truncation(manifest.max_tokens)
            self._tokenizer: Any = tokenizer
            self._unknown = _unknown_token(tokenizer)

    def embed(self, text: str) -> bytes:
        """Return the vector of a text as 32-bit floats, of length 1; of zeros if no token of it is known."""
        import numpy as np

        # The tokenizer refuses a lone surrogate, which a page may have.
        encoding = self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)
        tokens = [token for token in encoding.ids if token != self._unknown]
        if not tokens:
            return bytes(4 * self._table.shape[1])
        rows = self._table[tokens if self._rows is None else self._rows[tokens]].astype(np.float32)
        if self._weights is not None:
            rows *= self._weights[tokens].astype(np.float32)[:, None]
        mean = rows.mean(axis=0)
        vector: bytes = (mean / max(float(np.linalg.norm(mean)), np.finfo(np.float32).tiny)).tobytes()
        return vector

    def measure_speed(self) -> float:
        """Return the milliseconds of one passage of usual length on this machine."""
        return measure_passages(self.embed)


def map_arrays(path: Path) -> dict[str, Rows]:
    """Return the arrays of a safetensors file, mapped from disk. Raises ValueError or OSError for any other file.

    The package safetensors would read the whole table: 512 MB for the largest one that is listed.
    """
    import numpy as np

    with path.open("rb") as file:
        length = int.from_bytes(file.read(HEADER_BYTES), "little")
        if length > MAX_HEADER_BYTES:
            raise ValueError("it has no header of the format safetensors")
        header: Any = parse_json(file.read(length))
    start = HEADER_BYTES + length
    try:
        return {
            name: np.memmap(path, DTYPES[array["dtype"]], "r", start + array["data_offsets"][0], tuple(array["shape"]))
            for name, array in header.items()
            if name != "__metadata__"
        }
    except (AttributeError, LookupError, TypeError) as error:
        raise ValueError(f"its header is malformed: {error}") from error


def _unknown_token(tokenizer: Any) -> int | None:
    """Return the number of the token that stands for unknown characters, None if there is none: it means nothing."""
    model: Any = parse_json(tokenizer.to_str())["model"]
    unknown = model.get("unk_token")
    number: int | None = tokenizer.token_to_id(unknown) if unknown else model.get("unk_id")
    return number


@contextmanager
def _converted_faults(fault: str) -> Iterator[None]:
    """Raise KeyholeError (internal_error) for files that are not those of a static model."""
    try:
        yield
    except (OSError, ValueError, LookupError, StopIteration) as error:
        raise KeyholeError(Code.INTERNAL_ERROR, f"{fault}: {error}", fault=fault) from error
