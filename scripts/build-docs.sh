#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The pages as a site that needs no network, out/site/index.html: executes the notebooks (docs/notebooks) with the Python
# package, checks every link and place, and, where node and Chromium are there, opens some pages.
# PELTON_PACKAGE=DIR: the folder that holds the package, where it shall not be built.
# Exit code: 0; 1 for a warning, a notebook that fails, a link that leads nowhere; 4 when something needed is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh docs web
python=.venv/bin/python
if ! "$python" -c 'import sphinx, myst_nb, pydata_sphinx_theme, vl_convert' 2>/dev/null; then
    echo "docs: not built: Python packages are missing (scripts/setup.sh docs)" >&2
    exit 4
fi
work=${CARGO_TARGET_DIR:-target}/docs
rm -rf "$work"
mkdir -p "$work/ipython/profile_default" out
cp docs/site/ipython_kernel_config.py "$work/ipython/profile_default/"

package=${PELTON_PACKAGE:-}
if [ -z "$package" ]; then
    scripts/build-wheel.sh
    package=$work/package
    "$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --target "$package" out/pelton-*.whl
fi
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1 IPYTHONDIR JUPYTER_PREFER_ENV_PATH=1 JUPYTER_DATA_DIR
PYTHONPATH=$(cd "$package" && pwd)
IPYTHONDIR=$(cd "$work/ipython" && pwd)
JUPYTER_DATA_DIR=$IPYTHONDIR/data

begin=$SECONDS
"$python" -m sphinx -b html -c docs/site -d "$work/doctrees" -j "$(nproc)" -W --keep-going -q . "$work/html" || exit 1
rm -rf "$work/html/.buildinfo" "$work/html/_sources" "$work/html/_static/webpack-macros.html"
"$python" docs/site/check.py "$work/html" "$work/elsewhere.txt" "$PWD"
rm -rf out/site
mv "$work/html" out/site

for page in docs/README docs/notebooks/first-ten-minutes docs/notebooks/uclamp-sum docs/gaps; do
    code=0
    node web/check_site.mjs "out/site/$page.html" --below out/site || code=$?
    [ "$code" != 4 ] && [ "$code" != 127 ] || { echo "docs: pages were not opened in a browser (scripts/setup.sh web)"; break; }
    [ "$code" = 0 ] || exit 1
done
printf 'docs: out/site/index.html, %s pages, %s kB, %d s; links elsewhere: %s\n' "$(find out/site -name '*.html' | wc -l)" \
    "$(du -sk out/site | cut -f1)" $((SECONDS - begin)) "$work/elsewhere.txt"
