/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The kernel's part between a port and the programs that open its umad device:
 * the rules of Linux's ib_mad, ib_umad and RMPP, over a transport of
 * SIM_ROLE_DRIVER. The interface is the bytes of write(2), ioctl(2) and read(2)
 * of the device.
 */
#ifndef MINISM_LAB_KERNEL_H
#define MINISM_LAB_KERNEL_H

#include <rdma/ib_user_mad.h>

#include "sm/io/transport.h"

#define KERNEL_QP0	1u
#define KERNEL_QP1	2u
#define KERNEL_QPS	(KERNEL_QP0 | KERNEL_QP1)

struct kernel_port;
struct kernel_file;

struct kernel_limits {
	bool is_6_17;	/* limits the requests of an agent as that does */
	/* Each port is two devices, as of an HCA with planes (ConnectX-8): one
	 * has QP 0, the other QP 1 and IsSMdisabled. */
	bool planes;
};

/* Takes t over as its receiver; t and lmc, of the port, stay the caller's. */
struct kernel_port *kernel_port_new(struct transport *t, const uint8_t *lmc,
				    const struct kernel_limits *limits);
void kernel_port_free(struct kernel_port *p);	/* no file is open */

/* A message for read(2): hdr->length is 64 and len. */
typedef void (*kernel_deliver_fn)(const struct ib_user_mad_hdr *hdr,
				  const uint8_t *mad, size_t len, void *data);
/* qps: the queue pairs that its device has, bit n for QP n */
struct kernel_file *kernel_open(struct kernel_port *p, unsigned qps,
				kernel_deliver_fn deliver, void *data);
void kernel_close(struct kernel_file *f);

/* A negative errno, or 0. arg: what the ioctl takes, in and out. */
int kernel_ioctl(struct kernel_file *f, unsigned code, void *arg);
/* buf: header of 64 bytes and the MAD or message. */
int kernel_write(struct kernel_file *f, const uint8_t *buf, size_t len);

#endif
