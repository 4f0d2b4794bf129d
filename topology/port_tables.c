// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables of ports.
 *
 * Structs. `pool` holds every different block once, in chunks that never move,
 * so that a block which was handed out stays where it is; `index` finds a
 * block's number by its bytes. A row is the numbers of one table of one port,
 * plus one (0: not known), and is made when the first block of it is set: who
 * never looks at VL arbitration pays a pointer a port for it.
 *
 * Flow. A set block is looked up in the index and added if it is new. Blocks
 * are never removed: what a fabric holds at different times is nearly the
 * same, and the whole goes with the sweep that made it.
 */
#include "topology/port_tables.h"

#include <string.h>

#define CHUNK	256u		/* blocks */

struct port_shape {
	uint16_t n_pkeys;	/* blocks */
	uint16_t n_sl2vl;
};

struct port_tables {
	gint ref;
	uint32_t n_ports;
	struct port_shape *shapes;	/* by port */
	uint32_t **rows[PORT_N_TABLES];	/* by port, or NULL */
	GPtrArray *pool;		/* chunks of union port_block */
	uint32_t n_blocks;		/* in the pool */
	GHashTable *index; /* the block in the pool -> number + 1 */
};

static const char *const names[PORT_N_TABLES] = {
	[PORT_TABLE_PKEY] = "P_Key table",
	[PORT_TABLE_SL2VL] = "SL to VL table",
	[PORT_TABLE_VL_ARB] = "VL arbitration table",
};

const char *
port_table_name(enum port_table table)
{
	return names[table];
}

/* FNV-1a over words; the bytes are those of devices, but a collision costs a
 * comparison and nothing else. */
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
	t->shapes = g_new0(struct port_shape, s->n_ports);
	for (unsigned k = 0; k < PORT_N_TABLES; k++)
		t->rows[k] = g_new0(uint32_t *, s->n_ports);
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_node *n = snapshot_node_of(s, port);
		unsigned cap = port_pkey_cap(s, port);

		t->shapes[port].n_pkeys =
			(cap + PKEYS_A_BLOCK - 1) / PKEYS_A_BLOCK;
		t->shapes[port].n_sl2vl =
			snapshot_is_switch(n) ? n->info.num_ports + 1u : 1;
	}
	t->pool = g_ptr_array_new_with_free_func(g_free);
	t->index = g_hash_table_new(block_hash, block_equal);
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
	}
	g_hash_table_unref(t->index);
	g_ptr_array_unref(t->pool);
	g_free(t->shapes);
	g_free(t);
}

unsigned
port_tables_blocks(const struct port_tables *t, enum port_table table,
		   uint32_t port)
{
	switch (table) {
	case PORT_TABLE_PKEY:
		return t->shapes[port].n_pkeys;
	case PORT_TABLE_SL2VL:
		return t->shapes[port].n_sl2vl;
	case PORT_TABLE_VL_ARB:
		return VL_ARB_N_BLOCKS;
	case PORT_N_TABLES:
		break;
	}
	g_assert_not_reached();
}

static const union port_block *
pool_at(const struct port_tables *t, uint32_t number)
{
	const union port_block *chunk = t->pool->pdata[number / CHUNK];

	return &chunk[number % CHUNK];
}

bool
port_tables_has(const struct port_tables *t, enum port_table table,
		uint32_t port)
{
	return t->rows[table][port] != NULL;
}

const union port_block *
port_tables_get(const struct port_tables *t, enum port_table table,
		uint32_t port, unsigned block)
{
	const uint32_t *row = t->rows[table][port];

	g_assert(block < port_tables_blocks(t, table, port));
	return row && row[block] ? pool_at(t, row[block] - 1) : NULL;
}

/* Number + 1. */
static uint32_t
pool_put(struct port_tables *t, const union port_block *data)
{
	gpointer found = g_hash_table_lookup(t->index, data);
	union port_block *chunk;

	if (found)
		return GPOINTER_TO_UINT(found);
	if (t->n_blocks % CHUNK == 0)
		g_ptr_array_add(t->pool, g_new0(union port_block, CHUNK));
	chunk = t->pool->pdata[t->n_blocks / CHUNK];
	chunk += t->n_blocks++ % CHUNK;
	*chunk = *data;
	g_hash_table_insert(t->index, chunk, GUINT_TO_POINTER(t->n_blocks));
	return t->n_blocks;
}

/* The numbers stay good: the pool is copied in its order. */
struct port_tables *
port_tables_copy(const struct port_tables *t)
{
	struct port_tables *copy = g_new0(struct port_tables, 1);

	copy->ref = 1;
	copy->n_ports = t->n_ports;
	copy->shapes = g_memdup2(t->shapes, t->n_ports * sizeof(*t->shapes));
	copy->pool = g_ptr_array_new_with_free_func(g_free);
	copy->index = g_hash_table_new(block_hash, block_equal);
	for (uint32_t i = 0; i < t->n_blocks; i++)
		pool_put(copy, pool_at(t, i));
	for (unsigned k = 0; k < PORT_N_TABLES; k++) {
		copy->rows[k] = g_new0(uint32_t *, t->n_ports);
		for (uint32_t port = 0; port < t->n_ports; port++) {
			unsigned n = port_tables_blocks(t, k, port);
			const uint32_t *row = t->rows[k][port];

			if (row)
				copy->rows[k][port] =
					g_memdup2(row, n * sizeof(*row));
		}
	}
	return copy;
}

void
port_tables_set(struct port_tables *t, enum port_table table, uint32_t port,
		unsigned block, const union port_block *data)
{
	unsigned n = port_tables_blocks(t, table, port);

	g_assert(block < n);
	if (!t->rows[table][port])
		t->rows[table][port] = g_new0(uint32_t, n);
	t->rows[table][port][block] = pool_put(t, data);
}

void
port_tables_forget(struct port_tables *t, enum port_table table, uint32_t port)
{
	g_clear_pointer(&t->rows[table][port], g_free);
}
