// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Clients of the SA: see osmlab.h. A client has one question at a time. Its
 * attempts share a TID, as those of a kernel do, so a late answer to an early
 * attempt is an answer; what comes after that is dropped. BUSY is no answer,
 * but leave to ask again (IBA 13.4.7).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/lib/osmlab.h"

#define GSI_QKEY	0x80010000u
#define ATTEMPTS	9u
#define PATIENCE	SECOND
#define OFF_SM_KEY	36u
#define OFF_COMP_MASK	48u
#define UP_LIMIT	(60 * SECOND)

/* ------------------------------------------------------------- the world */

void
osm_run(struct osm_world *o, int64_t us)
{
	sim_run(o->w.sim, sim_now(o->w.sim) + us);
}

void
osm_settle(struct osm_world *o)
{
	assert_true(world_settle(&o->w, UP_LIMIT));
	assert_int_equal(o->w.m.last, SWEEP_END_UP);
}

static void
load_archive(struct osm_world *o)
{
	if (o->cache_dir)
		o->archive = archive_open(o->cache_dir,
					  admin_sa(o->w.m.admin), o->w.m.t,
					  o->w.m.log);
}

static void
start(struct osm_world *o)
{
	world_open(&o->w, &o->params);
	load_archive(o);
	osm_settle(o);
}

void
osm_world_open(struct osm_world *o, const char *spec, uint64_t seed,
	       const char *cache_dir)
{
	*o = (struct osm_world){
		.cache_dir = cache_dir,
		.params = { .spec = spec, .seed = seed, .engine = "auto",
			    .sweep_s = 2 },
	};
	start(o);
}

void
osm_world_open_lmc(struct osm_world *o, const char *spec, uint64_t seed,
		   unsigned lmc)
{
	*o = (struct osm_world){
		.params = { .spec = spec, .seed = seed, .engine = "auto",
			    .sweep_s = 2, .lmc = lmc },
	};
	start(o);
}

void
osm_world_close(struct osm_world *o)
{
	if (o->archive)
		archive_close(o->archive);
	world_close(&o->w);
}

void
osm_world_restart(struct osm_world *o)
{
	if (o->archive)
		archive_close(o->archive);
	manager_close(&o->w.m);
	o->params.clients = CLIENTS_KNOWN;
	manager_open(&o->w.m, o->w.sim, o->w.s->local_port, 0, &o->params);
	load_archive(o);
}

unsigned
osm_lose(struct osm_world *o, unsigned per_mille)
{
	const struct sim_rule loss = {
		.match = { .node = SIM_ANY, .mgmt_class = MAD_CLASS_SA },
		.kind = SIM_FAULT_LOSS, .per_mille = per_mille,
	};

	return sim_rule_add(o->w.sim, &loss);
}

static bool
is_host(const struct osm_world *o, uint32_t port)
{
	return subnet_is_end_port(o->w.s, port) &&
		!subnet_is_switch(subnet_node_of(o->w.s, port));
}

uint32_t
osm_host(const struct osm_world *o, unsigned n)
{
	for (uint32_t p = 0; p < o->w.s->n_ports; p++)
		if (is_host(o, p) && n-- == 0)
			return p;
	fail_msg("the fabric has no such host");
	return SUBNET_NONE;
}

unsigned
osm_hosts(const struct osm_world *o)
{
	unsigned n = 0;

	for (uint32_t p = 0; p < o->w.s->n_ports; p++)
		n += is_host(o, p);
	return n;
}

static void
put(uint8_t *to, uint64_t value, unsigned n)
{
	while (n--) {
		to[n] = (uint8_t)value;
		value >>= 8;
	}
}

void
osm_gid(const struct osm_world *o, uint32_t port, uint8_t gid[16])
{
	put(gid, SA_GID_PREFIX_DEFAULT, 8);
	put(gid + 8, o->w.s->ports[port].guid, 8);
}

uint16_t
osm_lid(const struct osm_world *o, uint32_t port)
{
	return sim_port_info(o->w.sim, port)->lid;
}

/* ---------------------------------------------------------------- clients */

static void
finish(struct osm_client *c, unsigned status)
{
	c->done = true;
	c->status = status;
	if (c->timer)
		transport_timer_cancel(c->t, c->timer);
	c->timer = 0;
}

static bool
is_answer(const struct osm_client *c, const struct mad_header *h)
{
	return !c->done && h->method & MAD_METHOD_RESPONSE &&
		(uint32_t)h->tid == c->tid;
}

