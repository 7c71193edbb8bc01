"""The dataset as files: Parquet, JSON lines, a Hugging Face dataset card, Croissant metadata, checksums.

The files are made in memory and are a function of the dataset alone: no clock, no path and no machine is in them. They
reach the disk as one folder, which appears under its name only when it is whole.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Any, Final

from oulibench.constraints import get_constraint
from oulibench.errors import DataError, MissingExtraError
from oulibench.jsonl import Row, dump_line
from oulibench.language import ITALIAN
from oulibench.results.formats import markdown_table, one_line
from oulibench.suite.dataset import CANARY, DATASET_DATE, DATASET_VERSION, Dataset, checksum
from oulibench.version import __version__

MANIFEST: Final = "oulibench.json"
SUMS: Final = "SHA256SUMS"
CARD: Final = "README.md"
CROISSANT: Final = "croissant.json"
SPLIT: Final = "test"
_FORMAT: Final = 1


def _data(name: str) -> Traversable:
    return files("oulibench").joinpath("data", "dataset", name)


@cache
def _description() -> dict[str, Any]:
    """What the tables and their columns are called, hold and mean."""
    return tomllib.loads(_data("tables.toml").read_text(encoding="utf-8"))


def _tables() -> dict[str, dict[str, Any]]:
    return dict(_description()["tables"])


def table_names() -> tuple[str, ...]:
    """The names of the tables, in order."""
    return tuple(_tables())


def dataset_files(dataset: Dataset, url: str | None = None) -> dict[str, bytes]:
    """Every file of an export, by its path in the folder.

    Args:
        dataset: what to export.
        url: where the dataset is going to be published, for its metadata.

    Raises:
        MissingExtraError: pyarrow is not installed.
        DataError: a value does not fit its column.
    """
    found: dict[str, bytes] = {}
    for name, table in _tables().items():
        found[f"data/{name}.parquet"] = _parquet(name, table["columns"], dataset.rows(name))
        found[f"jsonl/{name}.jsonl"] = b"".join(map(dump_line, dataset.rows(name)))
    found[CROISSANT] = _json(croissant(dataset, found, url))
    found[CARD] = dataset_card(dataset, found).encode("utf-8", "replace")
    found[MANIFEST] = _json(_manifest(dataset))
    found[SUMS] = "".join(f"{_sha256(found[path])}  {path}\n" for path in sorted(found)).encode("ascii")
    return found


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def _manifest(dataset: Dataset) -> Row:
    return {
        "format": _FORMAT,
        "dataset": {"version": DATASET_VERSION, "checksum": checksum()},
        "oulibench": __version__,
        "pyarrow": _pyarrow_version(),
        "suite": dataset.suite.name,
        "tasks": list(dataset.tasks),
        "wordings": list(dataset.wording_names),
        "languages": list(dataset.languages),
        "rows": {name: len(dataset.rows(name)) for name in _tables()},
        "canary": CANARY,
    }


# --- Parquet -----------------------------------------------------------------------------------------------------


def need_pyarrow() -> Any:
    """The module `pyarrow`.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("Writing Parquet needs pyarrow: pip install 'oulibench[dataset]'") from error
    return pyarrow


def _pyarrow_version() -> str:
    return str(need_pyarrow().__version__)


