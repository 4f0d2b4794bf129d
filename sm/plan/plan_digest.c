// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a plan writes, as a number: SHA-256 over the steps and the values that
 * differ, which by intent are those that plan_print() shows. Nodes go by GUID, so
 * the digest does not depend on indexes. M_Keys are left out, since a digest is
 * passed on.
 */
#include "sm/plan/plan.h"

static void
feed_number(GChecksum *sum, uint64_t n)
{
	n = GUINT64_TO_BE(n);
	g_checksum_update(sum, (const guchar *)&n, sizeof(n));
}

/* The values of those of `fields`. */
static void
feed_fields(GChecksum *sum, const struct plan_field *f, unsigned fields,
	    const void *info)
{
	for (; fields; f++, fields >>= 1)
		if (fields & 1 && f->size && f->show != SHOW_SECRET)
			feed_number(sum, plan_field_value(f, info));
}

static void
feed_step(GChecksum *sum, const struct plan_step *step,
	  const struct snapshot *s, const struct desired *w)
{
	const struct snapshot_node *n = &s->nodes[step->node];
	struct switch_info sw;
	struct port_info port;

	feed_number(sum, step->kind);
	feed_number(sum, n->info.node_guid);
	feed_number(sum, step->fields);
	switch ((enum plan_kind)step->kind) {
	case PLAN_TABLE:
		feed_number(sum, s->ports[step->port].num);
		feed_number(sum, step->table);
		feed_number(sum, step->block);
		g_checksum_update(sum, (const guchar *)
				  port_tables_get(w->tables, step->table,
						  step->port, step->block),
				  sizeof(union port_block));
		break;
	case PLAN_LFT:
		feed_number(sum, step->block);
		g_checksum_update(sum, lft_row(w->lft, n->sw_index) +
				  step->block * LFT_BLOCK, LFT_BLOCK);
		break;
	case PLAN_PORT:
	case PLAN_ARM:
	case PLAN_ACTIVATE:
		feed_number(sum, s->ports[step->port].num);
		desired_port(s, w, step->port, &port);
		feed_fields(sum, port_fields, step->fields, &port);
		break;
	case PLAN_CHANGE_CLEAR:
	case PLAN_MFT:
	case PLAN_SWITCH:
		desired_switch(s, w, step->node, &sw);
		feed_fields(sum, switch_fields, step->fields, &sw);
		break;
	case PLAN_N_KINDS:
		break;
	}
}

char *
plan_digest(const struct plan *plan, const struct snapshot *s,
	    const struct desired *w)
{
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	char *digest;

	for (uint32_t i = 0; i < plan->n_steps; i++)
		feed_step(sum, &plan->steps[i], s, w);
	digest = g_strndup(g_checksum_get_string(sum), PLAN_DIGEST_LEN);
	g_checksum_free(sum);
	return digest;
}
