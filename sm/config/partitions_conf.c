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
 * Structs. A draft is a partition with the contents of all its definitions.
 * Drafts are in the order of the file, and are found by P_Key or by name. A
 * conf_group is a multicast group whose P_Key and scopes are still to be put
 * into its MGID; that of a definition has the flags of its head, which are the
 * defaults of its groups.
 *
 * Flow. One loop over definitions, one over flags, one over members. A bad flag
 * or member is reported and the next one is read; where the structure is
 * broken, reading goes on behind the next ";". If the rest of the line of a bad
 * member looks like a definition, then the ";" before it is missing, and it is
 * read as one. A definition with a bad head is read into a draft that is
 * discarded. In the end P_Keys are made for partitions that have none, the
 * default partition is completed, and groups are multiplied by their scopes.
 *
 * In the list of members an end of line separates as a comma does, and empty
 * members are ignored, as in OpenSM. The head may stand on several lines, which
 * OpenSM does not accept.
 *
 * Words. OpenSM compares words by the letters that are there, so that "A" is
 * ALL and "GUID=" makes a full member. Here a word cut short has three letters
 * at least, and they must fit one word only. Numbers are those of C; an octal
 * one is refused unless it means the same in decimal, because P_Keys are often
 * padded with zeros and never meant to be octal.
 *
 * Which partition does a definition mean? With a P_Key, that one. With a name
 * only, the one that had this name before; "Default" is 0x7fff; any other name
 * is a new partition, whose P_Key is made. OpenSM does the same, but for two
 * cases which it resolves silently and which are errors here: a name that gets
 * its P_Key later in the file (OpenSM makes two partitions), and a name that two
 * P_Keys have.
 *
 * P_Keys that are made. OpenSM counts, so that a line inserted above gives a
 * tenant's P_Key to another one. Here it is a hash of the name: FNV-1a, 32
 * bits, modulo 0x7ffe, plus 1; if that P_Key is in use, the next free one, after
 * 0x7ffe from 1 on. So the P_Key of a name changes only if another partition has
 * it already, of which there is a warning.
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

#include "topology/text.h"

#define WORD_END	",:;=#\n"
#define GID_END		",;=#\n"	/* a GID has colons in it */
#define ERRORS_MAX	20u
#define IP_Q_KEY	0x0b1bu
#define SCOPE_LINK	2u	/* link-local, IBA 4.1.1 */
#define MADE_MAX	(PKEY_DEFAULT - 1)	/* of P_Keys that are made */
#define SHORTEST	3u	/* letters of a word cut short */
#define SHOWN		64u	/* bytes of a number in a message */

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

static const char *const membership_names[] = {
	"full", "limited", "both", "none",
};

static const enum partition_membership memberships[] = {
	PARTITION_FULL, PARTITION_LIMITED, PARTITION_BOTH, PARTITION_NONE,
};

/* In the order of enum partition_who, from PARTITION_ALL on. */
static const char *const member_names[] = {
	"ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF", "NONE",
};
#define MEMBER_NONE	5

struct conf_group {
	uint8_t mgid[16];		/* as the file has it */
	uint32_t value[N_GROUP_FLAGS];
	unsigned given;			/* bits by enum flag, here */
	unsigned inherited;		/* in the definition's head */
	uint16_t scopes;		/* a bit each; 0: as in the MGID */
	struct text_place place;
};

struct draft {
	char *name;			/* of the first definition, or NULL */
	bool several;			/* P_Keys have that name */
	uint16_t pkey;			/* 0: to be made from the name */
	struct text_place place;	/* of the first definition */
	unsigned sl_line;		/* 0: no SL was given */
	uint8_t sl;
	bool index0;
	enum partition_membership defmember;	/* NONE: not given */
	GArray *rules;			/* struct partition_rule */
	GArray *groups;			/* struct conf_group */
};

/* A group of the file's, by its MGID. */
struct placed_group {
	const struct draft *draft;
	struct partition_group group;
	struct text_place place;
};

struct definition {
	struct text_span name;
	uint16_t pkey;			/* 0: none was given */
	struct conf_group flags;
	bool ipoib, index0, member_given;
	enum partition_membership member;
	struct draft *draft;
};

