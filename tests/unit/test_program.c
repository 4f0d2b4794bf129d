// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Programming a simulated fabric: a plan leaves the fabric as it was wanted, or the
 * rest is told. Scenarios guard at each moment that no traffic is harmed on the way;
 * here are the cases that they do not come to.
 */
#include "lab/sim/state.h"
#include "sm/sweep/late.h"
#include "sm/sweep/program.h"
#include "tests/lib/plan_lab.h"
#include "tests/lib/scripted.h"
#include "tests/lib/sim_script.h"
#include "tests/lib/unit.h"

struct bench {
	struct fabric *l;	/* known: none of the forwarding tables */
	struct plan *plan;	/* of the last run */
	struct sim *sim;
	struct mad_client *x;
	struct program_result r;
	bool done;
};

static const struct mad_client_params wire = {
	.timeout_ms = 10, .retries = 1, .max_wire = 1000,
};

static void
bench_open(struct bench *b, const char *spec)
{
	memset(b, 0, sizeof(*b));
	b->l = fabric_new(spec);
	b->sim = sim_new(b->l->s, NULL);
	for (uint32_t i = 0; i < b->l->s->n_switches; i++)	/* it is known */
		b->sim->nodes[b->l->s->switches[i]].sw.port_state_change = false;
	b->x = mad_client_new(sim_attach(b->sim, b->l->host, SIM_ROLE_MANAGER),
			      &wire);
}

static void
on_done(struct program_result *r, void *data)
{
	struct bench *b = data;

	b->r = *r;
	b->done = true;
}

/* All that was not done is told. */
static void
check_left(const struct bench *b)
{
	const struct fabric *l = b->l;
	AUTO(plan) *left = plan_diff(b->r.after, &l->w, l->seen, NULL, NULL);
	bool is_told = b->r.failed || b->r.held_back || b->r.problems->len;

	for (uint32_t i = 0; i < left->n_steps && !is_told; i++)
		assert_true(left->steps[i].fields == PORT_FIELD_REREGISTER ||
			    (left->steps[i].port != SNAPSHOT_NONE &&
			     b->r.untaken[left->steps[i].port]));
}

/* Plans from what is known, and carries it out. */
static void
bench_run(struct bench *b)
{
	program_result_clear(&b->r);
	plan_free(b->plan);
	b->plan = plan_diff(b->l->s, &b->l->w, b->l->seen, NULL, NULL);
	b->done = false;
	program_start(b->x, NULL, b->l->s, &b->l->w, b->plan, b->l->seen,
		      NULL, NULL, on_done, b);
	assert_false(b->done);
	assert_true(sim_run_idle(b->sim, sim_now(b->sim) +
				 600 * G_USEC_PER_SEC));
	assert_true(b->done);
	assert_int_equal(b->r.done + b->r.failed + b->r.held_back,
			 b->plan->n_steps);
	check_left(b);
}

static void
bench_close(struct bench *b)
{
	program_result_clear(&b->r);
	mad_client_free(b->x);
	sim_free(b->sim);
	plan_free(b->plan);
	fabric_free(b->l);
}

/* An Armed port acknowledges NeighborMTU and keeps the old one, like ibsim. */
static bool
tamper_mtu_of_armed(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	struct port_info info;
	const struct mad_header h = mad_header_of(answer);
	struct sim_port *port = sim->ports + sim->nodes[node].first_port;

	port_info_decode(smp_data(answer), &info);
	if (h.attr_id != MAD_ATTR_PORT_INFO || info.state == PORT_STATE_ACTIVE)
		return true;
	++*(unsigned *)data;
	info.neighbor_mtu = 1;
	port[h.attr_mod & 0xff].info.neighbor_mtu = 1;
	port_info_encode(smp_data(answer), &info);
	return true;
}

