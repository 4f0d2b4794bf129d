// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ports whose clients are known to the SA.
 *
 * A port is known by its PortGUID once it was asked to register again and has
 * acknowledged it. If the state of the SA survived a restart, or was taken over
 * from another master, a port is also known if it is found with its link
 * Active, with this SM or that master as its SMLID, and has registrations. A
 * port without registrations may have been cut off, so that they were removed.
 * What clients registered with another SM in between is not known here.
 *
 *	unknown	--asked and acknowledged--> known
 *	known	--comes up again, gets another LID,--> unknown
 *		  leaves the fabric, its SMLID changed from ours, or the
 *		  cables on its directed route were exchanged
 *
 * A port that leaves is no longer known, since the SA removes it from its
 * groups. A port that does not acknowledge stays unknown, and is asked again in
 * the next sweep; a port that cannot register again (a bit of its
 * CapabilityMask) is not asked, see desired_port().
 */
#include "sm/sweep/reregister.h"

struct reregister {
	enum reregister_start start;
	bool trusting;		/* before the first port after a start */
	uint16_t former;	/* LID of the former master whose state we
				   have; or LID_NONE */
	GHashTable *clients;	/* set of PortGUIDs with registrations; NULL:
				   all */
	uint16_t own;		/* our LID at the last sweep */
	GHashTable *known;	/* by PortGUID: was its SMLID ours? */
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
       const struct lid_map *lids, uint64_t gid_prefix, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];
	gpointer was_ours;

	/* Port 0 has no link. */
	if (p->num > 0 && p->info.state < PORT_STATE_ACTIVE)
		return true;
	if (lids->base[port] != LID_NONE && (p->info.lid != lids->base[port] ||
					     p->info.gid_prefix != gid_prefix))
		return true;
	g_assert(!c->former || c->clients);	/* see reregister_trust() */
	if (c->trusting && c->former)
		return p->info.sm_lid != c->former ||
			!g_hash_table_contains(c->clients, &p->guid);
	/* Port 0 of a switch usually registers nothing, and is not asked at
	 * each restart. */
	if (c->trusting)
		return p->info.sm_lid != lids->base[s->local_port] ||
			(c->clients && p->num > 0 &&
			 !g_hash_table_contains(c->clients, &p->guid));
	if (!g_hash_table_lookup_extended(c->known, &p->guid, NULL, &was_ours))
		return true;
	/* It was managed by another SM, in a part of the fabric from which
	 * we were cut off. */
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
	     const struct lid_map *lids, uint64_t gid_prefix)
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
		want[port] = is_new(c, s, lids, gid_prefix, port);
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
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_port *p = &s->ports[port];

		if (told[port] || (p->info.sm_lid == c->own &&
				   g_hash_table_contains(c->known, &p->guid)))
			know(c->known, p->guid, true);
	}
}

void
reregister_missed(struct reregister *c, uint64_t guid)
{
	g_hash_table_remove(c->known, &guid);
}

void
reregister_trust(struct reregister *c, uint16_t sm_lid, GHashTable *clients)
{
	c->trusting = true;
	c->former = sm_lid;
	g_clear_pointer(&c->clients, g_hash_table_unref);
	c->clients = clients;
}

static gboolean
is_of_another(gpointer guid, gpointer was_ours, gpointer data)
{
	return !was_ours;
}

void
reregister_doubt(struct reregister *c)
{
	g_hash_table_foreach_remove(c->known, is_of_another, NULL);
	/* the former master may have lived on */
	c->trusting &= !c->former;
	c->former = LID_NONE;
}

void
reregister_forget(struct reregister *c)
{
	g_hash_table_remove_all(c->known);
	c->trusting = false;
	c->former = LID_NONE;
}