struct partitions_parser {
	struct text_scan scan;
	GPtrArray *drafts;		/* in order of the file */
	struct draft *by_pkey[PKEY_BASE + 1];
	GHashTable *by_name;		/* name -> the first draft with it */
	GHashTable *mgids;		/* MGID -> struct placed_group */
	struct draft *scrap;		/* of definitions with a bad head */
};

#define fail_at(p, place, ...)	text_fail(&(p)->scan, place, __VA_ARGS__)
#define warn_at(p, place, ...)	text_warn(&(p)->scan, place, __VA_ARGS__)

/* --- words and numbers --- */

/*
 * Which of the words it is, or -1 and an error that names them. A word cut
 * short is taken, with a warning, if its letters begin one word only. also:
 * other valid input, for the error, or "".
 */
static int
choose(struct partitions_parser *p, const struct text_span *span,
       const char *what, const char *also, const char *const *words, size_t n)
{
	g_autofree char *shown = text_span_show(span);
	g_autoptr(GString) list = g_string_new(also);
	g_autofree char *near = NULL;
	size_t begun = 0;
	unsigned n_begun = 0;

	for (size_t k = 0; k < n; k++) {
		if (text_span_is(span, words[k]))
			return (int)k;
		if (span->len >= SHORTEST &&
		    strncmp(words[k], span->at, span->len) == 0) {
			begun = k;
			n_begun++;
		}
	}
	if (n_begun == 1) {
		warn_at(p, span->place, "%s is taken for %s", shown,
			words[begun]);
		return (int)begun;
	}
	for (size_t k = 0; k < n; k++)
		g_string_append_printf(list, "%s%s", words[k], k + 2 < n ?
				       ", " : k + 1 < n ? " or " : "");
	near = text_nearest(shown, "", words, n);
	if (span->len)
		fail_at(p, span->place, "%s is no %s: %s%s", shown, what,
			list->str, near);
	else
		fail_at(p, span->place, "a %s is missing: %s", what, list->str);
	return -1;
}

/* A number of C, min to max; false after an error. */
static bool
parser_read_number(struct partitions_parser *p, const struct text_span *span,
		   const char *what, uint64_t min, uint64_t max,
		   uint64_t *value)
{
	g_autofree char *shown = NULL, *range = NULL;
	size_t zeros = strspn(span->at, "0");
	const char *at = span->at;
	/* to C, 010 is 8 */
	bool octal = zeros && zeros < span->len &&
		text_take_digits(&at, 10, UINT64_MAX, value) &&
		at == span->at + span->len && *value > 7;

	if (!octal && text_span_number(span, 0, max, value) && *value >= min)
		return true;
	shown = text_span_show(span);
	range = max > UINT8_MAX ?
		g_strdup_printf("0x%" G_GINT64_MODIFIER
				"x to 0x%" G_GINT64_MODIFIER "x",
				min, max) :
		g_strdup_printf("%" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
				min, max);
	if (!span->len)
		return fail_at(p, span->place, "a %s is missing: %s", what,
			       range);
	if (octal)
		return fail_at(p, span->place, "%s is octal to OpenSM: write a "
			       "%s decimal without zeros in front, or 0x and "
			       "hexadecimal", shown, what);
	/* the 0x was left out */
	if (!text_span_number(span, 0, UINT64_MAX, value) &&
	    span->len < SHOWN &&
	    text_span_number(span, 16, max, value) && *value >= min &&
	    !g_str_has_prefix(shown, "0x") && !g_str_has_prefix(shown, "0X"))
		return fail_at(p, span->place, "%s is no %s: %s; is 0x%s "
			       "meant?", shown, what, range, shown);
	return fail_at(p, span->place, "%s is no %s: %s, decimal, or 0x and "
		       "hexadecimal%s", shown, what, range,
		       memchr(span->at, ' ', span->len) ||
		       memchr(span->at, '\t', span->len) ?
		       "; is a comma missing?" : "");
}

/* n: how many of the names above are valid */
static bool
read_membership(struct partitions_parser *p, const struct text_span *value,
		size_t n, enum partition_membership *membership)
{
	int i = choose(p, value, "membership", "", membership_names, n);

	if (i >= 0)
		*membership = memberships[i];
	return i >= 0;
}

