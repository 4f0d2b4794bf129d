// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The partition file: the grammar.
 *
 *	file       = { definition }
 *	definition = [name] ["=" P_Key] { "," flag } ":" { member | group } ";"
 *	flag       = "ipoib" | "indx0" | "defmember" "=" membership | group flag
 *	member     = (GUID | "ALL" ...) ["=" membership]
 *	group      = "mgid" "=" GID { "," group flag } end of line, or ";"
 *
 * Purpose. A site's partitions.conf of OpenSM works unchanged, or is refused
 * as a whole with all that is wrong in it: a partition is a wall, and a wall
 * with a misspelt word in it is none.
 *
 * Structs. `settings` are the group flags of a definition, or of a group, that
 * begins with those of its definition. A `definition` is what its head said; a
 * `parser` has the lexer and the drafts of the partitions.
 *
 * Flow. One loop over definitions, one over flags, one over members; nothing
 * recurses. A bad flag or member is told and the next one is looked at; where
 * the structure is broken, reading goes on behind the next ";". If what
 * follows on the line of a bad member looks like a definition, then the ";"
 * before it is missing, and it is read as one. What a definition with a bad
 * head says goes into a draft that is thrown away.
 *
 * In the list of members an end of line separates as a comma does, and commas
 * with nothing between them say nothing, as in OpenSM. The head may stand on
 * several lines, of which OpenSM knows nothing.
 */
#include <arpa/inet.h>
#include <string.h>

#include "sm/config/partitions_conf.h"
#include "sm/config/partitions_draft.h"
#include "sm/config/partitions_lex.h"

G_DEFINE_QUARK(minism-partfile-error-quark, partitions_conf_error)

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
	const char *what;
	uint32_t min, max, preset;
} ranges[N_GROUP_FLAGS] = {
	{ "rate", 2, 24, 3 },		/* 10 Gb/s */
	{ "mtu", 1, 5, 4 },		/* 2,048 bytes */
	{ "sl", 0, 15, 0 },
	{ "scope", 1, 15, 0 },
	{ "Q_Key", 0, UINT32_MAX, 0 },
	{ "TClass", 0, UINT8_MAX, 0 },
	{ "FlowLabel", 0, 0xfffff, 0 },
};

#define WORD_END	",:;=#\n"
#define GID_END		",;=#\n"	/* a GID has colons in it */
#define ERRORS_MAX	20u
#define IP_Q_KEY	0x0b1bu
#define SCOPE_LINK	2u	/* link-local, IBA 4.1.1 */

struct settings {
	uint32_t value[N_GROUP_FLAGS];
	unsigned given;			/* bits by enum flag, here */
	unsigned inherited;		/* in the definition's head */
	uint16_t scopes;
};

struct definition {
	struct text_span name;
	uint16_t pkey;			/* 0: none was given */
	struct settings settings;
	bool ipoib, index0, member_given;
	enum partition_membership member;
	bool bad;
	struct partfile_draft *draft;
};

struct parser {
	struct text_scan lex;
	struct partfile_drafts drafts;
	struct partfile_draft *scrap;	/* of definitions with a bad head */
	unsigned n_definitions;
};

/* --- flags --- */

static void
settings_init(struct settings *s)
{
	memset(s, 0, sizeof(*s));
	for (unsigned i = 0; i < N_GROUP_FLAGS; i++)
		s->value[i] = ranges[i].preset;
}

/* Bytes where a code belongs. */
static bool
refuse_mtu_bytes(struct parser *p, const struct text_span *value)
{
	static const char *const bytes[] = {
		"256", "512", "1024", "2048", "4096",
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(bytes); i++) {
		if (!text_span_is(value, bytes[i]))
			continue;
		text_fail(&p->lex, value->place, "mtu is a code: %u is %s "
			      "bytes", i + 1, bytes[i]);
		return true;
	}
	return false;
}

static bool
set_group_flag(struct parser *p, struct settings *s, enum flag flag,
	       const struct text_span *value)
{
	uint64_t n;

	if (flag == FLAG_MTU && refuse_mtu_bytes(p, value))
		return false;
	if (!partitions_take_number(&p->lex, value, ranges[flag].what,
			     ranges[flag].min, ranges[flag].max, &n))
		return false;
	if (flag == FLAG_SCOPE) {
		s->scopes |= (uint16_t)(1u << n);
		return true;
	}
	if ((s->given & 1u << flag) && s->value[flag] != n)
		return text_fail(&p->lex, value->place,
				 "%s has been given as %u "
				 "before",
				 ranges[flag].what, s->value[flag]);
	s->given |= 1u << flag;
	s->value[flag] = (uint32_t)n;
	return true;
}

