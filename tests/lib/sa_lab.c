// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A fabric by formula with a subnet administration; see sa_lab.h.
 */
#include <string.h>

#include "lab/generate.h"
#include "sm/sa/mcmember.h"
#include "sm/sa/service.h"
#include "tests/lib/engine_route.h"
#include "tests/lib/sa_lab.h"
#include "topology/each.h"

void
lab_publish(struct lab *l)
{
	struct memberships *m = memberships_new(l->rules, l->s, NULL);

	sa_db_unref(l->v);
	l->v = sa_db_new(l->s, l->lids, l->lft, l->mft, l->rules, m,
			   l->prefix, LAB_LIFE, LAB_LIFE);
	sa_publish(l->sa, l->v, l->now);
}

static void
write_state(GString *out, void *data)
{
	sa_part.save(((struct lab *)data)->sa, out, 0);
}

void
sa_lab_open_on(struct lab *l, struct snapshot *s, unsigned lmc)
{
	const struct sa_params params = { .sm_key = LAB_KEY };

	g_assert_nonnull(s);
	memset(l, 0, sizeof(*l));
	l->now = LAB_NOW;
	l->s = s;
	l->lids = lid_assign(s, lmc, NULL, 0, NULL, NULL);
	for (uint32_t p = 0; p < s->n_ports; p++)
		if (s->ports[p].peer != SNAPSHOT_NONE)
			s->ports[p].info.state = PORT_STATE_ACTIVE;
	l->lft = engine_tables(&engine_minhop, s, l->lids);
	l->rules = partition_rules_default();
	l->prefix = SA_GID_PREFIX_DEFAULT;
	l->sa = sa_new(&params);
	l->sa->write_state = write_state;
	l->sa->write_state_data = l;
}

void
sa_lab_open(struct lab *l, const char *spec, unsigned lmc)
{
	const struct generate_options options = {
		.seed = 4,
		.shuffle_guids = !g_str_has_prefix(spec, "single"),
	};

	sa_lab_open_on(l, generate_fabric(spec, &options, NULL), lmc);
	lab_publish(l);
}

void
sa_lab_close(struct lab *l)
{
	sa_records_free(l->reply.records);
	sa_db_unref(l->v);
	sa_free(l->sa);
	partition_rules_unref(l->rules);
	mft_free(l->mft);
	lft_free(l->lft);
	lid_map_free(l->lids);
	snapshot_unref(l->s);
}

uint32_t
lab_host(const struct lab *l, unsigned i)
{
	for (uint32_t p = 0; p < l->s->n_ports; p++)
		if (snapshot_is_end_port(l->s, p) &&
		    !snapshot_is_switch(snapshot_node_of(l->s, p)) && i-- == 0)
			return p;
	g_assert_not_reached();
}

uint32_t
lab_switch(const struct lab *l, unsigned i)
{
	return l->s->nodes[l->s->switches[i]].first_port;
}

uint16_t
lab_lid(const struct lab *l, uint32_t port)
{
	return l->lids->base[port];
}

void
lab_gid(const struct lab *l, uint32_t port, uint8_t gid[16])
{
	bytes_store(gid, l->prefix, 8);
	bytes_store(gid + 8, l->s->ports[port].guid, 8);
}

void
lab_begin(struct lab *l, unsigned method, unsigned attr_id, uint64_t mask)
{
	sa_build(l->mad, method, attr_id);
	bytes_store(l->mad + 36, LAB_KEY, 8);
	bytes_store(l->mad + 48, mask, 8);
	l->qp = 1;
}

uint8_t *
lab_data(struct lab *l)
{
	return l->mad + SA_DATA_OFFSET;
}

const uint8_t *
lab_answer(const struct lab *l)
{
	return l->reply.mad + SA_DATA_OFFSET;
}