/* Takes "=" and a value, if they are there. */
static bool
take_value(struct partitions_parser *p, const char *end,
	   struct text_span *value)
{
	*value = (struct text_span){ "", 0, text_here(&p->scan) };
	if (*p->scan.at != '=')
		return false;
	p->scan.at++;
	*value = text_take_span(&p->scan, end);
	return true;
}

/* --- flags --- */

static bool
set_group_flag(struct partitions_parser *p, struct conf_group *g,
	       enum flag flag, const struct text_span *value)
{
	static const char *const bytes[] = {
		"256", "512", "1024", "2048", "4096",
	};
	uint64_t n;

	for (unsigned i = 0; flag == FLAG_MTU && i < G_N_ELEMENTS(bytes); i++)
		if (text_span_is(value, bytes[i]))
			return fail_at(p, value->place, "mtu is a code: %u is "
				       "%s bytes", i + 1, bytes[i]);
	if (!parser_read_number(p, value, flag_names[flag], ranges[flag].min,
				ranges[flag].max, &n))
		return false;
	if (flag == FLAG_SCOPE) {
		g->scopes |= (uint16_t)(1u << n);
		return true;
	}
	if ((g->given & 1u << flag) && g->value[flag] != n)
		return fail_at(p, value->place, "%s has been given as %u "
			       "before", flag_names[flag], g->value[flag]);
	g->given |= 1u << flag;
	g->value[flag] = (uint32_t)n;
	return true;
}

static bool
take_flag(struct partitions_parser *p, struct definition *d)
{
	struct text_span name = text_take_span(&p->scan, WORD_END), value;
	bool has_value = take_value(p, WORD_END, &value);
	enum partition_membership membership;
	int flag;

	if (!name.len && !has_value) {
		warn_at(p, name.place, "there is no flag after this comma");
		return true;
	}
	flag = choose(p, &name, "flag", "", flag_names, N_FLAGS);
	if (flag < 0)
		return false;
	if (flag < N_GROUP_FLAGS)
		return set_group_flag(p, &d->flags, (enum flag)flag, &value);
	if (flag == FLAG_DEFMEMBER) {
		if (!read_membership(p, &value, 3, &membership))
			return false;
		if (d->member_given && membership != d->member)
			return fail_at(p, value.place, "defmember has been "
				       "given otherwise before");
		d->member_given = true;
		d->member = membership;
		return true;
	}
	if (has_value)
		return fail_at(p, value.place, "%s takes no value",
			       flag_names[flag]);
	d->ipoib |= flag == FLAG_IPOIB;
	d->index0 |= flag == FLAG_INDX0;
	return true;
}

/* --- the head of a definition --- */

static bool
read_pkey(struct partitions_parser *p, const struct text_span *value,
	  uint16_t *pkey)
{
	uint64_t n;

	if (!parser_read_number(p, value, "P_Key", 1, UINT16_MAX, &n))
		return false;
	*pkey = pkey_base(n);
	/* IBA 10.9.1.1 */
	return *pkey || fail_at(p, value->place, "0x8000 is no P_Key: its low "
				"15 bits are 0");
}

static bool
parser_take_name(struct partitions_parser *p, struct definition *d)
{
	struct text_span value;
	bool has_value;

	d->name = text_take_span(&p->scan, WORD_END);
	has_value = take_value(p, WORD_END, &value);
	if (!has_value && d->name.len && g_ascii_isdigit(*d->name.at)) {
		value = d->name;
		d->name.len = 0;
		return read_pkey(p, &value, &d->pkey);
	}
	if (!has_value && !d->name.len)
		return fail_at(p, d->name.place,
			       "a partition has a name or a P_Key");
	for (size_t i = 0; i < d->name.len; i++)
		if (g_ascii_iscntrl(d->name.at[i]) ||
		    (!i && !g_utf8_validate(d->name.at, (gssize)d->name.len,
					    NULL)))
			return fail_at(p, d->name.place, "a name is UTF-8 "
				       "without control characters");
	return !has_value || read_pkey(p, &value, &d->pkey);
}

