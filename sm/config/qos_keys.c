// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The keys of quality of service.
 *
 * Five values, for all ports and for each of four kinds, make 25 keys. A key
 * is an entry of a table with its name spelled out, which kind and which value
 * it is; all else goes by the value. Names and lists are OpenSM's (see its
 * manual page, QOS CONFIGURATION), as is what stands for "not given" in a file
 * that OpenSM wrote: 0 VLs, a limit of -1.
 *
 * A list may be shorter than the table: the rest of an arbitration table is
 * empty, and SLs beyond the end of sl2vl go to VL 0, as with OpenSM. What
 * OpenSM takes and cuts down in silence (VL 20, weight 300) is an error here.
 *
 * qos_keys_check(): a VL without weight in either table never sends (IBA
 * 7.6.9.2). Nothing forbids to map an SL to it, so it is worth a line.
 */
#include "sm/config/qos_keys.h"

#include <string.h>

#include "sm/config/option_keys.h"

#define ALL_KINDS	QOS_N_KINDS
#define WEIGHT_MAX	255u
#define LIMIT_MAX	255u

struct qos_key {
	const char *name;
	unsigned kind;		/* enum qos_kind, or ALL_KINDS */
	enum qos_field field;
};

#define KEYS_OF(prefix, kind) \
	{ prefix "max_vls", kind, QOS_MAX_VLS }, \
	{ prefix "high_limit", kind, QOS_HIGH_LIMIT }, \
	{ prefix "vlarb_high", kind, QOS_HIGH }, \
	{ prefix "vlarb_low", kind, QOS_LOW }, \
	{ prefix "sl2vl", kind, QOS_SL2VL }

static const struct qos_key keys[] = {
	KEYS_OF("qos_", ALL_KINDS),
	KEYS_OF("qos_ca_", QOS_CA),
	KEYS_OF("qos_rtr_", QOS_ROUTER),
	KEYS_OF("qos_sw0_", QOS_SWITCH_0),
	KEYS_OF("qos_swe_", QOS_SWITCH),
};

static const char *const kind_names[QOS_N_KINDS] = {
	[QOS_CA] = "CAs",
	[QOS_ROUTER] = "routers",
	[QOS_SWITCH_0] = "ports 0 of switches",
	[QOS_SWITCH] = "ports of switches",
};

