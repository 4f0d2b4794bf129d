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

/*
 * SLs of paths.
 *
 * A policy is a list of rules, and the first that matches decides, so special
 * rules go first. qos_policy_sl() is for one path. qos_policy_may_give() is for
 * all paths of a source at once, so that a search over all pairs can skip a
 * port: only rules about the target need the pair.
 */

struct qos_policy *
qos_policy_new(void)
{
	struct qos_policy *policy = g_new0(struct qos_policy, 1);

	policy->ref = 1;
	policy->rules = g_array_new(FALSE, FALSE, sizeof(struct qos_rule));
	return policy;
}

struct qos_policy *
qos_policy_ref(struct qos_policy *policy)
{
	g_atomic_int_inc(&policy->ref);
	return policy;
}

void
qos_policy_unref(struct qos_policy *policy)
{
	if (!policy || !g_atomic_int_dec_and_test(&policy->ref))
		return;
	g_array_unref(policy->rules);
	g_free(policy);
}

static bool
rule_fits(const struct qos_rule *rule, const struct qos_path *path)
{
	uint64_t value = 0;

	switch (rule->match) {
	case QOS_MATCH_SERVICE:
		if (!path->has_service)
			return false;
		value = path->service;
		break;
	case QOS_MATCH_PKEY:
		value = path->pkey & 0x7fffu;
		break;
	case QOS_MATCH_TARGET:
		value = path->target;
		break;
	case QOS_MATCH_SOURCE:
		value = path->source;
		break;
	}
	return rule->low <= value && value <= rule->high;
}

static uint8_t
sl_without_rule(const struct qos_policy *policy, uint8_t partition_sl)
{
	if (partition_sl || !policy || !policy->has_default)
		return partition_sl;
	return policy->default_sl;
}

uint8_t
qos_policy_sl(const struct qos_policy *policy, const struct qos_path *path,
	      uint8_t partition_sl)
{
	for (guint i = 0; policy && i < policy->rules->len; i++) {
		const struct qos_rule *rule = &g_array_index(policy->rules,
							struct qos_rule, i);

		if (rule_fits(rule, path))
			return rule->sl;
	}
	return sl_without_rule(policy, partition_sl);
}

bool
qos_policy_may_give(const struct qos_policy *policy,
		    const struct qos_path *path, uint8_t partition_sl,
		    uint8_t sl)
{
	for (guint i = 0; policy && i < policy->rules->len; i++) {
		const struct qos_rule *rule = &g_array_index(policy->rules,
							struct qos_rule, i);

		if (rule->match == QOS_MATCH_TARGET) {
			if (rule->sl == sl)
				return true;
		} else if (rule_fits(rule, path)) {
			return rule->sl == sl;
		}
	}
	return sl_without_rule(policy, partition_sl) == sl;
}
