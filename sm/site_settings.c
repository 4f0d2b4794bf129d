// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From the configuration to what a plan is made of. The ranges of the keys
 * (options.c) are those of the fields, so that nothing is cut here.
 */
#include "sm/site_settings.h"

struct policy
site_settings_policy(const struct options *c)
{
	return (struct policy){
		.m_key = c->m_key,
		.gid_prefix = c->subnet_prefix,
		.m_key_lease = (uint16_t)c->m_key_lease,
		.m_key_protect = (uint8_t)c->m_key_protect,
		.sm_sl = (uint8_t)c->sm_sl,
		.subnet_timeout = (uint8_t)c->subnet_timeout,
		.packet_life_time = (uint8_t)c->packet_life_time,
		.hoq_life = (uint8_t)c->hoq_life,
		.leaf_hoq_life = (uint8_t)c->leaf_hoq_life,
		.vl_stall = (uint8_t)c->vl_stall,
		.leaf_vl_stall = (uint8_t)c->leaf_vl_stall,
		.max_oper_vls = (uint8_t)c->max_op_vls,
		.local_phy_errors = (uint8_t)c->local_phy_errors,
		.overrun_errors = (uint8_t)c->overrun_errors,
	};
}

struct qos
site_settings_qos(const struct options *c)
{
	struct qos qos = c->qos;

	qos.max_op_vls = (uint8_t)c->max_op_vls;
	return qos;
}