/* Up to and with the ":". False: there is none, and the definition was skipped. */
static bool
take_head(struct partitions_parser *p, struct definition *d, bool *good)
{
	*good = parser_take_name(p, d);
	text_skip_space(&p->scan);
	while (*p->scan.at == ',') {
		p->scan.at++;
		text_skip_space(&p->scan);
		*good &= take_flag(p, d);
		text_skip_space(&p->scan);
	}
	if (*p->scan.at == ':') {
		p->scan.at++;
		return true;
	}
	if (*p->scan.at != '=')
		fail_at(p, text_here(&p->scan), "a \":\" is missing here, for "
			"the definition that begins in line %u",
			d->name.place.line);
	else if (*good)
		fail_at(p, text_here(&p->scan), "this \"=\" is one too many: a "
			"\":\" before the members is missing");
	/* past the next ';' that is in no comment */
	while (text_skip_space(&p->scan)) {
		p->scan.at += strcspn(p->scan.at, ";#\n");
		if (*p->scan.at == ';') {
			p->scan.at++;
			break;
		}
	}
	return false;
}

/* --- which partition --- */

static struct draft *
draft_new(const char *name, uint16_t pkey, struct text_place place)
{
	struct draft *d = g_new0(struct draft, 1);

	d->name = g_strdup(name);
	d->pkey = pkey;
	d->place = place;
	d->rules = g_array_new(FALSE, FALSE, sizeof(struct partition_rule));
	d->groups = g_array_new(FALSE, FALSE, sizeof(struct conf_group));
	return d;
}

static void
draft_free(gpointer data)
{
	struct draft *d = data;

	g_free(d->name);
	g_array_unref(d->rules);
	g_array_unref(d->groups);
	g_free(d);
}

static struct draft *
add_draft(struct partitions_parser *p, const char *name, uint16_t pkey,
	  struct text_place place)
{
	struct draft *d = draft_new(name, pkey, place);

	if (pkey)
		p->by_pkey[pkey] = d;
	g_ptr_array_add(p->drafts, d);
	return d;
}

/* A definition without a P_Key. */
static struct draft *
get_by_name(struct partitions_parser *p, const struct text_span *span,
	    const char *name)
{
	struct draft *d = g_hash_table_lookup(p->by_name, name);
	g_autofree char *shown = text_span_show(span);

	if (!d) {
		if (g_ascii_strcasecmp(name, "Default") == 0)
			warn_at(p, span->place, "%s is not Default, so it is a "
				"partition of its own", shown);
		d = add_draft(p, name, 0, span->place);
		g_hash_table_insert(p->by_name, g_strdup(name), d);
	} else if (d->several) {
		fail_at(p, span->place, "which %s? More than one P_Key has "
			"this name: write %s=P_Key", shown, shown);
		return NULL;
	} else if (d->pkey) {
		warn_at(p, span->place, "%s is taken for that of line %u: "
			"write %s=0x%04x", shown, d->place.line, shown,
			d->pkey);
	}
	return d;
}

/* A definition with a P_Key. */
static struct draft *
get_by_pkey(struct partitions_parser *p, const struct text_span *span,
	    const char *name, uint16_t pkey)
{
	struct draft *named = name ? g_hash_table_lookup(p->by_name, name) :
		NULL;
	struct draft *d = p->by_pkey[pkey];
	g_autofree char *shown = text_span_show(span);

	if (named && !named->pkey) {
		fail_at(p, span->place, "%s has been used in line %u without "
			"its P_Key: write %s=0x%04x there too", shown,
			named->place.line, shown, pkey);
		return NULL;
	}
	if (d && name && !d->name)
		d->name = g_strdup(name);
	else if (d && name && strcmp(d->name, name) != 0)
		warn_at(p, span->place, "P_Key 0x%04x is that of line %u, so "
			"%s is the same partition", pkey, d->place.line, shown);
	if (!d)
		d = add_draft(p, name, pkey, span->place);
	if (named)
		named->several |= named != d;
	else if (name)
		g_hash_table_insert(p->by_name, g_strdup(name), d);
	return d;
}

/* --- groups --- */

static bool
has_q_key(const struct conf_group *g)
{
	return (g->given | g->inherited) & 1u << FLAG_Q_KEY;
}

static bool
is_ip(const uint8_t *mgid)
{
	return (mgid[2] == 0x40 || mgid[2] == 0x60) && mgid[3] == 0x1b;
}

