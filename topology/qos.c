// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Quality of service, as it was configured.
 *
 * How SLs and VLs share the links: four sets of values. A value that a set does
 * not have is taken from a common set, then from the built-in one, which has
 * the values of OpenSM (see its manual page, QOS CONFIGURATION).
 */
#include "topology/qos.h"

#include <string.h>

#define DEFAULT_WEIGHT	4u

void
qos_resolve(const struct qos *qos, enum qos_kind kind, struct qos_values *out)
{
	const struct qos_values *const sets[] = { &qos->all,
						  &qos->kinds[kind] };

	/* VL 0 has high priority, the others share the rest. */
	memset(out, 0, sizeof(*out));
	out->max_vls = QOS_VLS;
	for (uint8_t vl = 0; vl < QOS_VLS; vl++) {
		out->sl2vl[vl] = vl;
		out->high[vl].vl = vl;
		out->low[vl].vl = vl;
		out->low[vl].weight = vl ? DEFAULT_WEIGHT : 0;
	}
	out->high[0].weight = DEFAULT_WEIGHT;
	out->sl2vl[15] = 7;
	out->given = QOS_MAX_VLS | QOS_HIGH_LIMIT | QOS_HIGH | QOS_LOW |
		QOS_SL2VL;
	for (size_t i = 0; i < G_N_ELEMENTS(sets); i++) {
		const struct qos_values *by = sets[i];

		if (by->given & QOS_MAX_VLS)
			out->max_vls = by->max_vls;
		if (by->given & QOS_HIGH_LIMIT)
			out->high_limit = by->high_limit;
		if (by->given & QOS_HIGH)
			memcpy(out->high, by->high, sizeof(out->high));
		if (by->given & QOS_LOW)
			memcpy(out->low, by->low, sizeof(out->low));
		if (by->given & QOS_SL2VL)
			memcpy(out->sl2vl, by->sl2vl, sizeof(out->sl2vl));
	}
}

unsigned
qos_max_vls(const struct qos *qos, enum qos_kind kind)
{
	const struct qos_values *own = &qos->kinds[kind];

	return own->given & QOS_MAX_VLS ? own->max_vls :
		qos->all.given & QOS_MAX_VLS ? qos->all.max_vls : QOS_VLS;
}

unsigned
qos_high_limit(const struct qos *qos, enum qos_kind kind)
{
	const struct qos_values *own = &qos->kinds[kind];

	return own->given & QOS_HIGH_LIMIT ? own->high_limit :
		qos->all.given & QOS_HIGH_LIMIT ? qos->all.high_limit : 0;
}
