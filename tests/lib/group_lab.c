// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A store of multicast groups over a star, and requests to it; see the header.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/group_lab.h"

#include "tests/lib/unit.h"

int
lab_setup(void **state)
{
	struct fixture *f = g_new0(struct fixture, 1);

	f->star = star_new(N_HOSTS);
	f->g = groups_new();
	*state = f;
	return 0;
}

int
lab_teardown(void **state)
{
	struct fixture *f = *state;

	groups_free(f->g);
	star_free(f->star);
	g_free(f);
	return 0;
}

/* ff12:a01c::n, a name that is nobody's in particular. */
static void
lab_mgid(unsigned n, uint8_t mgid[16])
{
	memset(mgid, 0, 16);
	mgid[0] = 0xff;
	mgid[1] = 0x12;
	mgid[2] = 0xa0;
	mgid[3] = 0x1c;
	mgid[14] = (uint8_t)(n >> 8);
	mgid[15] = (uint8_t)n;
}

void
fill(struct fixture *f, unsigned host, unsigned group, unsigned states)
{
	f->r = (struct mcmember_record){
		.q_key = 0x1234,
		.pkey = 0xffff,
		.sl = 3,
		.tclass = 7,
		.flow_label = 0xabcde,
		.join_state = (uint8_t)states,
	};
	star_gid(host, f->r.port_gid);
	lab_mgid(group, f->r.mgid);
}

unsigned
send_join(struct fixture *f, unsigned host, uint64_t mask)
{
	return groups_join(f->g, f->star->v, star_port(f->star, host), mask,
			   &f->r);
}

unsigned
join(struct fixture *f, unsigned host, unsigned group, unsigned states)
{
	fill(f, host, group, states);
	return send_join(f, host, CREATE_MASK);
}

unsigned
leave(struct fixture *f, unsigned host, unsigned group, unsigned states)
{
	fill(f, host, group, states);
	return groups_leave(f->g, f->star->v, star_port(f->star, host),
			    JOIN_MASK, &f->r);
}

const struct group *
find(const struct fixture *f, unsigned group)
{
	uint8_t mgid[16];

	lab_mgid(group, mgid);
	return groups_find(f->g, mgid);
}

const struct group_member *
member(const struct fixture *f, unsigned group, unsigned host)
{
	const struct group *gr = find(f, group);

	for (guint i = 0; gr && i < gr->members->len; i++) {
		const struct group_member *m =
			&g_array_index(gr->members, struct group_member, i);

		if (m->port_guid == star_guid(host))
			return m;
	}
	return NULL;
}

unsigned
states_of(const struct fixture *f, unsigned group, unsigned host)
{
	const struct group_member *m = member(f, group, host);

	return m ? m->join_state : 0;
}

bool
next_event(struct groups *g, struct group_event *event)
{
	if (!g->events->len)
		return false;
	*event = g_array_index(g->events, struct group_event, 0);
	g_array_remove_index(g->events, 0);
	return true;
}

void
check_store(const struct groups *g)
{
	g_autoptr(GHashTable) mlids = g_hash_table_new(NULL, NULL);

	for (uint32_t i = 0; i < g->list->len; i++) {
		const struct group *gr = group_at(g, i);
		unsigned counts = gr->permanent;

		if (i)
			assert_true(memcmp(group_at(g, i - 1)->r.mgid,
					   gr->r.mgid, 16) < 0);
		assert_in_range(gr->r.mlid, 0xc000, 0xfffe);
		assert_true(g_hash_table_add(mlids,
					     GUINT_TO_POINTER(gr->r.mlid)));
		for (guint j = 0; j < gr->members->len; j++) {
			const struct group_member *m =
				&g_array_index(gr->members,
					       struct group_member, j);

			assert_in_range(m->join_state, 1, 15);
			counts |= m->join_state &
				(JOIN_FULL | JOIN_SEND_ONLY_FULL);
			if (j)
				assert_true(memcmp(m[-1].gid, m->gid, 16) < 0);
		}
		assert_int_not_equal(counts, 0);
	}
}
