// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Devices: ports, and the files that libibumad and others read of /sys.
 *
 * The folder has class/infiniband/lab0 (with planes lab1, too) and
 * class/infiniband_mad as Linux has them, and dev/ with an empty file for each
 * device node. The simulator does not report changes, so PortInfo and P_Keys
 * of the ports are compared with their last values in each turn of the main loop;
 * that is a few hundred bytes for each node that was entered.
 */
#include "config.h"

#include "lab/device.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAD_DIR		"class/infiniband_mad"
#define IB_DIR		"class/infiniband/"
#define PORT_DIR	IB_DIR DEVICE_NAME "/ports/%u"
#define GSI_PORT_DIR	IB_DIR DEVICE_GSI "/ports/%u"
#define CAP_SM_DISABLED	(1u << 10)

/* In one step for a reader: a new file replaces the old one. A file that would
 * not change is left alone: files are slow. One that could not be written is
 * tried again. */
static void G_GNUC_PRINTF(4, 5)
device_write_file(struct lab_device *d, const char *dir, const char *name,
		  const char *format, ...)
{
	g_autofree char *text = NULL, *full_dir = NULL, *new = NULL;
	g_autofree char *path = g_build_filename(d->path, dir, name, NULL);
	const char *known = g_hash_table_lookup(d->files, path);
	va_list args;
	bool ok;
	FILE *f;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	if (known && strcmp(known, text) == 0)
		return;
	full_dir = g_path_get_dirname(path);
	new = g_build_filename(d->path, "new", NULL);
	if (!known)
		g_mkdir_with_parents(full_dir, 0755);
	f = fopen(known ? new : path, "w");
	ok = f && fputs(text, f) >= 0;
	ok = f && fclose(f) == 0 && ok;
	if (ok && (!known || rename(new, path) == 0))
		g_hash_table_insert(d->files, g_strdup(path),
				    g_steal_pointer(&text));
	else
		g_warning("%s: %s", path, g_strerror(errno));
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	return remove(path);
}

void
device_remove_files(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);

	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static char *
guid_text(uint64_t guid)
{
	return g_strdup_printf("%04x:%04x:%04x:%04x", (unsigned)(guid >> 48),
			       (unsigned)(guid >> 32) & 0xffff,
			       (unsigned)(guid >> 16) & 0xffff,
			       (unsigned)guid & 0xffff);
}

/* Linux writes "4: ACTIVE", and LinkUp as "5: LinkUp". */
static void
write_port_of(struct device_port *p, const char *dir, uint32_t cap_mask)
{
	static const char *const states[] = {
		"NOP", "DOWN", "INIT", "ARMED", "ACTIVE",
	};
	struct lab_device *d = p->device;
	const struct port_info *i = &p->seen;
	const struct port_speed *speed = port_speed(i);
	g_autofree char *prefix = guid_text(i->gid_prefix);
	g_autofree char *guid = guid_text(p->transport->port_guid);

	device_write_file(d, dir, "state", "%u: %s\n", i->state,
			  states[MIN(i->state, 4)]);
	device_write_file(d, dir, "phys_state", "%u: %s\n", i->phys_state,
			  port_phys_name(i->phys_state));
	device_write_file(d, dir, "lid", "0x%x\n", i->lid);
	device_write_file(d, dir, "lid_mask_count", "%u\n", i->lmc);
	device_write_file(d, dir, "sm_lid", "0x%x\n", i->sm_lid);
	device_write_file(d, dir, "sm_sl", "%u\n", i->sm_sl);
	device_write_file(d, dir, "cap_mask", "0x%08x\n", cap_mask);
	if (speed->mbps)
		device_write_file(d, dir, "rate", "%g Gb/sec (%uX %s)\n",
				  port_mbps(i) / 1e3, port_width(i)->lanes,
				  speed->name);
	else
		device_write_file(d, dir, "rate", "2.5 Gb/sec (1X SDR)\n");
	device_write_file(d, dir, "link_layer", "InfiniBand\n");
	device_write_file(d, dir, "gids/0", "%s:%s\n", prefix, guid);
	for (unsigned n = 0; n < p->n_pkeys; n++) {
		g_autofree char *name = g_strdup_printf("pkeys/%u", n);

		device_write_file(d, dir, name, "0x%04x\n", p->pkeys[n]);
	}
}

static void
write_port(struct device_port *p)
{
	g_autofree char *dir = g_strdup_printf(PORT_DIR, p->num);
	g_autofree char *gsi = g_strdup_printf(GSI_PORT_DIR, p->num);

	write_port_of(p, dir, p->seen.cap_mask);
	if (p->device->limits->planes)
		write_port_of(p, gsi, p->seen.cap_mask | CAP_SM_DISABLED);
}

/* ------------------------------------------------------------------- ports */

/* LAB_CHANGED_* and DEVICE_CHANGED_PKEYS since the last call. */
static unsigned
device_look(struct device_port *p)
{
	struct lab_device *d = p->device;
	const struct port_info *a = sim_port_info(d->sim, p->sim_port);
	unsigned changed = memcmp(a, &p->seen, sizeof(*a)) ?
		LAB_CHANGED_PORT : 0;

	p->seen = *a;
	for (unsigned i = 0; i < p->n_pkeys; i++) {
		uint16_t pkey = sim_port_pkey(d->sim, p->sim_port, i);

		if (pkey != p->pkeys[i])
			changed |= DEVICE_CHANGED_PKEYS;
		p->pkeys[i] = pkey;
	}
	if (p->reregister)
		changed |= LAB_CHANGED_REREGISTER;
	p->reregister = false;
	return changed;
}

