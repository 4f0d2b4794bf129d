// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The partition file.
 *
 *	file       = { definition }
 *	definition = [name] ["=" P_Key] { "," flag } ":" { member | group } ";"
 *	flag       = "ipoib" | "indx0" | "defmember" "=" membership | group flag
 *	member     = (GUID | "ALL" ...) ["=" membership]
 *	group      = "mgid" "=" GID { "," group flag } end of line, or ";"
 *
 * Purpose. A site's partitions.conf of OpenSM works unchanged, or is refused as
 * a whole with all errors in it: partitions isolate hosts, and half of a file
 * would isolate other hosts than the site expects.
 *
 * Method. One pass over the text: a definition finds its partition, or makes it,
 * and adds its rules and groups, one for each scope. In the end the default
 * partition is completed. A bad flag or member is reported and the next one is
 * read; where the structure is broken, reading goes on behind the next ";".
 *
 * Which partition does a definition mean? With a P_Key, that one. With a name
 * only, the one that had this name before; "Default" is 0x7fff; any other name
 * is a new partition. OpenSM does the same, but for two cases which it resolves
 * silently and which are errors here: a name that gets its P_Key later in the
 * file (OpenSM makes two partitions), and a name that two P_Keys have.
 *
 * P_Keys that are made. OpenSM counts, so that a line inserted above gives a
 * tenant's P_Key to another one. Here it is a hash of the name: FNV-1a, 32
 * bits, modulo 0x7ffe, plus 1; if a line above has that P_Key, the next free one.
 * It is an error if a line below asks for it.
 *
 * The default partition. Every port needs it to reach the SA, so it is always
 * there. OpenSM makes every port a limited member of it and its own port a full
 * one before it reads the file, even of a file with rules for it (its manual
 * says otherwise); a site that wrote "Default=0x7fff : SELF=full ;" depends on
 * that. So the rules begin with ALL=limited here too. As a rule for all ports
 * would take the SM's own full membership, and limited members could then not
 * reach it, SELF=full is put behind the last of these; a rule for SELF, or one
 * for a GUID after it, takes precedence.
 */
#include "sm/config/partitions_conf.h"

#include <arpa/inet.h>
#include <string.h>

#include "topology/each.h"
#include "topology/text.h"

#define WORD_END	",:;=#\n"
#define GID_END		",;=#\n"	/* a GID has colons in it */
#define ERRORS_MAX	20u
#define IP_Q_KEY	0x0b1bu
#define SCOPE_LINK	2u	/* link-local, IBA 4.1.1 */
#define MADE_MAX	(PKEY_DEFAULT - 1)	/* of P_Keys that are made */

/* In the order of these names; the first ones are flags of groups. */
enum flag {
	FLAG_RATE, FLAG_MTU, FLAG_SL, FLAG_SCOPE, FLAG_Q_KEY, FLAG_TCLASS,
	FLAG_FLOW_LABEL,
	FLAG_IPOIB, FLAG_INDX0, FLAG_DEFMEMBER,
};
#define N_GROUP_FLAGS	(FLAG_FLOW_LABEL + 1)
#define N_FLAGS		(FLAG_DEFMEMBER + 1)

static const char *const flag_names[N_FLAGS] = {
	"rate", "mtu", "sl", "scope", "Q_Key", "TClass", "FlowLabel",
	"ipoib", "indx0", "defmember",
};

/* Codes of IBA: rates and MTUs of PathRecord (15.2.5.16), SLs of 4 bits, the
 * Q_Key of 32, TClass and FlowLabel as in the GRH (8.3). */
static const struct {
	uint32_t min, max, preset;
} ranges[N_GROUP_FLAGS] = {
	[FLAG_RATE] = { 2, 25, 3 },		/* 10 Gb/s */
	[FLAG_MTU] = { 1, 5, 4 },		/* 2,048 bytes */
	[FLAG_SL] = { 0, 15, 0 },
	[FLAG_SCOPE] = { 1, 15, 0 },
	[FLAG_Q_KEY] = { 0, UINT32_MAX, 0 },
	[FLAG_TCLASS] = { 0, UINT8_MAX, 0 },
	[FLAG_FLOW_LABEL] = { 0, 0xfffff, 0 },
};

/* In the order of enum partition_who, from PARTITION_ALL on. */
static const char *const member_names[] = {
	"ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF", "NONE",
};
#define MEMBER_NONE	5

