// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * M_Keys during discovery.
 *
 * A port that is well protected does not answer a request with a wrong M_Key
 * (IBA 14.2.4), not even NodeInfo. So NodeInfo is sent with the keys that the
 * node behind the port had last time, one after the other. The key that was
 * accepted is used for the other queries to that node: at protection levels 2
 * and 3 it is the key or the port has none; below, all Gets are free.
 *
 * A cable may have been moved meanwhile. Then the node behind it is one of
 * those that were not found anywhere, and one of their keys, the strays, will
 * do.
 */
#include "sm/sweep/mkey_probe.h"

/* Each wrong key adds to the port's violation count, and costs a time-out. */
#define STRAYS_MAX	16u

struct mkey_probe {
	const struct mkey_db *keys;
	struct builder *b;
	uint64_t own_guid;
	GArray *opened;		/* by builder's end port: the key; 0: any */
	GArray *strays;		/* NULL: not computed yet */
};

struct mkey_probe *
mkey_probe_new(const struct mkey_db *keys, struct builder *b, uint64_t own_guid)
{
	struct mkey_probe *d = g_new0(struct mkey_probe, 1);

	d->keys = keys;
	d->b = b;
	d->own_guid = own_guid;
	d->opened = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	return d;
}

void
mkey_probe_free(struct mkey_probe *d)
{
	g_array_unref(d->opened);
	if (d->strays)
		g_array_unref(d->strays);
	g_free(d);
}

/* The end port whose M_Key `port` has. */
static uint32_t
holder_of(const struct mkey_probe *d, uint32_t port)
{
	uint32_t node = builder_port_at(d->b, port)->node;

	return snapshot_is_switch(builder_node_at(d->b, node)) ?
		builder_port(d->b, node, 0) : port;
}

uint64_t
mkey_probe_behind(const struct mkey_probe *d, uint32_t port)
{
	if (port == SNAPSHOT_NONE)
		return d->own_guid;
	return mkey_db_behind(d->keys,
			      builder_port_at(d->b, holder_of(d, port))->guid,
			      builder_port_at(d->b, port)->num);
}

bool
mkey_probe_is_locked(const struct mkey_probe *d, uint32_t port)
{
	const struct snapshot_port *p = builder_port_at(d->b, port);

	return p->known && p->guid && mkey_db_is_hidden(&p->info) &&
		mkey_db_is_locked(d->keys, p->guid);
}

static bool
is_among(const uint64_t *tries, unsigned n, uint64_t key)
{
	for (unsigned i = 0; i < n; i++)
		if (tries[i] == key)
			return true;
	return false;
}

bool
mkey_probe_key_behind(const struct mkey_probe *d, uint32_t port, unsigned try,
		 uint64_t *key)
{
	uint64_t tries[MKEY_DB_TRIES];
	unsigned n = mkey_db_tries(d->keys, mkey_probe_behind(d, port), tries);

	if (try >= n)
		return false;
	*key = tries[try];
	return true;
}

bool
mkey_probe_stray_key(const struct mkey_probe *d, uint32_t port, unsigned try,
		uint64_t *key)
{
	uint64_t tries[MKEY_DB_TRIES];
	unsigned n = mkey_db_tries(d->keys, mkey_probe_behind(d, port), tries);

	for (guint i = 0; i < d->strays->len; i++) {
		*key = g_array_index(d->strays, uint64_t, i);
		if (!is_among(tries, n, *key) && !try--)
			return true;
	}
	return false;
}

bool
mkey_probe_key_of(const struct mkey_probe *d, uint32_t port, unsigned try,
	     uint64_t *key)
{
	uint32_t holder = holder_of(d, port);
	uint64_t tries[MKEY_DB_TRIES], opened = 0;
	unsigned n = mkey_db_tries(d->keys,
				   builder_port_at(d->b, holder)->guid, tries);

	if (holder < d->opened->len)
		opened = g_array_index(d->opened, uint64_t, holder);
	*key = opened ? opened : tries[0];
	if (!try)
		return true;
	for (unsigned i = opened ? 0 : 1; i < n; i++) {
		*key = tries[i];
		if (*key != opened && !--try)
			return true;
	}
	return false;
}

void
mkey_probe_opened(struct mkey_probe *d, uint32_t port, uint64_t key)
{
	uint32_t holder = holder_of(d, port);
	uint64_t *opened;

	if (holder >= d->opened->len)
		g_array_set_size(d->opened, holder + 1);
	opened = &g_array_index(d->opened, uint64_t, holder);
	if (!*opened)
		*opened = key;
}

bool
mkey_probe_find_strays(struct mkey_probe *d)
{
	g_autoptr(GHashTable) found = g_hash_table_new(g_int64_hash,
						       g_int64_equal);

	if (d->strays)
		return false;
	for (uint32_t n = 0; n < builder_n_nodes(d->b); n++) {
		unsigned ports = builder_node_at(d->b, n)->info.num_ports;

		for (unsigned num = 0; num <= ports; num++)
			g_hash_table_add(found, &builder_port_at(d->b,
				builder_port(d->b, n, num))->guid);
	}
	d->strays = mkey_db_strays(d->keys, found, STRAYS_MAX);
	return d->strays->len > 0;
}
