/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The protocol for drivers (protocol.h): clients with a kernel of their own.
 */
#ifndef MINISM_LAB_DRIVER_H
#define MINISM_LAB_DRIVER_H

#include "sm/lab/conn.h"
#include "sm/lab/device.h"

/* All driver ports of a lab. */
struct drivers;

struct drivers *drivers_new(struct sim *sim);
void drivers_free(struct drivers *d);

/* port NULL: ENODEV. Answers with LAB_RESULT and what follows. */
void drivers_attach(struct drivers *d, struct conn *c, unsigned channel,
		    struct device_port *port);
/* Any other frame of a driver; false: it is not valid. */
bool drivers_frame(struct drivers *d, struct conn *c,
		   const struct lab_frame *frame, const uint8_t *data);
/* The connection is closed; or the device removed (with LAB_REMOVED). */
void drivers_detach_conn(struct drivers *d, struct conn *c);
void drivers_detach_device(struct drivers *d, const struct lab_device *device);

#endif
