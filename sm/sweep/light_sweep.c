// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The light sweep.
 *
 * One Get for each switch (SwitchInfo, whose PortStateChange bit says that a
 * link came or went, IBA 14.2.5.4), and one for the SM's own port. A switch
 * that does not answer counts as a change. PortInfo is read of each end port whose
 * M_Key has a lease: a request of another node with a wrong key starts the
 * lease, and a Get with the right key stops it (IBA 14.2.4.2). If it has run
 * out already, the port is no longer protected.
 *
 * Silent ports of switches: the link is up, and no node answers. Most are hosts
 * without a driver, or hung ones; a large fabric always has some. NodeInfo is sent
 * through such a port after PAUSE_MIN_US, and then each time after twice the pause
 * before, up to PAUSE_MAX_US. A node that is switched off and on takes its link
 * down, which its switch reports: then all silent ports of that switch are queried
 * after the repair, since the link may be up again when the port is read.
 *
 * With them, at the same times, is sent what a sweep had no answer to, or a status,
 * from a node that had answered NodeInfo: the same attribute of the same port, at
 * least every PAUSE_LACK_US, as long as the fabric is not up without it. A heavy
 * sweep for want of it is useless before that is answered: the light sweep takes
 * the silence of a switch without SwitchInfo for no change, nor does it compare what
 * was not read.
 *
 * Links in turn. No trap tells that a host hangs, or that a link has fallen
 * back in speed. So PortInfo of one end of each link, at its host if it has one,
 * is read within LIGHT_TURN_S, a part of them after each light sweep. The turn of a
 * link follows from a switch's port alone, so that no other link that comes or goes
 * moves it; those of ports that follow each other are apart by the golden ratio of
 * all turns, so that of any few ports of a switch one is read soon. If a host
 * does not answer, its switch's port is read; if that is as it was, NodeInfo is
 * sent through it, and without an answer to that either the port is a silent
 * one from then on. A switch that does not answer is found by the next light
 * sweep.
 */
#include "sm/sweep/light_sweep.h"

#include "sm/sweep/faults.h"
#include "topology/each.h"

#define PAUSE_MIN_US	((int64_t)G_USEC_PER_SEC)
#define PAUSE_MAX_US	(300 * PAUSE_MIN_US)
#define PAUSE_LACK_US	(10 * PAUSE_MIN_US)
#define GOLDEN		0x9e3779b9u	/* 2^32 times 0.618.. */

struct light_sweep {
	const struct mkey_db *keys;
	const struct snapshot *s;
	light_sweep_done_fn done;
	void *data;
	GArray *silent;		/* borrowed */
	bool is_probe;
	GArray *requests;	/* struct smp_request, */
	guint n_sent;		/* of which so many were sent */
	int64_t began;
	struct light_sweep_result r;
};

/* ------------------------------------------------------------ silent ports */

static int
compare_silent(const void *a, const void *b)
{
	const struct silent_port *p = a, *q = b;

	return uint_compare(p->node_guid, q->node_guid) ?:
		uint_compare(p->num, q->num) ?:
		uint_compare(p->attr, q->attr);
}

static struct silent_port
silent_of(const struct snapshot *s, uint32_t port, enum mad_attr attr)
{
	return (struct silent_port){
		.node_guid = snapshot_node_of(s, port)->info.node_guid,
		.num = s->ports[port].num, .attr = attr,
		.state = s->ports[port].info.state,
	};
}

static struct silent_port *
silent_lookup(const GArray *silent, struct silent_port key)
{
	guint i;

	/* not bsearch(): there may be none, and no memory then */
	return silent && g_array_binary_search((GArray *)silent, &key,
					       compare_silent, &i) ?
		&g_array_index(silent, struct silent_port, i) : NULL;
}

const struct silent_port *
silent_find(const GArray *silent, const struct snapshot *s, uint32_t port)
{
	return silent_lookup(silent, silent_of(s, port, MAD_ATTR_NODE_INFO));
}

void
silent_note(GArray *lost, const struct snapshot *s, const struct smp_request *r)
{
	struct silent_port new = silent_of(s, r->port, r->attr);

	new.modifier = r->modifier;
	g_array_append_val(lost, new);
}

/* With the pause that it had. is_news: its switch has reported a change. */
static void
add_silent(GArray *silent, const GArray *known, struct silent_port new,
	   bool is_news, int64_t now)
{
	const struct silent_port *was = silent_lookup(known, new);

	new.pause = was ? was->pause : PAUSE_MIN_US;
	new.due = !was ? now + PAUSE_MIN_US : is_news ? now : was->due;
	g_array_append_val(silent, new);
}

