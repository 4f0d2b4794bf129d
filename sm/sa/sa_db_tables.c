// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables of ports in a view: see sa_db_tables.h.
 *
 * Structs. `held` is the sweep's, shared; `read` is the view's own, and is made
 * when the first block is added; `closed` has a bit for each table of each
 * port: what is not known now will not be.
 */
#include "sm/sa/sa_db_tables.h"

void
sa_db_set_tables(struct sa_db *v, struct port_tables *held)
{
	if (held)
		port_tables_ref(held);
	port_tables_unref(v->held);
	v->held = held;
}

void
sa_db_set_mft(struct sa_db *v, struct mft *mft)
{
	g_assert(!mft || mft->n_switches == v->subnet->n_switches);
	if (mft)
		mft_ref(mft);
	mft_free(v->mft);
	v->mft = mft;
}

static const union port_block *
block_in(const struct port_tables *t, enum port_table table, uint32_t port,
	 unsigned block)
{
	if (!t || block >= port_tables_blocks(t, table, port))
		return NULL;
	return port_tables_get(t, table, port, block);
}

const union port_block *
sa_db_block(const struct sa_db *v, enum port_table table, uint32_t port,
	      unsigned block)
{
	const union port_block *b = block_in(v->read, table, port, block);

	return b ? b : block_in(v->held, table, port, block);
}

bool
sa_db_table_is_read(const struct sa_db *v, enum port_table table,
		      uint32_t port)
{
	const struct port_tables *t = v->held ? v->held : v->read;

	if (v->closed && v->closed[port] >> table & 1)
		return true;
	if (!t)
		return false;
	for (unsigned i = 0; i < port_tables_blocks(t, table, port); i++)
		if (!sa_db_block(v, table, port, i))
			return false;
	return true;
}

uint16_t
sa_db_pkey_index(const struct sa_db *v, uint32_t port, uint16_t pkey)
{
	unsigned n = v->held ?
		port_tables_blocks(v->held, PORT_TABLE_PKEY, port) : 0;

	for (unsigned i = 0; pkey && i < n; i++) {
		const union port_block *b = port_tables_get(v->held,
			PORT_TABLE_PKEY, port, i);

		for (unsigned k = 0; b && k < PKEYS_A_BLOCK; k++)
			if (b->pkeys[k] == pkey)
				return (uint16_t)(i * PKEYS_A_BLOCK + k);
	}
	return 0;
}

void
sa_db_add_block(struct sa_db *v, enum port_table table, uint32_t port,
		  unsigned block, const union port_block *data)
{
	if (!v->read)
		v->read = port_tables_new(v->subnet);
	if (block < port_tables_blocks(v->read, table, port))
		port_tables_set(v->read, table, port, block, data);
}

void
sa_db_close_table(struct sa_db *v, enum port_table table, uint32_t port)
{
	if (!v->closed)
		v->closed = g_new0(uint8_t, v->subnet->n_ports);
	v->closed[port] |= (uint8_t)(1u << table);
}