/* A definition; or a group in it, to which its flags are handed down. */
struct draft {
	struct text_span name;
	uint16_t pkey;			/* 0: none was given */
	struct partition *partition;
	uint8_t mgid[16];		/* of a group, as the file has it */
	uint32_t value[N_FLAGS];
	unsigned given;			/* bits by enum flag */
	uint16_t scopes;		/* a bit each */
};

/* The first partition of a name. */
struct named {
	struct partition *partition;
	unsigned line;
	bool made;			/* its P_Key */
	bool several;			/* P_Keys have that name */
};

struct partitions_parser {
	struct text_scan scan;
	struct partition_rules *rules;
	struct partition *broken;	/* of definitions with a bad head; its
					   P_Key is 0 */
	GHashTable *by_name;		/* name -> struct named */
	GHashTable *mgids;		/* MGID -> the draft that has it */
};

#define fail_at(p, place, ...)	text_fail(&(p)->scan, place, __VA_ARGS__)
#define warn_at(p, place, ...)	text_warn(&(p)->scan, place, __VA_ARGS__)

/* --- words and numbers --- */

/* Always false. accepts, near: the end of the message. */
static bool
refuse(struct partitions_parser *p, const struct text_span *span,
       const char *what, const char *accepts, const char *near)
{
	g_autofree char *shown = text_span_show(span);

	if (!span->len)
		return fail_at(p, span->place, "a %s is missing: %s", what,
			       accepts);
	return fail_at(p, span->place, "%s is no %s: %s%s", shown, what,
		       accepts, near);
}

/* Which of the words it is, or -1 and an error that names them, after `also`. */
static int
choose_word(struct partitions_parser *p, const struct text_span *span,
	    const char *what, const char *also, const char *const *words,
	    size_t n)
{
	g_autofree char *shown = NULL, *near = NULL;
	g_autoptr(GString) list = NULL;

	for (size_t k = 0; k < n; k++)
		if (text_span_is(span, words[k]))
			return (int)k;
	if (p->scan.n_errors >= p->scan.errors_max) {
		p->scan.n_errors++;	/* it is counted, not shown */
		return -1;
	}
	list = g_string_new(also);
	for (size_t k = 0; k < n; k++)
		g_string_append_printf(list, "%s%s", words[k], k + 2 < n ?
				       ", " : k + 1 < n ? " or " : "");
	shown = text_span_show(span);
	near = text_nearest(shown, "", words, n);
	refuse(p, span, what, list->str, near);
	return -1;
}

/* A number of C, min to max; false after an error. */
static bool
parse_number(struct partitions_parser *p, const struct text_span *span,
	     const char *what, uint64_t min, uint64_t max, uint64_t *value)
{
	bool good = text_span_number(span, 0, max, value) && *value >= min;
	/* to C, 010 is 8 */
	bool octal = good && span->len > 1 && *span->at == '0' &&
		g_ascii_isdigit(span->at[1]) && *value > 7;
	g_autofree char *range = NULL;

	if (good && !octal)
		return true;
	range = g_strdup_printf(max > UINT8_MAX ?
				"0x%" G_GINT64_MODIFIER "x to 0x%"
				G_GINT64_MODIFIER "x" : "%"
				G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
				min, max);
	return refuse(p, span, what, range, octal ?
		      "; zeros in front make it octal for OpenSM" :
		      ", decimal, or 0x and hexadecimal");
}

/* Takes a word and, if they are there, "=" and a value, up to one of `end`. */
static bool
take_pair(struct partitions_parser *p, const char *end, struct text_span *name,
	  struct text_span *value)
{
	*name = text_take_span(&p->scan, WORD_END);
	*value = (struct text_span){ "", 0, text_here(&p->scan) };
	if (*p->scan.at != '=')
		return false;
	p->scan.at++;
	*value = text_take_span(&p->scan, end);
	return true;
}

/* Past the next ";" that is in no comment. */
static void
skip_definition(struct partitions_parser *p)
{
	while (text_skip_space(&p->scan)) {
		p->scan.at += strcspn(p->scan.at, ";#\n");
		if (*p->scan.at == ';') {
			p->scan.at++;
			return;
		}
	}
}

/* --- flags --- */

