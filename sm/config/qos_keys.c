// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The values of quality of service in minism.conf.
 *
 * Names and lists are OpenSM's (see its manual page, QOS CONFIGURATION), as is
 * what stands for "not given" in a file that OpenSM wrote: 0 VLs, a limit of
 * -1. A list may be shorter than the table: the rest of an arbitration table is
 * empty, and SLs beyond the end of sl2vl go to VL 0, as with OpenSM. What
 * OpenSM accepts and cuts down without a message (VL 20, weight 300) is an
 * error here.
 *
 * qos_keys_check(): a VL without weight in either table never sends (IBA
 * 7.6.9.2). Mapping an SL to it is allowed, but deserves a warning.
 */
#include "sm/config/qos_keys.h"

#include <string.h>

#include "topology/text.h"

#define WEIGHT_MAX	255u

static const char *const kind_names[QOS_N_KINDS] = {
	[QOS_CA] = "CAs",
	[QOS_ROUTER] = "routers",
	[QOS_SWITCH_0] = "ports 0 of switches",
	[QOS_SWITCH] = "ports of switches",
};

/* max_vls and high_limit. */
static char *
set_limit(const struct option *o, void *place, const char *value)
{
	bool is_vls = o->min == QOS_MAX_VLS;
	struct qos_values *v = place;
	bool given = value && (is_vls || strcmp(value, "-1"));
	uint64_t n = 0;

	if (given && !text_read_number(value, o->max, &n))
		return option_refuse(o, value);
	v->given &= ~(unsigned)o->min;
	if (!given || (is_vls && n == 0))
		return NULL;
	v->given |= (unsigned)o->min;
	if (is_vls)
		v->max_vls = (uint8_t)n;
	else
		v->high_limit = (uint8_t)n;
	return NULL;
}

static bool
read_share(char *text, struct qos_share *share)
{
	char *colon = strchr(text, ':');
	uint64_t vl, weight;

	if (!colon)
		return false;
	*colon = '\0';
	if (!text_read_number(g_strstrip(text), QOS_VLS - 1, &vl) ||
	    !text_read_number(g_strstrip(colon + 1), WEIGHT_MAX, &weight))
		return false;
	*share = (struct qos_share){ (uint8_t)vl, (uint8_t)weight };
	return true;
}

static bool
read_vl(char *text, uint8_t *vl)
{
	uint64_t n;

	if (!text_read_number(g_strstrip(text), QOS_VL_DROP, &n))
		return false;
	*vl = (uint8_t)n;
	return true;
}

/* vlarb_high, vlarb_low and sl2vl: into fresh tables, so that the rest of a
 * short list is 0. A comma may end the list. */
static char *
set_list(const struct option *o, void *place, const char *value)
{
	struct qos_share shares[QOS_ARB_ENTRIES] = { { 0, 0 } };
	uint8_t sl2vl[SL_COUNT] = { 0 };
	struct qos_values *v = place;
	bool is_sl2vl = o->min == QOS_SL2VL;
	g_auto(GStrv) list = g_strsplit(value ? value : "", ",", -1);
	guint n = g_strv_length(list);

	v->given &= ~(unsigned)o->min;
	if (!value)
		return NULL;
	for (guint i = 0; i < n; i++) {
		g_autofree char *element = g_strdup(list[i]);

		if (i > 0 && i == n - 1 && !*g_strstrip(element))
			break;
		if (i < o->max && (is_sl2vl ? read_vl(element, &sl2vl[i]) :
				   read_share(element, &shares[i])))
			continue;
		g_free(element);
		element = text_one_line(list[i]);
		return g_strdup_printf("number %u of the list, \"%s\", is "
				       "wrong: %s is needed", i + 1, element,
				       o->kind->accepts);
	}
	v->given |= (unsigned)o->min;
	if (is_sl2vl)
		memcpy(v->sl2vl, sl2vl, sizeof(sl2vl));
	else
		memcpy(o->min == QOS_HIGH ? v->high : v->low, shares,
		       sizeof(shares));
	return NULL;
}

const struct option_kind qos_kind_max_vls = {
	.accepts = "0 to 15 (0: not set)", .set = set_limit,
};
const struct option_kind qos_kind_high_limit = {
	.accepts = "0 to 255 or -1 (not set)", .set = set_limit,
};
const struct option_kind qos_kind_vlarb = {
	.accepts = "a list of up to 64 VL:WEIGHT, VLs of 0 to 14 and "
		"weights of 0 to 255",
	.set = set_list,
};
const struct option_kind qos_kind_sl2vl = {
	.accepts = "a list of up to 16 VLs of 0 to 14, or 15 to drop the SL",
	.set = set_list,
};

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