#define BENCH_TEST(name, args...) \
	TEST_ON(name, struct bench, b, bench_open, bench_close, ##args)

/* The last of two answers counts. */
BENCH_TEST(test_field_that_is_taken_with_the_link_is_taken, "single(4)")
{
	unsigned n = 0;

	for (uint32_t p = 0; p < b->l->s->n_ports; p++)
		b->l->s->ports[p].info.neighbor_mtu = 1;
	sim_set_liar(b->sim, tamper_mtu_of_armed, &n);
	bench_run(b);
	assert_true(n >= 8);
	for (uint32_t p = 0; p < b->l->s->n_ports; p++)
		assert_int_equal(b->r.untaken[p], 0);
}

/* Refuses the Set to Active, for the other end has brought it up already; all:
 * a switch, and all questions. */
struct refusal {
	const struct bench *b;
	bool all;
	uint64_t sets;	/* at the last one */
};

static bool
tamper_already_active(struct sim *sim, uint32_t node, uint8_t *answer,
		      void *data)
{
	struct port_info info;
	const struct mad_header h = mad_header_of(answer);
	struct refusal *r = data;
	uint64_t sets = r->b->x->stats.sets[MAD_ATTR_PORT_INFO];

	port_info_decode(smp_data(answer), &info);
	if (h.attr_id == MAD_ATTR_PORT_INFO && (h.attr_mod & 0xff) > 0 &&
	    info.state == PORT_STATE_ACTIVE && (r->all ?
			sim_is_switch(&sim->nodes[node]) : sets > r->sets)) {
		r->sets = sets;
		answer[5] = MAD_STATUS_BAD_VALUE;
	}
	return true;
}

BENCH_TEST(test_refused_activation_of_an_active_port_is_no_failure, "single(4)")
{
	static const uint8_t all[16] = { [0 ... 15] = 1 };
	struct refusal r = { .b = b };
	unsigned n = 0;

	b->l->w.reregister = all;
	for (uint32_t p = 0; p < b->l->s->n_ports; p++)
		b->l->s->ports[p].info.cap_mask |=
			PORT_CAP_HAS_CLIENT_REREGISTER;
	sim_set_liar(b->sim, tamper_already_active, &r);
	bench_run(b);
	assert_true(r.sets > 0);
	/* those whose clients were not asked are read again */
	for (uint32_t p = 0; p < b->l->s->n_ports; p++)
		n += snapshot_is_end_port(b->l->s, p) && !b->r.told[p];
	assert_true(n > 0);
	assert_int_equal(b->r.changed->len, n);
	assert_int_equal(b->r.failed, 0);
	assert_int_equal(b->r.problems->len, 0);
}

BENCH_TEST(test_port_that_refuses_all_is_told, "single(4)")
{
	struct refusal r = { .b = b, .all = true };

	sim_set_liar(b->sim, tamper_already_active, &r);
	bench_run(b);
	assert_true(b->r.problems->len > 0);
}

static void
put_entry(const struct bench *b, uint32_t sw, uint16_t lid, uint8_t port)
{
	struct sim_node *n = &b->sim->nodes[b->l->s->switches[sw]];

	if (!n->lft_len) {
		n->lft_len = b->l->lft->stride;
		n->lft = g_malloc(n->lft_len);
		memset(n->lft, LFT_NO_PATH, n->lft_len);
	}
	n->lft[lid] = port;
}

/* What the run has left is where the next one begins. */
static void
bench_go_on(struct bench *b)
{
	snapshot_unref(b->l->s);
	b->l->s = snapshot_ref(b->r.after);
}

/* How many blocks of a slow switch are under way at a time. */
struct crowd {
	uint32_t node;
	unsigned most, blocks;
};

static bool
tamper_crowd(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	struct crowd *c = data;

	if (node != c->node ||
	    mad_header_of(answer).attr_id != MAD_ATTR_LINEAR_FT)
		return true;
	c->most = MAX(c->most, 1 + sim->nodes[node].queued);
	c->blocks++;
	return true;
}

BENCH_TEST(test_blocks_of_one_switch_come_a_few_at_a_time, "ring(3;200)")
{
	struct crowd c = { 0 };

	bench_run(b);
	bench_go_on(b);
	for (unsigned i = 0; i <= b->l->lft->top / LFT_BLOCK; i++)
		lft_seen_forget(b->l->seen, 0, i);
	c.node = b->l->s->switches[0];
	sim_node_set_speed(b->sim, c.node, 300 * NS_PER_US);
	sim_set_liar(b->sim, tamper_crowd, &c);
	bench_run(b);
	assert_int_equal(b->r.failed, 0);
	assert_int_equal(c.blocks, 10);
	assert_int_equal(c.most, 8);
}

/* A port of one switch that leads to another. */
static uint8_t
port_to(const struct snapshot *s, uint32_t sw, uint32_t peer)
{
	uint32_t port = s->nodes[s->switches[sw]].first_port + 1;

	while (s->ports[port].peer == SNAPSHOT_NONE ||
	       s->ports[s->ports[port].peer].node != s->switches[peer])
		port++;
	return s->ports[port].num;
}

static uint8_t
entry(const struct bench *b, uint32_t sw, uint16_t lid)
{
	return sim_lft_entry(b->sim, b->l->s->switches[sw], lid);
}

struct bounce {
	const struct bench *b;
	uint8_t there, back;	/* entries of switches 0 and 1 */
	uint8_t old;		/* of switch 0; its link comes up */
	uint16_t lid;
	bool is_met;
	uint32_t deaf;		/* the node of switch 1, if Sets to it are lost */
};

static bool
tamper_bounce(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	struct bounce *o = data;
	const struct sim_port *first = sim->ports +
		sim->nodes[o->b->l->s->switches[0]].first_port;

	if (node == o->deaf)
		put_entry(o->b, 1, o->lid, o->back);
	o->is_met |= entry(o->b, 0, o->lid) == o->there &&
		entry(o->b, 1, o->lid) == o->back;
	o->is_met |= entry(o->b, 0, o->lid) == o->old &&
		first[o->old].info.state >= PORT_STATE_ARMED;
	return node != o->deaf;
}

static void
put_to_init(struct bench *b, unsigned num)
{
	struct snapshot *s = b->l->s;
	uint32_t port = s->nodes[s->switches[0]].first_port + num;
	uint32_t ends[] = { port, s->ports[port].peer };

	for (unsigned i = 0; i < 2; i++) {
		s->ports[ends[i]].info.state = PORT_STATE_INIT;
		b->sim->ports[ends[i]].info.state = PORT_STATE_INIT;
	}
}

/* Switch 1 sent to a LID through switch 0, which has lost its path; from now on
 * it is the other way round. The new entry of switch 0 alone would send packets
 * from one to the other for ever, also if switch 1 does not change. The link of
 * the old entry comes up again: without it, for nothing was verified so. */
BENCH_TEST(test_an_entry_waits_while_its_next_hop_leads_back, "ring(4;1)")
{
	const struct snapshot *s = b->l->s;
	struct bounce o = {
		.b = b, .there = port_to(s, 0, 1), .back = port_to(s, 1, 0),
		.old = port_to(s, 0, 3),
		.lid = b->l->lids->base[s->nodes[s->switches[3]].first_port],
		.deaf = s->switches[1],
	};
	AUTO(lft) *lft = lft_copy(b->l->lft);

	lft_row(lft, 0)[o.lid] = o.there;
	lft_row(lft, 1)[o.lid] = port_to(s, 1, 2);
	lft_row(b->l->lft, 0)[o.lid] = o.old;
	lft_row(b->l->lft, 1)[o.lid] = o.back;
	bench_run(b);
	bench_go_on(b);
	put_to_init(b, o.old);
	b->l->w.lft = lft;
	sim_set_liar(b->sim, tamper_bounce, &o);
	bench_run(b);
	assert_false(o.is_met);
	assert_true(b->r.failed > 0);
	bench_go_on(b);
	o.deaf = SNAPSHOT_NONE;
	bench_run(b);
	assert_false(o.is_met);
	assert_int_equal(b->r.failed, 0);
	assert_int_equal(entry(b, 0, o.lid), o.there);
}

/* Of a switch that takes none for long. */
BENCH_TEST(test_what_may_be_on_its_way_counts_ten_seconds, "single(4)")
{
	const struct snapshot *s = b->l->s;
	struct smp_request r = { .attr = MAD_ATTR_LINEAR_FT };
	struct late *l = late_new();
	const int64_t step = 6 * (int64_t)G_USEC_PER_SEC;
	g_autoptr(GArray) parts = NULL;
	int64_t until;

	lft_seen_set(b->l->seen, 0, 0, r.data);
	for (unsigned n = 1; n <= 40; n++) {
		r.data[0] = (uint8_t)n;
		late_note(l, s->nodes[s->switches[0]].info.node_guid, &r,
			  n * step, 0, true);
		if (n != 5 && n != 40)
			continue;
		g_clear_pointer(&parts, g_array_unref);
		parts = late_parts(l, s, b->l->seen, n * step, &until);
		/* too many to be compared are no more than that */
		assert_int_equal(parts->len, n == 5 ? 2 : LFT_PARTS_MAX + 1);
		assert_int_equal(until, n * step + LATE_SET_US);
	}
	late_free(l);
}