/* The rest of a line that began with "mgid". OpenSM does not give a group the
 * TClass of its definition; so it is here. */
static void
take_group(struct partitions_parser *p, struct definition *d)
{
	struct conf_group g = d->flags;
	struct text_span value;
	g_autofree char *text = NULL, *shown = NULL;
	bool ok;

	g.inherited = g.given;
	g.given = 0;
	g.value[FLAG_TCLASS] = ranges[FLAG_TCLASS].preset;
	take_value(p, GID_END, &value);
	g.place = value.place;
	text = g_strndup(value.at, value.len);
	shown = text_span_show(&value);
	ok = value.len < INET6_ADDRSTRLEN &&
		inet_pton(AF_INET6, text, g.mgid) == 1 && g.mgid[0] == 0xff;
	if (!value.len)
		fail_at(p, value.place, "a multicast GID is missing");
	else if (!ok)
		fail_at(p, value.place, "%s is no multicast GID: it is written "
			"as an IPv6 address and begins with ff", shown);
	text_skip_comment(&p->scan);
	while (*p->scan.at == ',') {
		struct text_span name;
		bool has_value;
		int flag;

		p->scan.at++;
		name = text_take_span(&p->scan, WORD_END);
		has_value = take_value(p, WORD_END, &value);
		text_skip_comment(&p->scan);
		if (!name.len && !has_value)
			continue;
		flag = choose(p, &name, "flag of a group, whose line this is",
			      "", flag_names, N_GROUP_FLAGS);
		ok &= flag >= 0 &&
			set_group_flag(p, &g, (enum flag)flag, &value);
	}
	if (ok && is_ip(g.mgid) && !has_q_key(&g))
		g.value[FLAG_Q_KEY] = IP_Q_KEY;
	/* An IP group is for the interface of the broadcast group (RFC 4391,
	 * 5). */
	for (unsigned i = FLAG_RATE; ok && is_ip(g.mgid) && d->ipoib &&
	     i <= FLAG_MTU; i++)
		if (g.value[i] != d->flags.value[i])
			ok = fail_at(p, g.place, "the %s of an IP group is "
				     "that of the broadcast group, %u",
				     flag_names[i], d->flags.value[i]);
	if (ok)
		g_array_append_val(d->draft->groups, g);
}

/* --- members --- */

/* Is what begins with this name, the first on its line, a definition? */
static bool
looks_like_head(const struct text_span *name)
{
	const char *at = name->at;

	for (;;) {
		const char *end = at + strcspn(at, ",:;#\n");

		if (*end != ',')
			return *end == ':';
		at = end + 1 + strspn(end + 1, " \t\r");
		if (g_str_has_prefix(at, "mgid"))
			return false;
	}
}

static void
take_member(struct partitions_parser *p, struct definition *d,
	    const struct text_span *name)
{
	struct partition_rule rule = {
		.who = PARTITION_GUID,
		.membership = d->member,
		.line = name->place.line,
	};
	struct text_span value;
	bool has_value = take_value(p, WORD_END, &value);
	int i = -1;

	if (!g_ascii_isdigit(*name->at)) {
		i = choose(p, name, "member", "a PortGUID, ", member_names,
			   G_N_ELEMENTS(member_names));
		if (i < 0)
			return;
		rule.who = (enum partition_who)(PARTITION_ALL + i);
	} else if (!parser_read_number(p, name, "PortGUID", 1, UINT64_MAX,
				       &rule.guid)) {
		return;
	}
	if (i == MEMBER_NONE && has_value)
		fail_at(p, value.place, "NONE takes no membership");
	else if (i != MEMBER_NONE &&
		 (!has_value ||
		  read_membership(p, &value, 4, &rule.membership)))
		g_array_append_val(d->draft->rules, rule);
}

