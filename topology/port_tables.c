// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables of ports.
 *
 * Blocks are never removed from a pool: what a fabric holds at different times
 * is nearly the same, and a heavy sweep begins with a new pool.
 */
#include "topology/port_tables.h"

#include <string.h>

#include "topology/partition.h"

const char *const port_table_names[PORT_N_TABLES] = {
	[PORT_TABLE_PKEY] = "P_Key table",
	[PORT_TABLE_SL2VL] = "SL to VL table",
	[PORT_TABLE_VL_ARB] = "VL arbitration table",
};

unsigned
port_pkey_cap(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_node *n = snapshot_node_of(s, port);

	if (!snapshot_is_switch(n))
		return s->ports[port].num ? n->info.partition_cap : 0;
	if (s->ports[port].num == 0)
		return n->info.partition_cap;
	return n->sw_known ? n->sw.partition_enforcement_cap : 0;
}

bool
port_block_is_plain(enum port_table table, unsigned block,
		    const union port_block *b)
{
	const union port_block plain = {
		.pkeys = { block ? 0 : PKEY_DEFAULT | PKEY_FULL },
	};

	return table == PORT_TABLE_PKEY && !memcmp(b, &plain, sizeof(*b));
}

struct port_tables *
port_tables_new(const struct snapshot *s)
{
	struct port_tables *t = g_new0(struct port_tables, 1);

	t->ref = 1;
	t->n_ports = s->n_ports;
	for (unsigned k = 0; k < PORT_N_TABLES; k++) {
		t->n_blocks[k] = g_new(uint16_t, s->n_ports);
		t->rows[k] = g_new0(gpointer *, s->n_ports);
	}
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_node *n = snapshot_node_of(s, port);
		unsigned cap = port_pkey_cap(s, port);

		t->n_blocks[PORT_TABLE_PKEY][port] =
			(cap + PKEYS_A_BLOCK - 1) / PKEYS_A_BLOCK;
		t->n_blocks[PORT_TABLE_SL2VL][port] =
			snapshot_is_switch(n) ? n->info.num_ports + 1u : 1;
		t->n_blocks[PORT_TABLE_VL_ARB][port] = VL_ARB_N_BLOCKS;
	}
	t->pool = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
					(GDestroyNotify)g_bytes_unref, NULL);
	return t;
}

struct port_tables *
port_tables_ref(struct port_tables *t)
{
	g_atomic_int_inc(&t->ref);
	return t;
}

void
port_tables_unref(struct port_tables *t)
{
	if (!t || !g_atomic_int_dec_and_test(&t->ref))
		return;
	for (unsigned k = 0; k < PORT_N_TABLES; k++) {
		for (uint32_t port = 0; port < t->n_ports; port++)
			g_free(t->rows[k][port]);
		g_free(t->rows[k]);
		g_free(t->n_blocks[k]);
	}
	g_hash_table_unref(t->pool);
	g_free(t);
}

const union port_block *
port_tables_get(const struct port_tables *t, enum port_table table,
		uint32_t port, unsigned block)
{
	gpointer *row = t->rows[table][port];

	g_assert(block < t->n_blocks[table][port]);
	return row ? row[block] : NULL;
}

void
port_tables_set(struct port_tables *t, enum port_table table, uint32_t port,
		unsigned block, const union port_block *data)
{
	g_autoptr(GBytes) key = g_bytes_new(data, sizeof(*data));
	GBytes *known = g_hash_table_lookup(t->pool, key);
	unsigned n = t->n_blocks[table][port];

	g_assert(block < n);
	if (!known) {
		known = key;
		g_hash_table_add(t->pool, g_bytes_ref(key));
	}
	if (!t->rows[table][port])
		t->rows[table][port] = g_new0(gpointer, n);
	t->rows[table][port][block] = (gpointer)g_bytes_get_data(known, NULL);
}

void
port_tables_forget(struct port_tables *t, enum port_table table, uint32_t port)
{
	g_clear_pointer(&t->rows[table][port], g_free);
}
