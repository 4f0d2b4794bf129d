// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Changing M_Keys.
 *
 * A port that has no key yet takes every key, so whatever is sent to it, with
 * the key that it is to have, works before, while and after it gets that; the
 * same with the old key while one is taken away. Only from one key to another
 * there is a moment from which on the one does not open the port any more, and
 * the other does. Nothing else may be on the way to the port then.
 *
 * The Set has the old key in its header and the new one in its attribute (IBA
 * 14.2.4). If no answer comes, either may be the port's key: the same is sent
 * with the new one in the header. If that is not answered, either, the keyring
 * keeps both, and the next discovery finds out.
 */
#include "sm/sweep/rekey.h"

#include "sm/sweep/program_step.h"
#include "sm/mad/smp.h"

struct rekey {
	struct mad_client *x;
	struct persist_keys *ks;
	const struct snapshot *s;
	const struct desired *w;
	void (*done)(void *data);
	void *data;
	GArray *ports;		/* uint32_t, from head on */
	guint head;
	unsigned in_flight;
	unsigned timer;		/* until the first one is sent */
};

/* Which key opens the port when the request comes to it. */
enum header {
	HEADER_OLD,
	HEADER_NEW,
};

static void
rekey_free(struct rekey *r)
{
	mad_client_set_pump(r->x, NULL, NULL);
	if (r->timer)
		transport_timer_cancel(mad_client_transport(r->x), r->timer);
	g_array_unref(r->ports);
	g_free(r);
}

static uint64_t
guid_of(const struct rekey *r, uint32_t port)
{
	return r->s->ports[port].guid;
}

static void pump(void *data);
static void on_done(const struct mad_client_answer *a, void *data,
		    uint64_t tag);

static void
send(struct rekey *r, uint32_t port, enum header header)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	const struct plan_step step = {
		.kind = PLAN_PORT, .port = port,
		.node = r->s->ports[port].node,
	};
	const struct mkey_db *k = persist_keys_ring(r->ks);
	uint64_t key = header == HEADER_NEW ?
		mkey_db_wanted(k, guid_of(r, port)) :
		mkey_db_of(k, guid_of(r, port));
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	if (!snapshot_path(r->s, port, &path))
		return;
	smp_build_direct(mad, MAD_METHOD_SET, MAD_ATTR_PORT_INFO,
			 program_step_attr_mod(r->s, &step), key, &path);
	program_step_encode(r->s, r->w, &step, smp_data(mad));
	r->in_flight++;
	mad_client_start(r->x, &direct, mad, on_done, r,
		   (uint64_t)header << 32 | port);
}

/*
 * Status 0 means that it was done. The answer shows the key that the port has
 * now, unless its device goes by the key in the header and hides it; and one
 * that shows the old key has not taken the new one.
 */
static void
on_answer(struct rekey *r, uint32_t port, enum header header,
	  const struct mad_client_answer *a)
{
	struct mkey_db *k = persist_keys_ring(r->ks);
	uint64_t guid = guid_of(r, port);
	struct port_info info;

	port_info_decode(smp_data_const(a->mad), &info);
	if (!a->header.status)
		mkey_db_prove(k, guid, mkey_db_is_hidden(&info) ?
			      mkey_db_wanted(k, guid) : info.m_key);
	else if (header == HEADER_NEW)
		mkey_db_prove(k, guid, mkey_db_wanted(k, guid));
}

static void
on_done(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	enum header header = tag >> 32 ? HEADER_NEW : HEADER_OLD;
	uint32_t port = (uint32_t)tag;
	struct rekey *r = data;

	r->in_flight--;
	if (a->outcome == MAD_CLIENT_ANSWERED)
		on_answer(r, port, header, a);
	else if (header == HEADER_OLD)
		send(r, port, HEADER_NEW);
	pump(r);
}

static void
finish(struct rekey *r)
{
	void (*done)(void *) = r->done;
	void *data = r->data;

	persist_keys_save(r->ks);
	rekey_free(r);
	done(data);
}

static void
pump(void *data)
{
	struct rekey *r = data;

	while (r->head < r->ports->len && mad_client_room(r->x))
		send(r, g_array_index(r->ports, uint32_t, r->head++),
		     HEADER_OLD);
	if (r->head == r->ports->len && !r->in_flight && !r->timer)
		finish(r);
}

static void
on_start(void *data)
{
	struct rekey *r = data;

	r->timer = 0;
	pump(r);
}

static bool
gives_key(const struct plan_step *step)
{
	return program_step_has_port(step) && step->kind != PLAN_ACTIVATE &&
		step->fields & PORT_FIELD_M_KEY;
}

/* The ports that are to be given a key: all are written down, those that have
 * another one are returned. */
static GArray *
intend(struct mkey_db *k, const struct snapshot *s, const struct plan *plan)
{
	GArray *ports = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const struct plan_step *step = &plan->steps[i];
		const struct snapshot_port *p;
		uint64_t wanted;

		if (!gives_key(step))
			continue;
		p = &s->ports[step->port];
		wanted = mkey_db_wanted(k, p->guid);
		if (p->info.m_key && wanted && p->info.m_key != wanted)
			g_array_append_val(ports, step->port);
		mkey_db_intend(k, p->guid, wanted);
	}
	return ports;
}

struct rekey *rekey_start(struct mad_client *x, struct persist_keys *ks,
			  const struct snapshot *s, const struct desired *w,
			  const struct plan *plan, void (*done)(void *data),
			  void *data)
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
	r->x = x;
	r->ks = ks;
	r->s = s;
	r->w = w;
	r->ports = ports;
	r->done = done;
	r->data = data;
	mad_client_set_pump(x, pump, r);
	r->timer =
		transport_timer_start(mad_client_transport(x), 0, on_start, r);
	return r;
}

void
rekey_cancel(struct rekey *r)
{
	mad_client_cancel_owner(r->x, r);
	rekey_free(r);
}