static const char *const membership_names[] = {
	"full", "limited", "both", "none",
};

static const enum partition_membership memberships[] = {
	PARTITION_FULL, PARTITION_LIMITED, PARTITION_BOTH, PARTITION_NONE,
};

/* n: of the names above, how many will do */
static bool
read_membership(struct parser *p, const struct text_span *value, size_t n,
		enum partition_membership *membership)
{
	int i = partitions_choose(&p->lex, value, "membership", NULL,
				membership_names, n);

	if (i >= 0)
		*membership = memberships[i];
	return i >= 0;
}

static bool
set_defmember(struct parser *p, struct definition *d,
	      const struct text_span *value)
{
	enum partition_membership membership;

	if (!read_membership(p, value, 3, &membership))
		return false;
	if (d->member_given && membership != d->member)
		return text_fail(&p->lex, value->place,
				 "defmember has been given "
				 "otherwise before");
	d->member_given = true;
	d->member = membership;
	return true;
}

/* Takes "=" and a value, if they are there. */
static bool
take_value(struct parser *p, struct text_span *value)
{
	if (*p->lex.at != '=') {
		*value = (struct text_span){ "", 0,
						 text_here(&p->lex) };
		return false;
	}
	p->lex.at++;
	*value = text_take_span(&p->lex, WORD_END);
	return true;
}

static bool
take_flag(struct parser *p, struct definition *d)
{
	struct text_span name = text_take_span(&p->lex, WORD_END), value;
	bool has_value = take_value(p, &value);
	enum flag flag;
	int found;

	if (!name.len && !has_value) {
		text_warn(&p->lex, name.place, "there is no flag after "
			      "this comma");
		return true;
	}
	found = partitions_choose(&p->lex, &name, "flag", NULL, flag_names,
				N_FLAGS);
	if (found < 0)
		return false;
	flag = (enum flag)found;
	if (flag < N_GROUP_FLAGS)
		return set_group_flag(p, &d->settings, flag, &value);
	if (flag == FLAG_DEFMEMBER)
		return set_defmember(p, d, &value);
	if (has_value)
		return text_fail(&p->lex, value.place, "%s takes no value",
			      flag_names[flag]);
	d->ipoib |= flag == FLAG_IPOIB;
	d->index0 |= flag == FLAG_INDX0;
	return true;
}

/* --- the head of a definition --- */

static bool
read_pkey(struct parser *p, const struct text_span *value, uint16_t *pkey)
{
	uint64_t n;

	if (!partitions_take_number(&p->lex, value, "P_Key", 1, UINT16_MAX, &n))
		return false;
	*pkey = pkey_base(n);
	if (*pkey)
		return true;
	/* IBA 10.9.1.1 */
	return text_fail(&p->lex, value->place,
			 "0x8000 is no P_Key: its low 15 "
			 "bits are 0, which is nobody's");
}

static bool
is_fit_name(const struct text_span *name)
{
	for (size_t i = 0; i < name->len; i++)
		if (g_ascii_iscntrl(name->at[i]))
			return false;
	return g_utf8_validate(name->at, (gssize)name->len, NULL);
}

static bool
take_name(struct parser *p, struct definition *d)
{
	struct text_span value;
	bool has_value;

	d->name = text_take_span(&p->lex, WORD_END);
	has_value = take_value(p, &value);
	if (!has_value && d->name.len && g_ascii_isdigit(*d->name.at)) {
		value = d->name;
		d->name.len = 0;
		return read_pkey(p, &value, &d->pkey);
	}
	if (!has_value && !d->name.len)
		return text_fail(&p->lex, d->name.place,
				 "a partition has a name "
				 "or a P_Key");
	if (!is_fit_name(&d->name))
		return text_fail(&p->lex, d->name.place, "a name is UTF-8 "
			      "without control characters");
	return !has_value || read_pkey(p, &value, &d->pkey);
}

/* Past the next ';' that is in no comment. */
static void
skip_definition(struct text_scan *s)
{
	while (text_skip_space(s)) {
		s->at += strcspn(s->at, ";#\n");
		if (*s->at == ';') {
			s->at++;
			return;
		}
	}
}

