// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Other subnet managers.
 *
 * They are found by PortInfo.CapabilityMask.IsSM and asked by directed route,
 * which works before there are LIDs. A port that says IsSM and does not answer
 * SMInfo has no SM that could take part in an election: it is left out.
 */
#include "sm/peers.h"

struct peers {
	struct xact *x;
	GArray *found;		/* of struct election_peer */
	peers_done_fn done;
	void *data;
	unsigned in_flight;
	unsigned timer;
};

static void
peers_free(struct peers *p)
{
	if (p->timer)
		transport_timer_cancel(xact_transport(p->x), p->timer);
	g_array_unref(p->found);
	g_free(p);
}

static gint
by_port(gconstpointer a, gconstpointer b)
{
	const struct election_peer *x = a, *y = b;

	return x->port < y->port ? -1 : x->port > y->port;
}

static void
settle(struct peers *p)
{
	g_autoptr(GArray) found = NULL;
	peers_done_fn done = p->done;
	void *data = p->data;

	if (p->in_flight || p->timer)
		return;
	found = g_array_ref(p->found);
	peers_free(p);
	g_array_sort(found, by_port);
	done(found, data);
}

static void
on_done(const struct xact_answer *a, void *data, uint64_t port)
{
	struct peers *p = data;
	struct election_peer peer = { .port = port };

	p->in_flight--;
	if (a->outcome == XACT_ANSWERED && !a->header.status) {
		sm_info_decode(smp_data_const(a->mad), &peer.info);
		g_array_append_val(p->found, peer);
	}
	settle(p);
}

static void
on_start(void *data)
{
	struct peers *p = data;

	p->timer = 0;
	settle(p);
}

static void
ask_peer(struct peers *p, const struct keyring *keys, const struct subnet *s,
	 uint32_t port)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	if (!subnet_path(s, port, &path))
		return;
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_SM_INFO, 0,
			 keyring_at(keys, s, port), &path);
	p->in_flight++;
	xact_start(p->x, &direct, mad, on_done, p, port);
}

struct peers *
peers_ask(struct xact *x, const struct keyring *keys, const struct subnet *s,
	  uint32_t only, peers_done_fn done, void *data)
{
	struct peers *p = g_new0(struct peers, 1);

	p->x = x;
	p->done = done;
	p->data = data;
	p->found = g_array_new(FALSE, FALSE, sizeof(struct election_peer));
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct subnet_port *sp = &s->ports[port];

		if (port == s->local_port || !subnet_is_end_port(s, port) ||
		    !(sp->info.cap_mask & PORT_CAP_IS_SM))
			continue;
		if (only == SUBNET_NONE || only == port)
			ask_peer(p, keys, s, port);
	}
	p->timer = transport_timer_start(xact_transport(x), 0, on_start, p);
	return p;
}

void
peers_cancel(struct peers *p)
{
	xact_cancel_owner(p->x, p);
	peers_free(p);
}

bool
peers_have(const GArray *peers, uint64_t guid, unsigned state)
{
	for (guint i = 0; peers && i < peers->len; i++) {
		const struct sm_info *p = &g_array_index(peers,
						struct election_peer, i).info;

		if (p->guid == guid && (!state || p->state == state))
			return true;
	}
	return false;
}

GPtrArray *
peers_rivals(const struct sm_info *self, const GArray *before,
	     const GArray *found, const struct subnet *s)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < found->len; i++) {
		const struct election_peer *peer =
			&g_array_index(found, struct election_peer, i);
		const struct sm_info *p = &peer->info;
		bool stranger = election_is_stranger(self, p);

		if (!stranger && (p->state != SM_STATE_MASTER ||
				  !peers_have(before, p->guid,
					      SM_STATE_MASTER)))
			continue;
		g_ptr_array_add(lines, g_strdup_printf(
			"%s port %u (0x%016" G_GINT64_MODIFIER "x, LID %u) "
			"has a subnet manager in state %s that %s",
			subnet_node_name(subnet_node_of(s, peer->port)),
			s->ports[peer->port].num, p->guid,
			s->ports[peer->port].info.lid,
			sm_state_name(p->state), stranger ?
			"shows another SM_Key, so there is no election with "
			"it: set the same sm_key in both" :
			"stays it beside us: it does not see us, or does not "
			"take our SM_Key"));
	}
	return lines;
}

static void
ignore(const struct xact_answer *a, void *data, uint64_t tag)
{
}

void
peers_control(struct xact *x, const struct keyring *keys,
	      const struct subnet *s, uint32_t port, enum sm_control control,
	      const struct sm_info *self, xact_done_fn done, void *data)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	if (!subnet_path(s, port, &path))
		return;
	smp_build_direct(mad, MAD_METHOD_SET, MAD_ATTR_SM_INFO, control,
			 keyring_at(keys, s, port), &path);
	sm_info_encode(smp_data(mad), self);
	xact_start(x, &direct, mad, done ? done : ignore, data, port);
}