/* A Report is answered, as a client's kernel does. */
static void
on_report(struct osm_client *c, const struct transport_mad *m)
{
	struct mad_addr to = m->addr;
	uint8_t mad[MAD_SIZE];

	c->reports++;
	memcpy(c->report, m->mad, MAD_SIZE);
	memcpy(mad, m->mad, MAD_SIZE);
	mad[3] |= MAD_METHOD_RESPONSE;
	to.qkey = GSI_QKEY;
	assert_true(transport_send(c->t, &to, mad, MAD_SIZE, 0, NULL));
}

static void
on_mad(const struct transport_mad *m, void *data)
{
	struct osm_client *c = data;
	struct mad_header h;

	assert_true(mad_header_read(m->mad, m->len, &h));
	if (m->event == TRANSPORT_RETURNED)
		return;
	if (h.method == SA_METHOD_REPORT) {
		on_report(c, m);
	} else if (is_answer(c, &h) && h.status != MAD_STATUS_BUSY) {
		c->method = h.method;
		memcpy(c->data, m->mad + SA_DATA_OFFSET, SA_DATA_LEN);
		finish(c, h.status);
	}
}

static void
on_message(const struct bulk_message *m, void *data)
{
	struct osm_client *c = data;
	uint8_t mad[MAD_SIZE] = { 0 };
	struct mad_header h;

	memcpy(mad, m->header, SA_DATA_OFFSET);
	assert_true(mad_header_read(mad, MAD_SIZE, &h));
	if (!is_answer(c, &h))
		return;
	c->method = h.method;
	c->tables++;
	g_byte_array_set_size(c->table, 0);
	if (m->len)
		g_byte_array_append(c->table, m->data, (guint)m->len);
	finish(c, h.status);
}

void
osm_client_open(struct osm_client *c, struct osm_world *o, uint32_t port)
{
	*c = (struct osm_client){
		.w = &o->w, .port = port, .done = true,
		.table = g_byte_array_new(),
		.t = sim_attach(o->w.sim, port, SIM_ROLE_CLIENT),
	};
	transport_set_receiver(c->t, on_mad, c);
	c->b = bulk_new(c->t, NULL);
	bulk_set_receiver(c->b, on_message, c);
	bulk_intercept(c->b);
}

void
osm_client_close(struct osm_client *c)
{
	bulk_free(c->b);
	transport_free(c->t);
	g_byte_array_unref(c->table);
}

static void
attempt(void *data)
{
	struct osm_client *c = data;
	const struct mad_addr to = {
		.qp = 1, .qkey = GSI_QKEY,
		.lid = sim_port_info(c->w->sim, c->port)->sm_lid,
	};

	c->timer = 0;
	if (c->attempts == ATTEMPTS) {
		finish(c, OSM_SILENT);
		return;
	}
	c->attempts++;
	c->timer = transport_timer_start(c->t, transport_now(c->t) + PATIENCE,
					 attempt, c);
	/* A port that is down takes nothing; the next attempt may go. */
	transport_send(c->t, &to, c->mad, MAD_SIZE, 0, NULL);
}

void
osm_start(struct osm_client *c, const struct osm_question *q)
{
	assert_true(c->done);
	sa_build(c->mad, q->method, q->attr_id);
	put(c->mad + OFF_SM_KEY, q->sm_key, 8);
	put(c->mad + OFF_COMP_MASK, q->mask, 8);
	memcpy(c->mad + SA_DATA_OFFSET, q->data, SA_DATA_LEN);
	mad_set_tid(c->mad, ++c->tid);
	c->done = false;
	c->attempts = 0;
	c->method = 0;
	memset(c->data, 0, sizeof(c->data));
	g_byte_array_set_size(c->table, 0);
	attempt(c);
}

unsigned
osm_wait(struct osm_client *c)
{
	while (!c->done)
		assert_true(sim_step(c->w->sim));
	return c->status;
}

unsigned
osm_ask(struct osm_client *c, const struct osm_question *q)
{
	osm_start(c, q);
	return osm_wait(c);
}

unsigned
osm_table(struct osm_client *c, unsigned attr_id, uint64_t mask,
	  const uint8_t *data)
{
	struct osm_question q = {
		.method = SA_METHOD_GET_TABLE, .attr_id = attr_id,
		.mask = mask,
	};

	if (data)
		memcpy(q.data, data, SA_DATA_LEN);
	return osm_ask(c, &q);
}

unsigned
osm_records(const struct osm_client *c, unsigned attr_id)
{
	size_t size = sa_record_size(attr_id);

	assert_int_equal(c->table->len % size, 0);
	return (unsigned)(c->table->len / size);
}

const uint8_t *
osm_record(const struct osm_client *c, unsigned attr_id, unsigned n)
{
	assert_true(n < osm_records(c, attr_id));
	return c->table->data + n * sa_record_size(attr_id);
}