static const struct qos_key *
find_key(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

bool
qos_key_is(const char *key)
{
	return find_key(key) != NULL;
}

const char *
qos_key_name(size_t i)
{
	return i < G_N_ELEMENTS(keys) ? keys[i].name : NULL;
}

static struct qos_values *
values_of(struct qos *qos, const struct qos_key *key)
{
	return key->kind == ALL_KINDS ? &qos->all : &qos->kinds[key->kind];
}

static const char *
field_accepts(enum qos_field field)
{
	switch (field) {
	case QOS_MAX_VLS:
		return "0 to 15 (0: not set)";
	case QOS_HIGH_LIMIT:
		return "0 to 255 or -1 (not set)";
	case QOS_HIGH:
	case QOS_LOW:
		return "a list of up to 64 VL:WEIGHT, VLs of 0 to 14 and "
			"weights of 0 to 255";
	case QOS_SL2VL:
		return "a list of up to 16 VLs of 0 to 14, or 15 to drop the "
			"SL";
	}
	g_assert_not_reached();
}

char *
qos_key_accepts(const char *key)
{
	g_assert(find_key(key));
	return g_strdup(field_accepts(find_key(key)->field));
}

void
qos_key_reset(struct qos *qos, const char *key)
{
	const struct qos_key *k = find_key(key);

	g_assert(k);
	values_of(qos, k)->given &= ~(unsigned)k->field;
}

/* --- values --- */

/* False: it is no number of that size. *given false: it says "not set". */
static bool
read_max_vls(const char *text, struct qos_values *v, bool *given)
{
	uint64_t n;

	if (!options_read_number(text, QOS_VLS, &n))
		return false;
	*given = n > 0;
	v->max_vls = (uint8_t)n;
	return true;
}

static bool
read_high_limit(const char *text, struct qos_values *v, bool *given)
{
	uint64_t n;

	*given = strcmp(text, "-1") != 0;
	if (!*given)
		return true;
	if (!options_read_number(text, LIMIT_MAX, &n))
		return false;
	v->high_limit = (uint8_t)n;
	return true;
}

static bool
read_share(char *text, struct qos_share *share)
{
	char *colon = strchr(text, ':');
	uint64_t vl, weight;

	if (!colon)
		return false;
	*colon = '\0';
	if (!options_read_number(g_strstrip(text), QOS_VLS - 1, &vl) ||
	    !options_read_number(g_strstrip(colon + 1), WEIGHT_MAX, &weight))
		return false;
	*share = (struct qos_share){ (uint8_t)vl, (uint8_t)weight };
	return true;
}

static bool
read_vl(char *text, uint8_t *vl)
{
	uint64_t n;

	if (!options_read_number(g_strstrip(text), QOS_VL_DROP, &n))
		return false;
	*vl = (uint8_t)n;
	return true;
}

/* The elements of a list; a comma may end it. */
static char **
cut_list(const char *text)
{
	char **list = g_strsplit(text, ",", -1);
	guint n = g_strv_length(list);

	if (n > 1 && !*g_strstrip(list[n - 1])) {
		g_free(list[n - 1]);
		list[n - 1] = NULL;
	}
	return list;
}

static char *
say_element(unsigned i, const char *element, enum qos_field field)
{
	char *shown = options_one_line(element);
	char *why = g_strdup_printf("number %u of the list, \"%s\", is wrong: "
				    "%s is needed", i + 1, shown,
				    field_accepts(field));

	g_free(shown);
	return why;
}

/* NULL, or what is wrong. */
static char *
read_list(const char *text, enum qos_field field, struct qos_values *v)
{
	unsigned most = field == QOS_SL2VL ? SL_COUNT : QOS_ARB_ENTRIES;
	struct qos_share *shares = field == QOS_HIGH ? v->high : v->low;
	char **list = cut_list(text);
	char *why = NULL;

	for (unsigned i = 0; list[i] && !why; i++) {
		char *element = g_strdup(list[i]);
		bool ok = i < most;

		if (ok && field == QOS_SL2VL)
			ok = read_vl(element, &v->sl2vl[i]);
		else if (ok)
			ok = read_share(element, &shares[i]);
		if (!ok)
			why = say_element(i, list[i], field);
		g_free(element);
	}
	g_strfreev(list);
	return why;
}

/* Into a fresh struct: the rest of a short list is 0. */
static char *
read_value(const char *text, enum qos_field field, struct qos_values *v,
	   bool *given)
{
	bool ok = false;
	char *shown, *why;

	*given = true;
	switch (field) {
	case QOS_MAX_VLS:
		ok = read_max_vls(text, v, given);
		break;
	case QOS_HIGH_LIMIT:
		ok = read_high_limit(text, v, given);
		break;
	case QOS_HIGH:
	case QOS_LOW:
	case QOS_SL2VL:
		return read_list(text, field, v);
	}
	if (ok)
		return NULL;
	shown = options_one_line(text);
	why = g_strdup_printf("%s is not %s", *shown ? shown : "\"\"",
			      field_accepts(field));
	g_free(shown);
	return why;
}

static void
take_value(struct qos_values *v, const struct qos_values *from,
	   enum qos_field field)
{
	switch (field) {
	case QOS_MAX_VLS:
		v->max_vls = from->max_vls;
		break;
	case QOS_HIGH_LIMIT:
		v->high_limit = from->high_limit;
		break;
	case QOS_HIGH:
		memcpy(v->high, from->high, sizeof(v->high));
		break;
	case QOS_LOW:
		memcpy(v->low, from->low, sizeof(v->low));
		break;
	case QOS_SL2VL:
		memcpy(v->sl2vl, from->sl2vl, sizeof(v->sl2vl));
		break;
	}
	v->given |= field;
}

char *
qos_key_set(struct qos *qos, const char *key, const char *value)
{
	const struct qos_key *k = find_key(key);
	struct qos_values fresh = { 0 };
	char *why;
	bool given;

	g_assert(k);
	why = read_value(value, k->field, &fresh, &given);
	if (why)
		return why;
	if (given)
		take_value(values_of(qos, k), &fresh, k->field);
	else
		qos_key_reset(qos, key);
	return NULL;
}

/* --- does it make sense? --- */

static bool
has_weight(const struct qos_share *shares, uint8_t vl)
{
	for (unsigned i = 0; i < QOS_ARB_ENTRIES; i++)
		if (shares[i].vl == vl && shares[i].weight)
			return true;
	return false;
}

/* Ports have 1, 2, 4, 8 or 15 VLs (IBA 14.2.5.6). */
static unsigned
most_vls(unsigned max)
{
	unsigned n = 1;

	while (2 * n <= MIN(max, 8))
		n *= 2;
	return max == QOS_VLS ? QOS_VLS : n;
}

/* On a port with as many VLs as the kind may have. */
static bool
starves(const struct qos_values *v, unsigned sl)
{
	uint8_t vl = (uint8_t)(v->sl2vl[sl] % most_vls(v->max_vls));

	return v->sl2vl[sl] != QOS_VL_DROP && !has_weight(v->high, vl) &&
		!has_weight(v->low, vl);
}

void
qos_keys_check(const struct qos *qos, GPtrArray *lines)
{
	for (unsigned k = 0; qos->enabled && k < QOS_N_KINDS; k++) {
		GString *sls = g_string_new(NULL);
		struct qos_values v;

		qos_resolve(qos, (enum qos_kind)k, &v);
		for (unsigned sl = 0; sl < SL_COUNT; sl++)
			if (starves(&v, sl))
				g_string_append_printf(sls, "%s%u",
						       sls->len ? ", " : "",
						       sl);
		if (sls->len)
			g_ptr_array_add(lines, g_strdup_printf(
				"qos: %s never send packets of SL %s: sl2vl "
				"gives it a VL without weight in vlarb_high "
				"and vlarb_low", kind_names[k], sls->str));
		g_string_free(sls, TRUE);
	}
}
