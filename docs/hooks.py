"""Hooks of MkDocs: a pattern in the menu stands for all pages that match it, and links from a page to files outside docs/
work on the site as they do in a clone.

A page links to `../config/edge.yaml` or `../deploy/chart`, as it stands in the repository. MkDocs knows only what is in
docs/. So each such file gets a copy on the site, below `files/`, and the link leads there. A directory becomes a page that
lists its files, and a Markdown file becomes a page. A link to what does not exist stays as it is: MkDocs then warns, which
fails a strict build.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File, InclusionLevel

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(\))")
SKIPPED = {"target", "node_modules"}


def on_config(config):
    """Replaces a pattern in the menu, such as `rationale/*`, by the pages that match it, index.md first."""
    config.nav = [each for item in config.nav for each in expanded(item, Path(config.docs_dir))]
    return config


def expanded(item, docs):
    title, pattern = next(iter(item.items())) if isinstance(item, dict) else (None, item)
    if not isinstance(pattern, str) or "*" not in pattern:
        return [item]
    pages = sorted(docs.glob(pattern + ".md"), key=lambda page: (page.name != "index.md", page.name))
    return [{title: [page.relative_to(docs).as_posix() for page in pages]}] if pages else []


def on_files(files, config):
    """Adds a copy of each file that some page links to, and of what those pages link to in turn."""
    todo = [file for file in files if file.is_documentation_page()]
    while todo:
        page = todo.pop()
        for match in LINK.finditer(page.content_string):
            target = outside(page.src_uri, match.group(2))
            if target is None or files.get_file_from_path(address(target)):
                continue
            for file in copies(target, config):
                if not files.get_file_from_path(file.src_uri):
                    files.append(file)
                    if file.is_documentation_page():
                        todo.append(file)
    return files


def on_page_markdown(markdown, page, config, files):
    """Rewrites the links that lead outside docs/, and those of copied pages that lead back."""
    here = page.file.src_uri

    def rewrite(match):
        target = outside(here, match.group(2))
        if target is not None:
            path = address(target)
        elif here.startswith("files/"):
            path = posixpath.relpath(in_repository(here, match.group(2)), "docs")
        else:
            return match.group(0)
        link = posixpath.relpath(path, posixpath.dirname(here) or ".")
        return match.group(1) + link + (match.group(3) or "") + match.group(4)

    return LINK.sub(rewrite, markdown)


def in_repository(page, link):
    """Returns the path in the repository that a link of a page means."""
    source = page.removeprefix("files/") if page.startswith("files/") else "docs/" + page
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), link))


def outside(page, link):
    """Returns the path in the repository of what a link means, or None if that is in docs/ or does not exist."""
    path = in_repository(page, link)
    if path.startswith(("docs/", "../", "/")) or not (ROOT / path).exists():
        return None
    return path


def address(path):
    """Returns where the site has a file or directory of the repository."""
    return f"files/{path}/index.md" if (ROOT / path).is_dir() else f"files/{path}"


def copies(path, config):
    """Yields the files of the site for a file or directory of the repository."""
    source = ROOT / path
    if not source.is_dir():
        yield copy(path, config, abs_src_path=str(source)) if source.suffix != ".md" else copy(
            path, config, content=source.read_text("utf-8"))
        return
    below = sorted(file for file in source.rglob("*") if file.is_file() and not SKIPPED & set(file.parts))
    lines = [f"# {path}", ""]
    for file in below:
        name = file.relative_to(source).as_posix()
        lines.append(f"- [{name}]({name})")
        yield copy(f"{path}/{name}", config, abs_src_path=str(file))
    yield copy(f"{path}/index.md", config, content="\n".join(lines) + "\n")


def copy(path, config, **source):
    return File.generated(config, f"files/{path}", inclusion=InclusionLevel.NOT_IN_NAV, **source)