static bool
miss_colon(struct parser *p, struct definition *d)
{
	struct text_place here = text_here(&p->lex);

	if (*p->lex.at == '=' && !d->bad)
		text_fail(&p->lex, here, "this \"=\" is one too many: a "
			      "\":\" before the members is missing");
	else if (*p->lex.at != '=')
		text_fail(&p->lex, here, "a \":\" is missing here, for the "
			      "definition that begins in line %u",
			      d->name.place.line);
	skip_definition(&p->lex);
	return false;
}

/* Up to and with the ":". False: there is none, and all of it was skipped. */
static bool
take_head(struct parser *p, struct definition *d)
{
	d->bad = !take_name(p, d);
	text_skip_space(&p->lex);
	while (*p->lex.at == ',') {
		p->lex.at++;
		text_skip_space(&p->lex);
		d->bad |= !take_flag(p, d);
		text_skip_space(&p->lex);
	}
	if (*p->lex.at != ':')
		return miss_colon(p, d);
	p->lex.at++;
	return true;
}

/* --- groups --- */

static void
fill_group(struct partfile_group *g, const struct settings *s)
{
	g->group.rate = (uint8_t)s->value[FLAG_RATE];
	g->group.mtu = (uint8_t)s->value[FLAG_MTU];
	g->group.sl = (uint8_t)s->value[FLAG_SL];
	g->group.tclass = (uint8_t)s->value[FLAG_TCLASS];
	g->group.flow_label = s->value[FLAG_FLOW_LABEL];
	g->group.q_key = s->value[FLAG_Q_KEY];
	g->scopes = s->scopes;
}

static bool
has_q_key(const struct settings *s)
{
	return (s->given | s->inherited) & 1u << FLAG_Q_KEY;
}

/* With whatever scopes, it is there link-local too: hosts that were not told
 * otherwise wait for that one, and OpenSM makes no other. */
static void
add_broadcast(struct definition *d)
{
	struct partfile_group g = {
		.broadcast = true,
		.place = d->name.place,
	};

	fill_group(&g, &d->settings);
	g.scopes |= 1u << SCOPE_LINK;
	if (!has_q_key(&d->settings))
		g.group.q_key = IP_Q_KEY;
	g_array_append_val(d->draft->groups, g);
}

static bool
read_mgid(struct parser *p, const struct text_span *value, uint8_t *mgid)
{
	char text[INET6_ADDRSTRLEN];
	g_autofree char *shown = NULL;

	if (value->len && value->len < sizeof(text)) {
		memcpy(text, value->at, value->len);
		text[value->len] = '\0';
		if (inet_pton(AF_INET6, text, mgid) == 1 && mgid[0] == 0xff)
			return true;
	}
	shown = text_span_show(value);
	if (value->len)
		text_fail(&p->lex, value->place, "%s is no multicast GID: "
			      "it is written as an IPv6 address and begins "
			      "with ff", shown);
	else
		text_fail(&p->lex, value->place, "a multicast GID is "
			      "missing");
	return false;
}

static bool
take_group_flag(struct parser *p, struct settings *s)
{
	struct text_span name = text_take_span(&p->lex, WORD_END), value;
	bool has_value = take_value(p, &value);
	int flag;

	if (!name.len && !has_value)
		return true;
	flag = partitions_choose(&p->lex, &name, "flag of a group, whose line "
			       "this is", NULL, flag_names, N_GROUP_FLAGS);
	return flag >= 0 && set_group_flag(p, s, (enum flag)flag, &value);
}

/* An IP group is for the interface of the broadcast group (RFC 4391, 5). */
static bool
fits_broadcast(struct parser *p, const struct definition *d,
	       const struct partfile_group *g)
{
	static const enum flag same[] = { FLAG_RATE, FLAG_MTU };
	const uint8_t is[] = { g->group.rate, g->group.mtu };

	for (unsigned i = 0; d->ipoib && i < G_N_ELEMENTS(same); i++) {
		if (is[i] == d->settings.value[same[i]])
			continue;
		return text_fail(&p->lex, g->place, "the %s of an IP group is "
			      "that of the broadcast group, %u",
			      flag_names[same[i]], d->settings.value[same[i]]);
	}
	return true;
}