/* False: the definition ends here. new_line: it is the first of its line. */
static bool
take_item(struct partitions_parser *p, struct definition *d, bool new_line)
{
	struct text_span name = text_take_span(&p->scan, WORD_END), value;
	unsigned errors = p->scan.n_errors, flag = 0;

	while (flag < N_FLAGS && !text_span_is(&name, flag_names[flag]))
		flag++;
	if (text_span_is(&name, "mgid")) {
		take_group(p, d);
	} else if (new_line && looks_like_head(&name)) {
		p->scan.at = name.at;	/* on the same line */
		return fail_at(p, name.place, "a \";\" is missing before this: "
			       "the definition of line %u has not ended",
			       d->name.place.line);
	} else if (flag < N_FLAGS) {
		/* OpenSM's manual has an example of it, which OpenSM refuses */
		fail_at(p, name.place, "%s is a flag of the partition: it "
			"belongs before the \":\"", flag_names[flag]);
		take_value(p, WORD_END, &value);
		if (*p->scan.at == ':')
			p->scan.at++;
		return true;
	} else {
		take_member(p, d, &name);
	}
	/* the next one, or the end */
	text_skip_comment(&p->scan);
	if (!*p->scan.at || strchr(",;\n", *p->scan.at))
		return true;
	if (p->scan.n_errors == errors)
		fail_at(p, text_here(&p->scan), "\"%c\" is not expected here: "
			"members are separated by commas", *p->scan.at);
	p->scan.at += strcspn(p->scan.at, ",;#\n");
	text_skip_comment(&p->scan);
	return true;
}

static void
take_members(struct partitions_parser *p, struct definition *d)
{
	while (p->scan.n_errors < p->scan.errors_max) {
		unsigned line = p->scan.line;

		text_skip_space(&p->scan);
		if (!*p->scan.at) {
			fail_at(p, text_here(&p->scan), "the file ends, and "
				"the definition of line %u does not: a \";\" "
				"is missing", d->name.place.line);
			return;
		}
		if (*p->scan.at == ',' || *p->scan.at == ';') {
			if (*p->scan.at++ == ';')
				return;
		} else if (!take_item(p, d, p->scan.line != line)) {
			return;
		}
	}
}

/* --- definitions --- */

/* The group that hosts' IP interfaces need. It is always there with link-local
 * scope as well: hosts wait for that one by default, and OpenSM makes no
 * other. */
static void
add_broadcast_group(struct definition *d)
{
	struct conf_group g = d->flags;
	struct partition_group made;

	partition_ipoib_group(PKEY_DEFAULT, 0, &made);
	memcpy(g.mgid, made.mgid, sizeof(g.mgid));
	g.mgid[4] = g.mgid[5] = 0;	/* the P_Key is put there later */
	g.place = d->name.place;
	g.scopes |= 1u << SCOPE_LINK;
	if (!has_q_key(&g))
		g.value[FLAG_Q_KEY] = IP_Q_KEY;
	g_array_append_val(d->draft->groups, g);
}

static void
take_definition(struct partitions_parser *p)
{
	struct definition d = { .member = PARTITION_LIMITED };
	g_autofree char *name = NULL;
	struct draft *draft = NULL;
	uint32_t sl;
	bool good;

	if (*p->scan.at == ';') {
		fail_at(p, text_here(&p->scan), "this \";\" ends nothing");
		p->scan.at++;
		return;
	}
	for (unsigned i = 0; i < N_GROUP_FLAGS; i++)
		d.flags.value[i] = ranges[i].preset;
	if (!take_head(p, &d, &good))
		return;
	if (d.name.len)
		name = g_strndup(d.name.at, d.name.len);
	if (!d.pkey && text_span_is(&d.name, "Default"))
		d.pkey = PKEY_DEFAULT;
	/* none, with an error, if the name is ambiguous */
	if (good)
		draft = d.pkey ? get_by_pkey(p, &d.name, name, d.pkey) :
			get_by_name(p, &d.name, name);
	if (!draft)
		draft = p->scrap;
	d.draft = draft;
	draft->index0 |= d.index0;
	if (d.member_given && !draft->defmember)
		draft->defmember = d.member;
	if (d.flags.given & 1u << FLAG_SL) {
		sl = d.flags.value[FLAG_SL];
		if (draft->sl_line && draft->sl != sl)
			warn_at(p, d.name.place, "SL %u of this partition "
				"takes the place of SL %u of line %u", sl,
				draft->sl, draft->sl_line);
		draft->sl = (uint8_t)sl;
		draft->sl_line = d.name.place.line;
	}
	if (d.ipoib)
		add_broadcast_group(&d);
	take_members(p, &d);
}

