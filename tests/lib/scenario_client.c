// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Scenarios: clients of the SA on hosts, which ask, join and leave by MADs.
 * What came of it is asked of the data plane.
 */
#include "tests/lib/play.h"
#include "tests/lib/request.h"

#include <stdlib.h>
#include <string.h>

#include "sm/io/sa_message.h"
#include "sm/mad/bytes.h"
#include "sm/mad/sa_record.h"
#include "topology/each.h"

struct play_word play_client_words[16];
#define PLAYS(names, name)	PLAY_WORDS(play_client_words, names, name)

#define MLID		0xc000u		/* of the first group: IPoIB's */
#define GROUPS		4u

struct client {
	struct play *p;
	uint32_t port;
	struct transport *t;
	struct mad_client *x;
	unsigned status, n_answers, n_reports;
	uint8_t data[SA_DATA_LEN];
	GByteArray *table;	/* the last one that came */
	/* As IPoIB: sets of groups, of which the first is the broadcast group */
	unsigned wants, is_in, was_in;
	uint16_t mlid[GROUPS];
	bool asks;		/* one request at a time, for: */
	unsigned group, life;	/* life counts losses of the link */
};

static void
on_table(const struct sa_message *m, void *data)
{
	struct client *c = data;

	g_byte_array_set_size(c->table, 0);
	g_byte_array_append(c->table, m->data, (guint)m->len);
	c->n_answers++;
}

/* A Report is answered, as a client's kernel does. */
static void
on_request(const struct transport_mad *m, const struct mad_header *h,
	   void *data)
{
	struct client *c = data;
	struct mad_addr to = m->addr;
	uint8_t mad[MAD_SIZE];

	memcpy(mad, m->mad, MAD_SIZE);
	mad[3] |= MAD_METHOD_RESPONSE;
	to.qkey = MAD_GSI_QKEY;
	transport_send(c->t, &to, mad, MAD_SIZE, 0, NULL);
	c->n_reports++;
}

static void
client_free(gpointer data)
{
	struct client *c = data;

	mad_client_free(c->x);
	transport_free(c->t);
	g_byte_array_unref(c->table);
	g_free(c);
}

static struct client *
client_at(struct play *p, uint32_t port)
{
	static const struct mad_client_params wire = {
		.timeout_ms = 100, .retries = 3, .max_wire = 512,
	};
	struct client *c;

	EACH_PTR(struct client, old, p->clients)
		if (old->port == port)
			return old;
	c = g_new0(struct client, 1);
	c->p = p;
	c->port = port;
	c->table = g_byte_array_new();
	c->t = sim_attach(p->w.sim, port, SIM_ROLE_CLIENT);
	c->x = mad_client_new(c->t, &wire);
	c->x->serve = on_request;
	c->x->serve_data = c;
	c->x->message = on_table;
	c->x->message_data = c;
	g_ptr_array_add(p->clients, c);
	return c;
}

static struct client *
client_on(struct play *p, const char *name)
{
	uint32_t port;

	return play_read_port(p, name, &port) ? client_at(p, port) : NULL;
}

void
play_clear_clients(struct play *p)
{
	if (p->clients)
		g_ptr_array_unref(p->clients);
	p->clients = g_ptr_array_new_with_free_func(client_free);
	for (size_t i = 0; i < G_N_ELEMENTS(p->kept); i++)
		g_clear_pointer(&p->kept[i], g_byte_array_unref);
}

static void
on_answer(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct client *c = data;

	c->n_answers++;
	c->status = 0xffff;
	if (a->outcome == MAD_CLIENT_ANSWERED) {
		c->status = a->header.status;
		memcpy(c->data, a->mad + SA_DATA_OFFSET, SA_DATA_LEN);
	}
}

static struct mad_addr
manager_addr(const struct client *c)
{
	return (struct mad_addr){
		.qp = 1, .qkey = MAD_GSI_QKEY,
		.lid = sim_port_info(c->p->w.sim, c->port)->sm_lid,
	};
}

static void
client_run(struct client *c, int64_t us)
{
	sim_run(c->p->w.sim, sim_now(c->p->w.sim) + us);
}

