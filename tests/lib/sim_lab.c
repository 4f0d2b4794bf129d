// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The bench: see sim_lab.h. Its transport has one receiver, which keeps the
 * last answer and the last trap; a question is a send and a run of the clock.
 */
#include "tests/lib/sim_lab.h"

#include "tests/lib/unit.h"

static void
on_recv(const struct transport_mad *m, void *data)
{
	struct simlab *lab = data;
	struct mad_header h;

	assert_true(mad_header_read(m->mad, m->len, &h));
	if (m->event == TRANSPORT_RETURNED) {
		lab->answered = true;
		lab->status = LAB_SILENT;
	} else if (h.method == MAD_METHOD_TRAP) {
		lab->traps++;
		memcpy(lab->trap, m->mad, MAD_SIZE);
	} else if (h.method & MAD_METHOD_RESPONSE) {
		lab->answered = true;
		lab->status = h.status;
		memcpy(lab->mad, m->mad, MAD_SIZE);
	}
}

void
simlab_attach(struct simlab *lab, enum sim_role role)
{
	lab->t = sim_attach(lab->sim, lab->s->local_port, role);
	transport_set_receiver(lab->t, on_recv, lab);
}

void
simlab_open(struct simlab *lab, const char *spec,
	    const struct sim_params *params)
{
	struct sim_params even = params ? *params : sim_params_default;

	memset(lab, 0, sizeof(*lab));
	lab->s = generate_fabric(spec, NULL, NULL);
	assert_non_null(lab->s);
	even.hop_ns = 1000;
	lab->sim = sim_new(lab->s, &even);
	simlab_attach(lab, SIM_ROLE_MANAGER);
}

void
simlab_close(struct simlab *lab)
{
	sim_free(lab->sim);
	snapshot_unref(lab->s);
}

unsigned
simlab_ask(struct simlab *lab, uint32_t port, unsigned method, unsigned attr_id,
	   uint32_t attr_mod, uint8_t *data)
{
	static const struct mad_addr to = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	assert_true(snapshot_path(lab->s, port, &path));
	smp_build_direct(mad, method, attr_id, attr_mod, 0, &path);
	if (data)
		memcpy(smp_data(mad), data, SMP_DATA_LEN);
	lab->answered = false;
	assert_true(transport_send(lab->t, &to, mad, MAD_SIZE,
				   LAB_TIMEOUT_MS, NULL));
	while (!lab->answered)
		assert_true(sim_step(lab->sim));
	if (data && lab->status != LAB_SILENT)
		memcpy(data, smp_data(lab->mad), SMP_DATA_LEN);
	return lab->status;
}

void
simlab_port_wish(const struct simlab *lab, uint32_t port,
		 struct port_info *want)
{
	*want = *sim_port_info(lab->sim, port);
	want->state = want->phys_state = 0;
	if (snapshot_is_end_port(lab->s, port)) {
		want->lid = want->lid ? want->lid : port + 1;
		want->sm_lid = want->sm_lid ? want->sm_lid : 1;
	}
}

void
simlab_activate(struct simlab *lab, uint32_t port)
{
	static const uint8_t states[] = {
		PORT_STATE_ARMED, PORT_STATE_ACTIVE,
	};
	const uint32_t ends[] = { port, sim_peer(lab->sim, port) };

	for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
		for (size_t e = 0; e < G_N_ELEMENTS(ends); e++) {
			uint8_t data[SMP_DATA_LEN];
			struct port_info want;

			simlab_port_wish(lab, ends[e], &want);
			want.state = states[i];
			port_info_encode(data, &want);
			assert_int_equal(simlab_ask(lab, ends[e],
				MAD_METHOD_SET, MAD_ATTR_PORT_INFO,
				lab->s->ports[ends[e]].num, data), 0);
		}
	}
}

uint32_t
simlab_node(const struct simlab *lab, enum node_type type, unsigned nth)
{
	for (uint32_t i = 0; i < lab->s->n_nodes; i++)
		if (lab->s->nodes[i].info.node_type == type && !nth--)
			return i;
	fail_msg("the fabric has no such node");
	return SNAPSHOT_NONE;
}

uint32_t
simlab_end(const struct simlab *lab, enum node_type type, unsigned nth)
{
	uint32_t node = simlab_node(lab, type, nth);

	return snapshot_port_of(lab->s, node, type == NODE_SWITCH ? 0 : 1);
}
