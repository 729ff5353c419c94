"""Decode an image and encode it again, small and without metadata, with the library of the extra `images`."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from math import sqrt
from typing import TYPE_CHECKING, Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.tasks import Result, Task

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "AVIF", "BMP", "ICO")
"""The formats that are decoded. Pillow's faults are mostly in others."""
MAX_PIXELS: Final = 25_000_000
"""Pixels of the largest image that is decoded: as most cameras have. WebP of 40,000,000 exceeds a worker's memory."""
MAX_BYTES: Final = 375_000
"""Bytes of the encoded image: 500,000 characters of base64."""
QUALITY: Final = 85
"""Quality of JPEG. Above it files grow faster than they improve (Pillow's documentation advises 75 to 95)."""
SHRINK: Final = 0.7
"""Factor of both sides for an image that exceeds `MAX_BYTES`: half of the pixels."""
NEEDS_EXTRA: Final = "seeing it needs Keyhole's extra [images], whose command `keyhole doctor` prints"
"""The command itself would show the folder of the installation to the clients of a hosted server."""
TO_8_BITS: Final = 255 / 65_535
"""Factor of a value of 16 bits."""


def encode_task(body: bytes, max_side: int, max_pixels: int, library: str = "PIL") -> Task:
    """Return the task that encodes an image with at most so many pixels.

    Raises KeyholeError (unsupported_media) if the library is missing.
    """
    if find_spec(library) is None:
        raise KeyholeError(Code.UNSUPPORTED_MEDIA, NEEDS_EXTRA)
    return Task(encode, {"max_side": max_side, "max_pixels": max_pixels}, (body,))


def encode(arguments: Mapping[str, Any], bodies: Sequence[bytes]) -> Result:
    """Return the first frame of an image as PNG or JPEG, whichever is smaller, with its type and size in pixels.

    Raises KeyholeError: decompression_bomb for too many pixels, extraction_failed for a damaged file.
    """
    image = _open(bodies[0], arguments["max_side"], arguments["max_pixels"])
    media_type, encoded = _encode(image)
    while len(encoded) > MAX_BYTES:
        image = _resize(image, _scaled(image.size, SHRINK))
        media_type, encoded = _encode(image)
    return {"media_type": media_type, "width": image.width, "height": image.height}, encoded


def _open(body: bytes, max_side: int, max_pixels: int) -> Image:
    """Return the first frame in RGB or RGBA, upright, with at most so many pixels."""
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = MAX_PIXELS  # also for the images in an ICO file, which have sizes of their own
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image: Image.Image = Image.open(io.BytesIO(body), formats=FORMATS)
            pixels = image.width * image.height
            size = _scaled(image.size, min(1.0, max_side / max(image.size), sqrt(max_pixels / pixels)))
            image.draft("RGB", size)  # JPEG can be decoded at a half, a quarter or an eighth of its size
            return ImageOps.exif_transpose(_resize(_convert(image), size))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        message = f"the image has over {MAX_PIXELS:,} pixels"
        raise KeyholeError(Code.DECOMPRESSION_BOMB, message) from error
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise KeyholeError(Code.EXTRACTION_FAILED, "the image is damaged") from error


def _convert(image: Image) -> Image:
    """Return an image in RGB, or in RGBA if it has transparent parts."""
    if image.mode.startswith("I"):  # gray in 16 bits
        image = image.convert("I").point(lambda value: value * TO_8_BITS).convert("L")
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _scaled(size: tuple[int, int], factor: float) -> tuple[int, int]:
    return max(1, int(size[0] * factor)), max(1, int(size[1] * factor))


def _resize(image: Image, size: tuple[int, int]) -> Image:
    from PIL.Image import Resampling

    return image if image.size == size else image.resize(size, Resampling.LANCZOS, reducing_gap=3.0)


def _encode(image: Image) -> tuple[str, bytes]:
    """Return the type and the bytes of the smaller encoding. JPEG shows transparent parts on white."""
    from PIL import Image

    png, jpeg = io.BytesIO(), io.BytesIO()
    image.info = {}  # otherwise Pillow writes the metadata again
    image.save(png, "PNG")
    if image.mode == "RGBA":
        if png.tell() <= MAX_BYTES:
            return "image/png", png.getvalue()
        flat = Image.new("RGB", image.size, "white")
        flat.paste(image, mask=image)
        image = flat
    image.save(jpeg, "JPEG", quality=QUALITY)
    return ("image/png", png.getvalue()) if png.tell() <= jpeg.tell() else ("image/jpeg", jpeg.getvalue())
