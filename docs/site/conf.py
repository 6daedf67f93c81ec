# SPDX-License-Identifier: GPL-2.0-or-later
"""The pages as a site, by Sphinx and MyST-NB: `make docs`. Pages stay plain Markdown; what only the site needs is here."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "Pelton"
author = "the authors of Pelton"
copyright = ""
root_doc = "docs/README"
include_patterns = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md", "CHANGELOG.md", "docs/**",
                    "fuzz/README.md", "scenarios/**/README.md", "tests/trace/kernel-placement/README.md"]
exclude_patterns = [".*", "bench", "core", "crates", "out", "python", "reference", "scripts", "target", "vectors", "web", "xtask", "docs/site"]
extensions = ["myst_nb", "api", "contents", "links", "pictures"]
nitpicky = True

# Links to headings as forges make them.
myst_heading_anchors = 4
# Generated pages have tables of keys below their title.
suppress_warnings = ["myst.header"]
# `$` is a prompt here.
myst_enable_extensions = []

# Every notebook, every time; one that fails is an error.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
# Its default loads scripts from elsewhere.
nb_ipywidgets_js = {}

html_theme = "pydata_sphinx_theme"
html_title = "Pelton"
html_static_path = ["static"]
html_css_files = ["site.css"]
templates_path = ["templates"]
html_additional_pages = {"index": "start.html"}
html_sidebars = {"**": ["find.html", "pages.html"]}
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "logo": {"text": "Pelton"},
    "search_bar_text": "Search",
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": [],
    "footer_end": [],
}
