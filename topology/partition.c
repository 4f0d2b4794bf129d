// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Partitions as rules (IBA 10.9).
 *
 * Purpose. The configuration of partitions: by the partition file, at run time
 * by minismctl, or none, which is one partition with all ports in it.
 *
 * Structs. The partitions are few and looked up by P_Key, so they are an array
 * sorted by it. The rules of one stay in the order in which they were added,
 * since the later one decides (memberships_new).
 */
#include "topology/partition.h"

#include <string.h>

#include "topology/each.h"
#include "topology/text.h"

#define BROADCAST_Q_KEY	0x0b1bu		/* as IPoIB is used to it */
#define BROADCAST_MTU	4u		/* 2,048 bytes */
#define BROADCAST_RATE	3u		/* 10 Gb/s */
#define SCOPE_LINK	2u		/* link-local, IBA 4.1.1 */

const char *const partition_membership_names[] = {
	[PARTITION_NONE] = "none",
	[PARTITION_LIMITED] = "limited",
	[PARTITION_FULL] = "full",
	[PARTITION_BOTH] = "both",
};

void
partition_free(struct partition *p)
{
	g_free(p->name);
	g_array_unref(p->rules);
	g_array_unref(p->groups);
	g_free(p);
}

struct partition *
partition_new(uint16_t pkey)
{
	struct partition *p = g_new0(struct partition, 1);

	p->pkey = pkey;
	p->rules = g_array_new(FALSE, FALSE, sizeof(struct partition_rule));
	p->groups = g_array_new(FALSE, FALSE, sizeof(struct partition_group));
	return p;
}

struct partition_rules *
partition_rules_new(void)
{
	struct partition_rules *rules = g_new0(struct partition_rules, 1);

	rules->ref = 1;
	rules->partitions = g_ptr_array_new_with_free_func(
		(GDestroyNotify)partition_free);
	return rules;
}

struct partition_rules *
partition_rules_ref(struct partition_rules *rules)
{
	g_atomic_int_inc(&rules->ref);
	return rules;
}

void
partition_rules_unref(struct partition_rules *rules)
{
	if (!rules || !g_atomic_int_dec_and_test(&rules->ref))
		return;
	g_ptr_array_unref(rules->partitions);
	g_free(rules->source);
	g_free(rules);
}

struct partition_rules *
partition_rules_copy(const struct partition_rules *r)
{
	struct partition_rules *copy = partition_rules_new();

	copy->source = g_strdup(r->source);
	EACH_PTR(const struct partition, from, r->partitions) {
		struct partition *to = g_new(struct partition, 1);

		*to = *from;
		to->name = g_strdup(from->name);
		to->rules = g_array_copy(from->rules);
		to->groups = g_array_copy(from->groups);
		g_ptr_array_add(copy->partitions, to);
	}
	return copy;
}

