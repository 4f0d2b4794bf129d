// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Quality of service, as it was configured.
 *
 * How SLs and VLs share the links: four sets of values, each of which falls
 * back value by value on a common one, and that on what is built in; the
 * built-in values are those that the field is used to (see the manual page of
 * opensm, QOS CONFIGURATION).
 */
#include "topology/qos.h"

#include <string.h>

#define DEFAULT_WEIGHT	4u

/* VL 0 by priority, the others by turns. */
static void
values_built_in(struct qos_values *v)
{
	memset(v, 0, sizeof(*v));
	v->max_vls = QOS_VLS;
	for (uint8_t vl = 0; vl < QOS_VLS; vl++) {
		v->sl2vl[vl] = vl;
		v->high[vl].vl = vl;
		v->low[vl].vl = vl;
		v->low[vl].weight = vl ? DEFAULT_WEIGHT : 0;
	}
	v->high[0].weight = DEFAULT_WEIGHT;
	v->sl2vl[15] = 7;
	v->given = QOS_MAX_VLS | QOS_HIGH_LIMIT | QOS_HIGH | QOS_LOW |
		QOS_SL2VL;
}

static void
values_override(struct qos_values *v, const struct qos_values *by)
{
	if (by->given & QOS_MAX_VLS)
		v->max_vls = by->max_vls;
	if (by->given & QOS_HIGH_LIMIT)
		v->high_limit = by->high_limit;
	if (by->given & QOS_HIGH)
		memcpy(v->high, by->high, sizeof(v->high));
	if (by->given & QOS_LOW)
		memcpy(v->low, by->low, sizeof(v->low));
	if (by->given & QOS_SL2VL)
		memcpy(v->sl2vl, by->sl2vl, sizeof(v->sl2vl));
}

void
qos_resolve(const struct qos *qos, enum qos_kind kind, struct qos_values *out)
{
	values_built_in(out);
	values_override(out, &qos->all);
	values_override(out, &qos->kinds[kind]);
}

/* The set of values that has this one; NULL: none. */
static const struct qos_values *
find_given(const struct qos *qos, enum qos_kind kind, enum qos_field field)
{
	if (qos->kinds[kind].given & field)
		return &qos->kinds[kind];
	return qos->all.given & field ? &qos->all : NULL;
}

unsigned
qos_max_vls(const struct qos *qos, enum qos_kind kind)
{
	const struct qos_values *v = find_given(qos, kind, QOS_MAX_VLS);

	return v ? v->max_vls : QOS_VLS;
}

unsigned
qos_high_limit(const struct qos *qos, enum qos_kind kind)
{
	const struct qos_values *v = find_given(qos, kind, QOS_HIGH_LIMIT);

	return v ? v->high_limit : 0;
}
