// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * M_Keys.
 *
 * Structs. A `lock` is what we know of the key of one port: its keys, the
 * first of which opened it last, the others being Sets of which nobody knows
 * whether they arrived. A port without a lock has key 0, or what it is to
 * have: both open with the latter. `ends` remembers who was behind which port,
 * since whose key to use must be known before anybody has answered. `by_lid`
 * is for the answers to traps.
 *
 * Flow. Before a port is given a key: intend; when it has taken it, or shows
 * one: prove. A port shows its key to everybody at protection level 0, to who
 * has it at all levels, and to nobody else (IBA 14.2.4.1); so what a snapshot
 * holds is the truth but for level 1, where 0 may mean "not for you".
 *
 * What a port shows at level 0 is used, whoever set it: IBA lets the
 * protection of a port whose lease has run out fall back to that level just so
 * that a manager can read the key and take the port over (14.2.4.2).
 *
 * A key per port is HMAC-SHA256 of the PortGUID under the seed, cut to 64
 * bits: who has learned one port's key has learned no other's. The seed itself
 * is never sent; to a port that nobody knows goes key 0.
 */
#include "sm/plan/mkey_db.h"

#include <string.h>

#define LOCK_KEYS	(MKEY_DB_TRIES - 1)

struct lock {
	uint64_t guid;
	uint64_t keys[LOCK_KEYS];
	unsigned n;
};

struct end {
	uint64_t guid;
	uint64_t other;		/* who is behind it */
	uint8_t num, other_num;
};

struct mkey_db {
	uint64_t m_key;
	enum mkey_db_mode mode;
	GHashTable *locks;	/* the lock's guid -> itself */
	GHashTable *ends;	/* struct end, by (guid, num) */
	GHashTable *locked;	/* a set of GUIDs: somebody else's ports */
	uint64_t *by_lid;	/* PortGUID by LID; NULL: nothing learned */
	uint64_t version;
};

static guint
end_hash(gconstpointer key)
{
	const struct end *e = key;

	return (guint)(e->guid ^ e->guid >> 32) * 31 + e->num;
}

static gboolean
end_equal(gconstpointer a, gconstpointer b)
{
	const struct end *x = a, *y = b;

	return x->guid == y->guid && x->num == y->num;
}

struct mkey_db *
mkey_db_new(uint64_t m_key, enum mkey_db_mode mode)
{
	struct mkey_db *k = g_new0(struct mkey_db, 1);

	k->m_key = m_key;
	k->mode = mode;
	k->locks = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL,
					 g_free);
	k->ends = g_hash_table_new_full(end_hash, end_equal, g_free, NULL);
	k->locked = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					  NULL);
	return k;
}

void
mkey_db_free(struct mkey_db *k)
{
	if (!k)
		return;
	g_hash_table_unref(k->locks);
	g_hash_table_unref(k->ends);
	g_hash_table_unref(k->locked);
	g_free(k->by_lid);
	g_free(k);
}

/* Without a key that is wanted or known there is nothing to remember. */
static bool
is_idle(const struct mkey_db *k)
{
	return !k->m_key && !g_hash_table_size(k->locks);
}

static const struct lock *
lock_find(const struct mkey_db *k, uint64_t guid)
{
	return g_hash_table_lookup(k->locks, &guid);
}

/* Who is where is as private as it ever was: only the key is a secret. */
static uint64_t
derive(uint64_t seed, uint64_t guid)
{
	uint64_t key = 0, words[2] = { GUINT64_TO_BE(seed),
				       GUINT64_TO_BE(guid) };
	uint8_t digest[32];
	gsize len = sizeof(digest);
	GHmac *mac = g_hmac_new(G_CHECKSUM_SHA256, (const guchar *)&words[0],
				sizeof(words[0]));

	g_hmac_update(mac, (const guchar *)&words[1], sizeof(words[1]));
	g_hmac_get_digest(mac, digest, &len);
	g_hmac_unref(mac);
	/* 0 would be no key: the first word that is one. */
	for (unsigned at = 0; !key && at < sizeof(digest); at += 8)
		for (unsigned i = 0; i < 8; i++)
			key = key << 8 | digest[at + i];
	return key ? key : 1;
}

uint64_t
mkey_db_wanted(const struct mkey_db *k, uint64_t port_guid)
{
	if (!k->m_key || k->mode == MKEY_DB_ONE)
		return k->m_key;
	return port_guid ? derive(k->m_key, port_guid) : 0;
}

uint64_t
mkey_db_of(const struct mkey_db *k, uint64_t port_guid)
{
	const struct lock *l;

	if (!k)
		return 0;
	l = lock_find(k, port_guid);
	return l ? l->keys[0] : mkey_db_wanted(k, port_guid);
}