static bool
set_flag(struct partitions_parser *p, struct draft *g, enum flag flag,
	 bool has_value, const struct text_span *value)
{
	uint64_t n = 1;
	int i;

	if (flag < N_GROUP_FLAGS) {
		if (!parse_number(p, value, flag_names[flag], ranges[flag].min,
				  ranges[flag].max, &n))
			return false;
	} else if (flag == FLAG_DEFMEMBER) {
		i = choose_word(p, value, "membership", "",
				partition_membership_names + 1, PARTITION_BOTH);
		if (i < 0)
			return false;
		n = (uint64_t)i + 1;
	} else if (has_value) {
		return fail_at(p, value->place, "%s takes no value",
			       flag_names[flag]);
	}
	if (flag == FLAG_SCOPE)
		g->scopes |= (uint16_t)(1u << n);
	else if ((g->given & 1u << flag) && g->value[flag] != n)
		return fail_at(p, value->place, "%s has been given otherwise "
			       "before", flag_names[flag]);
	else
		g->value[flag] = (uint32_t)n;
	g->given |= 1u << flag;
	return true;
}

/* The flags behind commas, the first n names: of a head; of a group, to the end
 * of its line. */
static bool
take_flags(struct partitions_parser *p, struct draft *g, const char *what,
	   size_t n)
{
	struct text_span name, value;
	bool has_value, good = true;
	int flag;

	for (;;) {
		if (n == N_FLAGS)
			text_skip_space(&p->scan);
		text_skip_comment(&p->scan);
		if (!text_take_char(&p->scan, ','))
			return good;
		if (n == N_FLAGS)
			text_skip_space(&p->scan);
		has_value = take_pair(p, WORD_END, &name, &value);
		if (!name.len && !has_value)
			continue;
		flag = choose_word(p, &name, what, "", flag_names, n);
		good &= flag >= 0 &&
			set_flag(p, g, (enum flag)flag, has_value, &value);
	}
}

/* --- which partition --- */

static bool
take_name(struct partitions_parser *p, struct draft *d)
{
	struct text_span value, *name = &d->name;
	bool has_value = take_pair(p, WORD_END, name, &value);
	g_autofree char *text = NULL, *shown = NULL;
	uint64_t n;

	if (!has_value && !name->len)
		return fail_at(p, name->place,
			       "a partition has a name or a P_Key");
	if (!has_value && g_ascii_isdigit(*name->at)) {
		value = *name;
		name->len = 0;
		has_value = true;
	}
	text = g_strndup(name->at, name->len);
	shown = text_printable(text);
	if (strcmp(text, shown))
		return fail_at(p, name->place, "a name is UTF-8 without "
			       "control characters");
	if (!has_value)
		d->pkey = text_span_is(name, "Default") ? PKEY_DEFAULT : 0;
	else if (parse_number(p, &value, "P_Key", 1, UINT16_MAX, &n))
		d->pkey = pkey_base(n);
	else
		return false;
	/* IBA 10.9.1.1 */
	return !has_value || d->pkey || refuse(p, &value, "P_Key",
					       "its low 15 bits are 0", "");
}

