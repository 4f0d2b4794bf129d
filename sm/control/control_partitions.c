// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * `partitions`: the members of each; and `partition`, which changes them.
 *
 * The rules are resolved against the fabric of the last sweep, as for the P_Key
 * tables, so the list has the members that these tables get; a member that is
 * not on the fabric is listed as away. Without an argument only the first
 * members of each partition are listed: thousands of hosts in hundreds of
 * partitions would make the answer too long to read.
 *
 * Structs. A `roll` is one partition: its members, counted, and the first of
 * them.
 *
 * Cost. All rolls are filled in one walk over the P_Keys of all ports.
 */
#include "sm/control/request.h"

#include <inttypes.h>
#include <string.h>

#include "topology/report.h"
#include "topology/smp_attr.h"
#include "topology/text.h"

#define MEMBERS_SHOWN	64u

struct roll_member {
	uint64_t guid;
	const char *node;	/* NULL: it is away */
	unsigned what;		/* enum partition_membership */
};

/* One partition in a fabric. */
struct roll {
	const struct partition *p;
	GArray *members;	/* struct roll_member: the first ones, */
	guint most;		/* at most */
	GArray *away;		/* struct roll_member */
	unsigned n[4];		/* all, by enum partition_membership */
};

static gint
roll_compare_pkey(gconstpointer roll, gconstpointer pkey)
{
	return ((const struct roll *)roll)->p->pkey - *(const uint16_t *)pkey;
}

/* P_Keys of a port are ascending by partition, limited before full. */
static void
rolls_add_port(GArray *rolls, const struct snapshot *s,
	  const struct memberships *m, uint32_t port)
{
	uint32_t i = m->first[port], end = m->first[port + 1];

	while (i < end) {
		struct roll_member member = {
			.guid = s->ports[port].guid,
			.node = snapshot_name_of(s, port),
		};
		uint16_t base = pkey_base(m->pkeys[i]);
		struct roll *r;
		guint at;

		for (; i < end && pkey_base(m->pkeys[i]) == base; i++)
			member.what |= m->pkeys[i] & PKEY_FULL ?
				PARTITION_FULL : PARTITION_LIMITED;
		if (!g_array_binary_search(rolls, &base, roll_compare_pkey,
					   &at))
			continue;
		r = &g_array_index(rolls, struct roll, at);
		r->n[member.what]++;
		if (r->members->len < r->most)
			g_array_append_val(r->members, member);
	}
}

/* Members by GUID that are not on the fabric. Of several rules for one port the
 * last one holds. */
static void
roll_add_away(struct roll *r, GHashTable *here)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash,
						      g_int64_equal);

	for (guint i = r->p->rules->len; i-- > 0; ) {
		struct partition_rule *rule =
			&g_array_index(r->p->rules, struct partition_rule, i);
		struct roll_member member = {
			rule->guid, NULL, rule->membership,
		};

		if (rule->who != PARTITION_GUID ||
		    g_hash_table_contains(here, &rule->guid) ||
		    !g_hash_table_add(seen, &rule->guid) ||
		    rule->membership == PARTITION_NONE)
			continue;
		g_array_append_val(r->away, member);
	}
}

static void
clear_roll(gpointer data)
{
	struct roll *r = data;

	g_array_unref(r->members);
	g_array_unref(r->away);
}

/* only: with all its members; NULL: all partitions, with the first ones.
 * db: if these rules are in force, the memberships for which there is room. s:
 * NULL: no fabric was read yet. */
static GArray *
make_rolls(const struct partition_rules *rules, const struct snapshot *s,
	   const struct sa_db *db, const struct partition *only)
{
	GArray *rolls = g_array_new(FALSE, FALSE, sizeof(struct roll));
	g_autoptr(GHashTable) here = g_hash_table_new(g_int64_hash,
						      g_int64_equal);
	struct memberships *m = NULL;

	if (db && db->rules == rules) {
		s = db->subnet;
		m = memberships_ref(db->memberships);
	} else if (s) {
		m = memberships_new(rules, s, NULL);
	}
	g_array_set_clear_func(rolls, clear_roll);
	for (guint i = 0; i < rules->partitions->len; i++) {
		struct roll roll = {
			.p = rules->partitions->pdata[i],
			.most = only ? G_MAXUINT : MEMBERS_SHOWN,
		};

		if (only && only != roll.p)
			continue;
		roll.members = g_array_new(FALSE, FALSE,
					   sizeof(struct roll_member));
		roll.away = g_array_new(FALSE, FALSE,
					sizeof(struct roll_member));
		g_array_append_val(rolls, roll);
	}
	for (uint32_t port = 0; m && port < s->n_ports; port++) {
		rolls_add_port(rolls, s, m, port);
		if (snapshot_is_end_port(s, port))
			g_hash_table_add(here, &s->ports[port].guid);
	}
	for (guint i = 0; i < rolls->len; i++) {
		struct roll *r = &g_array_index(rolls, struct roll, i);

		roll_add_away(r, here);
		g_array_sort(r->members, guid_compare);
		g_array_sort(r->away, guid_compare);
	}
	memberships_unref(m);
	return rolls;
}

