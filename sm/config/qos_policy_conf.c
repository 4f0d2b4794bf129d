// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The QoS policy file, section qos-ulps.
 *
 * Whatever a rule is called, it looks at one thing of a path: the ServiceID
 * that is asked for, the P_Key, or the PortGUID of one end. So the names of
 * protocols are a table: what each of them looks at when nothing more is said,
 * and which criteria it takes. A list of ranges makes a rule for each range.
 *
 * Structs. `cursor` is the place in the text, and what a message needs to say
 * where that is. `protocol` and `criterion` are the two tables of words.
 *
 * Flow. A line is a word that opens or ends the section, or a rule:
 * read_rule() takes the protocol, the criterion and its ranges if there are
 * any, the colon, the SL. Nothing is guessed: OpenSM lets one be wrong here in
 * silence, and then storage runs on the SL of something else.
 *
 * Source: QoS_management_in_OpenSM.txt of OpenSM, sections 3, 4 and 6, which
 * also gives the ServiceIDs of the protocols. OpenSM's full form (port-groups,
 * qos-levels, qos-match-rules) is refused: to pass over it would put paths on
 * other SLs than the file says.
 */
#include "sm/config/qos_policy_conf.h"

#include <stdarg.h>
#include <string.h>

#include "topology/text.h"

#define SL_MAX		15u
#define PKEY_MASK	0x7fffu
#define SERVICE_SDP	UINT64_C(0x10000)	/* + TCP port */
#define SERVICE_TCP	UINT64_C(0x1060000)	/* RDS, iSER: + port */
#define PORT_RDS	0x48cau
#define PORT_ISER	0x0cbcu
#define NUMBER_LEN	20u	/* digits of 2^64 */

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

/* What a protocol is known by if no criterion is given. */
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

struct cursor {
	const char *name;
	unsigned line;
	const char *begin, *at;	/* of the line; terminated */
	GError **error;
	struct qos_policy *policy;
	unsigned open;		/* line of qos-ulps; 0: not in a section */
	unsigned default_line;	/* 0: none yet */
};

GQuark
qos_policy_conf_error_quark(void)
{
	return g_quark_from_static_string("minism-qospolicy-error");
}

/* Always false. `at` NULL: the line as a whole. */
G_GNUC_PRINTF(3, 4) static bool
fail(struct cursor *c, const char *at, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(c->error, QOS_POLICY_CONF_ERROR,
		    QOS_POLICY_CONF_ERROR_SYNTAX, "%s:%u:%u: %s", c->name,
		    c->line, at ? (unsigned)(at - c->begin) + 1 : 1, text);
	g_free(text);
	return false;
}

/* --- words --- */

static void
skip_blanks(struct cursor *c)
{
	c->at += strspn(c->at, " \t\r");
}

/* A new string, empty if there is no word here. */
static char *
take_word(struct cursor *c, const char **where)
{
	size_t n;

	skip_blanks(c);
	*where = c->at;
	n = strcspn(c->at, " \t\r,:");
	c->at += n;
	return g_strndup(*where, n);
}

static bool
take_sign(struct cursor *c, char sign)
{
	skip_blanks(c);
	if (*c->at != sign)
		return false;
	c->at++;
	return true;
}

static bool
fail_word(struct cursor *c, const char *at, const char *word,
	  const char *const *names, size_t n)
{
	g_autofree char *shown = text_one_line(word);
	g_autofree char *near = text_nearest(shown, "", names, n);

	if (*word)
		fail(c, at, "\"%s\" is not known here%s", shown, near);
	else
		fail(c, at, "a word is missing: %s or another one", names[0]);
	return false;
}

static const struct protocol *
find_protocol(const char *word)
{
	for (size_t i = 0; i < G_N_ELEMENTS(protocols); i++)
		if (!g_ascii_strcasecmp(word, protocols[i].word))
			return &protocols[i];
	return NULL;
}

