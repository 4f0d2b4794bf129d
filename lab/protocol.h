/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The messages between minism-lab and its clients.
 *
 * The server listens on a Unix stream socket. Both directions carry frames: a
 * struct lab_frame, then `length` bytes, with no padding between frames.
 * Numbers are in host byte order (server and clients are on one machine;
 * little-endian on a VM's serial line), except in MADs and GIDs, which are as
 * on the wire. Strings end with a NUL inside their array. An unknown type, or
 * a frame that is shorter than its struct, ends the connection.
 *
 * There are two interfaces. A client uses one of them on one connection.
 *
 * 1. For drivers: the client is the driver of one or more HCAs, such as the
 *    module of a virtual machine, and has its own kernel: MADs pass as they
 *    are, one by one, in both directions. `channel` is a number of the
 *    client's choice, one for each port that it attaches.
 *
 *	client				server
 *	LAB_ATTACH node, port ------->
 *		  <------- LAB_RESULT error (ENODEV: no such node or port,
 *			   EBUSY: attached already), id: the port's number
 *		  <------- LAB_NODE, LAB_PORT, LAB_PKEYS
 *	LAB_SEND address, payload --->
 *		  <------- LAB_RECEIVE address, payload
 *		  <------- LAB_PORT, LAB_PKEYS whenever they change
 *		  <------- LAB_REMOVED the device was pulled out of the bus
 *			   (console: unplug-device); the channel is free, and
 *			   LAB_ATTACH gives ENODEV until the device is back
 *	LAB_IS_SM on/off ------------>	PortInfo.CapabilityMask.IsSM
 *	LAB_DETACH ------------------>
 *
 *    The port's SMA and PMA are in the server, as in firmware: it answers
 *    their requests and does not forward them to the client. A request by the
 *    client to its own port (a directed route of no hops, its own LID) goes
 *    out as LAB_SEND, and its answer comes back as LAB_RECEIVE; the client
 *    matches it by TID. All that is not for SMA or PMA is forwarded:
 *    answers, SMInfo, traps, GMPs. MADs to QP 0 and 1 must have 256 bytes.
 *    Other payloads (UD, at most LAB_UD_MAX bytes, to any other QP) follow the
 *    forwarding tables, P_Keys and VLs of the fabric; the receiving client
 *    checks the Q_Key. A multicast DLID makes a copy for each attached port
 *    that the multicast tables lead to; the receiving client has the list of
 *    the QPs of a group.
 *
 * 2. For programs: the client has libminism-lab-umad.so preloaded, in place of
 *    the kernel's ib_umad. The rules of the kernel are in
 *    the server; a connection is an open file.
 *
 *	LAB_ENTER node ------------->	once a process
 *		  <------- LAB_RESULT, and the folder in place of /sys
 *	LAB_OPEN node, "umad0" ----->	then this connection is the file
 *		  <------- LAB_RESULT error as of open(2); id of the file
 *	LAB_WRITE header, MAD(s) --->	as given to write(2)
 *		  <------- cells (below) for read(2), no frames
 *	LAB_IOCTL id, code, arg ---->	on a connection of its own, one each
 *		  <------- LAB_RESULT error as of ioctl(2), and arg
 *	LAB_ANSWER id, header, message	likewise: a write(2) that has to wait for
 *		  <------- LAB_RESULT	its error
 *
 *    After LAB_OPEN of a umad file the server sends no frames but cells: each
 *    message begins with LAB_CELL bytes, the ib_user_mad header of 64 bytes
 *    and the first 256 bytes of the message, padded with zeros; the rest of a
 *    longer one follows at once. The header's `length` is that of the message
 *    with the header. So a read takes a fixed number of bytes, and a
 *    descriptor is readable for poll(2) when a message is there. The server
 *    closes the connection when the device goes away.
 *
 * Third, LAB_COMMAND on a connection of its own: a command of the console; the
 * answer is LAB_RESULT with the text that the console would print.
 */
#ifndef MINISM_LAB_PROTOCOL_H
#define MINISM_LAB_PROTOCOL_H

#ifdef __KERNEL__	/* of a virtual machine, tests/vm/vib.c */
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define LAB_NAME_LEN	64u
#define LAB_UD_MAX	4096u
#define LAB_CELL	320u	/* 64 of ib_user_mad, 256 of a MAD */
#define LAB_FRAME_MAX	(64u << 20)

/* Environment of programs in the lab. */
#define LAB_ENV_SOCKET	"MINISM_LAB"		/* path of the socket */
#define LAB_ENV_NODE	"MINISM_LAB_NODE"	/* NodeDescription or GUID */
#define LAB_ENV_SYS	"MINISM_LAB_SYS"	/* the node's folder for /sys */
/* Sockets of a node's managers are in the folder run of the last one:
 * options_control_dir(). */

enum lab_type {
	LAB_ATTACH = 1,		/* struct lab_attach */
	LAB_DETACH,
	LAB_NODE,		/* struct lab_node */
	LAB_PORT,		/* struct lab_port */
	LAB_PKEYS,		/* uint16_t, the whole table */
	LAB_IS_SM,		/* uint32_t: 0 or 1 */
	LAB_SEND,		/* struct lab_address, payload */
	LAB_RECEIVE,		/* the same */
	LAB_REMOVED,

	LAB_ENTER = 32,		/* struct lab_attach; its port is ignored */
	LAB_OPEN,		/* struct lab_open */
	LAB_IOCTL,		/* struct lab_ioctl */
	LAB_WRITE,		/* struct ib_user_mad and data */
	LAB_ANSWER,		/* uint32_t id, the same */

	LAB_COMMAND = 64,	/* text */
	LAB_RESULT = 128,	/* struct lab_result, and data as above */
};

struct lab_frame {
	uint32_t length;	/* of what follows */
	uint16_t type;		/* enum lab_type */
	uint16_t channel;	/* of a driver, else 0 */
};

struct lab_result {
	int32_t error;		/* 0, or an errno */
	uint32_t id;
};

struct lab_attach {
	char node[LAB_NAME_LEN];	/* NodeDescription, or 0x and GUID */
	uint32_t port;			/* 0: the node's first */
};

struct lab_node {
	uint64_t node_guid, system_guid;
	uint32_t vendor_id;
	uint16_t device_id;
	uint8_t n_ports, port;		/* port: the attached one */
	uint16_t n_pkeys, n_gids;
	uint32_t revision;
	char description[LAB_NAME_LEN + 4];
};

/* Why it comes; for P_Keys LAB_PKEYS comes. */
#define LAB_CHANGED_PORT	0x01u	/* another value; in the first one too */
#define LAB_CHANGED_REREGISTER	0x20u	/* ClientReregister was set */

struct lab_port {
	uint64_t gid_prefix, port_guid;
	uint32_t changed;		/* LAB_CHANGED_* */
	uint32_t cap_mask;
	uint16_t lid, sm_lid;
	uint8_t state, phys_state;	/* PortState, PortPhysicalState */
	uint8_t lmc, sm_sl;
	uint8_t mtu, mtu_cap;		/* 1: 256 to 5: 4096 */
	uint8_t width, speed;		/* LinkWidthActive, LinkSpeedActive */
	uint8_t speed_ext;		/* LinkSpeedExtActive */
	uint8_t vl_cap, subnet_timeout;
	uint8_t reserved;
	uint32_t reserved2;
};

/* LAB_SEND: dlid, path_bits (of our LID), sgid_index and dgid say where from
 * and where to. LAB_RECEIVE: slid, dlid, sgid and dgid are as on the wire,
 * pkey_index is the index in the receiver's table. */
struct lab_address {
	uint32_t dst_qp, src_qp, qkey, flow_label;
	uint16_t dlid, slid, pkey_index;
	uint8_t sl, path_bits;
	uint8_t has_grh, sgid_index, hop_limit, traffic_class;
	uint32_t reserved;
	uint8_t sgid[16], dgid[16];
};

struct lab_open {
	char node[LAB_NAME_LEN];
	char name[16];		/* "umad0", "issm0" */
};

#define LAB_IOCTL_MAX	64u
struct lab_ioctl {
	uint32_t id, code;
	uint8_t arg[LAB_IOCTL_MAX];
};

#endif
