// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Changing M_Keys.
 *
 * A port without a key accepts every key, so requests with its future key work
 * before and after the Set; the same holds for the old key when a key is
 * removed. Only when one key replaces another, there is a moment from which the
 * old one is rejected and the new one accepted. No other request to the port
 * may be in flight then.
 *
 * The Set has the old key in its header and the new one in its attribute (IBA
 * 14.2.4). If no reply comes, either may be the key of the port: the same Set
 * is sent with the new key in the header. If that times out as well, the M_Key
 * database keeps both, and the next discovery finds out.
 */
#include "sm/sweep/rekey.h"

#include "sm/sweep/program.h"

struct rekey {
	struct persist_keys *ks;
	const struct snapshot *s;
	const struct desired *w;
	void (*done)(void *data);
	void *data;
	GArray *ports;		/* of struct target */
	guint head;
	struct smp_batch *batch;
};

struct target {
	uint32_t port;
	bool new_key;		/* the new key is in the header */
};

static bool
rekey_next(void *data, struct smp_request *req)
{
	struct rekey *r = data;
	const struct mkey_db *k = persist_keys_ring(r->ks);

	while (r->head < r->ports->len) {
		struct target t = g_array_index(r->ports, struct target,
						r->head++);
		const struct snapshot_port *p = &r->s->ports[t.port];
		const struct plan_step step = {
			.kind = PLAN_PORT, .port = t.port, .node = p->node,
		};

		program_step_request(r->s, r->w, &step, req);
		req->addressed = true;
		req->key = t.new_key ? mkey_db_wanted(k, p->guid) :
			mkey_db_of(k, p->guid);
		req->tag = t.new_key;
		if (snapshot_path(r->s, t.port, &req->path))
			return true;
	}
	return false;
}

/*
 * Status 0: the Set was executed. The reply shows the new key, unless the
 * device compares the header's key and hides it; a reply with the old key means
 * that the new one was not taken.
 */
static void
rekey_reply(void *data, const struct smp_request *req,
	    const struct smp_reply *a)
{
	struct rekey *r = data;
	struct mkey_db *k = persist_keys_ring(r->ks);
	uint64_t guid = r->s->ports[req->port].guid;
	bool new_key = req->tag;
	const struct target again = { .port = req->port, .new_key = true };
	struct port_info info;

	if (a->outcome != SMP_ANSWERED) {
		if (!new_key)
			g_array_append_val(r->ports, again);
		return;
	}
	port_info_decode(a->data, &info);
	if (!a->status)
		mkey_db_prove(k, guid, mkey_db_is_hidden(&info) ?
			      mkey_db_wanted(k, guid) : info.m_key);
	else if (new_key)
		mkey_db_prove(k, guid, mkey_db_wanted(k, guid));
}

void
rekey_cancel(struct rekey *r)
{
	smp_batch_free(r->batch);
	g_array_unref(r->ports);
	g_free(r);
}

static bool
rekey_done(void *data)
{
	struct rekey *r = data;
	void (*done)(void *) = r->done;

	persist_keys_save(r->ks);
	data = r->data;
	rekey_cancel(r);
	done(data);
	return false;
}

/* Records the keys of all ports that are to get one; returns the ports that
 * have another key now. */
static GArray *
intend(struct mkey_db *k, const struct snapshot *s, const struct plan *plan)
{
	GArray *ports = g_array_new(FALSE, FALSE, sizeof(struct target));

	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const struct plan_step *step = &plan->steps[i];
		const struct target t = { .port = step->port };
		const struct snapshot_port *p;
		uint64_t wanted;

		if ((step->kind != PLAN_PORT && step->kind != PLAN_ARM) ||
		    !(step->fields & PORT_FIELD_M_KEY))
			continue;
		p = &s->ports[step->port];
		wanted = mkey_db_wanted(k, p->guid);
		if (p->info.m_key && wanted && p->info.m_key != wanted)
			g_array_append_val(ports, t);
		mkey_db_intend(k, p->guid, wanted);
	}
	return ports;
}

struct rekey *
rekey_start(struct mad_client *x, struct persist_keys *ks,
	    const struct snapshot *s, const struct desired *w,
	    const struct plan *plan, void (*done)(void *data), void *data)
{
	struct rekey *r;
	GArray *ports;

	if (!ks)
		return NULL;
	ports = intend(persist_keys_ring(ks), s, plan);
	persist_keys_save(ks);
	if (!ports->len) {
		g_array_unref(ports);
		return NULL;
	}
	r = g_new0(struct rekey, 1);
	r->ks = ks;
	r->s = s;
	r->w = w;
	r->ports = ports;
	r->done = done;
	r->data = data;
	r->batch = smp_batch_start(x, s, persist_keys_ring(ks),
				   &(struct smp_stage){
					   .next = rekey_next,
					   .reply = rekey_reply,
					   .done = rekey_done,
					   .data = r,
				   });
	return r;
}