/* 0 after an error. */
static uint16_t
make_pkey(struct partitions_parser *p, const struct draft *d, const char *name)
{
	g_autofree char *shown = text_span_show(&d->name);
	uint32_t hash = 2166136261u;
	unsigned tried = 0;
	uint16_t pkey;

	for (const char *c = name; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	pkey = (uint16_t)(hash % MADE_MAX + 1);
	for (; partition_rules_find(p->rules, pkey) && tried < MADE_MAX; tried++)
		pkey = (uint16_t)(pkey % MADE_MAX + 1);
	if (tried == MADE_MAX) {
		fail_at(p, d->name.place, "no P_Key is left for this: a subnet "
			"has %u partitions at most", PKEY_BASE);
		return 0;
	}
	warn_at(p, d->name.place, "%s has no P_Key: 0x%04x is made from its "
		"name%s", shown, pkey, tried ? "; another partition has the "
		"first choice, so it may change with the file" : "");
	return pkey;
}

/* Does a definition with a P_Key contradict one without above it? */
static bool
comes_late(struct partitions_parser *p, const struct draft *d,
	const struct named *named, const char *shown)
{
	const struct partition *there = partition_rules_find(p->rules, d->pkey);
	const struct named *other = there && there->name ?
		g_hash_table_lookup(p->by_name, there->name) : NULL;

	if (named && named->made)
		return !fail_at(p, d->name.place, "%s has been used in line %u "
				"without its P_Key: write %s=0x%04x there too",
				shown, named->line, shown, d->pkey);
	return other && other->made && !fail_at(p, d->name.place, "P_Key 0x%04x "
		"has been made for line %u, which has none: write one there",
		d->pkey, other->line);
}

/* NULL after an error. */
static struct partition *
find_partition(struct partitions_parser *p, const struct draft *d)
{
	g_autofree char *name = g_strndup(d->name.at, d->name.len);
	g_autofree char *shown = text_span_show(&d->name);
	struct named *named = g_hash_table_lookup(p->by_name, name);
	uint16_t pkey = d->pkey;
	struct partition *out;

	if (named && named->several && !pkey) {
		fail_at(p, d->name.place, "which %s? More than one P_Key has "
			"this name: write %s=P_Key", shown, shown);
		return NULL;
	}
	if (pkey && comes_late(p, d, named, shown))
		return NULL;
	if (!pkey)
		pkey = named ? named->partition->pkey : make_pkey(p, d, name);
	if (!pkey)
		return NULL;
	out = partition_rules_get(p->rules, pkey);
	if (named) {
		named->several |= named->partition != out;
	} else if (*name) {
		named = g_new(struct named, 1);
		*named = (struct named){ out, d->name.place.line, !d->pkey,
					 false };
		g_hash_table_insert(p->by_name, g_strdup(name), named);
	}
	if (*name && out->name && strcmp(out->name, name))
		warn_at(p, d->name.place, "P_Key 0x%04x has another name "
			"before, so %s is the same partition", out->pkey,
			shown);
	if (*name && !out->name)
		out->name = g_steal_pointer(&name);
	return out;
}

/* --- groups --- */

static bool
is_ip(const uint8_t *mgid)
{
	return (mgid[2] == 0x40 || mgid[2] == 0x60) && mgid[3] == 0x1b;
}

/* Of several groups with one MGID the first takes effect, as in OpenSM. */
static void
put_group(struct partitions_parser *p, const struct draft *g)
{
	struct partition_group out = {
		.rate = (uint8_t)g->value[FLAG_RATE],
		.mtu = (uint8_t)g->value[FLAG_MTU],
		.sl = (uint8_t)g->value[FLAG_SL],
		.tclass = (uint8_t)g->value[FLAG_TCLASS],
		.flow_label = g->value[FLAG_FLOW_LABEL],
		.q_key = g->value[FLAG_Q_KEY],
	};
	GBytes *key = g_bytes_new(g->mgid, sizeof(g->mgid));
	const struct draft *old = g_hash_table_lookup(p->mgids, key);

	memcpy(out.mgid, g->mgid, sizeof(out.mgid));
	if (!old) {
		g_hash_table_insert(p->mgids, key, g_memdup2(g, sizeof(*g)));
		g_array_append_val(g->partition->groups, out);
		return;
	}
	g_bytes_unref(key);
	if (old->partition != g->partition)
		fail_at(p, g->name.place, "this group is that of line %u, in "
			"partition 0x%04x: a group is in one partition",
			old->name.place.line, old->partition->pkey);
	else if (memcmp(old->value, g->value,
			N_GROUP_FLAGS * sizeof(g->value[0])))
		warn_at(p, g->name.place, "this group is that of line %u, with "
			"other flags: those there hold", old->name.place.line);
}

/* One for each scope. An IP group has the P_Key in its MGID (RFC 4391, 4). IPv4's
 * broadcast group of the default partition becomes that of the partition in whose
 * definition it is, as in OpenSM. */
static void
put_scopes(struct partitions_parser *p, struct draft *g)
{
	uint16_t pkey = g->partition->pkey;
	uint16_t there = (uint16_t)(g->mgid[4] << 8 | g->mgid[5]);
	struct partition_group broadcast;

	if (!pkey)
		return;
	partition_ipoib_group(PKEY_DEFAULT, g->mgid[1] & 0xf, &broadcast);
	if (is_ip(g->mgid) && there && pkey_base(there) != pkey &&
	    memcmp(g->mgid, broadcast.mgid, sizeof(broadcast.mgid))) {
		fail_at(p, g->name.place, "this MGID has P_Key 0x%04x in it, "
			"the partition 0x%04x: write that, or 0", there, pkey);
		return;
	}
	if (is_ip(g->mgid)) {
		g->mgid[4] = (uint8_t)((pkey | PKEY_FULL) >> 8);
		g->mgid[5] = (uint8_t)pkey;
	}
	for (unsigned scope = 0; scope < 16; scope++) {
		if (!(g->scopes & 1u << scope))
			continue;
		g->mgid[1] = (uint8_t)((g->mgid[1] & 0xf0) | scope);
		put_group(p, g);
	}
}

/* Behind "mgid"; the rest of the line. OpenSM does not give a group the TClass of
 * its definition; so it is here. */
static void
take_group(struct partitions_parser *p, const struct draft *d,
	   const struct text_span *gid)
{
	struct draft g = *d;
	g_autofree char *text = g_strndup(gid->at, gid->len);
	bool good;

	g.given = 0;
	g.value[FLAG_TCLASS] = ranges[FLAG_TCLASS].preset;
	g.name = *gid;
	good = (gid->len < INET6_ADDRSTRLEN &&
		inet_pton(AF_INET6, text, g.mgid) == 1 && g.mgid[0] == 0xff) ||
		refuse(p, gid, "multicast GID",
		       "an IPv6 address that begins with ff", "");
	if (!take_flags(p, &g, "flag of a group, whose line this is",
			N_GROUP_FLAGS) || !good)
		return;
	if (!g.scopes)
		g.scopes = (uint16_t)(1u << (g.mgid[1] & 0xf));
	if (is_ip(g.mgid) && !((g.given | d->given) & 1u << FLAG_Q_KEY))
		g.value[FLAG_Q_KEY] = IP_Q_KEY;
	/* it is for the interface of the broadcast group (RFC 4391, 5) */
	for (unsigned i = FLAG_RATE; is_ip(g.mgid) && d->value[FLAG_IPOIB] &&
	     i <= FLAG_MTU; i++)
		if (g.value[i] != d->value[i])
			fail_at(p, gid->place, "the %s of an IP group is that "
				"of the broadcast group, %u", flag_names[i],
				d->value[i]);
	put_scopes(p, &g);
}

/* --- members --- */

static void
take_member(struct partitions_parser *p, const struct draft *d,
	    const struct text_span *name, bool has_value,
	    const struct text_span *value)
{
	char what[sizeof("member of the definition of line 4294967295")];
	struct partition_rule rule = {
		.who = PARTITION_GUID,
		.membership = d->value[FLAG_DEFMEMBER] ?: PARTITION_LIMITED,
		.line = name->place.line,
	};
	int i = -1, membership;

	if (!g_ascii_isdigit(*name->at)) {
		g_snprintf(what, sizeof(what), "member of the definition of "
			   "line %u", d->name.place.line);
		i = choose_word(p, name, what, "a PortGUID, ", member_names,
				G_N_ELEMENTS(member_names));
		if (i < 0)
			return;
		rule.who = (enum partition_who)(PARTITION_ALL + i);
	} else if (!parse_number(p, name, "PortGUID", 1, UINT64_MAX,
				 &rule.guid)) {
		return;
	}
	if (has_value && i == MEMBER_NONE)
		fail_at(p, value->place, "NONE takes no membership");
	if (has_value) {
		membership = choose_word(p, value, "membership", "",
					 partition_membership_names,
					 PARTITION_BOTH + 1);
		rule.membership = (enum partition_membership)membership;
	}
	if (i != MEMBER_NONE)
		g_array_append_val(d->partition->rules, rule);
}

/* Up to and with the ";". */
static void
take_members(struct partitions_parser *p, const struct draft *d)
{
	while (text_skip_space(&p->scan)) {
		bool is_group = g_str_has_prefix(p->scan.at, "mgid");
		struct text_span name, value;
		bool has_value = take_pair(p, is_group ? GID_END : WORD_END,
					   &name, &value);

		if (text_span_is(&name, "mgid"))
			take_group(p, d, &value);
		else if (name.len || has_value)
			take_member(p, d, &name, has_value, &value);
		text_skip_comment(&p->scan);
		if (text_take_char(&p->scan, ';'))
			return;
		if (!text_take_char(&p->scan, ',') && *p->scan.at &&
		    *p->scan.at != '\n') {
			fail_at(p, text_here(&p->scan), "\"%c\" is not "
				"expected here, in the definition of line %u%s",
				*p->scan.at, d->name.place.line, *p->scan.at ==
				':' ? ": is its \";\" missing?" : "");
			skip_definition(p);
			return;
		}
	}
	fail_at(p, text_here(&p->scan), "the file ends, and the definition of "
		"line %u does not: a \";\" is missing", d->name.place.line);
}

static void
take_definition(struct partitions_parser *p)
{
	struct draft d = { .pkey = 0 };
	struct partition *out = NULL;
	struct partition_group made;
	uint8_t sl;
	bool good;

	for (unsigned i = 0; i < N_GROUP_FLAGS; i++)
		d.value[i] = ranges[i].preset;
	good = take_name(p, &d);
	good &= take_flags(p, &d, "flag", N_FLAGS);
	if (!text_take_char(&p->scan, ':')) {
		if (good)
			fail_at(p, text_here(&p->scan), "a \":\" is missing "
				"here, for the definition that begins in line "
				"%u", d.name.place.line);
		skip_definition(p);
		return;
	}
	if (good)
		out = find_partition(p, &d);
	if (!out)	/* only the mistakes in it count */
		out = p->broken;
	d.partition = out;
	out->index0 |= d.value[FLAG_INDX0];
	if (!out->defmember)
		out->defmember = d.value[FLAG_DEFMEMBER];
	if (d.given & 1u << FLAG_SL) {
		sl = (uint8_t)d.value[FLAG_SL];
		if (out->sl && out->sl != sl)
			warn_at(p, d.name.place, "SL %u of this partition "
				"takes the place of SL %u", sl, out->sl);
		out->sl = sl;
	}
	/* The group that hosts' IP interfaces need. It is always there with
	 * link-local scope as well: hosts wait for that one by default, and
	 * OpenSM makes no other. */
	if (d.value[FLAG_IPOIB]) {
		struct draft g = d;

		partition_ipoib_group(PKEY_DEFAULT, 0, &made);
		memcpy(g.mgid, made.mgid, sizeof(g.mgid));
		g.scopes |= 1u << SCOPE_LINK;
		if (!(g.given & 1u << FLAG_Q_KEY))
			g.value[FLAG_Q_KEY] = IP_Q_KEY;
		put_scopes(p, &g);
	}
	take_members(p, &d);
}

/* --- the default partition --- */

static void
complete_default(struct partitions_parser *p)
{
	static const struct partition_rule all = {
		.who = PARTITION_ALL, .membership = PARTITION_LIMITED,
	};
	static const struct partition_rule self = {
		.who = PARTITION_SELF, .membership = PARTITION_FULL,
	};
	struct partition *out = partition_rules_get(p->rules, PKEY_DEFAULT);
	struct text_place place = { 0, 1 };
	bool said = false, full = false;	/* of SELF */
	guint last = 0, at = 0;

	if (!out->name)
		out->name = g_strdup("Default");
	/* an ALL in front covers all ports by itself */
	if (!out->rules->len ||
	    g_array_index(out->rules, struct partition_rule, 0).who !=
	    PARTITION_ALL)
		g_array_prepend_val(out->rules, all);
	EACH_ITEM(const struct partition_rule, r, out->rules) {
		at++;
		if (r->who == PARTITION_GUID)
			continue;
		said |= r->who == PARTITION_SELF;
		if (!(r->membership & PARTITION_FULL))
			full = false;
		else if (r->who == PARTITION_ALL || r->who == PARTITION_SELF)
			full = true;
		place.line = r->line;
		last = at;
	}
	if (!said && !full)
		g_array_insert_val(out->rules, last, self);
	else if (!full)
		warn_at(p, place, "the SM's own port is no full member of the "
			"default partition: limited members cannot reach it");
}

struct partition_rules *
partitions_conf_parse(const char *text, const char *name, GPtrArray *warnings,
		      GError **error)
{
	struct partitions_parser p = {
		.rules = partition_rules_new(), .broken = partition_new(0),
		.by_name = g_hash_table_new_full(g_str_hash, g_str_equal,
						 g_free, g_free),
		.mgids = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
			(GDestroyNotify)g_bytes_unref, g_free),
	};

	text_scan_init(&p.scan, text, name, warnings);
	p.scan.errors_max = ERRORS_MAX;
	while (text_skip_space(&p.scan))
		take_definition(&p);
	if (p.rules->partitions->len) {
		complete_default(&p);
	} else {
		partition_rules_unref(p.rules);
		p.rules = partition_rules_default();
	}
	g_hash_table_unref(p.mgids);
	g_hash_table_unref(p.by_name);
	partition_free(p.broken);
	if (!text_scan_end(&p.scan, error))
		g_clear_pointer(&p.rules, partition_rules_unref);
	else
		p.rules->source = g_strdup(name);
	return p.rules;
}