def _parquet(name: str, columns: Sequence[Mapping[str, str]], rows: Sequence[Row]) -> bytes:
    pa = need_pyarrow()
    types = {"string": pa.string(), "int": pa.int32(), "strings": pa.list_(pa.string())}
    schema = pa.schema([(column["name"], types[column["type"]]) for column in columns])
    try:
        table = pa.Table.from_pylist(list(rows), schema=schema)
    except (pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
        raise DataError(f"The table {name} of the dataset cannot be written: {error}") from error
    out = io.BytesIO()
    # Everything that has a default is said, and nothing depends on a codec's version: equal rows give equal bytes. Only
    # the footer names the version of pyarrow.
    pa.parquet.write_table(
        table,
        out,
        version="2.6",
        data_page_version="1.0",
        compression="none",
        use_dictionary=True,
        write_statistics=True,
        row_group_size=10_000,
        data_page_size=1 << 20,
        store_schema=False,
        write_page_index=False,
    )
    return out.getvalue()


# --- the card ----------------------------------------------------------------------------------------------------


def dataset_card(dataset: Dataset, data: Mapping[str, bytes]) -> str:
    """The dataset card: metadata that Hugging Face reads on the data files `data`, and the text for people."""
    return f"---\n{_yaml(_front_matter(dataset, data))}---\n\n{card_text(dataset)}"


def card_text(dataset: Dataset) -> str:
    """The card's text, without its metadata."""
    licence = ITALIAN.data("demonstrations", "LICENSE").read_text(encoding="utf-8")
    return Template(_data("card.md").read_text(encoding="utf-8")).substitute(
        version=DATASET_VERSION,
        checksum=checksum(),
        oulibench=__version__,
        suite=_in_code(dataset.suite.name),
        contents=_contents(dataset),
        tables="\n".join(_table_in_words(dataset, name, table) for name, table in _tables().items()).rstrip("\n"),
        canary=CANARY,
        demonstrations_licence="".join(f"> {line}\n" for line in licence.splitlines()).rstrip("\n"),
        bibtex=_citation(),
        pyarrow=_pyarrow_version(),
    )


def _citation() -> str:
    return _data("citation.bib").read_text(encoding="utf-8").strip()


def _contents(dataset: Dataset) -> str:
    lines = []
    for task in dataset.tasks:
        mine = [row for row in dataset.prompts if row["task"] == task]
        lines.append(
            (
                task,
                get_constraint(task).family,
                str(len({row["target"] for row in mine})),
                ", ".join(str(shots) for shots in sorted({row["shots"] for row in mine})),
                ", ".join(str(n) for n in sorted({row["n"] for row in mine})),
                str(len(mine)),
            )
        )
    suite = dataset.suite
    about = f": {one_line(suite.about).replace('<', '&lt;')}" if suite.about else ""
    asked = f"The prompts are those of the suite `{_in_code(suite.name)}`{about}."
    worded = f"Wordings: {', '.join(dataset.wording_names)}."
    header = ("task", "family", "targets", "demonstrations shown", "texts asked for", "prompts")
    return f"{asked} {worded}\n\n{markdown_table(header, lines)}".rstrip("\n")


def _in_code(text: str) -> str:
    """`text` for a place between backticks."""
    return one_line(text).replace("`", "'")


def _table_in_words(dataset: Dataset, name: str, table: Mapping[str, Any]) -> str:
    lines = [f"| `{column['name']}` | {column['type']} | {column['about']} |" for column in table["columns"]]
    head = f"### {name}\n\n{table['about']} {len(dataset.rows(name)):,} rows.\n\n| column | type | |\n|---|---|---|\n"
    return head + "\n".join(lines) + "\n"


_SIZES: Final = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def _front_matter(dataset: Dataset, data: Mapping[str, bytes]) -> dict[str, Any]:
    described = _description()
    prompts = len(dataset.prompts)
    sizes = {name: len(data[f"data/{name}.parquet"]) for name in _tables()}
    return {
        "pretty_name": described["pretty_name"],
        "license": ["apache-2.0", "cc0-1.0"],
        "language": list(dataset.languages),
        "multilinguality": ["monolingual" if len(dataset.languages) == 1 else "multilingual"],
        "task_categories": ["text-generation"],
        "size_categories": [next((size for limit, size in _SIZES if prompts < limit), "n>1M")],
        "source_datasets": ["original"],
        "tags": [keyword.lower().replace(" ", "-") for keyword in described["keywords"]],
        "configs": [
            {
                "config_name": name,
                **({"default": True} if name == "prompts" else {}),
                "data_files": [{"split": SPLIT, "path": f"data/{name}.parquet"}],
            }
            for name in _tables()
        ],
        "dataset_info": [
            {
                "config_name": name,
                "features": [_feature(column) for column in table["columns"]],
                "splits": [{"name": SPLIT, "num_bytes": sizes[name], "num_examples": len(dataset.rows(name))}],
                "download_size": sizes[name],
                "dataset_size": sizes[name],
            }
            for name, table in _tables().items()
        ],
    }


def _feature(column: Mapping[str, str]) -> dict[str, str]:
    # `sequence`, not the younger `list`: every version of `datasets` reads it.
    kind = {"string": ("dtype", "string"), "int": ("dtype", "int32"), "strings": ("sequence", "string")}
    key, value = kind[column["type"]]
    return {"name": column["name"], key: value}


def _yaml(value: Any, depth: int = 0) -> str:
    """`value` as YAML in block style; every string is quoted as JSON quotes it, which YAML reads the same."""
    indent = "  " * depth
    lines = []
    for key, entry in value.items():
        if isinstance(entry, list):
            lines.append(f"{indent}{key}:\n")
            for element in entry:
                if isinstance(element, dict):
                    block = _yaml(element, depth + 1)
                    lines.append(f"{indent}- {block[len(indent) + 2 :]}")
                else:
                    lines.append(f"{indent}- {json.dumps(element)}\n")
        else:
            lines.append(f"{indent}{key}: {json.dumps(entry)}\n")
    return "".join(lines)


# --- Croissant ---------------------------------------------------------------------------------------------------

_CONTEXT: Final[dict[str, Any]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context that the specification of Croissant 1.0 gives."""
_MIME: Final = {".parquet": "application/x-parquet", ".jsonl": "application/jsonlines"}
_CROISSANT_TYPE: Final = {"string": "sc:Text", "int": "sc:Integer", "strings": "sc:Text"}


def croissant(dataset: Dataset, data: Mapping[str, bytes], url: str | None = None) -> dict[str, Any]:
    """Croissant 1.0 metadata of the data files `data`, whose paths are relative to the metadata."""
    described = _description()
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "OuLiBench",
        "description": f"{described['summary']} Dataset checksum {checksum()}. Canary GUID {CANARY}.",
        "version": DATASET_VERSION,
        "datePublished": DATASET_DATE,
        "license": ["https://spdx.org/licenses/Apache-2.0", "https://spdx.org/licenses/CC0-1.0"],
        "creator": {"@type": "sc:Organization", "name": "The OuLiBench authors"},
        "inLanguage": list(dataset.languages),
        "keywords": described["keywords"],
        "citeAs": _citation(),
        "isLiveDataset": False,
        **({"url": url} if url else {}),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": path,
                "name": path,
                "contentUrl": path,
                "contentSize": f"{len(content)} B",
                "encodingFormat": _MIME[Path(path).suffix],
                "sha256": _sha256(content),
            }
            for path, content in sorted(data.items())
        ],
        "recordSet": [_record_set(name, table) for name, table in _tables().items()],
    }


def _record_set(name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": table["about"],
        **({"key": {"@id": f"{name}/{table['key']}"}} if "key" in table else {}),
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column['name']}",
                "name": column["name"],
                "description": column["about"],
                "dataType": _CROISSANT_TYPE[column["type"]],
                **({"repeated": True} if column["type"] == "strings" else {}),
                "source": {"fileObject": {"@id": f"data/{name}.parquet"}, "extract": {"column": column["name"]}},
            }
            for column in table["columns"]
        ],
    }


# --- the folder --------------------------------------------------------------------------------------------------


def write_folder(content: Mapping[str, bytes], folder: Path) -> bool:
    """Write an export as `folder`, whole or not at all; returns whether it took the place of an older export.

    The folder is new, empty, or an export as this function left it. One that holds anything else (a file that was added
    or changed) is left alone.

    Raises:
        DataError: the folder cannot be written, or holds what would be lost.
    """
    try:
        folder = folder.resolve()
        if file := next((path for path in (folder, *folder.parents) if path.exists() and not path.is_dir()), None):
            raise DataError(f"{file} is a file; name a folder to export into.")
        if folder.exists():
            _check_replaceable(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Beside its place, so that moving it there is one step; gone with everything in it if that step is not reached.
        with tempfile.TemporaryDirectory(
            dir=folder.parent, prefix=".oulibench-", ignore_cleanup_errors=True
        ) as scratch:
            new, old = Path(scratch) / "new", Path(scratch) / "old"
            for name, data in content.items():
                path = new / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            replaced = folder.exists() and any(folder.iterdir())
            if folder.exists():
                folder.rename(old)
            try:
                new.rename(folder)
            except OSError:
                if old.exists():
                    old.rename(folder)
                raise
    except (OSError, RuntimeError) as error:  # RuntimeError: symbolic links in a circle
        why = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"{folder} cannot be written: {why}. What was there is as it was.") from error
    return replaced


def _check_replaceable(folder: Path) -> None:
    if Path.cwd().is_relative_to(folder):
        raise DataError(f"{folder} is the folder you are in, which would be replaced; name another one.")
    there = set(_files_in(folder))
    if not there:
        return
    listed = _listed(folder)
    if listed is None:
        raise DataError(f"{folder} is not empty and is no export of this command; name a new or empty folder.")
    lost = sorted(path for path in there if path != SUMS and not _unchanged(folder / path, listed.get(path)))
    if lost:
        shown = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
        raise DataError(
            f"{folder} holds an export, and files that were added or changed since: {shown}. They would be lost: "
            "export into a new folder, and copy what you need."
        )


def _files_in(folder: Path) -> Iterator[str]:
    """Paths of all that is no folder (or an empty or unreadable one that we would not have made)."""
    for parent, names, found in os.walk(folder):
        here = Path(parent)
        links = [name for name in names if (here / name).is_symlink()]
        empty = [name for name in names if name not in links and not any((here / name).iterdir())]
        for name in (*found, *links, *empty):
            yield (here / name).relative_to(folder).as_posix()


def _listed(folder: Path) -> dict[str, str] | None:
    """Path → SHA-256 of the files of an export; None where the folder is none."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    if not isinstance(manifest, dict) or not {"format", "dataset", "oulibench"} <= set(manifest):
        return None
    return {path: digest for digest, _, path in (line.partition("  ") for line in lines)}


def _unchanged(path: Path, digest: str | None) -> bool:
    return digest is not None and path.is_file() and not path.is_symlink() and _sha256(path.read_bytes()) == digest