/* NULL: there is none; its index would be *place. */
static struct partition *
rules_place(const struct partition_rules *rules, uint16_t base, guint *place)
{
	guint high = rules->partitions->len;

	*place = 0;
	while (*place < high) {
		guint mid = *place + (high - *place) / 2;
		struct partition *p = rules->partitions->pdata[mid];

		if (p->pkey == base)
			return p;
		if (p->pkey < base)
			*place = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

struct partition *
partition_rules_get(struct partition_rules *rules, uint16_t pkey)
{
	guint place;
	struct partition *p = rules_place(rules, pkey_base(pkey), &place);

	/* P_Keys with a base of 0 are invalid, IBA 10.9.1.1 */
	g_assert(pkey_base(pkey) != 0);
	if (p)
		return p;
	p = partition_new(pkey_base(pkey));
	g_ptr_array_insert(rules->partitions, (gint)place, p);
	return p;
}

const struct partition *
partition_rules_find(const struct partition_rules *r, uint16_t pkey)
{
	guint place;

	return rules_place(r, pkey_base(pkey), &place);
}

const struct partition *
partition_rules_search(const struct partition_rules *rules, const char *word,
		       char **wrong)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const struct partition *p;
	uint64_t pkey;

	for (guint i = 0; i < rules->partitions->len; i++) {
		p = rules->partitions->pdata[i];
		if (p->name && strcmp(p->name, word) == 0)
			return p;
		if (p->name)
			g_ptr_array_add(names, p->name);
	}
	p = text_read_number(word, 0, 0xffff, &pkey) ?
		partition_rules_find(rules, (uint16_t)pkey) : NULL;
	if (!p)
		*wrong = text_wrong("", word, " is no partition "
			"of the file (minismctl partitions has all)",
			(const char *const *)names->pdata, names->len);
	return p;
}

struct partition_rules *
partition_rules_with(const struct partition_rules *before, uint16_t pkey,
		     uint64_t guid, int membership)
{
	struct partition_rules *after = partition_rules_copy(before);
	GArray *rules = partition_rules_get(after, pkey)->rules;
	const struct partition_rule rule = {
		.who = PARTITION_GUID, .guid = guid,
		.membership = (enum partition_membership)MAX(membership, 0),
	};
	guint at = rules->len;

	/* those that were made at run time are the last ones, by GUID */
	for (guint i = rules->len; i-- > 0;) {
		const struct partition_rule *old =
			&g_array_index(rules, struct partition_rule, i);

		if (old->who != PARTITION_GUID || old->line)
			break;
		if (old->guid >= guid)
			at = i;
		if (old->guid == guid)
			g_array_remove_index(rules, i);
	}
	if (membership >= 0)
		g_array_insert_val(rules, at, rule);
	return after;
}

void
partition_ipoib_group(uint16_t pkey, unsigned scope,
		      struct partition_group *out)
{
	uint16_t full = (uint16_t)(pkey | PKEY_FULL);

	g_assert(scope <= 0xf);

	memset(out, 0, sizeof(*out));
	out->mgid[0] = 0xff;
	out->mgid[1] = (uint8_t)(0x10 | scope);	/* transient: RFC 4391, 4 */
	out->mgid[2] = 0x40;
	out->mgid[3] = 0x1b;
	out->mgid[4] = (uint8_t)(full >> 8);
	out->mgid[5] = (uint8_t)full;
	memset(&out->mgid[12], 0xff, 4);
	out->q_key = BROADCAST_Q_KEY;
	out->mtu = BROADCAST_MTU;
	out->rate = BROADCAST_RATE;
}

struct partition_rules *
partition_rules_default(void)
{
	static const struct partition_rule everybody = {
		.who = PARTITION_ALL,
		.membership = PARTITION_FULL,
	};
	struct partition_rules *rules = partition_rules_new();
	struct partition *p = partition_rules_get(rules, PKEY_DEFAULT);
	struct partition_group group;

	p->name = g_strdup("Default");
	p->defmember = PARTITION_FULL;
	g_array_append_val(p->rules, everybody);
	partition_ipoib_group(PKEY_DEFAULT, SCOPE_LINK, &group);
	g_array_append_val(p->groups, group);
	return rules;
}

/*
 * Memberships: from rules to the P_Keys of each port (IBA 10.9).
 *
 * Purpose. Rules name ports by GUID or by kind; the SA and the plan look up the
 * membership of a port of this snapshot, often, hence an array.
 *
 * Structs. A `resolver` is the state of one resolution: the end ports, a hash
 * of their PortGUIDs, the membership of each port in the current partition with
 * the list of its members, and the grants, (port, P_Key), so far.
 *
 * Flow of memberships_new(): partition after partition, in the order of their
 * P_Keys, the rules are applied one after the other; then the partition's ports
 * become grants. In the end the grants are sorted by port by counting, which
 * keeps the order of the partitions in each port. A rule costs one look-up, so
 * the whole is linear in rules and grants.
 *
 * Two rules for one port of one partition: the later one decides, as in OpenSM
 * ("ALL=full, 0x1=limited" leaves 0x1 limited). So no port has more access than
 * its last rule gives.
 *
 * Of two end ports with the same PortGUID the first in the snapshot is meant,
 * as in snapshot_find_port(); 0 is no GUID.
 */

#define MET	4u	/* a rule has named this port */

struct resolver {
	const struct snapshot *s;
	uint32_t *ends;		/* end ports, ascending */
	uint32_t n_ends;
	GHashTable *by_guid;	/* PortGUID -> end port + 1 */
	uint32_t self;		/* the SM's end port, or SNAPSHOT_NONE */
	uint8_t *what;		/* by port: 0, or MET and its membership so
				   far */
	uint32_t *inside;	/* the ports that rules have named */
	uint32_t n_inside;
	GArray *grants;		/* struct partition_grant */
	GArray *strangers;	/* may be NULL */
};

/* --- one partition --- */

static void
resolver_admit(struct resolver *r, uint32_t port,
	       enum partition_membership membership)
{
	if (!r->what[port])
		r->inside[r->n_inside++] = port;
	r->what[port] = (uint8_t)(MET | membership);
}

static void
resolver_partition(struct resolver *r, const struct partition *p)
{
	static const enum node_type types[] = {
		[PARTITION_ALL_CAS] = NODE_CA,
		[PARTITION_ALL_SWITCHES] = NODE_SWITCH,
		[PARTITION_ALL_ROUTERS] = NODE_ROUTER,
	};

	EACH_ITEM(const struct partition_rule, rule, p->rules) {
		gpointer found;

		if (rule->who == PARTITION_GUID) {
			found = g_hash_table_lookup(r->by_guid, &rule->guid);
			if (found)
				resolver_admit(r, GPOINTER_TO_UINT(found) - 1,
					       rule->membership);
			else if (r->strangers)
				g_array_append_vals(r->strangers, rule, 1);
			continue;
		}
		if (rule->who == PARTITION_SELF) {
			if (r->self != SNAPSHOT_NONE)
				resolver_admit(r, r->self, rule->membership);
			continue;
		}
		for (uint32_t i = 0; i < r->n_ends; i++)
			if (rule->who == PARTITION_ALL ||
			    snapshot_node_of(r->s, r->ends[i])->info.node_type
			    == types[rule->who])
				resolver_admit(r, r->ends[i], rule->membership);
	}
	for (uint32_t i = 0; i < r->n_inside; i++) {
		uint32_t port = r->inside[i];
		const struct partition_grant grants[] = {
			{ port, p->pkey },
			{ port, (uint16_t)(p->pkey | PKEY_FULL) },
		};

		if (r->what[port] & PARTITION_LIMITED)
			g_array_append_val(r->grants, grants[0]);
		if (r->what[port] & PARTITION_FULL)
			g_array_append_val(r->grants, grants[1]);
		r->what[port] = 0;
	}
	r->n_inside = 0;
}

/* --- memberships --- */

struct memberships *
memberships_deal(uint32_t n_ports, const GArray *grants)
{
	struct memberships *m = g_new(struct memberships, 1);

	m->ref = 1;
	m->n_ports = n_ports;
	m->first = g_new0(uint32_t, (size_t)n_ports + 1);
	m->pkeys = g_new(uint16_t, grants->len);
	EACH_ITEM(const struct partition_grant, g, grants)
		m->first[g->port + 1]++;
	for (uint32_t port = 0; port < n_ports; port++)
		m->first[port + 1] += m->first[port];
	/* first[port] is the index of its next one until all are written; then
	 * it is where the next port begins. */
	EACH_ITEM(const struct partition_grant, g, grants)
		m->pkeys[m->first[g->port]++] = g->pkey;
	memmove(m->first + 1, m->first, n_ports * sizeof(*m->first));
	m->first[0] = 0;
	return m;
}

struct memberships *
memberships_new(const struct partition_rules *rules, const struct snapshot *s,
		GArray *strangers)
{
	struct resolver r = {
		.s = s, .strangers = strangers,
		.ends = g_new(uint32_t, s->n_ports),
		.inside = g_new(uint32_t, s->n_ports),
		.what = g_new0(uint8_t, s->n_ports),
		.grants = g_array_new(FALSE, FALSE, sizeof(struct partition_grant)),
		.by_guid = g_hash_table_new(g_int64_hash, g_int64_equal),
		.self = s->local_port,
	};
	struct memberships *m;

	if (r.self != SNAPSHOT_NONE)	/* of a switch, its port 0 */
		r.self = snapshot_holder_of(s, r.self);
	if (r.self != SNAPSHOT_NONE && !snapshot_is_end_port(s, r.self))
		r.self = SNAPSHOT_NONE;
	for (uint32_t port = 0; port < s->n_ports; port++) {
		uint64_t *guid = &s->ports[port].guid;

		if (!snapshot_is_end_port(s, port))
			continue;
		r.ends[r.n_ends++] = port;
		if (*guid && !g_hash_table_contains(r.by_guid, guid))
			g_hash_table_insert(r.by_guid, guid,
					    GUINT_TO_POINTER(port + 1));
	}
	EACH_PTR(const struct partition, p, rules->partitions)
		resolver_partition(&r, p);
	m = memberships_deal(s->n_ports, r.grants);
	g_free(r.ends);
	g_free(r.inside);
	g_free(r.what);
	g_hash_table_unref(r.by_guid);
	g_array_unref(r.grants);
	return m;
}

struct memberships *
memberships_ref(struct memberships *m)
{
	g_atomic_int_inc(&m->ref);
	return m;
}

void
memberships_unref(struct memberships *m)
{
	if (!m || !g_atomic_int_dec_and_test(&m->ref))
		return;
	g_free(m->first);
	g_free(m->pkeys);
	g_free(m);
}

unsigned
memberships_of(const struct memberships *m, uint32_t port, uint16_t pkey)
{
	uint16_t base = pkey_base(pkey);
	uint32_t low, high;
	unsigned what = 0;

	g_assert(port < m->n_ports);

	low = m->first[port];
	high = m->first[port + 1];
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (pkey_base(m->pkeys[mid]) < base)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < m->first[port + 1] && pkey_base(m->pkeys[low]) == base;
	     low++)
		what |= m->pkeys[low] & PKEY_FULL ?
			PARTITION_FULL : PARTITION_LIMITED;
	return what;
}

/* Two limited members may not talk (IBA 10.9.3), nor may a limited member
 * with itself: its own port compares the P_Keys like any other. */
bool
memberships_meet(const struct memberships *m, uint32_t a, uint32_t b,
		 uint16_t pkey)
{
	unsigned what_a = memberships_of(m, a, pkey);
	unsigned what_b = memberships_of(m, b, pkey);

	return what_a && what_b && ((what_a | what_b) & PARTITION_FULL);
}

/* A full member may talk to all. */
uint16_t
memberships_common(const struct memberships *m, uint32_t a, uint32_t b)
{
	uint16_t base = PKEY_DEFAULT;

	for (uint32_t i = m->first[a]; !memberships_meet(m, a, b, base); i++) {
		if (i == m->first[a + 1])
			return 0;
		base = pkey_base(m->pkeys[i]);
	}
	return memberships_of(m, a, base) & PARTITION_FULL ?
		(uint16_t)(base | PKEY_FULL) : base;
}