unsigned
lab_ask_at(struct lab *l, uint16_t slid, int64_t now)
{
	const struct sa_request request = {
		.mad = l->mad, .len = MAD_SIZE, .slid = slid, .now = now,
		.qp = l->qp,
	};
	struct sa_header h;

	sa_records_free(l->reply.records);
	sa_answer(l->sa, &request, &l->reply);
	while (l->reply.kind == SA_REPLY_LATER)
		sa_resume(&l->reply);
	g_assert_cmpint(l->reply.kind == SA_REPLY_TABLE, ==,
			l->reply.records != NULL);
	if (l->reply.kind == SA_REPLY_NONE) {
		g_assert_nonnull(l->reply.why);
		return LAB_DROPPED;
	}
	g_assert_true(sa_header_read(l->reply.mad, MAD_SIZE, &h));
	g_assert_true(h.mad.method & MAD_METHOD_RESPONSE);
	g_assert_cmpuint(h.sm_key, ==, 0);
	return h.mad.status;
}

unsigned
lab_ask(struct lab *l)
{
	return lab_ask_at(l, lab_lid(l, lab_host(l, 0)), l->now);
}

bool
lab_next(struct sa_records *r, uint8_t *record)
{
	enum sa_draw drawn;

	do
		drawn = sa_records_draw(r, record);
	while (drawn == SA_DRAW_PAUSE);
	return drawn == SA_DRAW_RECORD;
}

GByteArray *
lab_drain(struct lab *l, unsigned *n)
{
	GByteArray *all = g_byte_array_new();
	uint8_t record[SA_DATA_LEN];

	*n = 0;
	g_assert_cmpint(l->reply.kind, ==, SA_REPLY_TABLE);
	while (lab_next(l->reply.records, record)) {
		g_byte_array_append(all, record, (guint)
				    sa_records_size(l->reply.records));
		++*n;
	}
	return all;
}

unsigned
lab_count(struct lab *l)
{
	unsigned n;

	g_byte_array_unref(lab_drain(l, &n));
	return n;
}

void
lab_clear_rules(struct lab *l)
{
	partition_rules_unref(l->rules);
	l->rules = partition_rules_new();
}

void
lab_slow_down(struct lab *l, uint32_t port)
{
	uint32_t ends[2] = { port, l->s->ports[port].peer };

	for (unsigned i = 0; i < 2; i++) {
		l->s->ports[ends[i]].info.speed_ext_active = 0;
		l->s->ports[ends[i]].info.speed_active = 4;
	}
}

void
lab_member(struct lab *l, uint16_t pkey, uint32_t port,
	   enum partition_membership membership)
{
	const struct partition_rule rule = {
		.who = PARTITION_GUID, .membership = membership,
		.guid = l->s->ports[port].guid,
	};

	g_array_append_val(partition_rules_get(l->rules, pkey)->rules, rule);
}

static void
check_members(const struct group *group)
{
	unsigned counts = group->permanent;
	const struct group_member *last = NULL;

	EACH_PTR(const struct group_member, m, group->members.list) {
		g_assert_cmpuint(m->join_state - 1u, <, 15);
		counts |= m->join_state & (JOIN_FULL | JOIN_SEND_ONLY_FULL);
		g_assert_true(!last || memcmp(last->gid, m->gid, 16) < 0);
		last = m;
	}
	g_assert_cmpuint(counts, !=, 0);
}

void
sa_lab_check(const struct sa *sa)
{
	g_autoptr(GHashTable) mlids = g_hash_table_new(NULL, NULL);
	const struct group *last = NULL;
	uint64_t id = 0;

	EACH_PTR(const struct group, group, sa->groups->all.list) {
		g_assert_true(!last || memcmp(last->r.mgid, group->r.mgid,
					      16) < 0);
		g_assert_cmpuint(group->r.mlid - 0xc000u, <, 0x3fff);
		g_assert_true(g_hash_table_add(mlids,
					GUINT_TO_POINTER(group->r.mlid)));
		check_members(group);
		last = group;
	}
	EACH_PTR(const struct service, s, sa->services->all.list) {
		g_assert_cmpuint(id, <=, s->record.id);
		id = s->record.id;
	}
}
