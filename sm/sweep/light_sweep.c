// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The light sweep.
 *
 * One question for each switch (SwitchInfo, whose PortStateChange bit says
 * that a link came or went, IBA 14.2.5.4), one for the own port, and one
 * through each port whose link is up but behind which nobody answered so far.
 * A switch that answers not at all is a change, too.
 *
 * A host whose M_Key has a lease is asked for its PortInfo: a wrong key from
 * somebody starts the lease, and a Get with the right one stops it (IBA
 * 14.2.4.2). If we came too late, its protection is off.
 */
#include "sm/sweep/light_sweep.h"

#include "sm/sweep/program_step.h"
#include "sm/mad/smp.h"

struct light {
	struct mad_client *x;
	const struct mkey_db *keys;
	const struct snapshot *s;
	light_sweep_done_fn done;
	void *data;
	uint32_t port;		/* the next to be looked at */
	unsigned in_flight;
	unsigned timer;
	char *why;
};

static bool
has_lease(const struct snapshot *s, uint32_t port)
{
	const struct port_info *i = &s->ports[port].info;

	return snapshot_is_end_port(s, port) && i->m_key && i->m_key_lease &&
		i->state >= PORT_STATE_ACTIVE;
}

/* What to ask about a port of the snapshot. */
static enum mad_attr
question(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];
	const struct snapshot_node *n = &s->nodes[p->node];

	if (snapshot_is_switch(n) && p->num == 0)
		return MAD_ATTR_SWITCH_INFO;
	if (port == s->local_port || has_lease(s, port))
		return MAD_ATTR_PORT_INFO;
	if (snapshot_is_switch(n) && p->known && p->peer == SNAPSHOT_NONE &&
	    p->info.state != PORT_STATE_DOWN)
		return MAD_ATTR_NODE_INFO;
	return 0;
}

static void
light_sweep_free(struct light *l)
{
	mad_client_set_pump(l->x, NULL, NULL);
	if (l->timer)
		transport_timer_cancel(mad_client_transport(l->x), l->timer);
	g_free(l->why);
	g_free(l);
}

static void G_GNUC_PRINTF(3, 4)
change(struct light *l, uint32_t port, const char *format, ...)
{
	const struct snapshot_node *n = snapshot_node_of(l->s, port);
	va_list args;

	if (l->why)
		return;
	va_start(args, format);
	g_autofree char *what = g_strdup_vprintf(format, args);
	va_end(args);
	l->why =
		g_strdup_printf("%s (0x%016" G_GINT64_MODIFIER "x) %s",
				snapshot_node_name(n), n->info.node_guid, what);
}

static void
on_switch_info(struct light *l, uint32_t port, const uint8_t *data)
{
	const struct switch_info *then = &snapshot_node_of(l->s, port)->sw;
	struct switch_info now;

	switch_info_decode(data, &now);
	if (now.port_state_change)
		change(l, port, "says that a port has changed");
	else if (now.linear_fdb_top != then->linear_fdb_top)
		change(l, port, "has LinearFDBTop %u, was left with %u",
		       now.linear_fdb_top, then->linear_fdb_top);
	else if (now.multicast_fdb_top != then->multicast_fdb_top)
		change(l, port, "has MulticastFDBTop 0x%04x, was left with "
		       "0x%04x", now.multicast_fdb_top,
		       then->multicast_fdb_top);
}

static void
on_port_info(struct light *l, uint32_t port, const uint8_t *data)
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

static void pump(void *data);

static void
on_done(const struct mad_client_answer *a, void *data, uint64_t port)
{
	struct light *l = data;
	enum mad_attr attr = question(l->s, port);
	bool well = a->outcome == MAD_CLIENT_ANSWERED && !a->header.status;

	l->in_flight--;
	if (attr == MAD_ATTR_NODE_INFO) {
		if (well)
			change(l, port, "port %u: what is behind it answers "
			       "now", l->s->ports[port].num);
	} else if (!well) {
		change(l, port, "does not answer");
	} else if (attr == MAD_ATTR_SWITCH_INFO) {
		on_switch_info(l, port, smp_data_const(a->mad));
	} else {
		on_port_info(l, port, smp_data_const(a->mad));
	}
	pump(l);
}

static void
send_question(struct light *l, uint32_t port, enum mad_attr attr)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	uint8_t num = l->s->ports[port].num;
	uint64_t key = mkey_db_at(l->keys, l->s, port);
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	if (!snapshot_path(l->s, port, &path))
		return;
	if (attr == MAD_ATTR_NODE_INFO) {
		if (!dr_path_push(&path, num))
			return;
		key = mkey_db_of(
			l->keys,
			mkey_db_behind(
				l->keys,
				l->s->ports[snapshot_holder_of(l->s, port)]
					.guid,
				num));
	}
	smp_build_direct(mad, MAD_METHOD_GET, attr,
			 attr == MAD_ATTR_PORT_INFO
				 ? program_step_port_info_mod(l->s, port)
				 : 0,
			 key, &path);
	l->in_flight++;
	mad_client_start(l->x, &direct, mad, on_done, l, port);
}

static void
pump(void *data)
{
	struct light *l = data;

	while (l->port < l->s->n_ports && mad_client_room(l->x)) {
		uint32_t port = l->port++;
		enum mad_attr attr = question(l->s, port);

		if (attr)
			send_question(l, port, attr);
	}
	if (l->port < l->s->n_ports || l->in_flight || l->timer)
		return;

	light_sweep_done_fn done = l->done;
	g_autofree char *why = g_steal_pointer(&l->why);

	data = l->data;
	light_sweep_free(l);
	done(why, data);
}

static void
on_start(void *data)
{
	struct light *l = data;

	l->timer = 0;
	pump(l);
}

struct light *light_sweep_start(struct mad_client *x,
				const struct mkey_db *keys,
				const struct snapshot *s,
				light_sweep_done_fn done, void *data)
{
	struct light *l = g_new0(struct light, 1);

	l->x = x;
	l->keys = keys;
	l->s = s;
	l->done = done;
	l->data = data;
	mad_client_set_pump(x, pump, l);
	l->timer =
		transport_timer_start(mad_client_transport(x), 0, on_start, l);
	return l;
}

void
light_sweep_cancel(struct light *l)
{
	mad_client_cancel_owner(l->x, l);
	light_sweep_free(l);
}
