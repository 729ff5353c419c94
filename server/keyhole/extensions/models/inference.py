"""Run a local model with onnxruntime: vectors of texts, vectors of tokens, or scores of pairs.

The same input gives the same output on one machine: each text is computed alone, by one thread. In a batch, models with
8-bit weights would round each text by the largest values of all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.manifest import TOKENIZER, WEIGHTS, Manifest, ModelKind, Pooling
from keyhole.runtime.installation import check_extra

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float32]]

TEXT_TOKENS: Final = 128
"""Tokens of a text that are read. A passage with its headings seldom has more; the time grows with the tokens."""
POOLED_OUTPUT: Final = "sentence_embedding"
"""The output of models that pool the vectors of their tokens themselves, as sentence-transformers names it."""
MEASURED_TEXTS: Final = 8
"""Passages that are computed after the first, which also prepares the model."""
_PASSAGE: Final = (
    "Write-ahead logging › Checkpointing\nA checkpoint moves the pages of the log back into the database file. It runs "
    "when the log has a thousand pages, and when the last connection is closed. A reader that stays open keeps it from "
    "finishing, so the log grows until the reader ends. Passage "
)
_QUERY: Final = "why does the log of the database grow without limit?"
SEVERE_ONLY: Final = 3
"""The level of onnxruntime's log: errors. Its warnings are about how a graph was exported."""


class Inference:
    """A model that is loaded into memory. Several threads may call its methods at the same time."""

    def __init__(self, folder: Path, manifest: Manifest, max_tokens: int = TEXT_TOKENS) -> None:
        """Load the weights and the tokenizer. `max_tokens`: the tokens of a text that are read.

        Raises KeyholeError: invalid_argument if the packages are missing, internal_error if the files are not those of
        a model. The methods raise internal_error if a computation fails.
        """
        check_extra("semantic", user="a local model")
        import onnxruntime
        import tokenizers

        options = onnxruntime.SessionOptions()
        # Two threads for one input of this length take a third more processor time than two inputs side by side.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = SEVERE_ONLY
        options.enable_cpu_mem_arena = False  # it would keep the memory of the longest input
        with converted_faults(f"the model {manifest.name} cannot be loaded"):
            self._session = onnxruntime.InferenceSession(
                str(folder / WEIGHTS), options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = tokenizers.Tokenizer.from_buffer((folder / TOKENIZER).read_bytes())
        self._manifest = manifest
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(min(max_tokens, manifest.max_tokens))
        self._inputs = {each.name for each in self._session.get_inputs()}
        outputs = [each.name for each in self._session.get_outputs()]
        wants_pooled = manifest.kind is ModelKind.EMBEDDING and POOLED_OUTPUT in outputs
        self._output = POOLED_OUTPUT if wants_pooled else outputs[0]

    def embed(self, text: str) -> bytes:
        """Return the vector of a text with its prefix, as 32-bit floats, of length 1."""
        import numpy as np

        output = self._run(text)[0]
        if output.ndim == 2:  # vectors of tokens
            output = output[0] if self._manifest.pooling is Pooling.CLS else output.mean(axis=0)
        vector: bytes = _scale_rows(output[None, :])[0].astype(np.float32).tobytes()
        return vector

    def query_tokens(self, query: str) -> Array:
        """Return the vectors of a query's tokens, one row each, of length 1."""
        return _scale_rows(self._run(self._manifest.query_prefix + query)[0])

    def compare_tokens(self, query: Array, text: str) -> float:
        """Return the mean, over a query's tokens, of the greatest cosine with a token of the text."""
        tokens = _scale_rows(self._run(self._manifest.text_prefix + text)[0])
        return float((query @ tokens.T).max(axis=1).mean())

    def score_pair(self, query: str, text: str) -> float:
        """Return the score of a query and a text that are read together, in the scale of the model."""
        return float(self._run(query, text).reshape(-1)[-1])

    def measure_speed(self) -> float:
        """Return the milliseconds of one passage of usual length on this machine."""
        kind = self._manifest.kind
        tokens = self.query_tokens(_QUERY) if kind is ModelKind.LATE_INTERACTION else None
        if tokens is not None:
            return measure_passages(lambda text: self.compare_tokens(tokens, text))
        return measure_passages(partial(self.score_pair, _QUERY) if kind is ModelKind.CROSS_ENCODER else self.embed)

    def _run(self, *texts: str) -> Array:
        """Return the output for one text, or for two that are read together."""
        import numpy as np

        # The tokenizer refuses a lone surrogate, which a page may have.
        encode: Any = self._tokenizer.encode
        encoding = encode(*(text.encode("utf-8", "replace").decode() for text in texts))
        values = {
            "input_ids": encoding.ids, "attention_mask": encoding.attention_mask, "token_type_ids": encoding.type_ids,
        }  # fmt: skip
        inputs = {name: np.array([row], dtype=np.int64) for name, row in values.items() if name in self._inputs}
        with converted_faults(f"the model {self._manifest.name} failed"):
            output: Array = self._session.run([self._output], inputs)[0]
        return output


def measure_passages(compute: Callable[[str], object]) -> float:
    """Return the milliseconds that a model takes for a passage of usual length: the median of several passages."""
    times = []
    for number in range(MEASURED_TEXTS + 1):
        start = time.perf_counter()
        compute(f"{_PASSAGE}{number}")
        times.append(1_000 * (time.perf_counter() - start))
    return median(times[1:])


@contextmanager
def converted_faults(fault: str) -> Iterator[None]:
    """Raise KeyholeError (internal_error) for the exceptions of onnxruntime and tokenizers."""
    try:
        yield
    except _library_faults() as error:
        raise KeyholeError(Code.INTERNAL_ERROR, f"{fault}: {error}", fault=fault) from error


@cache
def _library_faults() -> tuple[type[Exception], ...]:
    """Return the exceptions of both packages. Those of onnxruntime have no common base but Exception."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own = [each for each in vars(state).values() if isinstance(each, type) and issubclass(each, Exception)]
    return (*own, ValueError, RuntimeError, OSError)


def _scale_rows(rows: Array) -> Array:
    """Return the rows scaled to length 1."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Array = rows / np.maximum(lengths, np.finfo(np.float32).tiny)
    return scaled