/* --- P_Keys that are made --- */

/* False: all are in use. */
static bool
make_pkey(struct partitions_parser *p, struct draft *d)
{
	struct text_span span = { d->name, strlen(d->name), d->place };
	g_autofree char *shown = text_span_show(&span);
	uint32_t hash = 2166136261u, pkey;
	unsigned tried = 0;

	for (const char *c = d->name; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	hash = hash % MADE_MAX + 1;
	for (pkey = hash; p->by_pkey[pkey] && ++tried < MADE_MAX;)
		pkey = pkey % MADE_MAX + 1;
	if (tried == MADE_MAX)
		return fail_at(p, d->place, "no P_Key is left for this: a "
			       "subnet has %u partitions at most", PKEY_BASE);
	d->pkey = (uint16_t)pkey;
	p->by_pkey[pkey] = d;
	if (d->pkey == hash)
		warn_at(p, d->place, "%s has no P_Key: 0x%04x is made from its "
			"name", shown, d->pkey);
	else
		warn_at(p, d->place, "%s has no P_Key, and another partition "
			"has 0x%04x, which is made from its name: it gets "
			"0x%04x, until the file changes", shown, hash, d->pkey);
	return true;
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
	struct draft *d = p->by_pkey[PKEY_DEFAULT];
	const struct partition_rule *r;
	struct text_place place = { 0, 1 };
	bool said = false, full = false;	/* of SELF */
	guint last = 0;

	if (!d)
		d = add_draft(p, "Default", PKEY_DEFAULT,
			      (struct text_place){ 0, 0 });
	/* an ALL in front covers all ports by itself */
	if (d->rules->len == 0 ||
	    g_array_index(d->rules, struct partition_rule, 0).who !=
	    PARTITION_ALL)
		g_array_prepend_val(d->rules, all);
	for (guint i = 0; i < d->rules->len; i++) {
		r = &g_array_index(d->rules, struct partition_rule, i);
		if (r->who == PARTITION_GUID)
			continue;
		said |= r->who == PARTITION_SELF;
		if (!(r->membership & PARTITION_FULL))
			full = false;
		else if (r->who == PARTITION_ALL || r->who == PARTITION_SELF)
			full = true;
		place.line = r->line;
		last = i;
	}
	if (!said && !full)
		g_array_insert_val(d->rules, last + 1, self);
	else if (!full)
		warn_at(p, place, "the SM's own port is no full member of the "
			"default partition: limited members cannot reach it");
}

/* --- MGIDs --- */

/* Puts the P_Key into the MGID of an IP group (RFC 4391, 4). IPv4's broadcast
 * group of the default partition becomes that of the partition in whose
 * definition it is, as in OpenSM. */
static bool
embed_pkey(struct partitions_parser *p, uint16_t pkey, struct conf_group *g)
{
	uint8_t *mgid = g->mgid;
	uint16_t there = (uint16_t)(mgid[4] << 8 | mgid[5]);
	struct partition_group broadcast;

	partition_ipoib_group(PKEY_DEFAULT, mgid[1] & 0xf, &broadcast);
	if (there && pkey_base(there) != pkey) {
		if (memcmp(mgid, broadcast.mgid, sizeof(broadcast.mgid)))
			return fail_at(p, g->place, "this MGID has P_Key "
				       "0x%04x in it, the partition 0x%04x: "
				       "write that, or 0", there, pkey);
		warn_at(p, g->place, "this MGID has the P_Key of the default "
			"partition in it: 0x%04x is put in its place",
			pkey | PKEY_FULL);
	}
	mgid[4] = (uint8_t)((pkey | PKEY_FULL) >> 8);
	mgid[5] = (uint8_t)pkey;
	return true;
}

/* Of several groups with one MGID the first takes effect, as in OpenSM. */
static void
put_group(struct partitions_parser *p, const struct draft *d,
	  const struct conf_group *g, struct partition *out)
{
	struct placed_group now = {
		.draft = d,
		.place = g->place,
		.group = {
			.rate = (uint8_t)g->value[FLAG_RATE],
			.mtu = (uint8_t)g->value[FLAG_MTU],
			.sl = (uint8_t)g->value[FLAG_SL],
			.tclass = (uint8_t)g->value[FLAG_TCLASS],
			.flow_label = g->value[FLAG_FLOW_LABEL],
			.q_key = g->value[FLAG_Q_KEY],
		},
	};
	g_autoptr(GBytes) key = g_bytes_new(g->mgid, sizeof(g->mgid));
	const struct placed_group *old = g_hash_table_lookup(p->mgids, key);

	memcpy(now.group.mgid, g->mgid, sizeof(g->mgid));
	if (!old) {
		g_hash_table_insert(p->mgids, g_steal_pointer(&key),
				    g_memdup2(&now, sizeof(now)));
		g_array_append_val(out->groups, now.group);
	} else if (old->draft != d) {
		fail_at(p, g->place, "this group is that of line %u, in "
			"partition 0x%04x: a group is in one partition",
			old->place.line, old->draft->pkey);
	} else if (memcmp(&old->group, &now.group, sizeof(now.group))) {
		warn_at(p, g->place, "this group is that of line %u, with "
			"other flags: those there hold", old->place.line);
	}
}

/* One for each scope; without any, that of the MGID. */
static void
put_scopes(struct partitions_parser *p, const struct draft *d,
	   struct conf_group *g, struct partition *out)
{
	if (is_ip(g->mgid) && !embed_pkey(p, d->pkey, g))
		return;
	if (!g->scopes)
		put_group(p, d, g, out);
	for (unsigned scope = 0; scope < 16; scope++) {
		if (!(g->scopes & 1u << scope))
			continue;
		g->mgid[1] = (uint8_t)((g->mgid[1] & 0xf0) | scope);
		put_group(p, d, g, out);
	}
}

/* --- the end --- */

static struct partition_rules *
parser_finish(struct partitions_parser *p)
{
	struct partition_rules *rules;
	bool ok = true;

	if (p->scan.n_errors)
		return NULL;
	if (!p->drafts->len)
		return partition_rules_default();
	rules = partition_rules_new();
	for (guint i = 0; ok && i < p->drafts->len; i++) {
		struct draft *d = p->drafts->pdata[i];

		ok = d->pkey || make_pkey(p, d);
	}
	complete_default(p);
	/* ascending, so that each goes to the end */
	for (unsigned pkey = 1; pkey <= PKEY_BASE; pkey++)
		if (p->by_pkey[pkey])
			partition_rules_get(rules, (uint16_t)pkey);
	for (guint i = 0; i < p->drafts->len; i++) {
		struct draft *d = p->drafts->pdata[i];
		struct conf_group *g = (void *)d->groups->data;
		struct partition *out;

		if (!d->pkey)
			continue;
		out = partition_rules_get(rules, d->pkey);
		out->name = g_steal_pointer(&d->name);
		out->sl = d->sl;
		out->index0 = d->index0;
		out->defmember = d->defmember;
		g_array_append_vals(out->rules, d->rules->data, d->rules->len);
		for (guint k = 0; k < d->groups->len; k++)
			put_scopes(p, d, &g[k], out);
	}
	if (p->scan.n_errors)
		g_clear_pointer(&rules, partition_rules_unref);
	return rules;
}

struct partition_rules *
partitions_conf_parse(const char *text, const char *name, GPtrArray *warnings,
		      GError **error)
{
	g_autofree struct partitions_parser *p =
		g_new0(struct partitions_parser, 1);
	struct partition_rules *rules;

	text_scan_init(&p->scan, text, name, warnings);
	p->scan.errors_max = ERRORS_MAX;
	p->drafts = g_ptr_array_new_with_free_func(draft_free);
	p->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					   NULL);
	p->mgids = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
					 (GDestroyNotify)g_bytes_unref, g_free);
	p->scrap = draft_new(NULL, 0, text_here(&p->scan));
	while (text_skip_space(&p->scan) &&
	       p->scan.n_errors < p->scan.errors_max)
		take_definition(p);
	rules = parser_finish(p);
	if (rules)
		rules->source = g_strdup(name);
	text_scan_end(&p->scan, error);
	draft_free(p->scrap);
	g_hash_table_unref(p->mgids);
	g_hash_table_unref(p->by_name);
	g_ptr_array_unref(p->drafts);
	return rules;
}