uint64_t
mkey_db_at(const struct mkey_db *k, const struct snapshot *s, uint32_t port)
{
	const struct snapshot_node *n = snapshot_node_of(s, port);
	uint32_t holder = snapshot_is_switch(n) ? n->first_port : port;

	return mkey_db_of(k, s->ports[holder].guid);
}

bool
mkey_db_of_lid(const struct mkey_db *k, uint16_t lid, uint64_t *key)
{
	*key = 0;
	if (!k || is_idle(k))
		return true;
	if (!k->by_lid || lid > LID_UNICAST_MAX || !k->by_lid[lid])
		return false;
	*key = mkey_db_of(k, k->by_lid[lid]);
	return true;
}

unsigned
mkey_db_known(const struct mkey_db *k, uint64_t port_guid,
	      uint64_t keys[MKEY_DB_TRIES])
{
	const struct lock *l = k ? lock_find(k, port_guid) : NULL;

	for (unsigned i = 0; l && i < l->n; i++)
		keys[i] = l->keys[i];
	return l ? l->n : 0;
}

unsigned
mkey_db_tries(const struct mkey_db *k, uint64_t port_guid,
	      uint64_t tries[MKEY_DB_TRIES])
{
	uint64_t wanted = k ? mkey_db_wanted(k, port_guid) : 0;
	unsigned n = mkey_db_known(k, port_guid, tries);

	for (unsigned i = 0; i < n; i++)
		if (tries[i] == wanted)
			wanted = 0;
	if (wanted || !n)
		tries[n++] = wanted;
	return n;
}

bool
mkey_db_is_hidden(const struct port_info *info)
{
	return !info->m_key && info->m_key_protect == 1;
}

/* ---------------------------------------------------------------- learning */

void
mkey_db_intend(struct mkey_db *k, uint64_t port_guid, uint64_t key)
{
	struct lock *l = g_hash_table_lookup(k->locks, &port_guid);

	/* To take a key away is safe: with key 0 the old one opens, too. */
	if (!key || !port_guid)
		return;
	for (unsigned i = 0; l && i < l->n; i++)
		if (l->keys[i] == key)
			return;
	if (!l) {
		l = g_new0(struct lock, 1);
		l->guid = port_guid;
		g_hash_table_insert(k->locks, &l->guid, l);
	}
	/* The one that opened it last stays; of the doubtful ones the oldest
	 * goes. */
	if (l->n == LOCK_KEYS) {
		memmove(&l->keys[1], &l->keys[2],
			(LOCK_KEYS - 2) * sizeof(l->keys[0]));
		l->n--;
	}
	l->keys[l->n++] = key;
	k->version++;
}

void
mkey_db_prove(struct mkey_db *k, uint64_t port_guid, uint64_t key)
{
	struct lock *l = g_hash_table_lookup(k->locks, &port_guid);

	if (!port_guid)
		return;
	if (!key) {
		k->version += g_hash_table_remove(k->locks, &port_guid);
		return;
	}
	if (l && l->n == 1 && l->keys[0] == key)
		return;
	if (l)
		l->n = 0;
	mkey_db_intend(k, port_guid, key);
}

void
mkey_db_lock(struct mkey_db *k, uint64_t port_guid)
{
	g_hash_table_add(k->locked, g_memdup2(&port_guid, sizeof(port_guid)));
}

void
mkey_db_unlock_all(struct mkey_db *k)
{
	g_hash_table_remove_all(k->locked);
}

bool
mkey_db_is_locked(const struct mkey_db *k, uint64_t port_guid)
{
	return k && g_hash_table_contains(k->locked, &port_guid);
}

static void
end_set(struct mkey_db *k, const struct end *want)
{
	struct end *e = g_hash_table_lookup(k->ends, want), back;

	if (e && e->other == want->other && e->other_num == want->other_num)
		return;
	/* The one that was behind it may be anywhere now. */
	if (e) {
		back = (struct end){ .guid = e->other, .num = e->other_num };
		e->other = want->other;
		e->other_num = want->other_num;
		e = g_hash_table_lookup(k->ends, &back);
		if (e && e->other == want->guid && e->other_num == want->num)
			g_hash_table_remove(k->ends, &back);
	} else {
		g_hash_table_add(k->ends, g_memdup2(want, sizeof(*want)));
	}
	k->version++;
}

void
mkey_db_add_cable(struct mkey_db *k, const struct mkey_db_cable *c)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct end e = {
			.guid = c->guid[i], .num = c->num[i],
			.other = c->guid[!i], .other_num = c->num[!i],
		};

		end_set(k, &e);
	}
}