GArray *
silent_update(GArray *known, const struct snapshot *s, const GArray *lost,
	      int64_t now)
{
	GArray *silent = g_array_new(FALSE, FALSE, sizeof(struct silent_port));
	guint kept = 0;

	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_node *n = snapshot_node_of(s, port);

		if (s->ports[port].silent && snapshot_is_switch(n))
			add_silent(silent, known, silent_of(s, port,
							MAD_ATTR_NODE_INFO),
				   n->sw.port_state_change, now);
	}
	EACH_ITEM(const struct silent_port, p, lost)
		add_silent(silent, known, *p, false, now);
	/* a repair has not asked for it */
	EACH_ITEM(const struct silent_port, p, known) {
		uint32_t port = snapshot_port_of(s, snapshot_find_node(s,
						p->node_guid), p->num);

		if (p->attr != MAD_ATTR_NODE_INFO && port != SNAPSHOT_NONE &&
		    s->ports[snapshot_holder_of(s, port)].trouble)
			add_silent(silent, known, *p, false, now);
	}
	g_array_sort(silent, compare_silent);
	/* several blocks of a table are one */
	EACH_ITEM(const struct silent_port, p, silent)
		if (!kept || compare_silent(p, &g_array_index(silent,
					struct silent_port, kept - 1)))
			g_array_index(silent, struct silent_port, kept++) = *p;
	g_array_set_size(silent, kept);
	if (known)
		g_array_unref(known);
	return silent;
}

int64_t
silent_due(const GArray *silent)
{
	int64_t due = INT64_MAX;

	EACH_ITEM(const struct silent_port, p, silent)
		due = MIN(due, p->due);
	return due;
}

/* -------------------------------------------------------------- questions */

/* NodeInfo is that of the node behind the port, with the M_Key of the port there. */
static void
light_ask(struct light_sweep *l, uint32_t port, enum mad_attr attr,
	  uint32_t modifier)
{
	const struct snapshot *s = l->s;
	struct smp_request r = {
		.port = port, .attr = attr, .modifier = modifier,
		.addressed = attr == MAD_ATTR_NODE_INFO,
	};
	uint64_t holder = s->ports[snapshot_holder_of(s, port)].guid;
	uint8_t num = s->ports[port].num;

	if (r.addressed) {
		r.key = mkey_db_of(l->keys,
				   mkey_db_behind(l->keys, holder, num));
		if (!snapshot_path(s, port, &r.path) ||
		    !dr_path_push(&r.path, num))
			return;
	}
	g_array_append_val(l->requests, r);
}

static void
ask_port_info(struct light_sweep *l, uint32_t port)
{
	light_ask(l, port, MAD_ATTR_PORT_INFO,
		  smp_batch_port_info_modifier(l->s, port));
}

/* What is due now; after the same pause again, also if the query is called off, so
 * that a switch that sends traps all the time does not lead to one of all of them
 * each time. */
static void
ask_silent(struct light_sweep *l)
{
	EACH_ITEM(struct silent_port, p, l->silent) {
		uint32_t port;

		if (p->due > l->began)
			continue;
		p->due = l->began + p->pause;
		port = snapshot_port_of(l->s, snapshot_find_node(l->s,
						p->node_guid), p->num);
		if (port != SNAPSHOT_NONE)
			light_ask(l, port, p->attr, p->modifier);
	}
}

static bool
is_its_turn(const struct snapshot *s, uint32_t port, struct light_turn turn)
{
	uint64_t guid = snapshot_node_of(s, port)->info.node_guid;
	uint32_t place = (uint32_t)(guid + s->ports[port].num) * GOLDEN;

	return (uint64_t)place * turn.of >> 32 == turn.now;
}

/* Of each link whose turn it is its host's end, or one of two switches' ends. */
static void
ask_links(struct light_sweep *l, struct light_turn turn)
{
	const struct snapshot *s = l->s;

	for (uint32_t port = 0; turn.of && port < s->n_ports; port++) {
		const struct snapshot_port *p = &s->ports[port];

		if (p->known && p->peer != SNAPSHOT_NONE &&
		    port != s->local_port &&
		    (snapshot_is_end_port(s, port) ||
		     (!snapshot_is_end_port(s, p->peer) && port < p->peer)) &&
		    is_its_turn(s, snapshot_is_end_port(s, port) ? p->peer :
				port, turn))
			ask_port_info(l, port);
	}
}