/* One that the protocol takes; NULL with an error. */
static const struct criterion *
take_criterion(struct cursor *c, const struct protocol *p)
{
	const char *names[G_N_ELEMENTS(criteria)];
	const struct criterion *found = NULL;
	const char *where;
	char *word = take_word(c, &where);
	size_t n = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(criteria); i++) {
		if (!(p->takes & criteria[i].id))
			continue;
		names[n++] = criteria[i].word;
		if (!g_ascii_strcasecmp(word, criteria[i].word))
			found = &criteria[i];
	}
	if (!n)
		fail(c, where, "%s takes nothing but an SL", p->word);
	else if (!found)
		fail_word(c, where, word, names, n);
	g_free(word);
	return found;
}

/* --- numbers --- */

static bool
take_number(struct cursor *c, uint64_t max, uint64_t *value)
{
	char digits[NUMBER_LEN + 1];
	const char *where;
	size_t n;

	skip_blanks(c);
	where = c->at;
	n = strcspn(where, " \t\r,:-");
	c->at += n;
	if (n <= NUMBER_LEN) {
		memcpy(digits, where, n);
		digits[n] = '\0';
		if (text_read_number(digits, max, value))
			return true;
	}
	return fail(c, where, "this is no number of 0 to %" G_GUINT64_FORMAT
		    " (0x%" G_GINT64_MODIFIER "x)", max, max);
}

static bool
take_range(struct cursor *c, uint64_t max, uint64_t *low, uint64_t *high)
{
	const char *where;

	skip_blanks(c);
	where = c->at;
	if (!take_number(c, max, low))
		return false;
	*high = *low;
	if (take_sign(c, '-') && !take_number(c, max, high))
		return false;
	return *low <= *high || fail(c, where, "the range ends before it "
				     "begins");
}

/* --- rules --- */

static void
add_rule(struct cursor *c, enum qos_match match, uint64_t low, uint64_t high)
{
	struct qos_rule rule = {
		.match = match, .low = low, .high = high, .line = c->line,
	};

	g_array_append_val(c->policy->rules, rule);
}

/* The membership bit does not count (IBA 10.9.1), and 0 is no P_Key. */
static bool
fit_pkeys(struct cursor *c, const char *where, uint64_t *low, uint64_t *high)
{
	*low &= PKEY_MASK;
	*high &= PKEY_MASK;
	if (*low == 0 || *low > *high)
		return fail(c, where, "P_Keys are 0x0001 to 0x7fff, or 0x8001 "
			    "to 0xffff, which are the same partitions");
	return true;
}

static bool
read_ranges(struct cursor *c, const struct protocol *p,
	    const struct criterion *by)
{
	uint64_t low, high;
	const char *where;

	do {
		skip_blanks(c);
		where = c->at;
		if (!take_range(c, by->max, &low, &high))
			return false;
		if (by->id == BY_PKEY && !fit_pkeys(c, where, &low, &high))
			return false;
		if (by->id == BY_PORT_NUM) {
			low += p->base;
			high += p->base;
		}
		add_rule(c, by->match, low, high);
	} while (take_sign(c, ','));
	return true;
}

static bool
read_criterion(struct cursor *c, const struct protocol *p)
{
	const struct criterion *by;

	if (take_sign(c, ',')) {
		by = take_criterion(c, p);
		return by && read_ranges(c, p, by);
	}
	if (p->needs)
		return fail(c, c->at, "%s needs a criterion: \"%s, %s ...\"",
			    p->word, p->word, p->takes & BY_SERVICE ?
			    "service-id" : "target-port-guid");
	if (p->takes)
		add_rule(c, p->match, p->low, p->high);
	return true;
}

static bool
read_sl(struct cursor *c, uint8_t *sl)
{
	uint64_t value;

	if (!take_sign(c, ':'))
		return fail(c, c->at, "\": SL\" is missing");
	if (!take_number(c, SL_MAX, &value))
		return false;
	skip_blanks(c);
	if (*c->at)
		return fail(c, c->at, "there is more behind the SL");
	*sl = (uint8_t)value;
	return true;
}

static bool
set_default(struct cursor *c, uint8_t sl)
{
	if (c->default_line)
		return fail(c, NULL, "default is there already, in line %u",
			    c->default_line);
	c->default_line = c->line;
	c->policy->has_default = true;
	c->policy->default_sl = sl;
	return true;
}

