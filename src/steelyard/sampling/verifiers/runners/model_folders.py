"""Where a model's files are: a folder, or the local copy of a Hugging Face name."""

from __future__ import annotations

from pathlib import Path

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.verifiers.tokens import INSTALL

TEXTS = ["*.json", "*.jinja"]
WEIGHTS = ["*.safetensors"]


def model_folder(name: str, *, weights: bool = True) -> Path:
    """The folder of a model; a Hugging Face name is downloaded once, without any code it may bring."""
    if Path(name).is_dir():
        return Path(name)
    if name.startswith((".", "/", "~")) or name.count("/") != 1:
        raise VerifierError(f"no model at {name!r}: give a folder or a Hugging Face name (OWNER/NAME) by --model")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise VerifierError(f"cannot fetch {name}: the model packages are not installed; {INSTALL}") from None
    try:
        return Path(snapshot_download(name, allow_patterns=TEXTS + (WEIGHTS if weights else [])))
    except Exception as error:  # noqa: BLE001 - whatever the network, the disk or the hub says
        reason = " ".join(str(error).split())[:200]
        raise VerifierError(
            f"cannot fetch {name} from the Hugging Face hub: {reason}; or download it and give its folder by --model"
        ) from None
