// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The light sweep.
 *
 * One Get for each switch (SwitchInfo, whose PortStateChange bit says that a
 * link came or went, IBA 14.2.5.4), and one for the SM's own port. A switch
 * that does not answer counts as a change. PortInfo is read of each host whose
 * M_Key has a lease: a request of another node with a wrong key starts the
 * lease, and a Get with the right key stops it (IBA 14.2.4.2). If it has run
 * out already, the port is no longer protected.
 */
#include "sm/sweep/light_sweep.h"

#include "sm/sweep/smp_batch.h"

struct light_sweep {
	const struct mkey_db *keys;
	const struct snapshot *s;
	light_sweep_done_fn done;
	void *data;
	GArray *behind;		/* or NULL */
	uint32_t port;		/* the next port; an index of `behind`, if
				   there is one */
	struct smp_batch *batch;
	struct light_sweep_result r;
};

static bool
has_lease(const struct snapshot *s, uint32_t port)
{
	const struct port_info *i = &s->ports[port].info;

	return snapshot_is_end_port(s, port) && i->m_key && i->m_key_lease &&
		i->state >= PORT_STATE_ACTIVE;
}

/* The attribute to be read of a port; 0: none. */
static enum mad_attr
attr_to_read(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];
	const struct snapshot_node *n = &s->nodes[p->node];

	if (snapshot_is_switch(n) && p->num == 0)
		return MAD_ATTR_SWITCH_INFO;
	if (port == s->local_port || has_lease(s, port))
		return MAD_ATTR_PORT_INFO;
	return 0;
}

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

static void
on_switch_info(struct light_sweep *l, uint32_t port, const uint8_t *data)
{
	const struct switch_info *then = &snapshot_node_of(l->s, port)->sw;
	struct switch_info now;

	switch_info_decode(data, &now);
	if (now.port_state_change)
		change(l, port, "reports PortStateChange");
	else if (now.linear_fdb_top != then->linear_fdb_top)
		change(l, port, "has LinearFDBTop %u, was left with %u",
		       now.linear_fdb_top, then->linear_fdb_top);
	else if (now.multicast_fdb_top != then->multicast_fdb_top)
		change(l, port, "has MulticastFDBTop 0x%04x, was left with "
		       "0x%04x", now.multicast_fdb_top,
		       then->multicast_fdb_top);
}

static void
light_sweep_on_port_info(struct light_sweep *l, uint32_t port,
			 const uint8_t *data)
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
	else if (now.lid != then->lid || now.sm_lid != then->sm_lid)
		change(l, port, "lost its LID or SM LID");
}

static void
light_sweep_reply(void *data, const struct smp_request *r,
		  const struct smp_reply *a)
{
	struct light_sweep *l = data;
	bool ok = a->outcome == SMP_ANSWERED && !a->status;

	if (r->attr == MAD_ATTR_NODE_INFO) {
		if (ok)
			change(l, r->port, "port %u: the node behind it "
			       "answers now", l->s->ports[r->port].num);
	} else if (!ok && a->outcome != SMP_TOO_FAR) {
		change(l, r->port, "does not answer");
		l->r.silent = true;
	} else if (!ok) {
		return;
	} else if (r->attr == MAD_ATTR_SWITCH_INFO) {
		on_switch_info(l, r->port, a->data);
	} else {
		light_sweep_on_port_info(l, r->port, a->data);
	}
}

/* NodeInfo through the port, with the M_Key of the port behind it. */
static bool
address_behind(const struct light_sweep *l, struct smp_request *r)
{
	uint64_t guid = l->s->ports[snapshot_holder_of(l->s, r->port)].guid;
	uint8_t num = l->s->ports[r->port].num;

	r->addressed = true;
	r->key = mkey_db_of(l->keys, mkey_db_behind(l->keys, guid, num));
	return snapshot_path(l->s, r->port, &r->path) &&
		dr_path_push(&r->path, num);
}

static bool
light_sweep_next(void *data, struct smp_request *r)
{
	struct light_sweep *l = data;

	while (l->behind && l->port < l->behind->len) {
		r->port = g_array_index(l->behind, uint32_t, l->port++);
		r->attr = MAD_ATTR_NODE_INFO;
		if (address_behind(l, r))
			return true;
	}
	while (!l->behind && l->port < l->s->n_ports) {
		r->port = l->port++;
		r->attr = attr_to_read(l->s, r->port);
		if (r->attr == MAD_ATTR_PORT_INFO)
			r->modifier = smp_batch_port_info_modifier(l->s,
								   r->port);
		if (r->attr)
			return true;
	}
	return false;
}

void
light_sweep_cancel(struct light_sweep *l)
{
	smp_batch_free(l->batch);
	g_array_unref(l->r.changed);
	if (l->behind)
		g_array_unref(l->behind);
	g_free(l->r.why);
	g_free(l);
}

static bool
light_sweep_done(void *data)
{
	struct light_sweep *l = data;
	light_sweep_done_fn done = l->done;
	struct light_sweep_result r = l->r;

	g_array_ref(r.changed);
	l->r.why = NULL;
	data = l->data;
	light_sweep_cancel(l);
	done(&r, data);
	g_array_unref(r.changed);
	g_free(r.why);
	return false;
}

struct light_sweep *
light_sweep_start(struct mad_client *x, const struct mkey_db *keys,
		  const struct snapshot *s, GArray *behind,
		  light_sweep_done_fn done, void *data)
{
	struct light_sweep *l = g_new0(struct light_sweep, 1);
	const struct smp_stage stage = {
		.next = light_sweep_next, .reply = light_sweep_reply,
		.done = light_sweep_done, .data = l,
	};

	l->keys = keys;
	l->s = s;
	l->behind = behind ? g_array_ref(behind) : NULL;
	l->done = done;
	l->data = data;
	l->r.changed = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	l->batch = smp_batch_start(x, s, keys, &stage);
	return l;
}
