// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The QoS policy file, section qos-ulps.
 *
 * Every rule compares one property of a path: the requested ServiceID, the
 * P_Key, or the PortGUID of one end. So the names of protocols are a table: the
 * property that each of them compares by default, and the criteria that it
 * takes. A list of ranges makes a rule for each range.
 *
 * Flow. A line opens or ends the section, or is a rule: take_rule() takes the
 * protocol, the criterion and its ranges if there are any, the colon, the SL.
 * Every error is refused: OpenSM ignores it without a message, and storage then
 * runs on a wrong SL.
 *
 * Source: QoS_management_in_OpenSM.txt of OpenSM, sections 3, 4 and 6, which
 * also has the ServiceIDs of the protocols. OpenSM's full form (port-groups,
 * qos-levels, qos-match-rules) is refused: to ignore it would put paths on
 * other SLs than those of the file.
 */
#include "sm/config/qos_policy_conf.h"

#include <string.h>

#include "topology/text.h"

#define SL_MAX		15u
#define PKEY_MASK	0x7fffu
#define SERVICE_SDP	UINT64_C(0x10000)	/* + TCP port */
#define SERVICE_TCP	UINT64_C(0x1060000)	/* RDS, iSER: + port */
#define PORT_RDS	0x48cau
#define PORT_ISER	0x0cbcu

enum criterion_id {
	BY_NOTHING = 0,
	BY_PORT_NUM = 1 << 0,
	BY_SERVICE = 1 << 1,
	BY_PKEY = 1 << 2,
	BY_TARGET = 1 << 3,
	BY_SOURCE = 1 << 4,
};

struct criterion {
	const char *word;
	enum criterion_id id;
	enum qos_match match;
	uint64_t max;
};

static const struct criterion criteria[] = {
	{ "port-num", BY_PORT_NUM, QOS_MATCH_SERVICE, 0xffff },
	{ "service-id", BY_SERVICE, QOS_MATCH_SERVICE, UINT64_MAX },
	{ "pkey", BY_PKEY, QOS_MATCH_PKEY, 0xffff },
	{ "target-port-guid", BY_TARGET, QOS_MATCH_TARGET, UINT64_MAX },
	{ "source-port-guid", BY_SOURCE, QOS_MATCH_SOURCE, UINT64_MAX },
};

/* And the default criterion of a protocol. */
struct protocol {
	const char *word;
	unsigned takes;		/* criterion_ids */
	bool needs;		/* one of them */
	enum qos_match match;
	uint64_t low, high;
	uint64_t base;		/* of port-num */
};

static const struct protocol protocols[] = {
	{ "default", BY_NOTHING, false, QOS_MATCH_SERVICE, 0, 0, 0 },
	{ "any", BY_SERVICE | BY_PKEY | BY_TARGET | BY_SOURCE, true,
	  QOS_MATCH_SERVICE, 0, 0, 0 },
	{ "ipoib", BY_PKEY, false, QOS_MATCH_PKEY, PKEY_MASK, PKEY_MASK, 0 },
	{ "sdp", BY_PORT_NUM, false, QOS_MATCH_SERVICE, SERVICE_SDP,
	  SERVICE_SDP + 0xffff, SERVICE_SDP },
	{ "rds", BY_PORT_NUM, false, QOS_MATCH_SERVICE,
	  SERVICE_TCP + PORT_RDS, SERVICE_TCP + PORT_RDS, SERVICE_TCP },
	{ "iser", BY_PORT_NUM, false, QOS_MATCH_SERVICE,
	  SERVICE_TCP + PORT_ISER, SERVICE_TCP + PORT_ISER, SERVICE_TCP },
	{ "srp", BY_TARGET, true, QOS_MATCH_TARGET, 0, 0, 0 },
};

/* Sections of the full form. */
static const char *const others[] = {
	"port-groups", "qos-setup", "qos-levels", "qos-match-rules",
};

struct policy_parser {
	struct text_scan scan;
	unsigned open;		/* line of qos-ulps; 0: outside */
	unsigned default_line;	/* 0: none yet */
	struct qos_policy *policy;
};

#define WORD_END	" \t\r,:#\n"

static bool
policy_fail_word(struct policy_parser *p, const struct text_span *word,
		 const char *const *names, size_t n)
{
	g_autofree char *shown = text_span_show(word);
	g_autofree char *near = text_nearest(shown, "", names, n);

	if (word->len)
		return text_fail(&p->scan, word->place,
				 "\"%s\" is not known here%s", shown, near);
	return text_fail(&p->scan, word->place,
			 "a word is missing: %s or another one", names[0]);
}

static bool
is_word(const struct text_span *span, const char *word)
{
	return strlen(word) == span->len &&
		!g_ascii_strncasecmp(span->at, word, span->len);
}

/* One that the protocol takes; NULL with an error. */
static const struct criterion *
take_criterion(struct policy_parser *p, const struct protocol *of)
{
	struct text_span word = text_take_span(&p->scan, WORD_END);
	const char *names[G_N_ELEMENTS(criteria)];
	size_t n = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(criteria); i++) {
		if (!(of->takes & criteria[i].id))
			continue;
		if (is_word(&word, criteria[i].word))
			return &criteria[i];
		names[n++] = criteria[i].word;
	}
	if (n)
		policy_fail_word(p, &word, names, n);
	else
		text_fail(&p->scan, word.place, "%s takes nothing but an SL",
			  of->word);
	return NULL;
}

