// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Other subnet managers.
 *
 * They are found by PortInfo.CapabilityMask.IsSM and queried by directed route,
 * which works before there are LIDs. A port that says IsSM and does not answer
 * SMInfo has no SM that could take part in an election: it is left out.
 */
#include "sm/sweep/sminfo_poll.h"

#include "sm/sweep/smp_batch.h"

struct sminfo_poll {
	const struct snapshot *s;
	uint32_t only;		/* SNAPSHOT_NONE: all ports */
	uint32_t port;		/* the next to be looked at */
	struct smp_batch *batch;
	GArray *found;		/* of struct election_peer */
	sminfo_poll_done_fn done;
	void *data;
};

static bool
sminfo_poll_next(void *data, struct smp_request *r)
{
	struct sminfo_poll *p = data;

	while (p->port < p->s->n_ports) {
		r->port = p->port++;
		r->attr = MAD_ATTR_SM_INFO;
		if (r->port != p->s->local_port &&
		    snapshot_is_end_port(p->s, r->port) &&
		    p->s->ports[r->port].info.cap_mask & PORT_CAP_IS_SM &&
		    (p->only == SNAPSHOT_NONE || p->only == r->port))
			return true;
	}
	return false;
}

static void
sminfo_poll_reply(void *data, const struct smp_request *r,
		  const struct smp_reply *a)
{
	struct sminfo_poll *p = data;
	struct election_peer peer = { .port = r->port };

	if (a->outcome != SMP_ANSWERED || a->status)
		return;
	sm_info_decode(a->data, &peer.info);
	g_array_append_val(p->found, peer);
}

static int
compare_ports(const void *a, const void *b)
{
	const struct election_peer *p = a, *q = b;

	return p->port < q->port ? -1 : p->port > q->port;
}

void
sminfo_poll_cancel(struct sminfo_poll *p)
{
	smp_batch_free(p->batch);
	g_array_unref(p->found);
	g_free(p);
}

static bool
sminfo_poll_done(void *data)
{
	struct sminfo_poll *p = data;
	g_autoptr(GArray) found = g_array_ref(p->found);
	sminfo_poll_done_fn done = p->done;

	data = p->data;
	sminfo_poll_cancel(p);
	g_array_sort(found, compare_ports);
	done(found, data);
	return false;
}

struct sminfo_poll *
sminfo_poll_start(struct mad_client *x, const struct mkey_db *keys,
		  const struct snapshot *s, uint32_t only,
		  sminfo_poll_done_fn done, void *data)
{
	struct sminfo_poll *p = g_new0(struct sminfo_poll, 1);
	const struct smp_stage stage = {
		.next = sminfo_poll_next, .reply = sminfo_poll_reply,
		.done = sminfo_poll_done, .data = p,
	};

	p->s = s;
	p->only = only;
	p->done = done;
	p->data = data;
	p->found = g_array_new(FALSE, FALSE, sizeof(struct election_peer));
	p->batch = smp_batch_start(x, s, keys, &stage);
	return p;
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
	      const struct sm_info *self)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	if (!snapshot_path(s, port, &path))
		return;
	smp_build_direct(mad, MAD_METHOD_SET, MAD_ATTR_SM_INFO, control,
			 mkey_db_at(keys, s, port), &path);
	sm_info_encode(smp_data(mad), self);
	mad_client_start(x, &direct, mad, ignore, NULL, port);
}