/* The rest of a line that began with "mgid". OpenSM does not give a group the
 * TClass of its definition; so it is here. */
static void
take_group(struct parser *p, struct definition *d)
{
	struct settings s = d->settings;
	struct partfile_group g = { .broadcast = false };
	struct text_span value = { "", 0, text_here(&p->lex) };
	bool ok, ip;

	s.inherited = s.given;
	s.given = 0;
	s.value[FLAG_TCLASS] = ranges[FLAG_TCLASS].preset;
	if (*p->lex.at == '=') {
		p->lex.at++;
		value = text_take_span(&p->lex, GID_END);
	}
	g.place = value.place;
	ok = read_mgid(p, &value, g.group.mgid);
	text_skip_comment(&p->lex);
	while (*p->lex.at == ',') {
		p->lex.at++;
		ok &= take_group_flag(p, &s);
		text_skip_comment(&p->lex);
	}
	if (!ok)
		return;
	ip = (g.group.mgid[2] == 0x40 || g.group.mgid[2] == 0x60) &&
		g.group.mgid[3] == 0x1b;
	if (ip && !has_q_key(&s))
		s.value[FLAG_Q_KEY] = IP_Q_KEY;
	fill_group(&g, &s);
	if (!ip || fits_broadcast(p, d, &g))
		g_array_append_val(d->draft->groups, g);
}

/* --- members --- */

static const char *const member_names[] = {
	"ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF", "NONE",
};
#define MEMBER_NOBODY	5	/* NONE */

static const enum partition_who member_kinds[] = {
	PARTITION_ALL, PARTITION_ALL_CAS, PARTITION_ALL_SWITCHES,
	PARTITION_ALL_ROUTERS, PARTITION_SELF,
};

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

static bool
take_who(struct parser *p, const struct text_span *name,
	 struct partition_rule *rule, bool *nobody)
{
	int i;

	*nobody = false;
	if (g_ascii_isdigit(*name->at)) {
		rule->who = PARTITION_GUID;
		return partitions_take_number(&p->lex, name, "PortGUID", 1,
				       UINT64_MAX, &rule->guid);
	}
	i = partitions_choose(&p->lex, name, "member", "a PortGUID",
			      member_names, G_N_ELEMENTS(member_names));
	*nobody = i == MEMBER_NOBODY;
	if (i >= 0 && !*nobody)
		rule->who = member_kinds[i];
	return i >= 0;
}

static void
take_member(struct parser *p, struct definition *d,
	    const struct text_span *name)
{
	struct partition_rule rule = {
		.membership = d->member,
		.line = name->place.line,
	};
	struct text_span value;
	bool has_value = take_value(p, &value);
	bool nobody;

	if (!take_who(p, name, &rule, &nobody))
		return;
	if (nobody && has_value)
		text_fail(&p->lex, value.place, "NONE takes no membership");
	else if (has_value && !read_membership(p, &value, 4,
					       &rule.membership))
		return;
	else if (!nobody)
		g_array_append_val(d->draft->rules, rule);
}

/* OpenSM's manual has an example of it, which OpenSM refuses. */
static bool
is_flag(const struct text_span *name)
{
	for (unsigned i = 0; i < N_FLAGS; i++)
		if (text_span_is(name, flag_names[i]))
			return true;
	return false;
}

static void
refuse_flag(struct parser *p, const struct text_span *name)
{
	struct text_span value;
	g_autofree char *shown = text_span_show(name);

	text_fail(&p->lex, name->place, "%s is a flag of the partition: "
		      "it belongs before the \":\"", shown);
	take_value(p, &value);
	if (*p->lex.at == ':')
		p->lex.at++;
}

/* To the end of the item: what is wrong with it has been said. */
static void
skip_item(struct parser *p)
{
	p->lex.at += strcspn(p->lex.at, ",;#\n");
	text_skip_comment(&p->lex);
}

/* After a member or group: the next one, or the end. */
static void
end_item(struct parser *p, unsigned errors_before)
{
	text_skip_comment(&p->lex);
	if (!*p->lex.at || strchr(",;\n", *p->lex.at))
		return;
	if (p->lex.n_errors == errors_before)
		text_fail(&p->lex, text_here(&p->lex), "\"%c\" is not "
			      "expected here: members are separated by commas",
			      *p->lex.at);
	skip_item(p);
}

