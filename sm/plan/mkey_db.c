// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * M_Keys.
 *
 * Structs. A `lock` has the possible keys of one port: the first was accepted
 * last, the others are those of Sets without an answer. A port without a lock
 * has key 0, or the one that it shall have: both accept the latter. `ends` has
 * the neighbour of each port, since the key of a node must be chosen before it
 * has answered. `by_lid` is for answers to traps.
 *
 * Flow. Before a Set with a key: intend; when the port has accepted it, or
 * shows one: prove. At protection level 0 a port shows its key to all
 * requesters, at the other levels only to those that send it (IBA 14.2.4.1); so
 * the key in a snapshot is right, but for level 1, where 0 may mean that it was
 * read with another key.
 *
 * A key that a port shows at level 0 is used, whichever SM set it: when the
 * lease of a port ends, its protection falls back to that level so that an SM
 * can read the key and take the port over (14.2.4.2).
 *
 * A key per port is HMAC-SHA256 of the PortGUID under the seed, cut to 64
 * bits: one port's key reveals no other's. The seed itself is never sent; to a
 * port that is not known, key 0 is.
 */
#include "sm/plan/mkey_db.h"

#include <inttypes.h>
#include <string.h>

#include "topology/smp_attr.h"
#include "topology/text.h"

#define LOCK_KEYS	(MKEY_DB_TRIES - 2)

struct lock {
	uint64_t guid;
	uint64_t keys[LOCK_KEYS];
	unsigned n;
};

static guint
end_hash(gconstpointer key)
{
	const struct mkey_db_cable *e = key;

	return (guint)(e->guid[0] ^ e->guid[0] >> 32) * 31 + e->num[0];
}