static void
ask_fabric(struct light_sweep *l)
{
	const struct snapshot *s = l->s;

	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_port *p = &s->ports[port];
		bool is_switch = snapshot_is_switch(&s->nodes[p->node]) &&
			p->num == 0;
		bool is_leased = snapshot_is_end_port(s, port) &&
			p->info.m_key && p->info.m_key_lease &&
			(is_switch || p->info.state >= PORT_STATE_ACTIVE);

		if (is_switch)
			light_ask(l, port, MAD_ATTR_SWITCH_INFO, 0);
		if (is_leased || (port == s->local_port && !is_switch))
			ask_port_info(l, port);
	}
}

/* ---------------------------------------------------------------- answers */

/* The first change is named. */
static void G_GNUC_PRINTF(3, 4)
change(struct light_sweep *l, uint32_t port, const char *format, ...)
{
	const struct snapshot_node *n = snapshot_node_of(l->s, port);
	va_list args;

	g_array_append_val(l->r.changed, n->info.node_guid);
	if (l->r.why)
		return;
	va_start(args, format);
	g_autofree char *what = g_strdup_vprintf(format, args);
	va_end(args);
	l->r.why =
		g_strdup_printf("%s (0x%016" G_GINT64_MODIFIER "x) %s",
				snapshot_node_name(n), n->info.node_guid, what);
}

/* A switch's port that leads to a host is read if the host has not answered. */
static bool
is_next_to_silence(const struct light_sweep *l, uint32_t port)
{
	return !snapshot_is_end_port(l->s, port) &&
		snapshot_is_end_port(l->s, l->s->ports[port].peer);
}

static void
on_port_info(struct light_sweep *l, uint32_t port, const uint8_t *data)
{
	const struct port_info *then = &l->s->ports[port].info;
	struct port_info now;

	port_info_decode(data, &now);
	if (MIN(now.state, PORT_STATE_ACTIVE) !=
	    MIN(then->state, PORT_STATE_ACTIVE))
		change(l, port, "port %u went from %s to %s",
		       l->s->ports[port].num, port_state_name(then->state),
		       port_state_name(now.state));
	else if (now.m_key_protect < then->m_key_protect)
		change(l, port, "port %u: the lease of its M_Key has run out",
		       l->s->ports[port].num);
	else if (snapshot_is_end_port(l->s, port) &&
		 (now.lid != then->lid || now.sm_lid != then->sm_lid))
		change(l, port, "lost its LID or SM LID");
	else if (now.cap_mask & ~then->cap_mask & PORT_CAP_IS_SM)
		change(l, port, "has a subnet manager");
	else if (port_mbps(&now) != port_mbps(then))
		change(l, port, "port %u runs at %s%s, not at %s%s",
		       l->s->ports[port].num, port_width(&now)->name,
		       port_speed(&now)->name, port_width(then)->name,
		       port_speed(then)->name);
	else if (is_next_to_silence(l, port))
		light_ask(l, port, MAD_ATTR_NODE_INFO, 0);
}

static void
on_switch_info(struct light_sweep *l, uint32_t port, const uint8_t *data)
{
	const struct snapshot_node *n = snapshot_node_of(l->s, port);
	const struct switch_info *then = &n->sw;
	struct switch_info now;

	if (!n->sw_known)
		return;
	switch_info_decode(data, &now);
	if (now.port_state_change)
		change(l, port, "reports PortStateChange");
	else if (now.linear_fdb_cap != then->linear_fdb_cap)
		change(l, port, "has LinearFDBCap %u, had %u",
		       now.linear_fdb_cap, then->linear_fdb_cap);
	else if (now.linear_fdb_top != then->linear_fdb_top)
		change(l, port, "has LinearFDBTop %u, was left with %u",
		       now.linear_fdb_top, then->linear_fdb_top);
	else if (now.multicast_fdb_top != then->multicast_fdb_top)
		change(l, port, "has MulticastFDBTop 0x%04x, was left with "
		       "0x%04x", now.multicast_fdb_top,
		       then->multicast_fdb_top);
}

/* The host behind this port of a switch answers no more. */
static void
falls_silent(struct light_sweep *l, uint32_t port)
{
	const struct snapshot_port *p = &l->s->ports[port];
	g_autofree char *host = snapshot_port_name(l->s, p->peer);

	change(l, port, "port %u: %s behind it does not answer", p->num, host);
	add_silent(l->silent, NULL, silent_of(l->s, port, MAD_ATTR_NODE_INFO),
		   false, l->began);
	g_array_sort(l->silent, compare_silent);
}