static bool
policy_take_number(struct policy_parser *p, uint64_t max, uint64_t *value)
{
	struct text_span span = text_take_span(&p->scan, WORD_END "-");

	return text_span_number(&span, 0, max, value) ||
		text_fail(&p->scan, span.place, "this is no number of 0 to %"
			  G_GUINT64_FORMAT " (0x%" G_GINT64_MODIFIER "x)",
			  max, max);
}

/* --- rules --- */

static void
add_rule(struct policy_parser *p, enum qos_match match, uint64_t low,
	 uint64_t high)
{
	struct qos_rule rule = {
		.match = match, .low = low, .high = high,
		.line = p->scan.line,
	};

	g_array_append_val(p->policy->rules, rule);
}

static bool
take_ranges(struct policy_parser *p, const struct protocol *of,
	    const struct criterion *by)
{
	do {
		struct text_place where;
		uint64_t low, high, base;

		p->scan.at = text_skip_blanks(p->scan.at);
		where = text_here(&p->scan);
		if (!policy_take_number(p, by->max, &low))
			return false;
		high = low;
		if (text_take_char(&p->scan, '-') &&
		    !policy_take_number(p, by->max, &high))
			return false;
		if (low > high)
			return text_fail(&p->scan, where, "the range ends "
					 "before it begins");
		/* the membership bit does not count (IBA 10.9.1) */
		if (by->id == BY_PKEY) {
			low &= PKEY_MASK;
			high &= PKEY_MASK;
		}
		if (by->id == BY_PKEY && (low == 0 || low > high))
			return text_fail(&p->scan, where, "P_Keys are 0x0001 "
					 "to 0x7fff, or 0x8001 to 0xffff, "
					 "which are the same partitions");
		base = by->id == BY_PORT_NUM ? of->base : 0;
		add_rule(p, by->match, base + low, base + high);
	} while (text_take_char(&p->scan, ','));
	return true;
}

static bool
policy_end_of_line(struct policy_parser *p, const char *what)
{
	return text_line_ends(&p->scan) ||
		text_fail(&p->scan, text_here(&p->scan), "there is more %s",
			  what);
}

static bool
take_rule(struct policy_parser *p, const struct protocol *of)
{
	guint first = p->policy->rules->len;
	const struct criterion *by;
	uint64_t sl;

	if (text_take_char(&p->scan, ',')) {
		by = take_criterion(p, of);
		if (!by || !take_ranges(p, of, by))
			return false;
	} else if (of->needs) {
		return text_fail(&p->scan, text_here(&p->scan), "%s needs a "
				 "criterion: \"%s, %s ...\"", of->word,
				 of->word, of->takes & BY_SERVICE ?
				 "service-id" : "target-port-guid");
	} else if (of->takes) {
		add_rule(p, of->match, of->low, of->high);
	}
	if (!text_take_char(&p->scan, ':'))
		return text_fail(&p->scan, text_here(&p->scan),
				 "\": SL\" is missing");
	if (!policy_take_number(p, SL_MAX, &sl) ||
	    !policy_end_of_line(p, "behind the SL"))
		return false;
	for (guint i = first; i < p->policy->rules->len; i++)
		g_array_index(p->policy->rules, struct qos_rule, i).sl =
			(uint8_t)sl;
	if (of->takes)
		return true;
	if (p->default_line)
		return text_fail(&p->scan,
				 (struct text_place){ p->scan.line, 1 },
				 "default is there already, in line %u",
				 p->default_line);
	p->default_line = p->scan.line;
	p->policy->has_default = true;
	p->policy->default_sl = (uint8_t)sl;
	return true;
}

/* --- the file --- */

static bool
take_section(struct policy_parser *p, struct text_place where, bool opens)
{
	if (opens && p->open)
		return text_fail(&p->scan, where, "qos-ulps is open already, "
				 "since line %u", p->open);
	if (!opens && !p->open)
		return text_fail(&p->scan, where, "there is no qos-ulps to "
				 "end");
	p->open = opens ? p->scan.line : 0;
	return policy_end_of_line(p, "on the line");
}

static bool
take_line(struct policy_parser *p)
{
	struct text_span word = text_take_span(&p->scan, WORD_END);
	const char *names[G_N_ELEMENTS(protocols) + 1];
	size_t n = 0;

	if (is_word(&word, "qos-ulps"))
		return take_section(p, word.place, true);
	if (is_word(&word, "end-qos-ulps"))
		return take_section(p, word.place, false);
	names[n++] = p->open ? "end-qos-ulps" : "qos-ulps";
	for (size_t i = 0; i < G_N_ELEMENTS(protocols); i++) {
		if (is_word(&word, protocols[i].word))
			return p->open ? take_rule(p, &protocols[i]) :
				text_fail(&p->scan, word.place,
					  "a rule outside of qos-ulps");
		if (p->open)
			names[n++] = protocols[i].word;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		if (is_word(&word, others[i]))
			return text_fail(&p->scan, word.place, "section %s: "
					 "minism reads the simplified form "
					 "only, section qos-ulps", others[i]);
	return policy_fail_word(p, &word, names, n);
}

struct qos_policy *
qos_policy_conf_parse(const char *text, const char *name, GError **error)
{
	struct policy_parser p = { .policy = qos_policy_new() };
	bool ok = true;

	text_scan_init(&p.scan, text, name, NULL);
	while (ok && text_skip_space(&p.scan))
		ok = take_line(&p);
	if (ok && p.open)
		text_fail(&p.scan, (struct text_place){ p.open, 1 },
			  "qos-ulps is not ended by end-qos-ulps");
	if (text_scan_end(&p.scan, error))
		return p.policy;
	qos_policy_unref(p.policy);
	return NULL;
}