static uint64_t
holder_guid(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_node *n = snapshot_node_of(s, port);

	return s->ports[snapshot_is_switch(n) ? n->first_port : port].guid;
}

static void
learn_cable(struct mkey_db *k, const struct snapshot *s, uint32_t port)
{
	uint32_t peer = s->ports[port].peer;
	struct mkey_db_cable c;

	if (peer == SNAPSHOT_NONE || peer < port)
		return;
	c = (struct mkey_db_cable){
		.guid = { holder_guid(s, port), holder_guid(s, peer) },
		.num = { s->ports[port].num, s->ports[peer].num },
	};
	if (c.guid[0] && c.guid[1])
		mkey_db_add_cable(k, &c);
}

static void
learn_lid(struct mkey_db *k, const struct snapshot_port *p)
{
	unsigned size = 1u << p->info.lmc;

	if (p->info.lid == LID_NONE)
		return;
	for (unsigned lid = p->info.lid; lid < p->info.lid + size &&
	     lid <= LID_UNICAST_MAX; lid++)
		k->by_lid[lid] = p->guid;
}

void
mkey_db_learn(struct mkey_db *k, const struct snapshot *s)
{
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_port *p = &s->ports[port];

		if (!snapshot_is_end_port(s, port) || !p->known ||
		    mkey_db_is_hidden(&p->info))
			continue;
		mkey_db_prove(k, p->guid, p->info.m_key);
		g_hash_table_remove(k->locked, &p->guid);
	}
	if (is_idle(k))
		return;
	g_free(k->by_lid);
	k->by_lid = g_new0(uint64_t, LID_UNICAST_MAX + 1);
	for (uint32_t port = 0; port < s->n_ports; port++) {
		learn_cable(k, s, port);
		if (snapshot_is_end_port(s, port) && s->ports[port].known)
			learn_lid(k, &s->ports[port]);
	}
}

/* ------------------------------------------------------------ asking about */

uint64_t
mkey_db_behind(const struct mkey_db *k, uint64_t port_guid, uint8_t num)
{
	const struct end key = { .guid = port_guid, .num = num }, *e;

	e = k ? g_hash_table_lookup(k->ends, &key) : NULL;
	return e ? e->other : 0;
}

static gint
by_number(gconstpointer a, gconstpointer b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

GArray *
mkey_db_guids(const struct mkey_db *k)
{
	GArray *guids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	GHashTableIter i;
	gpointer guid;

	g_hash_table_iter_init(&i, k->locks);
	while (g_hash_table_iter_next(&i, &guid, NULL))
		g_array_append_vals(guids, guid, 1);
	g_array_sort(guids, by_number);
	return guids;
}

static bool
holds(const GArray *keys, uint64_t key)
{
	for (guint i = 0; i < keys->len; i++)
		if (g_array_index(keys, uint64_t, i) == key)
			return true;
	return false;
}

GArray *
mkey_db_strays(const struct mkey_db *k, GHashTable *found, unsigned max)
{
	GArray *keys = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_autoptr(GArray) guids = k ? mkey_db_guids(k) : NULL;

	for (guint i = 0; guids && i < guids->len; i++) {
		uint64_t guid = g_array_index(guids, uint64_t, i);
		const struct lock *l = lock_find(k, guid);

		if (g_hash_table_contains(found, &guid))
			continue;
		for (unsigned j = 0; j < l->n && keys->len < max; j++)
			if (!holds(keys, l->keys[j]))
				g_array_append_val(keys, l->keys[j]);
	}
	return keys;
}

static gint
by_end(gconstpointer a, gconstpointer b)
{
	const struct mkey_db_cable *x = a, *y = b;

	if (x->guid[0] != y->guid[0])
		return x->guid[0] < y->guid[0] ? -1 : 1;
	return (int)x->num[0] - (int)y->num[0];
}

GArray *
mkey_db_cables(const struct mkey_db *k)
{
	GArray *cables = g_array_new(FALSE, TRUE,
				     sizeof(struct mkey_db_cable));
	GHashTableIter i;
	gpointer at;

	g_hash_table_iter_init(&i, k->ends);
	while (g_hash_table_iter_next(&i, &at, NULL)) {
		const struct end *e = at;
		const struct mkey_db_cable c = {
			.guid = { e->guid, e->other },
			.num = { e->num, e->other_num },
		};

		g_array_append_val(cables, c);
	}
	g_array_sort(cables, by_end);
	return cables;
}

uint64_t
mkey_db_version(const struct mkey_db *k)
{
	return k->version;
}