/* Waits for the one answer, which is to be good. */
static bool
client_query(struct client *c, const uint8_t *mad, int64_t us)
{
	struct mad_addr to = manager_addr(c);

	c->n_answers = 0;
	mad_client_start(c->x, &to, mad, on_answer, c, 0);
	client_run(c, us);
	return (c->n_answers == 1 && !c->status) ||
		play_fail(c->p, "%u answers, status 0x%x", c->n_answers,
			  c->status);
}

static void
put_gid(const struct client *c, uint32_t port, uint8_t gid[16])
{
	const uint64_t be[2] = {
		GUINT64_TO_BE(UINT64_C(0xfe80000000000000)),
		GUINT64_TO_BE(c->p->w.s->ports[port].guid),
	};

	memcpy(gid, be, 16);
}

/* "self", or a node by its name */
static bool
find_name(void *fixture, const char *name, struct request_name *out)
{
	struct client *c = fixture;
	uint32_t port = c->port;

	if (strcmp(name, "self") && (g_ascii_isdigit(*name) ||
				     !play_read_port(c->p, name, &port)))
		return false;
	put_gid(c, port, out->gid);
	return true;
}

/* The MAD of a line of request.h. */
static void
client_write(struct client *c, uint8_t *mad, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
static void
client_write(struct client *c, uint8_t *mad, const char *format, ...)
{
	static const struct request_kind kind = { .name = find_name };
	va_list args;

	va_start(args, format);
	request_write(&kind, c, mad, format, args);
	va_end(args);
}

/* at: the node whose LID gets it, and no answer is expected; NULL: the
 * master's. */
static bool
change_membership(struct play *p, const char *name, const char *method,
		  const char *at, unsigned pkey)
{
	struct client *c = client_on(p, name);
	struct mad_addr to = { .qp = 1, .qkey = MAD_GSI_QKEY };
	uint8_t mad[MAD_SIZE];
	uint32_t port;

	if (!c || (at && !play_read_port(p, at, &port)))
		return false;
	client_write(c, mad, "%s MCMemberRecord PortGID=self JoinState=1 "
		     "MGID=ff12:401b:%x::ffff:ffff", method, pkey);
	if (!at)
		return client_query(c, mad, SECOND);
	mad_set_tid(mad, 5);
	to.lid = sim_port_info(p->w.sim, port)->lid;
	transport_send(c->t, &to, mad, MAD_SIZE, 0, NULL);
	return true;
}

/* join-own N NODE, leave-own N NODE: groups that it creates */
PLAYS("join-own leave-own", do_own_groups)
{
	struct client *c = args[0] && args[1] ? client_on(p, args[1]) : NULL;
	unsigned n = c ? (unsigned)atoi(args[0]) : 0;
	uint8_t mad[MAD_SIZE];

	for (unsigned i = 0; i < n; i++) {
		client_write(c, mad, "%s MCMemberRecord PortGID=self "
			     "JoinState=1 Q_Key=0x0b1b P_Key=0xffff SL=0 TClass=0 "
			     "FlowLabel=0 MGID=ff12:401b:ffff::%x",
			     *args[-1] == 'j' ? "Set" : "Delete", i + 1);
		if (!client_query(c, mad, SECOND / 100))
			return false;
	}
	return n;
}

/* [P_KEY] NODE ..: of IPoIB's broadcast group */
PLAYS("join", do_join)
{
	unsigned pkey = 0xffff;

	if (args[0] && g_str_has_prefix(args[0], "0x"))
		pkey = (unsigned)strtoul(*args++, NULL, 0);
	for (; *args; args++)
		if (!change_membership(p, *args, "Set", NULL, pkey))
			return false;
	return true;
}

/* NODE [at NODE]: there is a standby */
PLAYS("leave", do_leave)
{
	return change_membership(p, args[0], "Delete",
				 args[0] && args[1] ? args[2] : NULL, 0xffff);
}

/* ---- members of groups, that behave like IPoIB ---- */

static void
on_membership(const struct mad_client_answer *a, void *data, uint64_t life)
{
	struct client *c = data;
	struct mcmember_record r;

	c->asks = false;
	if (a->outcome != MAD_CLIENT_ANSWERED || life != c->life)
		return;
	/* refused: it has left, and the answer to that was lost */
	if (a->header.method == (SA_METHOD_DELETE | MAD_METHOD_RESPONSE))
		c->is_in &= ~(1u << c->group);
	else if (!a->header.status)
		c->is_in |= 1u << c->group;
	if (a->header.status)
		return;
	sa_record_decode(SA_ATTR_MC_MEMBER, a->mad + SA_DATA_OFFSET, &r);
	c->mlid[c->group] = r.mlid;
}

static void
ask_group(struct client *c, unsigned group)
{
	bool joins = c->wants >> group & 1;
	struct mad_addr to = manager_addr(c);
	uint8_t mad[MAD_SIZE];

	client_write(c, mad, "%s MCMemberRecord PortGID=self JoinState=1 "
		     "MGID=ff12:401b:ffff::%x:%x%s", joins ? "Set" : "Delete",
		     group ? 0 : 0xffff, group ?: 0xffff, joins && group ?
		     " Q_Key=0x0b1b P_Key=0xffff SL=0 TClass=0 FlowLabel=0" :
		     "");
	c->was_in |= (unsigned)joins << group;	/* its answer may be lost */
	c->asks = true;
	c->group = group;
	mad_client_start(c->x, &to, mad, on_membership, c, c->life);
}

static void
forget_groups(struct client *c)
{
	c->is_in = 0;
	c->life++;
}

/* A request is repeated until it is answered. */
static void
on_turn(void *data)
{
	struct client *c = data;

	if (sim_port_info(c->p->w.sim, c->port)->state != PORT_STATE_ACTIVE)
		forget_groups(c);
	else
		for (unsigned g = 0; g < GROUPS && !c->asks; g++)
			if ((c->wants ^ c->is_in) >> g & 1)
				ask_group(c, g);
	transport_timer_start(c->t, sim_now(c->p->w.sim) + SECOND / 10, on_turn,
			      c);
}

void
play_forget_groups(struct play *p, uint32_t port)
{
	for (guint i = 0; p->has_members && i < p->clients->len; i++) {
		struct client *c = p->clients->pdata[i];

		if (c->port == port)
			forget_groups(c);
	}
}

void
play_see_state(struct play *p, uint32_t node)
{
	for (guint i = 0; p->has_members && i < p->clients->len; i++) {
		struct client *c = p->clients->pdata[i];

		if (p->w.s->ports[c->port].node == node &&
		    sim_port_info(p->w.sim, c->port)->state !=
		    PORT_STATE_ACTIVE)
			forget_groups(c);
	}
}

/* Each host is a member of the broadcast group. */
PLAYS("ipoib", do_ipoib)
{
	const struct snapshot *s = p->w.s;

	p->has_members = true;
	p->may_loop = true;	/* two masters at once make loops */
	for (uint32_t i = 0; i < s->n_ports; i++)
		if (s->ports[i].peer != SNAPSHOT_NONE &&
		    !snapshot_is_switch(snapshot_node_of(s, i))) {
			client_at(p, i)->wants = 1;
			on_turn(client_at(p, i));
		}
	return true;
}

/* NODE N: it joins its group N % 3, or leaves that */
PLAYS("regroup", do_regroup)
{
	struct client *c = client_on(p, args[0]);

	if (c && args[1])
		c->wants ^= 2u << strtoul(args[1], NULL, 10) % (GROUPS - 1);
	return c && args[1];
}

static bool
copies_are_right(struct play *p, const struct client *from, unsigned group,
		 const uint8_t *alive)
{
	g_autofree uint8_t *count = g_new0(uint8_t, p->w.s->n_ports);
	struct sim_mcast out;
	bool is_right = sim_probe_mcast(p->w.sim, from->port, from->mlid[group],
					0xffff, 0, &out) == SIM_DELIVERED;

	for (guint i = 0; is_right && i < out.reached->len; i++)
		count[g_array_index(out.reached, uint32_t, i)]++;
	sim_mcast_clear(&out);
	for (guint i = 0; is_right && i < p->clients->len; i++) {
		const struct client *c = p->clients->pdata[i];
		unsigned n = count[c->port];

		/* a new master does not know that a port has left */
		is_right = c == from ? !n : (!n || c->was_in >> group & 1) &&
			(!alive[c->port] ||
			 (n < 2 && (n || !(c->is_in >> group & 1))));
	}
	return is_right || play_fail(p, "group %u, from %s: a member lacks its "
				     "copy, or a port has one too many", group,
				     snapshot_node_of(p->w.s, from->port)->desc);
}

static bool
has_one_master(struct play *p, const uint8_t *alive)
{
	uint16_t lid = sim_port_info(p->w.sim, p->w.s->local_port)->sm_lid;
	unsigned n = 0;

	for (unsigned i = 0; i < MANAGERS_MAX; i++) {
		const struct manager *m = play_manager(p, i);

		n += m->t && alive[m->port] &&
			sim_port_info(p->w.sim, m->port)->lid == lid;
	}
	for (uint32_t i = 0; n && i < p->w.s->n_ports; i++)
		if (alive[i] && snapshot_is_end_port(p->w.s, i) &&
		    (sim_port_info(p->w.sim, i)->sm_lid != lid ||
		     !sim_port_info(p->w.sim, i)->lid))
			n = 0;
	return n || play_fail(p, "not all ports have one master");
}

static bool
are_grouped(struct play *p, const uint8_t *alive)
{
	unsigned pairs, mixed;

	if (!has_one_master(p, alive))
		return false;
	if (world_unreached(&p->w, SNAPSHOT_NONE, &pairs, &mixed))
		return play_fail(p, "pairs are not reached");
	EACH_PTR(const struct client, c, p->clients) {
		for (unsigned g = 0; alive[c->port] && g < GROUPS; g++) {
			if ((c->wants ^ c->is_in) >> g & 1)
				return play_fail(p, "a host is not in its "
						 "group, or still is");
			if (c->is_in >> g & 1 &&
			    !copies_are_right(p, c, g, alive))
				return false;
		}
	}
	return true;
}

bool
play_are_grouped(struct play *p)
{
	g_autofree uint8_t *alive = NULL;
	unsigned n_ports = 0, n_managers = 0;
	bool is_right = false;

	for (unsigned i = 0; !is_right && i < 60; i++) {
		sim_run(p->w.sim, sim_now(p->w.sim) + SECOND);
		g_free(alive);
		alive = world_alive(&p->w);
		n_ports = n_managers = 0;
		for (uint32_t k = 0; k < p->w.s->n_ports; k++)
			n_ports += alive[k];
		for (unsigned k = 0; k < MANAGERS_MAX; k++)
			n_managers += play_manager(p, k)->t &&
				alive[play_manager(p, k)->port];
		/* of this part of the fabric */
		is_right = n_ports < 2 || !n_managers || are_grouped(p, alive);
	}
	/* without a manager none moves the routes off exchanged cables */
	return is_right && (!n_managers || !world_has_loop(&p->w, alive) ||
			    play_fail(p, "a credit loop at rest"));
}

/* NODE: to trap 65, a port that goes */
PLAYS("subscribe", do_subscribe)
{
	struct client *c = client_on(p, args[0]);
	uint8_t mad[MAD_SIZE];

	if (!c)
		return false;
	client_write(c, mad, "Set InformInfo LIDRangeBegin=0xffff IsGeneric=1 "
		     "Subscribe=1 Type=0xffff TrapNumberDeviceID=65 "
		     "ProducerTypeVendorID=0xffffff QPN=1");
	return client_query(c, mad, SECOND);
}

/* NODE N: requests at once */
PLAYS("babble", do_babble)
{
	struct client *c = client_on(p, args[0]);
	uint8_t mad[MAD_SIZE];
	struct mad_addr to;

	if (!c || !args[1])
		return play_fail(p, "babble NODE N");
	to = manager_addr(c);
	sa_build(mad, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO);
	for (unsigned i = strtoul(args[1], NULL, 10); i > 0; i--) {
		mad_set_tid(mad, i);
		transport_send(c->t, &to, mad, MAD_SIZE, 0, NULL);
	}
	return true;
}

/* NODE ISSUER[/PORT] TRAP [N [TIME]]: it sends N traps, one each TIME, in the
 * name of another port; trap 65 with that one's GID */
PLAYS("forge", do_forge)
{
	struct client *c = client_on(p, args[0]);
	unsigned n = args[1] && args[2] && args[3] ? strtoul(args[3], NULL, 10) :
		1;
	struct mad_addr to = { 0 };
	int64_t us = SECOND / 100;
	uint8_t mad[MAD_SIZE], *d = smp_data(mad);
	uint32_t port;

	if (!c || !args[1] || !args[2] || !play_read_port(p, args[1], &port))
		return play_fail(p, "forge NODE ISSUER TRAP [N [TIME]]");
	if (n > 1 && args[4] && !play_read_time(p, args[4], &us))
		return false;
	to.lid = manager_addr(c).lid;
	smp_build_lid(mad, MAD_METHOD_TRAP, MAD_ATTR_NOTICE, 0, 0);
	d[0] = 0x80 | 1;	/* generic, urgent */
	d[3] = snapshot_is_switch(snapshot_node_of(p->w.s, port)) ? 2 : 1;
	bytes_store16(d + 4, strtoul(args[2], NULL, 10));
	bytes_store16(d + 6, sim_port_info(p->w.sim, snapshot_holder_of(p->w.s,
							port))->lid);
	if (bytes_load16(d + 4) == 65)
		put_gid(c, port, d + 16);
	else
		d[14] = p->w.s->ports[port].num;
	for (unsigned i = 1; i <= n; i++) {
		mad_set_tid(mad, i);
		transport_send(c->t, &to, mad, MAD_SIZE, 0, NULL);
		client_run(c, us);
	}
	return true;
}

/* NODE [LEASE]: it registers a service, for so many seconds or for ever */
PLAYS("serve", do_serve)
{
	struct client *c = client_on(p, args[0]);
	uint8_t mad[MAD_SIZE];

	if (!c)
		return false;
	client_write(c, mad, "Set ServiceRecord ServiceGID=self "
		     "ServiceID=0x1234 ServiceName=scenario %s%s",
		     args[1] ? "ServiceLease=" : "", args[1] ? args[1] : "");
	return client_query(c, mad, SECOND);
}

/* All records, as a trusted client; a request may be lost. False: no answer. */
static bool
read_table(struct client *c, unsigned attr_id, int64_t us)
{
	struct mad_addr to = manager_addr(c);
	uint8_t mad[MAD_SIZE];

	c->n_answers = 0;
	sa_build(mad, SA_METHOD_GET_TABLE, attr_id);
	sa_set_sm_key(mad, manager_sa.sm_key);
	for (unsigned i = 0; i < 20 && !c->n_answers; i++) {
		mad_set_tid(mad, 77 + i);
		transport_send(c->t, &to, mad, MAD_SIZE, 0, NULL);
		client_run(c, us);
	}
	return c->n_answers || play_fail(c->p, "no answer");
}

static const uint16_t kept_attrs[] = {
	SA_ATTR_MC_MEMBER, SA_ATTR_SERVICE, SA_ATTR_INFORM_INFO_RECORD,
};

/* NODE: what the SA tells of groups, services and subscriptions there */
PLAYS("keep", do_keep)
{
	struct client *c = client_on(p, args[0]);

	for (size_t i = 0; i < G_N_ELEMENTS(kept_attrs); i++) {
		if (!c || !read_table(c, kept_attrs[i], SECOND / 10))
			return false;
		g_clear_pointer(&p->kept[i], g_byte_array_unref);
		p->kept[i] = g_byte_array_new();
		g_byte_array_append(p->kept[i], c->table->data, c->table->len);
	}
	return true;
}

/* ---- expect ---- */

/* What one of the group sends reaches the others, no other port, and none
 * twice. */
static bool
expect_reached(struct play *p, char **names, uint32_t from)
{
	unsigned n = g_strv_length(names), seen = 0;
	struct sim_mcast out;
	bool ok = sim_probe_mcast(p->w.sim, from, MLID, 0xffff, 0, &out) ==
		SIM_DELIVERED;

	for (guint i = 0; ok && i < out.reached->len; i++) {
		uint32_t port = g_array_index(out.reached, uint32_t, i), member;
		unsigned k = 0;

		while (k < n && play_read_port(p, names[k], &member) &&
		       member != port)
			k++;
		ok = k < n && !(seen & 1u << k);
		seen |= 1u << k;
		if (!ok)
			play_fail(p, "%s has it, or has it twice",
				  snapshot_node_of(p->w.s, port)->desc);
	}
	for (unsigned k = 0; ok && k < n; k++) {
		uint32_t member;

		play_read_port(p, names[k], &member);
		ok = member == from || seen & 1u << k ||
			play_fail(p, "%s does not have it", names[k]);
	}
	sim_mcast_clear(&out);
	return ok;
}

/* NODE ..: the members */
EXPECTS("group", expect_group)
{
	uint32_t from;

	for (char **name = args; *name; name++)
		if (!play_read_port(p, *name, &from) ||
		    !expect_reached(p, args, from))
			return false;
	return true;
}

/* NODE NODE: there is a PathRecord that works */
EXPECTS("route", expect_route)
{
	struct path_record got;
	struct client *c = client_on(p, args[0]);
	uint8_t mad[MAD_SIZE];
	uint32_t to;

	if (!c || !play_read_port(p, args[1], &to))
		return false;
	client_write(c, mad, "Get PathRecord SGID=self DGID=%s", args[1]);
	if (!client_query(c, mad, SECOND))
		return false;
	path_record_decode(c->data, &got);
	return (got.dlid == sim_port_info(p->w.sim, to)->lid &&
		sim_probe(p->w.sim, c->port, got.dlid, got.pkey, got.sl,
			  NULL) == SIM_DELIVERED) ||
		play_fail(p, "LID %u, SL %u is not it", got.dlid, got.sl);
}

/* NODE N: all PathRecords, by RMPP; the request may be lost. */
EXPECTS("paths", expect_paths)
{
	struct client *c = client_on(p, args[0]);

	return c && read_table(c, SA_ATTR_PATH, 10 * SECOND) &&
		play_expect_range(p, "PathRecords", args[1], c->table->len /
				  sa_record_size(SA_ATTR_PATH));
}

#define SERVICE_LEASE_OFFSET	28u

/* Seconds that have gone from a lease are none. */
static bool
is_same_lease(const uint8_t *then, const uint8_t *now)
{
	uint32_t a = (uint32_t)bytes_load(then + SERVICE_LEASE_OFFSET, 4);
	uint32_t b = (uint32_t)bytes_load(now + SERVICE_LEASE_OFFSET, 4);

	return a == b || (b < a && a - b <= 60);
}

/* NODE: the SA tells there what it told at `keep`, and that is something. */
EXPECTS("kept", expect_kept)
{
	struct client *c = client_on(p, args[0]);

	for (size_t i = 0; i < G_N_ELEMENTS(kept_attrs); i++) {
		const GByteArray *then = p->kept[i];
		size_t size = sa_record_size(kept_attrs[i]);

		if (!c || !then || !then->len)
			return play_fail(p, "there is nothing to compare");
		if (!read_table(c, kept_attrs[i], SECOND / 10))
			return false;
		if (c->table->len != then->len)
			return play_fail(p, "%zu records, not %zu: %s",
					 c->table->len / size,
					 then->len / size,
					 sa_attr_name(kept_attrs[i]));
		for (size_t at = 0; at < then->len; at += size) {
			uint8_t *a = then->data + at, *b = c->table->data + at;

			if (kept_attrs[i] == SA_ATTR_SERVICE &&
			    is_same_lease(a, b))
				memcpy(b + SERVICE_LEASE_OFFSET,
				       a + SERVICE_LEASE_OFFSET, 4);
			if (memcmp(a, b, size))
				return play_fail(p, "another record: %s",
						 sa_attr_name(kept_attrs[i]));
		}
	}
	return true;
}

/* NODE N */
EXPECTS("reports", expect_reports)
{
	struct client *c = client_on(p, args[0]);

	return c && play_expect_range(p, "Reports", args[1], c->n_reports);
}

/* NODE TIME */
EXPECTS("answer", expect_answer)
{
	struct client *c = client_on(p, args[0]);
	uint8_t mad[MAD_SIZE];
	int64_t us;

	if (!c || !play_read_time(p, args[1], &us))
		return false;
	sa_build(mad, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO);
	return client_query(c, mad, us);
}
