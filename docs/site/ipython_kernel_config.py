# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of `make docs`: charts become pictures, which need no script. In Jupyter they stay alive."""

c = get_config()  # noqa: F821
c.IPKernelApp.log_level = "ERROR"
c.InteractiveShellApp.exec_lines = [
    "__import__('altair').renderers.enable('svg')",
    # Of a progress bar that no page has.
    "__import__('warnings').filterwarnings('ignore', message='IProgress not found')",
]
