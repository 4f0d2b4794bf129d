// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Devices: ports, and the files that libibumad and others read of /sys.
 *
 * The folder has class/infiniband/lab0 and class/infiniband_mad as Linux has
 * them, and dev/ with an empty file for each device node. The simulator does
 * not say what changes, so PortInfo and P_Keys of the ports are compared with
 * what was seen before whenever the main loop comes round; that is a few
 * hundred bytes for each node that was entered.
 */
#include "config.h"

#include "sm/lab/device.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAD_DIR		"class/infiniband_mad"
#define IB_DIR		"class/infiniband/" DEVICE_NAME
#define GID_FORMAT	"%04x:%04x:%04x:%04x:%04x:%04x:%04x:%04x\n"

/* In one go for a reader: a new file that takes the place of the old one. A
 * file that would not change is left alone: files are slow. */
static void G_GNUC_PRINTF(3, 4)
device_write_file(struct lab_device *d, const char *text, const char *format,
		  ...)
{
	g_autofree char *name = NULL, *path = NULL, *dir = NULL, *new = NULL;
	const char *known;
	va_list args;
	FILE *f;

	va_start(args, format);
	name = g_strdup_vprintf(format, args);
	va_end(args);
	known = g_hash_table_lookup(d->files, name);
	if (known && strcmp(known, text) == 0)
		return;
	path = g_build_filename(d->path, name, NULL);
	dir = g_path_get_dirname(path);
	new = g_build_filename(d->path, "new", NULL);
	if (!known)
		g_mkdir_with_parents(dir, 0755);
	f = fopen(known ? new : path, "w");
	g_hash_table_insert(d->files, g_steal_pointer(&name), g_strdup(text));
	if (f && fputs(text, f) >= 0 && fclose(f) == 0 &&
	    (!known || rename(new, path) == 0))
		return;
	g_warning("%s: %s", path, g_strerror(errno));
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	return remove(path);
}

static void
remove_tree(const struct lab_device *d, const char *name)
{
	g_autofree char *path = g_build_filename(d->path, name, NULL);

	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void
write_guid(struct lab_device *d, uint64_t guid, const char *name)
{
	g_autofree char *text = g_strdup_printf("%04x:%04x:%04x:%04x\n",
			(unsigned)(guid >> 48), (unsigned)(guid >> 32) & 0xffff,
			(unsigned)(guid >> 16) & 0xffff,
			(unsigned)guid & 0xffff);

	device_write_file(d, text, IB_DIR "/%s", name);
}

/* Linux writes "4: ACTIVE", and LinkUp as "5: LinkUp". */
static void
write_port(struct device_port *p)
{
	static const char *const states[] = {
		"NOP", "DOWN", "INIT", "ARMED", "ACTIVE",
	};
	struct lab_device *d = p->device;
	const struct port_info *i = &p->seen;
	uint64_t prefix = i->gid_prefix;
	uint64_t guid = p->transport->port_guid;
	const struct port_speed *speed = port_speed(i);
	int lanes = atoi(port_width_name(i));
	char text[64];

#define PUT(name, ...) do { \
		g_snprintf(text, sizeof(text), __VA_ARGS__); \
		device_write_file(d, text, IB_DIR "/ports/%u/" name, p->num); \
	} while (0)
	PUT("state", "%u: %s\n", i->state, states[MIN(i->state, 4)]);
	PUT("phys_state", "%u: %s\n", i->phys_state,
	    port_phys_name(i->phys_state));
	PUT("lid", "0x%x\n", i->lid);
	PUT("lid_mask_count", "%u\n", i->lmc);
	PUT("sm_lid", "0x%x\n", i->sm_lid);
	PUT("sm_sl", "%u\n", i->sm_sl);
	PUT("cap_mask", "0x%08x\n", i->cap_mask);
	if (speed->mbps)
		PUT("rate", "%g Gb/sec (%dX %s)\n", speed->mbps * lanes / 1e3,
		    lanes, speed->name);
	else
		PUT("rate", "2.5 Gb/sec (1X SDR)\n");
	PUT("link_layer", "InfiniBand\n");
	PUT("gids/0", GID_FORMAT,
	    (unsigned)(prefix >> 48), (unsigned)(prefix >> 32) & 0xffff,
	    (unsigned)(prefix >> 16) & 0xffff, (unsigned)prefix & 0xffff,
	    (unsigned)(guid >> 48), (unsigned)(guid >> 32) & 0xffff,
	    (unsigned)(guid >> 16) & 0xffff, (unsigned)guid & 0xffff);
	for (unsigned n = 0; n < p->n_pkeys; n++) {
		g_snprintf(text, sizeof(text), "0x%04x\n", p->pkeys[n]);
		device_write_file(d, text, IB_DIR "/ports/%u/pkeys/%u", p->num,
				  n);
	}
#undef PUT
}

