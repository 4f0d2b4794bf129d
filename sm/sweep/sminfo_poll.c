// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Other subnet managers.
 *
 * They are found by PortInfo.CapabilityMask.IsSM and asked by directed route,
 * which works before there are LIDs. A port that says IsSM and does not answer
 * SMInfo has no SM that could take part in an election: it is left out.
 */
#include "sm/sweep/sminfo_poll.h"

struct sminfo_poll {
	struct mad_client *x;
	GArray *found;		/* of struct election_peer */
	sminfo_poll_done_fn done;
	void *data;
	unsigned in_flight;
	unsigned timer;
};

static void
sminfo_poll_free(struct sminfo_poll *p)
{
	if (p->timer)
		transport_timer_cancel(mad_client_transport(p->x), p->timer);
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
settle(struct sminfo_poll *p)
{
	g_autoptr(GArray) found = NULL;
	sminfo_poll_done_fn done = p->done;
	void *data = p->data;

	if (p->in_flight || p->timer)
		return;
	found = g_array_ref(p->found);
	sminfo_poll_free(p);
	g_array_sort(found, by_port);
	done(found, data);
}

static void
on_done(const struct mad_client_answer *a, void *data, uint64_t port)
{
	struct sminfo_poll *p = data;
	struct election_peer peer = { .port = port };

	p->in_flight--;
	if (a->outcome == MAD_CLIENT_ANSWERED && !a->header.status) {
		sm_info_decode(smp_data_const(a->mad), &peer.info);
		g_array_append_val(p->found, peer);
	}
	settle(p);
}

static void
on_start(void *data)
{
	struct sminfo_poll *p = data;

	p->timer = 0;
	settle(p);
}

static void ask_peer(struct sminfo_poll *p, const struct mkey_db *keys,
		     const struct snapshot *s, uint32_t port)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	if (!snapshot_path(s, port, &path))
		return;
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_SM_INFO, 0,
			 mkey_db_at(keys, s, port), &path);
	p->in_flight++;
	mad_client_start(p->x, &direct, mad, on_done, p, port);
}

struct sminfo_poll *sminfo_poll_ask(struct mad_client *x,
				    const struct mkey_db *keys,
				    const struct snapshot *s, uint32_t only,
				    sminfo_poll_done_fn done, void *data)
{
	struct sminfo_poll *p = g_new0(struct sminfo_poll, 1);

	p->x = x;
	p->done = done;
	p->data = data;
	p->found = g_array_new(FALSE, FALSE, sizeof(struct election_peer));
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct snapshot_port *sp = &s->ports[port];

		if (port == s->local_port || !snapshot_is_end_port(s, port) ||
		    !(sp->info.cap_mask & PORT_CAP_IS_SM))
			continue;
		if (only == SNAPSHOT_NONE || only == port)
			ask_peer(p, keys, s, port);
	}
	p->timer =
		transport_timer_start(mad_client_transport(x), 0, on_start, p);
	return p;
}

void
sminfo_poll_cancel(struct sminfo_poll *p)
{
	mad_client_cancel_owner(p->x, p);
	sminfo_poll_free(p);
}

bool
sminfo_poll_have(const GArray *peers, uint64_t guid, unsigned state)
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
sminfo_poll_rivals(const struct sm_info *self, const GArray *before,
	     const GArray *found, const struct snapshot *s)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < found->len; i++) {
		const struct election_peer *peer =
			&g_array_index(found, struct election_peer, i);
		const struct sm_info *p = &peer->info;
		bool stranger = election_is_stranger(self, p);

		if (!stranger && (p->state != SM_STATE_MASTER ||
				  !sminfo_poll_have(before, p->guid,
					      SM_STATE_MASTER)))
			continue;
		g_ptr_array_add(lines, g_strdup_printf(
			"%s port %u (0x%016" G_GINT64_MODIFIER "x, LID %u) "
			"has a subnet manager in state %s that %s",
			snapshot_node_name(snapshot_node_of(s, peer->port)),
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
ignore(const struct mad_client_answer *a, void *data, uint64_t tag)
{
}

void
sminfo_poll_control(struct mad_client *x, const struct mkey_db *keys,
	      const struct snapshot *s, uint32_t port, enum sm_control control,
	      const struct sm_info *self, mad_client_done_fn done, void *data)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	if (!snapshot_path(s, port, &path))
		return;
	smp_build_direct(mad, MAD_METHOD_SET, MAD_ATTR_SM_INFO, control,
			 mkey_db_at(keys, s, port), &path);
	sm_info_encode(smp_data(mad), self);
	mad_client_start(x, &direct, mad, done ? done : ignore, data, port);
}