/* No answer, or a status, where there was none before. */
static void
on_lack(struct light_sweep *l, uint32_t port, enum mad_attr attr,
	enum smp_outcome outcome)
{
	uint32_t peer = l->s->ports[port].peer;

	if (!l->is_probe && outcome != SMP_TOO_FAR) {
		change(l, port, "does not answer");
		l->r.silent = true;
	}
	if (!l->is_probe || outcome != SMP_TIMED_OUT)
		return;
	if (attr == MAD_ATTR_NODE_INFO)
		falls_silent(l, port);
	else if (peer != SNAPSHOT_NONE && snapshot_is_end_port(l->s, port) &&
		 snapshot_is_switch(snapshot_node_of(l->s, peer)))
		ask_port_info(l, peer);
}

/* It stays in the list until the node was read; a port behind which a node answers is
 * no longer left out, and if that falls silent again, it keeps its pause. */
static void
on_first_answer(struct light_sweep *l, uint32_t port, struct silent_port *was)
{
	if (was->attr != MAD_ATTR_NODE_INFO) {
		change(l, port, "answers %s now", mad_attr_name(was->attr));
		return;
	}
	change(l, port, "port %u: the node behind it answers now", was->num);
	was->state = PORT_STATE_DOWN;
}

static void
light_sweep_reply(void *data, const struct smp_request *r,
		  const struct smp_reply *a)
{
	struct light_sweep *l = data;
	struct silent_port *was = silent_lookup(l->silent, silent_of(l->s,
							r->port, r->attr));
	bool ok = a->outcome == SMP_ANSWERED && !a->status;
	struct node_info info;

	if (ok && r->attr == MAD_ATTR_NODE_INFO) {
		/* nonsense is no news */
		node_info_decode(a->data, &info);
		ok = !faults_node_info(&info, r->port);
	}
	if (!ok && !was)
		on_lack(l, r->port, r->attr, a->outcome);
	else if (ok && was)
		on_first_answer(l, r->port, was);
	else if (ok && r->attr == MAD_ATTR_PORT_INFO)
		on_port_info(l, r->port, a->data);
	else if (ok && r->attr == MAD_ATTR_SWITCH_INFO)
		on_switch_info(l, r->port, a->data);
}

/* --------------------------------------------------------------- the batch */

static bool
light_sweep_next(void *data, struct smp_request *r)
{
	struct light_sweep *l = data;

	if (l->n_sent == l->requests->len)
		return false;
	*r = g_array_index(l->requests, struct smp_request, l->n_sent++);
	return true;
}

static void
light_sweep_free(void *data)
{
	struct light_sweep *l = data;

	g_array_unref(l->r.changed);
	g_array_unref(l->requests);
	g_free(l->r.why);
	g_free(l);
}

/* Those that were queried now are queried again after twice the pause. */
static void
light_sweep_end(void *data)
{
	struct light_sweep *l = data;

	EACH_ITEM(struct silent_port, p, l->silent) {
		if (!l->is_probe || p->due != l->began + p->pause)
			continue;
		p->pause = MIN(2 * p->pause, p->attr == MAD_ATTR_NODE_INFO ?
			       PAUSE_MAX_US : PAUSE_LACK_US);
		p->due = l->began + p->pause;
	}
	l->done(&l->r, l->data);
}

struct smp_batch *
light_sweep_start(struct mad_client *x, const struct mkey_db *keys,
		  const struct snapshot *s, GArray *silent,
		  const struct light_turn *probe, light_sweep_done_fn done,
		  void *data)
{
	struct light_sweep *l = g_new0(struct light_sweep, 1);
	const struct smp_stage stage = {
		.next = light_sweep_next, .reply = light_sweep_reply,
		.end = light_sweep_end, .free = light_sweep_free, .data = l,
	};

	l->keys = keys;
	l->s = s;
	l->silent = silent;
	l->began = transport_now(x->transport);
	l->requests = g_array_new(FALSE, FALSE, sizeof(struct smp_request));
	l->is_probe = probe != NULL;
	if (probe) {
		ask_silent(l);
		ask_links(l, *probe);
	} else {
		ask_fabric(l);
	}
	l->done = done;
	l->data = data;
	l->r.changed = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return smp_batch_start(x, s, keys, &stage);
}