static bool
read_rule(struct cursor *c, const struct protocol *p)
{
	guint first = c->policy->rules->len;
	uint8_t sl = 0;

	if (!read_criterion(c, p) || !read_sl(c, &sl))
		return false;
	for (guint i = first; i < c->policy->rules->len; i++)
		g_array_index(c->policy->rules, struct qos_rule, i).sl = sl;
	return p->takes || set_default(c, sl);
}

/* --- the file --- */

static bool
end_of_line(struct cursor *c)
{
	skip_blanks(c);
	return !*c->at || fail(c, c->at, "there is more on the line");
}

static bool
read_section(struct cursor *c, const char *where, bool opens)
{
	if (opens && c->open)
		return fail(c, where, "qos-ulps is open already, since line "
			    "%u", c->open);
	if (!opens && !c->open)
		return fail(c, where, "there is no qos-ulps to end");
	c->open = opens ? c->line : 0;
	return end_of_line(c);
}

static bool
is_other_section(const char *word)
{
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		if (!g_ascii_strcasecmp(word, others[i]))
			return true;
	return false;
}

static bool
fail_line(struct cursor *c, const char *where, const char *word)
{
	const char *names[G_N_ELEMENTS(protocols) + 1] = { "qos-ulps" };
	size_t n = 1;

	if (is_other_section(word))
		return fail(c, where, "section %s: minism reads the "
			    "simplified form only, section qos-ulps", word);
	if (c->open) {
		names[0] = "end-qos-ulps";
		for (; n <= G_N_ELEMENTS(protocols); n++)
			names[n] = protocols[n - 1].word;
	}
	return fail_word(c, where, word, names, n);
}

static bool
read_word(struct cursor *c, const char *where, const char *word)
{
	const struct protocol *p = find_protocol(word);

	if (!g_ascii_strcasecmp(word, "qos-ulps"))
		return read_section(c, where, true);
	if (!g_ascii_strcasecmp(word, "end-qos-ulps"))
		return read_section(c, where, false);
	if (p && !c->open)
		return fail(c, where, "a rule outside of qos-ulps");
	return p ? read_rule(c, p) : fail_line(c, where, word);
}

static bool
read_line(struct cursor *c, char *line)
{
	const char *where;
	char *word;
	bool ok;

	line[strcspn(line, "#")] = '\0';
	c->begin = c->at = line;
	c->line++;
	skip_blanks(c);
	if (!*c->at)
		return true;
	word = take_word(c, &where);
	ok = read_word(c, where, word);
	g_free(word);
	return ok;
}

struct qos_policy *
qos_policy_conf_parse(const char *text, const char *name, GError **error)
{
	char **lines = g_strsplit(text, "\n", -1);
	struct cursor c = {
		.name = name, .error = error, .policy = qos_policy_new(),
	};
	bool ok = true;

	for (unsigned i = 0; ok && lines[i]; i++)
		ok = read_line(&c, lines[i]);
	if (ok && c.open) {
		c.line = c.open;
		ok = fail(&c, NULL, "qos-ulps is not ended by end-qos-ulps");
	}
	g_strfreev(lines);
	if (ok)
		return c.policy;
	qos_policy_unref(c.policy);
	return NULL;
}

bool
qos_policy_conf_read(const struct options *conf, struct qos_policy **policy,
	       GPtrArray *warnings, GError **error)
{
	const char *path = conf->qos_policy_file;
	g_autofree char *text = NULL;
	g_autoptr(GError) cause = NULL;

	*policy = NULL;
	if (!conf->qos.enabled || !path)
		return true;
	text = text_read_file(path, &cause);
	if (text) {
		*policy = qos_policy_conf_parse(text, path, error);
		return *policy != NULL;
	}
	if (!g_error_matches(cause, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
		g_set_error(error, QOS_POLICY_CONF_ERROR,
			    QOS_POLICY_CONF_ERROR_FILE, "qos_policy_file: %s",
			    cause->message);
		return false;
	}
	g_ptr_array_add(warnings, g_strdup_printf(
		"qos_policy_file: there is no %s; paths have the SLs of their "
		"partitions", path));
	return true;
}
