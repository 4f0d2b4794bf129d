/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The HCA of a simulated node as the programs on that node see it: its ports
 * with their kernel (or the driver of a virtual machine instead), and a folder
 * in place of /sys. A device is created when the first program enters its node.
 */
#ifndef MINISM_LAB_DEVICE_H
#define MINISM_LAB_DEVICE_H

#include "lab/kernel.h"
#include "lab/protocol.h"
#include "lab/sim/sim.h"
#include "topology/snapshot.h"

/* Its first device, and with planes the one for GMPs. */
#define DEVICE_NAME	"lab0"
#define DEVICE_GSI	"lab1"

struct device_port;
/* changed: LAB_CHANGED_*, or DEVICE_CHANGED_PKEYS */
#define DEVICE_CHANGED_PKEYS	0x100u
typedef void (*device_changed_fn)(struct device_port *port, unsigned changed,
				  void *data);

struct device_port {
	struct lab_device *device;
	uint32_t sim_port;
	unsigned num;
	unsigned umad;			/* with planes the next one, too */
	struct transport *transport;
	struct kernel_port *kernel;	/* NULL: a driver has the port */
	unsigned n_files;		/* open umad files */
	bool issm;			/* a program holds issm */
	bool reregister;		/* was set since the last refresh */
	device_changed_fn changed;	/* of the driver */
	void *data;
	struct port_info seen;
	uint16_t *pkeys;
	unsigned n_pkeys;
};

struct lab_device {
	const struct snapshot *fabric;	/* borrowed, like sim */
	struct sim *sim;
	const struct kernel_limits *limits;
	uint32_t node;
	char *path;			/* of its /sys */
	GHashTable *files;		/* in it: name -> text */
	bool plugged;
	unsigned n_ports;
	struct device_port *ports;
};

/* dir: where all devices have their folders. */
struct lab_device *device_new(const struct snapshot *fabric, struct sim *sim,
			      uint32_t node, const char *dir,
			      const struct kernel_limits *limits);
void device_free(struct lab_device *d);	/* no file is open; its folder stays */

/* A file or folder of dir, with all in it. */
void device_remove_files(const char *dir, const char *name);

/* umad: the number of its first umad from now on. Before unplugging, all files
 * are closed and drivers detached. */
void device_plug(struct lab_device *d, unsigned umad);
void device_unplug(struct lab_device *d);

/* Compares the ports with their last values; updates /sys and notifies the
 * driver. Cheap if nothing has changed. */
void device_refresh(struct lab_device *d);

/* The queue pairs that this umad gives of the port, KERNEL_QP*; 0: it is not
 * one of the port's. */
unsigned device_port_qps(const struct device_port *p, uint64_t umad);

/* Driver instead of kernel, and back (changed NULL). */
void device_port_set_driver(struct device_port *p, device_changed_fn changed,
			    void *data);

#endif
