// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is no matter of a fabric: names, differences by field.
 */
#include <glib.h>

#include "sm/plan/plan.h"
#include "tests/lib/unit.h"

TEST(test_names_are_there_for_every_bit)
{
	for (unsigned bit = 1; bit <= PORT_FIELD_PHYS; bit <<= 1) {
		assert_string_not_equal(port_field_name(bit), "?");
		for (unsigned b = 1; b < bit; b <<= 1)
			assert_string_not_equal(port_field_name(b),
						port_field_name(bit));
	}
	assert_string_equal(port_field_name(1u << 22), "?");
	assert_string_equal(port_field_name(3), "?");
}

#define ALL_FIELDS	(0x7fffu | PORT_FIELDS_TRAINING)

TEST(test_differ_tells_each_field_from_the_others)
{
	const struct port_info zero = { 0 };
	const struct {
		unsigned bit;
		struct port_info info;
	} cases[] = {
		{ PORT_FIELD_LID, { .lid = 1 } },
		{ PORT_FIELD_LMC, { .lmc = 1 } },
		{ PORT_FIELD_SM_LID, { .sm_lid = 1 } },
		{ PORT_FIELD_SM_SL, { .sm_sl = 1 } },
		{ PORT_FIELD_M_KEY, { .m_key = 1ull << 63 } },
		{ PORT_FIELD_M_KEY_PROTECT, { .m_key_protect = 1 } },
		{ PORT_FIELD_M_KEY_LEASE, { .m_key_lease = 1 } },
		{ PORT_FIELD_GID_PREFIX, { .gid_prefix = 1ull << 63 } },
		{ PORT_FIELD_SUBNET_TIMEOUT, { .subnet_timeout = 1 } },
		{ PORT_FIELD_MTU, { .neighbor_mtu = 1 } },
		{ PORT_FIELD_OPER_VLS, { .oper_vls = 1 } },
		{ PORT_FIELD_HOQ_LIFE, { .hoq_life = 1 } },
		{ PORT_FIELD_VL_STALL, { .vl_stall_count = 1 } },
		{ PORT_FIELD_ERROR_THRESHOLDS, { .local_phy_errors = 1 } },
		{ PORT_FIELD_ERROR_THRESHOLDS, { .overrun_errors = 1 } },
		{ PORT_FIELD_STATE, { .state = 1 } },
		{ PORT_FIELD_WIDTH, { .width_enabled = 1 } },
		{ PORT_FIELD_SPEED, { .speed_enabled = 1 } },
		{ PORT_FIELD_SPEED_EXT, { .speed_ext_enabled = 1 } },
		{ 0, { .p_key_violations = 1, .cap_mask = 1 } },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		const struct port_info *info = &cases[i].info;
		unsigned bit = cases[i].bit;

		assert_int_equal(plan_fields_differ(port_fields, ALL_FIELDS,
						    &zero, info), bit);
		assert_int_equal(plan_fields_differ(port_fields, bit, info,
						    &zero), bit);
		assert_int_equal(plan_fields_differ(port_fields, ALL_FIELDS &
						    ~bit, info, &zero), 0);
	}
}
