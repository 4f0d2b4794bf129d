#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Calls of libc as foreign programs of a lab make them: lab_client.py NAME."""
import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD = -100
HCA = b"/sys/class/infiniband/lab0"
STAT_VERSION = {"x86_64": 1}.get(os.uname().machine, 0)


def call(name, *args, type=ctypes.c_int):
    """What it returns, which is not an error."""
    function = getattr(libc, name)
    function.restype = type
    value = function(*args)
    if value is None or type == ctypes.c_int and value < 0:
        sys.exit(f"{name}: {os.strerror(ctypes.get_errno())}")
    return value


def paths():
    room = ctypes.create_string_buffer(4096)
    for x in "", "64":
        call("open" + x, HCA, 0)
        call(f"__open{x}_2", HCA, 0)
        call("openat" + x, AT_FDCWD, HCA, 0)
        call(f"__openat{x}_2", AT_FDCWD, HCA, 0)
        for name in "stat", "lstat":
            call(name + x, HCA, room)
            call(f"__{name[:-4]}xstat{x}", STAT_VERSION, HCA, room)
        call("fstatat" + x, AT_FDCWD, HCA, room, 0)
        call("__fxstatat" + x, STAT_VERSION, AT_FDCWD, HCA, room, 0)
        call("scandir" + x, HCA, room, None, None)
        file = ctypes.c_void_p(call("fopen" + x, HCA + b"/node_type", b"r",
                                    type=ctypes.c_void_p))
        file = ctypes.c_void_p(call("freopen" + x, HCA + b"/node_type", b"r",
                                    file, type=ctypes.c_void_p))
        assert libc.fgetc(file) == ord("1")
        assert call("glob" + x, HCA[:-1] + b"?/ports/*/state", 0, None,
                    room) == 0, "glob" + x
        found = ctypes.cast(ctypes.c_void_p.from_buffer(room, 8),
                            ctypes.POINTER(ctypes.c_char_p))
        assert found[0] == HCA + b"/ports/1/state", found[0]
    call("realpath", HCA, None, type=ctypes.c_char_p)
    call("canonicalize_file_name", HCA, type=ctypes.c_char_p)
    for name in "access", "eaccess", "euidaccess":
        call(name, HCA, os.R_OK)
    call("inotify_add_watch", call("inotify_init"), HCA, 2)


{"paths": paths}[sys.argv[1]]()
