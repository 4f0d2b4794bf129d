// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Whose clients the SA knows.
 *
 * A port is known by its PortGUID once it was told to register again and has
 * acknowledged it; or, if the state of the SA was kept over our restart, when
 * it is met for the first time with its link Active.
 *
 *	unknown --told--> known --comes up anew, gets another LID,--> unknown
 *				  leaves the fabric
 *
 * Who leaves is forgotten since the SA takes it out of its groups. Who does
 * not acknowledge stays unknown, and is asked again in the next sweep; who
 * cannot register again (a bit of its CapabilityMask) is not asked at all,
 * which struct wanted sees to.
 */
#include "sm/clients.h"

struct clients {
	enum clients_start start;
	bool trusting;		/* no port was met so far */
	GHashTable *known;	/* set of PortGUIDs */
};

struct clients *
clients_new(enum clients_start start)
{
	struct clients *c = g_new0(struct clients, 1);

	c->start = start;
	c->trusting = start == CLIENTS_KNOWN;
	c->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					 NULL);
	return c;
}

void
clients_free(struct clients *c)
{
	if (!c)
		return;
	g_hash_table_unref(c->known);
	g_free(c);
}

static bool
is_new(const struct clients *c, const struct subnet *s,
       const struct lid_map *lids, uint32_t port)
{
	const struct subnet_port *p = &s->ports[port];

	/* Port 0 has no link that could have been down. */
	if (p->num > 0 && p->info.state < PORT_STATE_ACTIVE)
		return true;
	if (lids->base[port] != LID_NONE && p->info.lid != lids->base[port])
		return true;
	return !c->trusting && !g_hash_table_contains(c->known, &p->guid);
}

static void
know(GHashTable *set, uint64_t guid)
{
	g_hash_table_add(set, g_memdup2(&guid, sizeof(guid)));
}

uint8_t *
clients_want(struct clients *c, const struct subnet *s,
	     const struct lid_map *lids)
{
	GHashTable *known;
	uint8_t *want;

	if (c->start == CLIENTS_NONE)
		return NULL;
	known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
				      NULL);
	want = g_new0(uint8_t, s->n_ports);
	for (uint32_t port = 0; port < s->n_ports; port++) {
		if (!subnet_is_end_port(s, port))
			continue;
		want[port] = is_new(c, s, lids, port);
		if (!want[port])
			know(known, s->ports[port].guid);
	}
	g_hash_table_unref(c->known);
	c->known = known;
	c->trusting = false;
	return want;
}

void
clients_told(struct clients *c, const struct subnet *s, const uint8_t *told)
{
	for (uint32_t port = 0; port < s->n_ports; port++)
		if (told[port])
			know(c->known, s->ports[port].guid);
}

void
clients_forget(struct clients *c)
{
	g_hash_table_remove_all(c->known);
	c->trusting = false;
}