/* --- the answer --- */

static void
put_members(struct text_report *out, const char *key, const GArray *members)
{
	report_open(out, key, '[');
	for (guint i = 0; i < members->len; i++) {
		const struct roll_member *m =
			&g_array_index(members, struct roll_member, i);
		const char *what = partition_membership_names[m->what];

		report_say(out, "  %-8s 0x%016" PRIx64 " %s\n", what, m->guid,
			   m->node ? m->node : "(away)");
		report_open(out, NULL, '{');
		report_hex(out, "guid", m->guid, 16, NULL);
		report_text(out, "node", m->node, NULL);
		report_text(out, "membership", what, NULL);
		report_close(out, '}');
	}
	report_close(out, ']');
}

/* ---- which partition, which member ---- */

/* A name goes before a number, as in the file. NULL: there is none, and the
 * answer is that error. */
static const struct partition *
request_partition(struct control_request *r, const char *word)
{
	const struct partition_rules *rules = r->v.rules;
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
		request_say_wrong(r, "", word, " is no partition",
				  (const char *const *)names->pdata,
				  names->len);
	return p;
}

void
control_partitions(struct control_request *q)
{
	const char *word = q->words[1];
	const struct partition *only = word ? request_partition(q, word) : NULL;
	struct text_report *out = &q->out;
	g_autoptr(GArray) rolls = NULL;

	if (word && !only)
		return;
	rolls = make_rolls(q->v.rules, q->v.status->subnet, q->db, only);
	request_open_list(q, "partitions");
	for (guint i = 0; i < rolls->len; i++) {
		const struct roll *r = &g_array_index(rolls, struct roll, i);
		const struct partition *p = r->p;
		g_autofree char *name = text_one_line(p->name ? p->name : "");
		guint more = r->n[PARTITION_LIMITED] + r->n[PARTITION_FULL] +
			r->n[PARTITION_BOTH] - r->members->len;

		report_open(out, NULL, '{');
		report_say(out, "%s%s0x%04x: %u full, %u limited, %u both; "
			   "SL %u\n", name, *name ? " " : "", p->pkey,
			   r->n[PARTITION_FULL], r->n[PARTITION_LIMITED],
			   r->n[PARTITION_BOTH], p->sl);
		report_text(out, "name", p->name, NULL);
		report_hex(out, "pkey", p->pkey, 4, NULL);
		report_number(out, "sl", p->sl, NULL);
		report_number(out, "full", r->n[PARTITION_FULL], NULL);
		report_number(out, "limited", r->n[PARTITION_LIMITED], NULL);
		report_number(out, "both", r->n[PARTITION_BOTH], NULL);
		put_members(out, "members", r->members);
		if (more)
			report_say(out, "  and %u more: partitions 0x%04x\n",
				   more, p->pkey);
		report_number(out, "not_listed", more, NULL);
		put_members(out, "away", r->away);
		report_close(out, '}');
	}
	request_close_list(q);
}

static bool
request_membership(struct control_request *r, const char *word,
		   enum partition_membership *out)
{
	const char *names[PARTITION_BOTH];

	for (*out = PARTITION_LIMITED; *out <= PARTITION_BOTH; ++*out) {
		names[*out - 1] = partition_membership_names[*out];
		if (strcmp(names[*out - 1], word) == 0)
			return true;
	}
	request_say_wrong(r, "", word, " is not full, limited or both", names,
			  G_N_ELEMENTS(names));
	return false;
}

/* An end port; it may be away. */
struct member_port {
	uint64_t guid;
	uint32_t i; /* of the last sweep's fabric, or SNAPSHOT_NONE */
};

/* The membership of a port in a partition; of an absent one, by its GUID. */
static enum partition_membership
membership_of(const struct partition_rules *rules, const struct snapshot *s,
	      const struct member_port *port, uint16_t pkey)
{
	const struct partition *p = partition_rules_find(rules, pkey);
	enum partition_membership what = PARTITION_NONE;
	struct memberships *m;

	if (port->i != SNAPSHOT_NONE) {
		m = memberships_new(rules, s, NULL);
		what = memberships_of(m, port->i, pkey);
		memberships_unref(m);
		return what;
	}
	for (guint i = 0; i < p->rules->len; i++) {
		const struct partition_rule *rule =
			&g_array_index(p->rules, struct partition_rule, i);

		if (rule->who == PARTITION_ALL ||
		    (rule->who == PARTITION_GUID && rule->guid == port->guid))
			what = rule->membership;
	}
	return what;
}

/* The rules after a change; -1 undoes one that was made at run time, which has
 * no line of the file. */