static gboolean
end_equal(gconstpointer a, gconstpointer b)
{
	const struct mkey_db_cable *x = a, *y = b;

	return x->guid[0] == y->guid[0] && x->num[0] == y->num[0];
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

/* There is no key, neither configured nor learned. */
static bool
is_idle(const struct mkey_db *k)
{
	return !k->m_key && !g_hash_table_size(k->locks);
}

uint64_t
mkey_db_wanted(const struct mkey_db *k, uint64_t port_guid)
{
	const uint64_t seed = GUINT64_TO_BE(k->m_key);
	const uint64_t guid = GUINT64_TO_BE(port_guid);
	uint64_t key = 0;
	uint8_t digest[32];
	gsize len = sizeof(digest);
	GHmac *mac;

	if (!k->m_key || k->mode == MKEY_DB_ONE)
		return k->m_key;
	if (!port_guid)
		return 0;
	mac = g_hmac_new(G_CHECKSUM_SHA256, (const guchar *)&seed,
			 sizeof(seed));
	g_hmac_update(mac, (const guchar *)&guid, sizeof(guid));
	g_hmac_get_digest(mac, digest, &len);
	g_hmac_unref(mac);
	/* 0 is no key: take the first word that is not. */
	for (unsigned at = 0; !key && at < sizeof(digest); at += 8)
		for (unsigned i = 0; i < 8; i++)
			key = key << 8 | digest[at + i];
	return key ? key : 1;
}

uint64_t
mkey_db_of(const struct mkey_db *k, uint64_t port_guid)
{
	const struct lock *l;

	if (!k)
		return 0;
	l = g_hash_table_lookup(k->locks, &port_guid);
	return l ? l->keys[0] : mkey_db_wanted(k, port_guid);
}

uint64_t
mkey_db_at(const struct mkey_db *k, const struct snapshot *s, uint32_t port)
{
	return mkey_db_of(k, s->ports[snapshot_holder_of(s, port)].guid);
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
mkey_db_tries(const struct mkey_db *k, uint64_t port_guid, uint64_t first,
	      uint64_t tries[MKEY_DB_TRIES])
{
	uint64_t wanted = k ? mkey_db_wanted(k, port_guid) : 0;
	const struct lock *l = k ? g_hash_table_lookup(k->locks, &port_guid) :
		NULL;
	unsigned n = 0;

	if (first)
		tries[n++] = first;
	for (unsigned i = 0; l && i < l->n; i++) {
		if (l->keys[i] == wanted)
			wanted = 0;
		if (l->keys[i] != first)
			tries[n++] = l->keys[i];
	}
	if (!n || (wanted && wanted != first))
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

	/* Key 0 needs no entry: a port with key 0 accepts the old one, too. */
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
	/* The one that was accepted last stays; of the others the oldest is
	 * dropped. */
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

bool
mkey_db_is_locked(const struct mkey_db *k, uint64_t port_guid)
{
	return k && g_hash_table_contains(k->locked, &port_guid);
}

void
mkey_db_add_cable(struct mkey_db *k, const struct mkey_db_cable *c)
{
	/* each end leads to the other one */
	for (unsigned i = 0; i < 2; i++) {
		const struct mkey_db_cable want = {
			.guid = { c->guid[i], c->guid[1 - i] },
			.num = { c->num[i], c->num[1 - i] },
		};
		struct mkey_db_cable *e = g_hash_table_lookup(k->ends, &want);
		struct mkey_db_cable back;

		if (e && e->guid[1] == want.guid[1] && e->num[1] == want.num[1])
			continue;
		k->version++;
		if (!e) {
			g_hash_table_add(k->ends,
					 g_memdup2(&want, sizeof(want)));
			continue;
		}
		/* The port that was at the other end may have been moved. */
		back = (struct mkey_db_cable){
			.guid = { e->guid[1] }, .num = { e->num[1] },
		};
		*e = want;
		e = g_hash_table_lookup(k->ends, &back);
		if (e && e->guid[1] == want.guid[0] &&
		    e->num[1] == want.num[0])
			g_hash_table_remove(k->ends, &back);
	}
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
	for (uint32_t port = 0; port < s->n_ports; port++) {
		uint32_t peer = s->ports[port].peer;
		struct mkey_db_cable c;

		if (peer == SNAPSHOT_NONE || peer < port)
			continue;
		c = (struct mkey_db_cable){
			.guid = { s->ports[snapshot_holder_of(s, port)].guid,
				  s->ports[snapshot_holder_of(s, peer)].guid },
			.num = { s->ports[port].num, s->ports[peer].num },
		};
		if (c.guid[0] && c.guid[1])
			mkey_db_add_cable(k, &c);
	}
	g_free(k->by_lid);
	k->by_lid = g_new0(uint64_t, LID_UNICAST_MAX + 1);
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_port *p = &s->ports[port];
		unsigned lid = p->info.lid, end = lid + (1u << p->info.lmc);

		if (!snapshot_is_end_port(s, port) || !p->known ||
		    lid == LID_NONE)
			continue;
		for (; lid < MIN(end, LID_UNICAST_MAX + 1u); lid++)
			k->by_lid[lid] = p->guid;
	}
}

/* ----------------------------------------------------------------- look-ups */

uint64_t
mkey_db_behind(const struct mkey_db *k, uint64_t port_guid, uint8_t num)
{
	const struct mkey_db_cable key = {
		.guid = { port_guid }, .num = { num },
	}, *e = k ? g_hash_table_lookup(k->ends, &key) : NULL;

	return e ? e->guid[1] : 0;
}

static gint
compare_ends(gconstpointer a, gconstpointer b)
{
	const struct mkey_db_cable *x = a, *y = b;

	return uint_compare(x->guid[0], y->guid[0]) ?:
		uint_compare(x->num[0], y->num[0]);
}

/* ------------------------------------------------------------------- files */

#define DIGITS		16u	/* of a GUID, and of an M_Key */
#define PORT_MAX	254u

/* Both files are rows of two words; of keys the second number is the key, which
 * may be 0. */
static bool
read_row(const char *line, bool cables, struct mkey_db_cable *row)
{
	uint64_t num;

	for (unsigned i = 0; i < 2; i++) {
		if (!text_take_hex(&line, DIGITS, &row->guid[i]) ||
		    (!row->guid[i] && (cables || i == 0)))
			return false;
		if (cables && (*line++ != ':' ||
			       !text_take_digits(&line, 10, PORT_MAX, &num)))
			return false;
		if (cables)
			row->num[i] = (uint8_t)num;
		if (*line && text_skip_blanks(line) == line)
			return false;
		line = text_skip_blanks(line);
	}
	return !*line;
}

bool
mkey_db_take(struct mkey_db *k, enum mkey_db_file file, const char *line,
	     GError **error)
{
	bool cables = file == MKEY_DB_CABLES;
	struct mkey_db_cable row = { .num = { 0 } };

	line = text_skip_blanks(line);
	if (!*line || *line == '#')
		return true;
	if (!read_row(line, cables, &row))
		return text_refuse(error, "this is not \"%s\"", cables ?
				   "0xPORTGUID:PORT 0xPORTGUID:PORT" :
				   "0xPORTGUID 0xMKEY");
	if (cables)
		mkey_db_add_cable(k, &row);
	else
		mkey_db_intend(k, row.guid[0], row.guid[1]);
	return true;
}

void
mkey_db_write(const struct mkey_db *k, enum mkey_db_file file, GString *out)
{
	bool cables = file == MKEY_DB_CABLES;
	g_autoptr(GList) rows = g_list_sort(g_hash_table_get_values(
		cables ? k->ends : k->locks), cables ? compare_ends :
		guid_compare);

	for (const GList *at = rows; at; at = at->next) {
		const struct mkey_db_cable *c = at->data;
		const struct lock *l = at->data;

		if (cables)
			g_string_append_printf(out, "0x%016" PRIx64 ":%u 0x%016"
					       PRIx64 ":%u\n\n", c->guid[0],
					       c->num[0], c->guid[1],
					       c->num[1]);
		for (unsigned j = 0; !cables && j < l->n; j++)
			g_string_append_printf(out, "0x%016" PRIx64 " 0x%016"
					       PRIx64 "\n\n", l->guid,
					       l->keys[j]);
	}
}
