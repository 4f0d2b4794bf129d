#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Joins IPoIB's broadcast group, or with --leave leaves it: one MAD."""
import ctypes
import struct
import sys

SA, SET, DELETE, MC_MEMBER = 3, 2, 0x15, 0x38       # IBA 15.2.3, 15.2.5
MGID = bytes.fromhex("ff12401bffff000000000000ffffffff")
MASK_MGID, MASK_PORT_GID, MASK_JOIN_STATE = 1 << 0, 1 << 1, 1 << 16


class Port(ctypes.Structure):           # umad_port_t, as far as it is needed
    _fields_ = [("ca", ctypes.c_char * 20), ("num", ctypes.c_int),
                ("lid", ctypes.c_uint), ("lmc", ctypes.c_uint),
                ("sm_lid", ctypes.c_uint), ("sm_sl", ctypes.c_uint),
                ("state", ctypes.c_uint), ("phys", ctypes.c_uint),
                ("rate", ctypes.c_uint), ("caps", ctypes.c_uint32),
                ("prefix", ctypes.c_uint64), ("guid", ctypes.c_uint64),
                ("rest", ctypes.c_byte * 256)]


umad = ctypes.CDLL("libibumad.so.3")
umad.umad_get_mad.restype = ctypes.c_void_p
umad.umad_init()
port = Port()
umad.umad_get_port(None, 0, ctypes.byref(port))
fd = umad.umad_open_port(None, 0)
agent = umad.umad_register(fd, SA, 2, 0, None)
gid = struct.pack("=QQ", port.prefix, port.guid)

# The header of a MAD, room for that of RMPP, the header of the SA with the
# mask of what the record says, then the record: MGID, PortGID, .., JoinState 1.
method = DELETE if "--leave" in sys.argv else SET
mask = MASK_MGID | MASK_PORT_GID | MASK_JOIN_STATE
mad = struct.pack(">BBBBHHQHHI", 1, SA, 2, method, 0, 0, 1, MC_MEMBER, 0, 0)
mad += bytes(12) + struct.pack(">QHHQ", 0, 0, 0, mask)
mad += MGID + gid + bytes(16) + bytes([1])
mad = mad.ljust(256, b"\0")

size = umad.umad_size()
buffer = ctypes.create_string_buffer(size + 256)
umad.umad_set_addr(buffer, port.sm_lid, 1, 0, 0x80010000)
ctypes.memmove(umad.umad_get_mad(buffer), mad, 256)
umad.umad_send(fd, agent, buffer, 256, 1000, 3)
length = ctypes.c_int(256)
umad.umad_recv(fd, buffer, ctypes.byref(length), 5000)
answer = ctypes.string_at(umad.umad_get_mad(buffer), 256)
status, mlid = struct.unpack_from(">H", answer, 4)[0], \
    struct.unpack_from(">H", answer, 56 + 36)[0]
print(f"status {status:#06x}, MLID {mlid:#06x}")
sys.exit(status != 0)
