// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables of ports.
 *
 * Blocks are never removed from a pool: what a fabric holds at different times
 * is nearly the same, and a heavy sweep begins with a new pool.
 */
#include "topology/port_tables.h"

#include <string.h>

const char *const port_table_names[PORT_N_TABLES] = {
	[PORT_TABLE_PKEY] = "P_Key table",
	[PORT_TABLE_SL2VL] = "SL to VL table",
	[PORT_TABLE_VL_ARB] = "VL arbitration table",
};

/* FNV-1a over words; devices choose the bytes, but a collision costs only a
 * comparison. */
static guint
block_hash(gconstpointer key)
{
	uint64_t words[8], h = UINT64_C(0xcbf29ce484222325);

	memcpy(words, key, sizeof(words));
	for (unsigned i = 0; i < G_N_ELEMENTS(words); i++) {
		h = (h ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	return (guint)h;
}

static gboolean
block_equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(union port_block)) == 0;
}

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
	t->pool = g_hash_table_new_full(block_hash, block_equal, g_free, NULL);
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

struct port_tables *
port_tables_copy(const struct port_tables *t)
{
	struct port_tables *copy = g_memdup2(t, sizeof(*t));

	copy->ref = 1;
	g_hash_table_ref(copy->pool);
	for (unsigned k = 0; k < PORT_N_TABLES; k++) {
		copy->n_blocks[k] = g_memdup2(t->n_blocks[k],
					      t->n_ports * sizeof(uint16_t));
		copy->rows[k] = g_new0(gpointer *, t->n_ports);
		for (uint32_t port = 0; port < t->n_ports; port++)
			copy->rows[k][port] = g_memdup2(t->rows[k][port],
				t->n_blocks[k][port] * sizeof(gpointer));
	}
	return copy;
}

void
port_tables_set(struct port_tables *t, enum port_table table, uint32_t port,
		unsigned block, const union port_block *data)
{
	unsigned n = t->n_blocks[table][port];
	gpointer known;

	g_assert(block < n);
	if (!g_hash_table_lookup_extended(t->pool, data, &known, NULL)) {
		known = g_memdup2(data, sizeof(*data));
		g_hash_table_add(t->pool, known);
	}
	if (!t->rows[table][port])
		t->rows[table][port] = g_new0(gpointer, n);
	t->rows[table][port][block] = known;
}

void
port_tables_forget(struct port_tables *t, enum port_table table, uint32_t port)
{
	g_clear_pointer(&t->rows[table][port], g_free);
}