void
device_refresh(struct lab_device *d)
{
	for (unsigned i = 0; d->plugged && i < d->n_ports; i++) {
		struct device_port *p = &d->ports[i];
		unsigned changed = device_look(p);

		if (!changed)
			continue;
		write_port(p);
		if (p->changed)
			p->changed(p, changed, p->data);
	}
}

void
device_port_set_driver(struct device_port *p, device_changed_fn changed,
		       void *data)
{
	g_clear_pointer(&p->kernel, kernel_port_free);
	p->changed = changed;
	p->data = data;
	if (!changed && p->transport)
		p->kernel = kernel_port_new(p->transport, &p->seen.lmc,
					    p->device->limits);
}

unsigned
device_port_qps(const struct device_port *p, uint64_t umad)
{
	if (!p->device->limits->planes)
		return umad == p->umad ? KERNEL_QPS : 0;
	return umad == p->umad ? KERNEL_QP0 :
		umad == p->umad + 1 ? KERNEL_QP1 : 0;
}

/* What sysfs says of a device, and of its umad and issm of each port. */
static void
write_device(struct lab_device *d, const char *name, unsigned first,
	     unsigned step)
{
	static const char *const types[] = { "?", "CA", "switch", "router" };
	static const char *const kinds[] = { "umad", "issm" };
	const struct node_info *n = sim_node_info(d->sim, d->node);
	g_autofree char *guid = guid_text(n->node_guid);
	g_autofree char *system_guid = guid_text(n->system_guid);
	g_autofree char *ib = g_strconcat(IB_DIR, name, NULL);

	device_write_file(d, ib, "node_type", "%u: %s\n", n->node_type,
			  types[n->node_type & 3]);
	device_write_file(d, ib, "node_guid", "%s\n", guid);
	device_write_file(d, ib, "sys_image_guid", "%s\n", system_guid);
	device_write_file(d, ib, "node_desc", "%s\n",
			  d->fabric->nodes[d->node].desc);
	device_write_file(d, ib, "hw_rev", "%x\n", n->revision);
	device_write_file(d, ib, "fw_ver", "1.0\n");
	device_write_file(d, ib, "hca_type", "simulated\n");
	for (unsigned i = 0; i < 2 * d->n_ports; i++) {
		g_autofree char *file = g_strdup_printf("%s%u", kinds[i % 2],
							first + i / 2 * step);
		g_autofree char *dir = g_build_filename(MAD_DIR, file, NULL);

		device_write_file(d, dir, "ibdev", "%s\n", name);
		device_write_file(d, dir, "port", "%u\n",
				  d->ports[i / 2].num);
		device_write_file(d, "dev", file, "%s", "");
	}
}

void
device_plug(struct lab_device *d, unsigned umad)
{
	unsigned step = d->limits->planes ? 2 : 1;

	if (d->plugged)
		return;
	d->plugged = true;
	for (unsigned i = 0; i < d->n_ports; i++) {
		struct device_port *p = &d->ports[i];

		p->umad = umad + i * step;
		p->transport = sim_attach(d->sim, p->sim_port, SIM_ROLE_DRIVER);
		device_port_set_driver(p, NULL, NULL);
		device_look(p);
		write_port(p);
	}
	write_device(d, DEVICE_NAME, umad, step);
	if (d->limits->planes)
		write_device(d, DEVICE_GSI, umad + 1, step);
	device_write_file(d, MAD_DIR, "abi_version", "5\n");
}

void
device_unplug(struct lab_device *d)
{
	if (!d->plugged)
		return;
	d->plugged = false;
	for (unsigned i = 0; i < d->n_ports; i++) {
		struct device_port *p = &d->ports[i];

		g_clear_pointer(&p->kernel, kernel_port_free);
		g_clear_pointer(&p->transport, transport_free);
		sim_port_set_is_sm(d->sim, p->sim_port, false);
	}
	device_remove_files(d->path, "class");
	device_remove_files(d->path, "dev");
	g_hash_table_remove_all(d->files);
	device_write_file(d, MAD_DIR, "abi_version", "5\n");
}

struct lab_device *
device_new(const struct snapshot *fabric, struct sim *sim, uint32_t node,
	   const char *dir, const struct kernel_limits *limits)
{
	const struct snapshot_node *n = &fabric->nodes[node];
	bool is_switch = snapshot_is_switch(n);
	struct lab_device *d = g_new0(struct lab_device, 1);

	d->fabric = fabric;
	d->sim = sim;
	d->node = node;
	d->limits = limits;
	d->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					 g_free);
	d->path = g_strdup_printf("%s/%u", dir, node);
	d->n_ports = is_switch ? 1 : n->info.num_ports;
	d->ports = g_new0(struct device_port, d->n_ports);
	for (unsigned i = 0; i < d->n_ports; i++) {
		struct device_port *p = &d->ports[i];

		p->device = d;
		p->num = is_switch ? 0 : i + 1;
		p->sim_port = n->first_port + p->num;
		p->n_pkeys = sim_node_info(sim, node)->partition_cap;
		p->pkeys = g_new0(uint16_t, p->n_pkeys);
	}
	device_plug(d, 0);
	return d;
}

void
device_free(struct lab_device *d)
{
	device_unplug(d);
	for (unsigned i = 0; i < d->n_ports; i++)
		g_free(d->ports[i].pkeys);
	g_hash_table_unref(d->files);
	g_free(d->ports);
	g_free(d->path);
	g_free(d);
}
