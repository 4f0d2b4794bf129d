#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One request to the SA, over libibumad, as a client of this port makes it.

    sa_client.py join GROUP     0: IPoIB's broadcast group; else ff12::GROUP
    sa_client.py serve ID [SECONDS]
    sa_client.py subscribe TRAP
"""
import ctypes
import struct
import sys


class Port(ctypes.Structure):
    _fields_ = [("ca", ctypes.c_char * 20), ("num", ctypes.c_int),
                ("lid", ctypes.c_uint), ("lmc", ctypes.c_uint),
                ("sm_lid", ctypes.c_uint), ("sm_sl", ctypes.c_uint),
                ("state", ctypes.c_uint), ("phys", ctypes.c_uint),
                ("rate", ctypes.c_uint), ("capmask", ctypes.c_uint32),
                ("prefix", ctypes.c_ubyte * 8), ("guid", ctypes.c_ubyte * 8),
                ("rest", ctypes.c_ubyte * 256)]


def join(group, gid):
    mgid = bytes.fromhex("ff12401bffff0000" "00000000ffffffff")
    mask = 0x10003
    if group:
        mgid = bytes.fromhex("ff12") + struct.pack(">QIH", 0, 0, group)
        mask = 0x130c7
    return 0x38, mask, (mgid + gid + struct.pack(
        ">IHBBHBBIBB", 0xb1b, 0, 0, 0, 0xffff, 0, 0, 0, 0x21, 0))


def request(gid):
    what, args = sys.argv[1], sys.argv[2:]
    if what == "join":
        return join(int(args[0]), gid)
    if what == "serve":
        lease = int(args[1]) if args[1:] else 0xffffffff
        return 0x31, 0x53, (struct.pack(">Q", int(args[0])) + gid +
                            struct.pack(">HHI16s64s", 0, 0, lease, b"",
                                        b"sa_client"))
    return 3, 0, bytes(16) + struct.pack(">HHHBBHHII", 0xffff, 0xffff, 0, 1, 1,
                                         0xffff, int(args[0]), 1 << 8 | 19,
                                         0xffffff)


class Client:
    def __init__(self):
        self.umad = ctypes.CDLL("libibumad.so.3")
        self.port = Port()
        self.umad.umad_init()
        assert self.umad.umad_get_port(None, 0, ctypes.byref(self.port)) == 0
        self.fd = self.umad.umad_open_port(None, 0)
        self.agent = self.umad.umad_register(self.fd, 3, 2, 1, None)
        assert self.fd >= 0 and self.agent >= 0
        self.number = 0

    def set(self, attr, mask, data):
        """The answer's status, and that of sending."""
        self.number += 1
        mad = struct.pack(">BBBBHHQHHI", 1, 3, 2, 2, 0, 0, self.number, attr,
                          0, 0)
        mad += bytes(12) + struct.pack(">QHHQ", 0, 0, 0, mask) + data
        head = self.umad.umad_size()
        buf = ctypes.create_string_buffer(head + 256)
        buf[head:head + len(mad)] = mad
        self.umad.umad_set_addr(buf, self.port.sm_lid, 1, 0,
                                ctypes.c_uint(0x80010000))
        self.umad.umad_set_pkey(buf, 0)
        assert self.umad.umad_send(self.fd, self.agent, buf, 256, 1000, 3) == 0
        size = ctypes.c_int(256)
        assert self.umad.umad_recv(self.fd, buf, ctypes.byref(size),
                                   10000) >= 0
        answer = buf.raw[head:]
        return (struct.unpack(">H", answer[4:6])[0],
                self.umad.umad_status(buf))


def main():
    client = Client()
    port = client.port
    status = client.set(*request(bytes(port.prefix) + bytes(port.guid)))
    print("status 0x%04x of LID %d, returned %d" %
          (status[0], port.sm_lid, status[1]))
    sys.exit(any(status))


if __name__ == "__main__":
    main()