static struct partition_rules *
rules_after(const struct partition_rules *rules, uint16_t pkey, uint64_t guid,
	    int membership)
{
	struct partition_rules *after = partition_rules_copy(rules);
	GArray *list = partition_rules_get(after, pkey)->rules;
	const struct partition_rule rule = {
		.who = PARTITION_GUID,
		.membership = (enum partition_membership)MAX(membership, 0),
		.guid = guid,
	};

	if (membership >= 0) {
		g_array_append_val(list, rule);
		return after;
	}
	for (guint i = list->len; i-- > 0;) {
		const struct partition_rule *old =
			&g_array_index(list, struct partition_rule, i);

		if (old->who == PARTITION_GUID && old->guid == guid &&
		    !old->line)
			g_array_remove_index(list, i);
	}
	return after;
}

/* Is it a full member of the default partition, in which ports reach the SA,
 * and of any at all? Two bits. */
static unsigned
reach_of(const struct partition_rules *rules, const struct snapshot *s,
	 uint32_t port)
{
	struct memberships *m = memberships_new(rules, s, NULL);
	unsigned bits = memberships_of(m, port, PKEY_DEFAULT) &
		PARTITION_FULL ? 1 : 0;

	for (uint32_t i = m->first[port]; i < m->first[port + 1]; i++)
		if (m->pkeys[i] & PKEY_FULL)
			bits |= 2;
	memberships_unref(m);
	return bits;
}

static void
change_member(struct control_request *r, const struct partition *p,
	      const struct member_port *port, int membership)
{
	const struct control_view *v = &r->v;
	const struct snapshot *s = v->status->subnet;
	uint16_t pkey = p->pkey;
	g_autofree char *name = p->name ? text_one_line(p->name) :
		g_strdup("partition");
	g_autofree char *node = text_one_line(port->i == SNAPSHOT_NONE ?
		"port" : snapshot_name_of(s, port->i));
	enum partition_membership was, is;
	struct partition_rules *after = rules_after(v->rules, pkey, port->guid,
						    membership);
	g_autoptr(GError) error = NULL;
	bool own = port->guid == v->port_guid, cut;

	was = membership_of(v->rules, s, port, pkey);
	is = membership_of(after, s, port, pkey);
	cut = own && (port->i == SNAPSHOT_NONE ? is < was :
		      reach_of(v->rules, s, port->i) &
		      ~reach_of(after, s, port->i));
	partition_rules_unref(after);
	if (cut && !(r->options & 1 << COMMAND_FORCE)) {
		request_say(r, CONTROL_NOT_DONE,
		    "refused: %s runs this subnet manager, and "
		    "without full membership of %s (0x%04x) other ports lose "
		    "the SA; --force does it nevertheless", node, name, pkey);
		return;
	}
	/* The change ends the rules that `p` is part of. */
	if (!r->hooks->change(pkey, port->guid, membership, &error,
			      r->hooks->data)) {
		request_say(r, CONTROL_NOT_DONE, "%s", error->message);
		return;
	}
	request_say(r, CONTROL_DONE,
	    "%s (0x%016" G_GINT64_MODIFIER "x): %s (0x%04x): %s%s%s%s",
	    node, port->guid, name, pkey, partition_membership_names[was],
	    was == is ? ", as before" : " -> ",
	    was == is ? "" : partition_membership_names[is],
	    v->self.state != SM_STATE_MASTER ? "; but this manager is not the "
		      "master, and the master does not hear of it"
	    : s && port->i == SNAPSHOT_NONE ? "; there is no such port on the "
					      "fabric now" : "");
}

void
control_partition(struct control_request *r)
{
	static const char *const verbs[] = {
		"add", "set", "remove", "reset", NULL,
	};
	const char *verb = r->words[1];
	bool sets = strcmp(verb, "set") == 0, adds = strcmp(verb, "add") == 0;
	enum partition_membership asked = PARTITION_NONE, now;
	const struct snapshot *s = r->v.status->subnet;
	const struct partition *p;
	struct member_port port;
	char *sign;

	if (!g_strv_contains(verbs, verb)) {
		request_say_wrong(r, "partition: ", verb,
				  " is not add, set, remove or reset", verbs,
				  g_strv_length((char **)verbs));
		return;
	}
	if (sets != (r->n_words == 5)) {
		request_say_usage(r);
		return;
	}
	p = request_partition(r, r->words[2]);
	if (!p || (sets && !request_membership(r, r->words[4], &asked)))
		return;
	sign = adds ? strrchr(r->words[3], '=') : NULL;
	if (adds)
		asked = MAX(p->defmember, PARTITION_LIMITED);
	if (sign) {	/* NODE=MEMBERSHIP */
		*sign = '\0';
		if (!request_membership(r, sign + 1, &asked))
			return;
	}
	port.i = request_find_port(r, s, NULL, r->words[3], &port.guid);
	if (port.i != SNAPSHOT_NONE)
		port.guid = s->ports[port.i].guid;
	if (!port.guid)
		return;
	if (adds) {	/* never lowers a membership */
		now = membership_of(r->v.rules, s, &port, p->pkey);
		asked = MAX(asked, now);
	}
	change_member(r, p, &port, strcmp(verb, "reset") == 0 ? -1 :
		      (int)asked);
}
