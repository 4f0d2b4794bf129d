// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Whose clients the SA knows.
 *
 * A port is known by its PortGUID once it was told to register again and has
 * acknowledged it; or, if the state of the SA was kept over our restart or taken
 * over from another, when it is met for the first time with its link Active, with
 * us or that one as its master, and has registered anything. A port that has not
 * may have been cut off, so that its registrations were forgotten. An SM that was
 * master meanwhile was told what we were not.
 *
 *	unknown --told--> known --comes up anew, gets another LID,--> unknown
 *				  leaves the fabric, had us as its
 *				  master and has another one
 *
 * Who leaves is forgotten since the SA takes it out of its groups. Who does
 * not acknowledge stays unknown, and is asked again in the next sweep; who
 * cannot register again (a bit of its CapabilityMask) is not asked at all,
 * which struct desired sees to.
 */
#include "sm/sweep/reregister.h"

struct reregister {
	enum reregister_start start;
	bool trusting;		/* no port was met so far */
	uint16_t former;	/* LID of the master before us, of whose clients
				   we know these; or LID_NONE */
	GHashTable *clients;	/* set of PortGUIDs; NULL */
	uint16_t own;		/* our LID at the last sweep */
	GHashTable *known;	/* by PortGUID: were we seen as its master? */
};

struct reregister *
reregister_new(enum reregister_start start)
{
	struct reregister *c = g_new0(struct reregister, 1);

	c->start = start;
	c->trusting = start == REREGISTER_KNOWN;
	c->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					 NULL);
	return c;
}

void
reregister_free(struct reregister *c)
{
	if (!c)
		return;
	g_hash_table_unref(c->known);
	g_clear_pointer(&c->clients, g_hash_table_unref);
	g_free(c);
}

static bool
is_new(const struct reregister *c, const struct snapshot *s,
       const struct lid_map *lids, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];
	gpointer was_ours;

	/* Port 0 has no link that could have been down. */
	if (p->num > 0 && p->info.state < PORT_STATE_ACTIVE)
		return true;
	if (lids->base[port] != LID_NONE && p->info.lid != lids->base[port])
		return true;
	if (c->trusting && c->former)
		return p->info.sm_lid != c->former ||
			!g_hash_table_contains(c->clients, &p->guid);
	/* A switch's port 0 registers nothing, as a rule, and is not asked at
	 * each restart. */
	if (c->trusting)
		return p->info.sm_lid != lids->base[s->local_port] ||
			(c->clients && p->num > 0 &&
			 !g_hash_table_contains(c->clients, &p->guid));
	if (!g_hash_table_lookup_extended(c->known, &p->guid, NULL, &was_ours))
		return true;
	/* Another SM, in a part of the fabric from which we were cut off. */
	return was_ours && p->info.sm_lid != c->own &&
		p->info.sm_lid != lids->base[s->local_port];
}

static void
know(GHashTable *known, uint64_t guid, bool is_ours)
{
	g_hash_table_insert(known, g_memdup2(&guid, sizeof(guid)),
			    GINT_TO_POINTER(is_ours));
}

uint8_t *
reregister_want(struct reregister *c, const struct snapshot *s,
	     const struct lid_map *lids)
{
	uint16_t own = lids->base[s->local_port];
	GHashTable *known;
	uint8_t *want;

	if (c->start == REREGISTER_NONE)
		return NULL;
	known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
				      NULL);
	want = g_new0(uint8_t, s->n_ports);
	for (uint32_t port = 0; port < s->n_ports; port++) {
		if (!snapshot_is_end_port(s, port))
			continue;
		want[port] = is_new(c, s, lids, port);
		if (!want[port])
			know(known, s->ports[port].guid,
			     s->ports[port].info.sm_lid == own);
	}
	g_hash_table_unref(c->known);
	c->known = known;
	c->own = own;
	c->trusting = false;
	c->former = LID_NONE;
	g_clear_pointer(&c->clients, g_hash_table_unref);
	return want;
}

void reregister_told(struct reregister *c, const struct snapshot *s,
		     const uint8_t *told)
{
	for (uint32_t port = 0; port < s->n_ports; port++)
		if (told[port])
			know(c->known, s->ports[port].guid, true);
}

void
reregister_trust(struct reregister *c, uint16_t sm_lid, GHashTable *clients)
{
	c->trusting = true;
	c->former = sm_lid;
	g_clear_pointer(&c->clients, g_hash_table_unref);
	c->clients = clients;
}

void
reregister_forget(struct reregister *c)
{
	g_hash_table_remove_all(c->known);
	c->trusting = false;
	c->former = LID_NONE;
}
