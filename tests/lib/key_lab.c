// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The lab of M_Keys: see key_lab.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <glib/gstdio.h>

#include "tests/lib/key_lab.h"

void
keylab_open_fabric(struct keylab *l, struct snapshot *s)
{
	memset(l, 0, sizeof(*l));
	l->s = s;
	l->sim = sim_new(s, NULL);
	l->dir = g_dir_make_tmp("minism-keys-XXXXXX", NULL);
	assert_non_null(l->dir);
	l->lines = g_ptr_array_new_with_free_func(g_free);
	l->warnings = g_ptr_array_new_with_free_func(g_free);
}

void
keylab_open(struct keylab *l, const char *spec)
{
	struct snapshot *s = generate_fabric(spec, NULL, NULL);

	assert_non_null(s);
	keylab_open_fabric(l, s);
}

static void
forget(struct keylab *l, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		g_autofree char *path = g_build_filename(l->dir, names[i],
							 NULL);

		g_unlink(path);
	}
}

void
keylab_close(struct keylab *l)
{
	static const char *const all[] = {
		"guid2mkey", "neighbors", "guid2mkey.damaged",
		"neighbors.damaged", "log",
	};

	if (l->t)
		keylab_stop(l);
	sim_free(l->sim);
	snapshot_unref(l->s);
	forget(l, all, G_N_ELEMENTS(all));
	g_rmdir(l->dir);
	g_free(l->dir);
	g_ptr_array_unref(l->lines);
	g_ptr_array_unref(l->warnings);
}

static void
on_end(const struct sweep_report *r, void *data)
{
	struct keylab *l = data;

	l->ends++;
	l->last = r->end;
	l->took = r->took_us;
	g_ptr_array_set_size(l->lines, 0);
	for (guint i = 0; r->verdict && i < r->verdict->lines->len; i++)
		g_ptr_array_add(l->lines,
				g_strdup(r->verdict->lines->pdata[i]));
	g_ptr_array_set_size(l->warnings, 0);
	for (guint i = 0; r->verdict && i < r->verdict->warnings->len; i++)
		g_ptr_array_add(l->warnings,
				g_strdup(r->verdict->warnings->pdata[i]));
}

void
keylab_start(struct keylab *l, const struct keylab_keys *keys,
	     enum keylab_memory memory)
{
	static const char *const files[] = { "guid2mkey", "neighbors" };
	g_autofree char *log = g_build_filename(l->dir, "log", NULL);
	const struct sm_instance_params params = {
		.wire = { .timeout_ms = 200, .retries = 3, .max_wire = 128 },
		.sweep = {
			.sweep_s = 10, .route = { .engine = &engine_minhop },
			.policy = &l->policy,
		},
		.key_dir = l->dir,
		.m_key = keys->m_key,
		.key_mode = keys->mode,
	};

	if (memory == KEYLAB_FORGETS)
		forget(l, files, G_N_ELEMENTS(files));
	l->keys = *keys;
	l->policy = policy_default;
	l->policy.m_key = keys->m_key;
	l->policy.m_key_protect = keys->protect;
	l->policy.m_key_lease = keys->lease;
	l->t = sim_attach(l->sim, l->s->local_port, SIM_ROLE_MANAGER);
	l->log = log_open(log, LOG_DEBUG, NULL);
	assert_non_null(l->log);
	l->ends = 0;
	l->sm = sm_instance_new(l->t, &params, l->log, on_end, l);
	l->x = l->sm->x;
	l->sweep = l->sm->sweep;
	sweep_request(l->sweep, SWEEP_CAUSE_START);
}

void
keylab_stop(struct keylab *l)
{
	sm_instance_free(l->sm);
	transport_free(l->t);
	log_free(l->log);
	l->t = NULL;
}

bool
keylab_wait_ends(struct keylab *l, unsigned n, int64_t limit_us)
{
	int64_t end = sim_now(l->sim) + limit_us;
	unsigned until = l->ends + n;

	while (l->ends < until && sim_now(l->sim) < end)
		assert_true(sim_step(l->sim));
	return l->ends >= until;
}

bool
keylab_wait_up(struct keylab *l, int64_t limit_us)
{
	int64_t end = sim_now(l->sim) + limit_us;

	while (sim_now(l->sim) < end)
		if (keylab_wait_ends(l, 1, end - sim_now(l->sim)) &&
		    l->last == SWEEP_END_UP)
			return true;
	for (guint i = 0; i < l->lines->len; i++)
		printf("# %s\n", (char *)l->lines->pdata[i]);
	return false;
}

bool
keylab_has_key(const struct keylab *l, uint32_t port)
{
	const struct port_info *i = sim_port_info(l->sim, port);
	struct mkey_db *k = mkey_db_new(l->keys.m_key, l->keys.mode);
	bool has = i->m_key == mkey_db_wanted(k, l->s->ports[port].guid) &&
		i->m_key_protect == l->keys.protect;

	mkey_db_free(k);
	return has;
}

unsigned
keylab_wrong(const struct keylab *l)
{
	unsigned n = 0;

	for (uint32_t port = 0; port < l->s->n_ports; port++)
		n += snapshot_is_end_port(l->s, port) &&
			!keylab_has_key(l, port);
	return n;
}

unsigned
keylab_lost(const struct keylab *l, uint32_t but)
{
	g_autoptr(GArray) hosts = lab_hosts(l->sim, l->s, l->s->local_port);

	for (guint i = hosts->len; i-- > 0;)
		if (g_array_index(hosts, uint32_t, i) == but)
			g_array_remove_index(hosts, i);
	assert_true(hosts->len > 1);
	return lab_lost_pairs(l->sim, hosts);
}

unsigned
keylab_violations(const struct keylab *l)
{
	unsigned n = 0;

	for (uint32_t port = 0; port < l->s->n_ports; port++)
		n += sim_port_info(l->sim, port)->m_key_violations;
	return n;
}

static uint32_t
find_end(const struct keylab *l, bool is_switch, unsigned nth)
{
	for (uint32_t port = 0; port < l->s->n_ports; port++)
		if (snapshot_is_end_port(l->s, port) &&
		    port != l->s->local_port &&
		    snapshot_is_switch(snapshot_node_of(l->s, port)) ==
		    is_switch && !nth--)
			return port;
	fail_msg("the fabric has no such port");
	return SNAPSHOT_NONE;
}

uint32_t
keylab_host(const struct keylab *l, unsigned nth)
{
	return find_end(l, false, nth);
}

uint32_t
keylab_switch(const struct keylab *l, unsigned nth)
{
	return find_end(l, true, nth);
}

bool
keylab_complains(const struct keylab *l, const char *of)
{
	for (guint i = 0; i < l->lines->len; i++)
		if (strstr(l->lines->pdata[i], of))
			return true;
	return false;
}
