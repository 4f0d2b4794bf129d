// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Choosing what carries the MADs.
 *
 * A simulated fabric comes from a net file or, if there is no such file, from a
 * generator's formula. Its virtual clock runs as fast as it can for a run that
 * ends by itself, and in real time for a resident manager, which is watched.
 */
#include "sm/backend.h"

#include <unistd.h>

#include "sm/sim/sim.h"
#include "sm/watch.h"
#include "topology/text.h"
#include "topology/generate.h"
#include "topology/net_file.h"

static bool
only_plans(const struct options *conf)
{
	return conf->mode == OPTIONS_MODE_PLAN ||
		conf->mode == OPTIONS_MODE_PLAN_JSON;
}

static struct transport *
open_umad(const struct options *conf, const struct backend_hooks *hooks,
	  GError **error)
{
	const struct umad_choice choice = {
		.ca_name = conf->ca_name,
		.port_num = conf->port_num,
		.port_guid = conf->port_guid,
		.role = only_plans(conf) ? UMAD_ROLE_READER :
			options_is_guest(conf) ? UMAD_ROLE_GUEST :
			UMAD_ROLE_MANAGER,
		.event = hooks->port,
		.event_data = hooks->data,
	};
	struct transport *transport = umad_transport_open(&choice, error);
	bool is_none;
	char *text;

	if (transport || !error)
		return transport;
	/* common reasons and remedies */
	is_none = g_str_has_suffix((*error)->message, " none");
	text = g_strconcat((*error)->message, is_none ? " (is there an "
		"InfiniBand device, and ib_umad loaded? --simulate needs "
		"neither)" : "", conf->port_num ? " (-p is the port; "
		"OpenSM's -p is --priority)" : "", NULL);
	g_free((*error)->message);
	(*error)->message = text;
	return NULL;
}

struct snapshot *
backend_load_fabric(const struct options *conf, GError **error)
{
	const struct generate_options options = { .seed = conf->seed };

	return net_file_open(conf->simulate, &options, error);
}

static bool
open_sim(struct backend *b, const struct options *conf, GError **error)
{
	struct sim_params params = sim_params_default;
	struct snapshot *fabric = backend_load_fabric(conf, error);

	if (!fabric)
		return false;
	if (fabric->local_port == SNAPSHOT_NONE) {
		g_set_error(error, TRANSPORT_ERROR, TRANSPORT_ERROR_OPEN,
			    "%s: no CA, so no port to run on",
			    conf->simulate);
		snapshot_unref(fabric);
		return false;
	}
	params.seed = conf->seed;
	b->sim = sim_new(fabric, &params);
	b->transport = sim_attach(b->sim, fabric->local_port,
				  only_plans(conf) ? SIM_ROLE_CLIENT :
				  SIM_ROLE_MANAGER);
	b->fabric = fabric;
	b->source = sim_source_new(b->sim, conf->mode == OPTIONS_MODE_RUN ?
				   SIM_PACE_REAL : SIM_PACE_FAST);
	g_source_attach(b->source, NULL);
	return true;
}

struct backend *
backend_open(const struct options *conf, const struct backend_hooks *hooks,
	     GError **error)
{
	struct backend *b = g_new0(struct backend, 1);
	const struct stream_how how = {
		.waits = conf->mode != OPTIONS_MODE_RUN || conf->step,
		.hold = STREAM_HOLD, .lost = hooks->lost, .data = hooks->data,
	};
	GError *why = NULL;

	b->hooks = *hooks;
	b->out = stream_new(STDOUT_FILENO, "standard output", &how);
	if (conf->simulate)
		open_sim(b, conf, error);
	else
		b->transport = b->port = open_umad(conf, hooks, error);
	if (b->transport)
		b->watch = watch_open(conf, &b->transport, &(struct watch_steps)
			{ { .sim = b->sim, .fabric = b->fabric },
			  hooks->over, hooks->data }, b->out, &why);
	if (why)
		g_propagate_error(error, why);
	else if (b->transport)
		return b;
	backend_close(b, NULL);
	return NULL;
}

bool
backend_is_shown(const struct backend *b)
{
	return !b->port || umad_is_shown(b->port);
}

void
backend_show(bool shown, void *backend)
{
	struct backend *b = backend;

	if (b->port)
		umad_show(b->port, shown);
}

bool
backend_close(struct backend *b, GError **error)
{
	bool ok = true;

	if (!b)
		return true;
	if (b->source) {
		g_source_destroy(b->source);
		g_source_unref(b->source);
	}
	transport_free(b->transport);
	ok = watch_close(b->watch, error);
	stream_close(b->out, NULL);
	if (b->sim) {
		sim_free(b->sim);
		snapshot_unref(b->fabric);
	}
	g_free(b);
	return ok;
}
