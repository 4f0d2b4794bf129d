/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The protocol for drivers (protocol.h): clients with a kernel of their own.
 */
#ifndef MINISM_LAB_DRIVER_H
#define MINISM_LAB_DRIVER_H

#include "lab/conn.h"
#include "lab/device.h"

/* `drivers`: the driver ports of a lab, an array that frees its members.
 * port NULL: ENODEV. Answers with LAB_RESULT and what follows. */
void drivers_attach(GPtrArray *drivers, struct conn *c, unsigned channel,
		    struct device_port *port);
/* Any other frame of a driver; false: it is not valid. */
bool drivers_frame(GPtrArray *drivers, struct conn *c,
		   const struct lab_frame *frame, const uint8_t *data);
/* The connection is closed, or the device removed (with LAB_REMOVED); the other
 * one is NULL. */
void drivers_detach(GPtrArray *drivers, const struct conn *c,
		    const struct lab_device *device);

#endif