static void
device_write_node(struct lab_device *d)
{
	static const char *const types[] = { "?", "CA", "switch", "router" };
	const struct node_info *n = sim_node_info(d->sim, d->node);
	char text[NODE_DESC_LEN + 2];

	g_snprintf(text, sizeof(text), "%u: %s\n", n->node_type,
		   types[n->node_type & 3]);
	device_write_file(d, text, IB_DIR "/node_type");
	write_guid(d, n->node_guid, "node_guid");
	write_guid(d, n->system_guid, "sys_image_guid");
	g_snprintf(text, sizeof(text), "%s\n", d->fabric->nodes[d->node].desc);
	device_write_file(d, text, IB_DIR "/node_desc");
	g_snprintf(text, sizeof(text), "%x\n", n->revision);
	device_write_file(d, text, IB_DIR "/hw_rev");
	device_write_file(d, "1.0\n", IB_DIR "/fw_ver");
	device_write_file(d, "simulated\n", IB_DIR "/hca_type");
	device_write_file(d, "5\n", MAD_DIR "/abi_version");
	for (unsigned i = 0; i < d->n_ports; i++) {
		static const char *const kinds[] = { "umad", "issm" };
		const struct device_port *p = &d->ports[i];

		g_snprintf(text, sizeof(text), "%u\n", p->num);
		for (unsigned k = 0; k < G_N_ELEMENTS(kinds); k++) {
			device_write_file(d, DEVICE_NAME "\n",
					  MAD_DIR "/%s%u/ibdev",
					  kinds[k], p->umad);
			device_write_file(d, text, MAD_DIR "/%s%u/port",
					  kinds[k], p->umad);
			device_write_file(d, "", "dev/%s%u", kinds[k], p->umad);
		}
	}
}

/* ------------------------------------------------------------------- ports */

/* What has changed since the last look. */
static unsigned
device_look(struct device_port *p)
{
	struct lab_device *d = p->device;
	const struct port_info *a = sim_port_info(d->sim, p->sim_port);
	const struct port_info *b = &p->seen;
	unsigned changed = 0;

	if (a->state != b->state || a->phys_state != b->phys_state)
		changed |= LAB_CHANGED_STATE;
	if (a->lid != b->lid || a->lmc != b->lmc)
		changed |= LAB_CHANGED_LID;
	if (a->sm_lid != b->sm_lid || a->sm_sl != b->sm_sl)
		changed |= LAB_CHANGED_SM;
	if (a->gid_prefix != b->gid_prefix)
		changed |= LAB_CHANGED_GID;
	if (!changed && memcmp(a, b, sizeof(*a)))
		changed = LAB_CHANGED_OTHER;
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
		p->kernel = kernel_port_new(p->transport, p->device->limits);
}

struct device_port *
device_find_umad(struct lab_device *d, unsigned umad)
{
	for (unsigned i = 0; d->plugged && i < d->n_ports; i++)
		if (d->ports[i].umad == umad)
			return &d->ports[i];
	return NULL;
}

void
device_plug(struct lab_device *d, unsigned umad)
{
	if (d->plugged)
		return;
	d->plugged = true;
	for (unsigned i = 0; i < d->n_ports; i++) {
		struct device_port *p = &d->ports[i];

		p->umad = umad + i;
		p->transport = sim_attach(d->sim, p->sim_port, SIM_ROLE_DRIVER);
		device_port_set_driver(p, NULL, NULL);
		device_look(p);
		write_port(p);
	}
	device_write_node(d);
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
	remove_tree(d, "class");
	remove_tree(d, "dev");
	g_hash_table_remove_all(d->files);
	device_write_file(d, "5\n", MAD_DIR "/abi_version");
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
	remove_tree(d, "");
	for (unsigned i = 0; i < d->n_ports; i++)
		g_free(d->ports[i].pkeys);
	g_hash_table_unref(d->files);
	g_free(d->ports);
	g_free(d->path);
	g_free(d);
}
