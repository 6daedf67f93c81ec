# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads exported tables with pandas, polars, pyarrow and DuckDB, as they are: no option says what is in them.

usage: check_tables.py FOLDER

FOLDER has the folders csv, json and parquet, each written by `pelton trace export RUN --to FORM -o FOLDER/FORM/`. The rows
of the CSV files, read with Python's own csv module, are the judge: whole numbers and names, compared exactly. What is not installed
is said, with `not measured:`.
"""

import csv
import importlib
import pathlib
import sys

ENDINGS = {"csv": "csv", "json": "jsonl", "parquet": "parquet"}


def value(cell):
    """A whole number, a name, or None where the trace does not tell it."""
    if cell is None or cell == "" or cell != cell:
        return None
    return cell if isinstance(cell, str) and not cell.lstrip("-").isdigit() else int(cell)


def expected(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], [[value(cell) for cell in row] for row in rows[1:]]


def with_pandas(pandas, path, form):
    if form == "csv":
        table = pandas.read_csv(path)
    elif form == "json":
        table = pandas.read_json(path, lines=True, precise_float=True)
    else:
        importlib.import_module("pyarrow")
        table = pandas.read_parquet(path)
    return list(table.columns), [[value(cell) for cell in row] for row in table.itertuples(index=False)]


def with_polars(polars, path, form):
    read = {"csv": polars.read_csv, "json": polars.read_ndjson, "parquet": polars.read_parquet}[form]
    table = read(path)
    return table.columns, [list(row) for row in table.rows()]


def with_pyarrow(pyarrow, path, form):
    module = {"csv": "csv", "json": "json", "parquet": "parquet"}[form]
    module = importlib.import_module("pyarrow." + module)
    table = {"csv": "read_csv", "json": "read_json", "parquet": "read_table"}[form]
    table = getattr(module, table)(path)
    return table.column_names, [list(row) for row in zip(*(column.to_pylist() for column in table.columns))]


def with_duckdb(duckdb, path, form):
    read = {"csv": "read_csv", "json": "read_json_auto", "parquet": "read_parquet"}[form]
    result = duckdb.sql(f"SELECT * FROM {read}('{path}')")
    return result.columns, [list(row) for row in result.fetchall()]


READERS = {"pandas": with_pandas, "polars": with_polars, "pyarrow": with_pyarrow, "duckdb": with_duckdb}
# Numbers above 2^63 are guessed as something else where nothing says what they are.
TOO_LARGE = 1 << 63


def main(folder):
    tables = sorted((folder / "csv").glob("*.csv"))
    tables = [path for path in tables if path.stem != "tasks"]
    wrong = []
    for name, read in READERS.items():
        try:
            library = importlib.import_module(name)
        except ImportError as error:
            print(f"not measured: tables read with {name}: {error}")
            continue
        for form, ending in ENDINGS.items():
            count = 0
            for path in tables:
                columns, rows = expected(path)
                large = any(isinstance(cell, int) and cell >= TOO_LARGE for row in rows for cell in row)
                if large and form != "parquet":
                    continue
                found = read(library, str(folder / form / f"{path.stem}.{ending}"), form)
                if (list(found[0]), found[1]) != (columns, rows):
                    wrong.append(f"{name}: {form}: {path.stem}: {found[0]} {found[1][:1]}, not {columns} {rows[:1]}")
                count += len(rows)
            print(f"{name} {library.__version__}: {form}: {count} rows of {len(tables)} tables")
    print("\n".join(wrong))
    return 1 if wrong or not tables else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
