// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * `partition`, which changes members of partitions. The rules are resolved
 * against the fabric of the last sweep, as for the P_Key tables.
 *
 * A change holds when it is on the disk, and the loop does not wait for that:
 * the answer is to ask again. Until then another change is refused.
 */
#include "sm/control/request.h"

#include <string.h>

#include "topology/each.h"
#include "topology/port_search.h"
#include "topology/text.h"

static bool
request_membership(struct control_request *r, const char *word,
		   enum partition_membership *out)
{
	for (*out = PARTITION_LIMITED; *out <= PARTITION_BOTH; ++*out)
		if (strcmp(partition_membership_names[*out], word) == 0)
			return true;
	request_say_wrong(r, "", word, " is not full, limited or both",
			  partition_membership_names + 1, PARTITION_BOTH);
	return false;
}

/* An end port; it may be away. */
struct member_port {
	uint64_t guid;
	uint32_t i; /* of the last sweep's fabric, or SNAPSHOT_NONE */
};

static bool
find_member(const struct snapshot *s, const char *word,
	    struct member_port *out)
{
	const char *digits = word;
	unsigned n = 0;

	text_take_0x(&digits);
	out->i = s ? port_search_one(s, NULL, word, &n) : SNAPSHOT_NONE;
	if (out->i != SNAPSHOT_NONE)
		out->guid = s->ports[out->i].guid;
	return out->i != SNAPSHOT_NONE ||
		(!n && (!s || strlen(digits) == GUID_DIGITS) &&
		 text_read_number(word, 16, UINT64_MAX, &out->guid) &&
		 out->guid);
}

struct standing {
	enum partition_membership as;	/* in that partition */
	bool reaches_sa;	/* a full member of the default partition, */
	bool reaches_any;	/* and of any at all */
};

/* With a partition in it; of an absent port, by its GUID. */
static struct standing
standing_of(const struct partition_rules *rules, const struct snapshot *s,
	    const struct member_port *port, uint16_t pkey)
{
	const struct partition *p = partition_rules_find(rules, pkey);
	struct standing is = { PARTITION_NONE, false, false };
	struct memberships *m;

	if (port->i != SNAPSHOT_NONE) {
		m = memberships_new(rules, s, NULL);
		is.as = memberships_of(m, port->i, pkey);
		is.reaches_sa = memberships_of(m, port->i, PKEY_DEFAULT) &
			PARTITION_FULL;
		for (uint32_t i = m->first[port->i]; i < m->first[port->i + 1];
		     i++)
			is.reaches_any |= m->pkeys[i] & PKEY_FULL;
		memberships_unref(m);
		return is;
	}
	EACH_ITEM(const struct partition_rule, rule, p->rules)
		if (rule->who == PARTITION_ALL ||
		    (rule->who == PARTITION_GUID && rule->guid == port->guid))
			is.as = rule->membership;
	return is;
}

/* How the change ended, or the request that asks for it. */
static void
tell_end(struct control_request *r, uint64_t number)
{
	g_autoptr(GError) error = NULL;
	const char *answer;

	if (r->hooks->changed(number, &answer, &error, r->hooks->data))
		request_say(r, error ? CONTROL_NOT_DONE : CONTROL_DONE, "%s",
			    error ? error->message : answer);
	else
		request_again(r, number);
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
	struct partition_rules *after = partition_rules_with(v->rules, pkey,
						port->guid, membership);
	const struct standing was = standing_of(v->rules, s, port, pkey);
	const struct standing is = standing_of(after, s, port, pkey);
	g_autoptr(GError) error = NULL;
	bool cut = port->guid == v->port_guid && (port->i == SNAPSHOT_NONE ?
		is.as < was.as : (was.reaches_sa && !is.reaches_sa) ||
		(was.reaches_any && !is.reaches_any));
	g_autofree char *answer = NULL;
	uint64_t number;

	partition_rules_unref(after);
	if (cut && !(r->options & 1 << COMMAND_FORCE)) {
		request_say(r, CONTROL_NOT_DONE,
		    "refused: %s runs this subnet manager, and "
		    "without full membership of %s (0x%04x) other ports lose "
		    "the SA; --force does it nevertheless", node, name, pkey);
		return;
	}
	answer = g_strdup_printf("%s (" GUID_FORMAT "): %s (0x%04x): %s%s%s%s",
		node, port->guid, name, pkey, partition_membership_names[was.as],
		was.as == is.as ? ", as before" : " -> ",
		was.as == is.as ? "" : partition_membership_names[is.as],
		v->sweep->self.state != SM_STATE_MASTER ? "; but this manager "
		"is not the master, and the master does not hear of it" :
		s && port->i == SNAPSHOT_NONE ?
		"; there is no such port on the fabric now" : "");
	number = r->hooks->change(pkey, port->guid, membership, answer, &error,
				  r->hooks->data);
	if (number)
		tell_end(r, number);
	else
		request_say(r, CONTROL_NOT_DONE, "%s", error->message);
}

void
control_partition(struct control_request *r)
{
	static const char *const verbs[] = {
		"add", "set", "remove", "reset", NULL,
	};
	const char *verb = r->words[1];
	bool sets = strcmp(verb, "set") == 0, adds = strcmp(verb, "add") == 0;
	enum partition_membership asked = PARTITION_NONE;
	const struct snapshot *s = r->v.status->subnet;
	const struct partition *p;
	struct member_port port;
	g_autofree char *wrong = NULL;
	char *sign;

	if (r->is_again) {
		tell_end(r, r->number);
		return;
	}
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
	p = partition_rules_search(r->v.rules, r->words[2], &wrong);
	if (!p)
		request_say(r, CONTROL_USAGE, "%s", wrong);
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
	if (!find_member(s, r->words[3], &port)) {
		request_say_wrong(r, "", r->words[3], " is no port, or several "
				  "are; the GUID of one that is away is written "
				  "with all 16 digits", NULL, 0);
		return;
	}
	if (adds)	/* never lowers a membership */
		asked = MAX(asked, standing_of(r->v.rules, s, &port,
					       p->pkey).as);
	change_member(r, p, &port, strcmp(verb, "reset") == 0 ? -1 :
		      (int)asked);
}
