# SPDX-License-Identifier: GPL-2.0-or-later
"""Reference pages of the Python package, one a module, from its files and stubs: signatures, types and docstrings as
they stand there. They are written beside the other pages while the site is built, and taken away afterwards."""

import ast
import shutil
from pathlib import Path

from sphinx.application import Sphinx

#: Modules that people import, and their files; what a module imports from another one is described there.
MODULES = {"pelton": "__init__.py", "pelton.core": "core.py", "pelton.wl": "wl.py"}
PAGES = "docs/reference/python"

Definition = ast.FunctionDef | ast.ClassDef


class Package:
    """Files of the package; a compiled module is read from its stub."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._trees: dict[str, ast.Module] = {}

    def tree(self, file: str) -> ast.Module:
        """A file, read once."""
        if file not in self._trees:
            self._trees[file] = ast.parse((self._folder / file).read_text(encoding="utf-8"))
        return self._trees[file]

    def public(self, file: str) -> list[str]:
        """Names that a module hands out: `__all__`, or what is defined in it."""
        body = self.tree(file).body
        assigned = [node for node in body if isinstance(node, ast.Assign)]
        lists = [node.value for node in assigned if ast.unparse(node.targets[0]) == "__all__"]
        if lists:
            return [name for name in ast.literal_eval(lists[0]) if not name.startswith("_")]
        return [node.name for node in body if isinstance(node, Definition) and not node.name.startswith("_")]

    def definition(self, file: str, name: str) -> tuple[str, ast.stmt] | None:
        """Where a name is defined, and how; None for a module."""
        for node in self.tree(file).body:
            if isinstance(node, Definition) and node.name == name:
                return file, node
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name:
                return file, node
            if isinstance(node, ast.ImportFrom) and node.module and name in [alias.name for alias in node.names]:
                found = [f"{node.module}{ending}" for ending in (".pyi", ".py")]
                return self.definition(next(file for file in found if (self._folder / file).is_file()), name)
        return None

    def methods(self, file: str, node: ast.ClassDef) -> list[ast.FunctionDef]:
        """Public methods and properties that have a docstring, those of base classes of the package first."""
        inherited: list[ast.FunctionDef] = []
        for base in node.bases:
            found = self.definition(file, ast.unparse(base))
            if found and isinstance(found[1], ast.ClassDef):
                inherited += self.methods(found[0], found[1])
        own = [one for one in node.body if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")]
        described = [one for one in own if ast.get_docstring(one)]
        return [one for one in inherited if one.name not in {own.name for own in described}] + described


def prose(text: str | None) -> str:
    """A docstring as Markdown: examples become blocks of code."""
    lines: list[str] = []
    in_example = False
    for line in (text or "").splitlines():
        begins = line.startswith(">>>") and not in_example
        ends = not line.strip() and in_example
        lines += ["```python"] if begins else ["```"] if ends else []
        in_example = begins or (in_example and not ends)
        lines.append(line)
    return "\n".join([*lines, "```"] if in_example else lines)


def is_property(node: ast.FunctionDef) -> bool:
    """True for what is read like a field."""
    return any(ast.unparse(one) in {"property", "cached_property"} for one in node.decorator_list)


def signature(node: ast.FunctionDef, *, method: bool) -> str:
    """Name, arguments with types and defaults, and what is returned; an argument a line where there are many."""
    returned = f" -> {typed(node.returns)}" if node.returns else ""
    if is_property(node):
        return f"{node.name}: {typed(node.returns)}" if node.returns else node.name
    arguments = each(node.args)[1 if method else 0 :]
    whole = f"{node.name}({', '.join(arguments)}){returned}"
    if len(whole) <= 100:
        return whole
    return f"{node.name}(\n" + "".join(f"    {one},\n" for one in arguments) + f"){returned}"


def each(arguments: ast.arguments) -> list[str]:
    """Arguments, each with its type and default, and the marks between them."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    listed = [written(one, default) for one, default in zip(plain, defaults, strict=True)]
    if arguments.posonlyargs:
        listed.insert(len(arguments.posonlyargs), "/")
    if arguments.vararg:
        listed.append(f"*{written(arguments.vararg, None)}")
    elif arguments.kwonlyargs:
        listed.append("*")
    listed += [written(one, default) for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return listed + ([f"**{written(arguments.kwarg, None)}"] if arguments.kwarg else [])


def written(one: ast.arg, default: ast.expr | None) -> str:
    """An argument with its type and default."""
    named = f"{one.arg}: {typed(one.annotation)}" if one.annotation else one.arg
    if default is None:
        return named
    return f"{named} = {ast.unparse(default)}" if one.annotation else f"{named}={ast.unparse(default)}"


def typed(annotation: ast.expr) -> str:
    """A type, by the name that people import."""
    return ast.unparse(annotation).replace("_pelton.", "").replace("_ask.", "")


def entry(package: Package, module: str, name: str, found: tuple[str, ast.stmt]) -> str:
    """Section of a name."""
    file, node = found
    head = f"## {module}.{name}\n\n"
    if isinstance(node, ast.FunctionDef):
        return f"{head}```python\n{signature(node, method=False)}\n```\n\n{prose(ast.get_docstring(node))}\n"
    if isinstance(node, ast.AnnAssign):
        return f"{head}```python\n{ast.unparse(node)}\n```\n"
    assert isinstance(node, ast.ClassDef)
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    text = f"{head}```python\nclass {name}{f'({bases})' if bases else ''}\n```\n\n{prose(ast.get_docstring(node))}\n"
    for method in package.methods(file, node):
        text += f"\n### {name}.{method.name}\n\n```python\n{signature(method, method=True)}\n```\n\n"
        text += f"{prose(ast.get_docstring(method))}\n"
    return text


def page(package: Package, module: str) -> str:
    """Page of a module."""
    file = MODULES[module]
    text = f"# {module}\n\n{prose(ast.get_docstring(package.tree(file)))}\n"
    for name in package.public(file):
        found = package.definition(file, name)
        if found:
            text += f"\n{entry(package, module, name, found)}"
    return text


def write(app: Sphinx) -> None:
    """Writes the pages."""
    top = Path(app.srcdir)
    package = Package(top / "python/pelton")
    (top / PAGES).mkdir(parents=True, exist_ok=True)
    for module in MODULES:
        (top / PAGES / f"{module}.md").write_text(page(package, module), encoding="utf-8")


def remove(app: Sphinx, _error: Exception | None) -> None:
    """Takes the pages away: they are no part of the repository."""
    shutil.rmtree(Path(app.srcdir) / PAGES, ignore_errors=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", write)
    app.connect("build-finished", remove)
    return {"parallel_read_safe": True}