/* False: the definition ends here. new_line: it is the first of its line. */
static bool
take_item(struct parser *p, struct definition *d, bool new_line)
{
	struct text_span name = text_take_span(&p->lex, WORD_END);
	unsigned errors = p->lex.n_errors;

	if (text_span_is(&name, "mgid")) {
		take_group(p, d);
	} else if (new_line && looks_like_head(&name)) {
		text_fail(&p->lex, name.place, "a \";\" is missing before "
			      "this: the definition of line %u has not ended",
			      d->name.place.line);
		p->lex.at = name.at;	/* on the same line */
		return false;
	} else if (is_flag(&name)) {
		refuse_flag(p, &name);
		return true;
	} else {
		take_member(p, d, &name);
	}
	end_item(p, errors);
	return true;
}

static void
take_members(struct parser *p, struct definition *d)
{
	while (p->lex.n_errors < p->lex.errors_max) {
		unsigned line = p->lex.line;

		text_skip_space(&p->lex);
		if (*p->lex.at == ',') {
			p->lex.at++;
			continue;
		}
		if (*p->lex.at == ';') {
			p->lex.at++;
			return;
		}
		if (!*p->lex.at) {
			text_fail(&p->lex, text_here(&p->lex), "the "
				      "file ends, and the definition of line "
				      "%u does not: a \";\" is missing",
				      d->name.place.line);
			return;
		}
		if (!take_item(p, d, p->lex.line != line))
			return;
	}
}

/* --- definitions --- */

static void
unite_sl(struct parser *p, struct definition *d)
{
	struct partfile_draft *draft = d->draft;
	uint8_t sl = (uint8_t)d->settings.value[FLAG_SL];

	if (!(d->settings.given & 1u << FLAG_SL))
		return;
	if (draft->sl_line && draft->sl != sl)
		text_warn(&p->lex, d->name.place, "SL %u of this partition "
			      "takes the place of SL %u of line %u", sl,
			      draft->sl, draft->sl_line);
	draft->sl = sl;
	draft->sl_line = d->name.place.line;
}

static void
take_definition(struct parser *p)
{
	struct definition d = { .member = PARTITION_LIMITED };

	p->n_definitions++;
	if (*p->lex.at == ';') {
		text_fail(&p->lex, text_here(&p->lex), "this \";\" "
			      "ends nothing");
		p->lex.at++;
		return;
	}
	settings_init(&d.settings);
	if (!take_head(p, &d))
		return;
	if (!d.bad)
		d.draft = partfile_drafts_get(&p->drafts, &p->lex, &d.name,
					      d.pkey);
	if (!d.draft)
		d.draft = p->scrap;
	d.draft->index0 |= d.index0;
	if (d.member_given && !d.draft->defmember)
		d.draft->defmember = d.member;
	unite_sl(p, &d);
	if (d.ipoib)
		add_broadcast(&d);
	take_members(p, &d);
}

static struct partition_rules *
finish(struct parser *p)
{
	struct partition_rules *rules;

	if (!p->n_definitions)
		return partition_rules_default();
	if (p->lex.n_errors)
		return NULL;
	rules = partfile_drafts_finish(&p->drafts, &p->lex);
	if (!p->lex.n_errors)
		return rules;
	partition_rules_unref(rules);
	return NULL;
}

bool
partitions_conf_is_empty(const char *text)
{
	struct text_scan lex;
	bool empty;

	text_scan_init(&lex, text, "", NULL);
	empty = !text_skip_space(&lex);
	text_scan_end(&lex, 0, 0, NULL);
	return empty;
}

struct partition_rules *
partitions_conf_parse(const char *text, const char *name, GPtrArray *warnings,
	       GError **error)
{
	struct parser p = { .scrap = partfile_draft_new() };
	struct partition_rules *rules;

	text_scan_init(&p.lex, text, name, warnings);
	p.lex.errors_max = ERRORS_MAX;
	partfile_drafts_init(&p.drafts);
	while (text_skip_space(&p.lex) &&
	       p.lex.n_errors < p.lex.errors_max)
		take_definition(&p);
	rules = finish(&p);
	if (rules)
		rules->source = g_strdup(name);
	text_scan_end(&p.lex, PARTITIONS_CONF_ERROR,
		      PARTITIONS_CONF_ERROR_SYNTAX, error);
	partfile_draft_free(p.scrap);
	partfile_drafts_clear(&p.drafts);
	return rules;
}
