#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Calls of libc as foreign programs of a lab make them: lab_client.py NAME."""
import ctypes
import errno
import fcntl
import os
import select
import signal
import struct
import sys
import threading
import time

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
    call("realpath", HCA, None, type=ctypes.c_char_p)
    call("canonicalize_file_name", HCA, type=ctypes.c_char_p)
    for name in "access", "eaccess", "euidaccess":
        call(name, HCA, os.R_OK)
    call("inotify_add_watch", call("inotify_init"), HCA, 2)


# ---- an open umad -----------------------------------------------------------

REGISTER, UNREGISTER = 0xc0281b04, 0x40041b02	# _AGENT2, _AGENT
HEADER = 64


def open_umad():
    """Agent 0 sends SMPs."""
    fd = os.open("/dev/infiniband/umad0", os.O_RDWR)
    register(fd)
    return fd


def register(fd):
    fcntl.ioctl(fd, REGISTER, struct.pack("=IIBBHIQQII", 0, 0, 0x81, 1, 0, 0, 0,
                                          0, 0, 0))


def request(tid, size=256):
    """NodeInfo of the own port."""
    mad = struct.pack(">BBBBHHQHHIQHH", 1, 0x81, 1, 1, 0, 0, tid, 0x11, 0, 0, 0,
                      0xffff, 0xffff)
    head = struct.pack("=IIIII", 0, 0, 1000, 0, 0).ljust(HEADER, b"\0")
    return head + mad[:size].ljust(size, b"\0")


def is_answer(message, tid):
    return (len(message) == HEADER + 256 and message[HEADER + 3] == 0x81 and
            message[HEADER + 12:HEADER + 16] == struct.pack(">I", tid))


def fails_with(number, function, *args):
    try:
        function(*args)
    except OSError as e:
        return e.errno == number
    return False


def start_reader(fd, got):
    """A thread that waits in read(2)."""
    thread = threading.Thread(target=lambda: got.append(os.read(fd, 320)),
                              daemon=True)
    thread.start()
    path = f"/proc/self/task/{thread.native_id}/stat"
    while open(path).read().rsplit(")")[1].split()[0] != "S":
        time.sleep(0.001)
    return thread


def threads():
    fd = open_umad()
    got = []
    thread = start_reader(fd, got)
    os.write(fd, request(1))
    thread.join()
    assert is_answer(got[0], 1)
    start_reader(fd, got)
    fcntl.ioctl(fd, UNREGISTER, struct.pack("=I", 0))
    os._exit(0)


def copies():
    """A umad under another number, another file under the umad's."""
    first = open_umad()
    fd = os.dup(first)
    os.dup2(os.open("/etc/passwd", os.O_RDONLY), first)
    assert os.read(first, 4) == b"root"
    os.write(fd, request(1))
    assert is_answer(os.read(fd, 320), 1)
    second = open_umad()
    register(fd)
    os.write(fd, request(2))
    assert is_answer(os.read(fd, 320), 2)
    libc.close_range(3, 0xffff, 0)
    for n in range(3, max(fd, second) + 1):
        assert os.open("/etc/passwd", os.O_RDONLY) == n
        assert os.read(n, 4) == b"root"


def lengths():
    assert fails_with(errno.ENXIO, os.open, "/dev/infiniband/umad7", os.O_RDWR)
    fd = os.open("/dev/infiniband/umad0", os.O_RDWR)
    assert fails_with(errno.EIO, os.write, fd, request(1))
    register(fd)
    assert fails_with(errno.EINVAL, os.write, fd, request(1, 300))
    assert fails_with(errno.EINVAL, os.write, fd, request(1, 35))
    os.write(fd, request(1))
    assert fails_with(errno.EINVAL, os.write, fd, request(1))
    for n in 63, 64, 100:
        assert fails_with(errno.EINVAL, os.read, fd, n)
        assert select.select([fd], [], [], 60)[0]
    assert is_answer(os.read(fd, 400), 1)
    os.write(fd, request(1))
    assert is_answer(os.read(fd, 320), 1)


def answers():
    """A second one with the TID of a table that is under way."""
    fd = open_umad()
    fcntl.ioctl(fd, REGISTER, struct.pack("=IIBBHIQQII", 0, 1, 3, 2, 0, 0, 0, 0,
                                          0, 1))
    head = struct.pack("=IIIIIIIH", 1, 0, 0, 3, 0, 1 << 24, 0, 5 << 8)
    mad = struct.pack(">BBBBHHQHHIBBB", 1, 3, 2, 0x92, 0, 0, 7, 0x35, 0, 0, 1, 1,
                      1)
    table = head.ljust(HEADER, b"\0") + mad.ljust(1000, b"\0")
    assert os.write(fd, table) == len(table)
    assert fails_with(errno.EINVAL, os.write, fd, table)


# SIGALRM ends what waits for ever.
signal.alarm(100)
{"paths": paths, "threads": threads, "copies": copies, "lengths": lengths,
 "answers": answers}[sys.argv[1]]()
