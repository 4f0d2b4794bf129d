// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The QoS policy. What is accepted has rules that can fit, and the two ways to
 * ask for an SL do not contradict each other.
 */
#include "sm/config/qos_policy_conf.h"
#include "tests/fuzz/fuzz.h"
#include "topology/text.h"

#define SL_MAX	15

FUZZ_TARGET(qospolicy)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	g_autofree char *text = fuzz_text(&in);
	g_autoptr(GError) error = NULL;
	struct qos_policy *policy = qos_policy_conf_parse(text, "fuzz", &error);

	if (!policy) {
		fuzz_assert_refused(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		g_assert_null(strchr(error->message, '\n'));
		return 0;
	}
	g_assert_no_error(error);
	for (guint i = 0; i < policy->rules->len; i++) {
		const struct qos_rule *r = &g_array_index(policy->rules,
							  struct qos_rule, i);
		const struct qos_path path = {
			.has_service = true, .service = r->low,
			.pkey = (uint16_t)r->high, .source = r->high,
			.target = r->low,
		};
		uint8_t sl;

		g_assert_cmpuint(r->sl, <=, SL_MAX);
		g_assert_cmpuint(r->low, <=, r->high);
		sl = qos_policy_sl(policy, &path, 0);
		g_assert_cmpuint(sl, <=, SL_MAX);
		g_assert_true(qos_policy_may_give(policy, &path, 0, sl));
	}
	qos_policy_unref(policy);
	return 0;
}
