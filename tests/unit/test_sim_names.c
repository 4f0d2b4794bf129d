// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A manager on a simulated fabric that is told what its site calls the nodes:
 * who reads what it writes finds those names, at once and after a change of
 * them, and the nodes keep their descriptions. And a manager each of whose
 * sweeps is to be a heavy one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "sm/dump.h"
#include "sm/plan/plan.h"
#include "tests/lib/sim_lab.h"

#define SECOND	((int64_t)G_USEC_PER_SEC)

struct site_sm {
	struct lab_sm sm;
	GString *lst, *lfts;	/* the dumps of the last sweep that had any */
	char *complaint;	/* the first one of the last sweep, or NULL */
	char *causes;
	struct snapshot *subnet;
};

static void
on_end(const struct sweep_report *r, void *data)
{
	struct site_sm *m = data;

	m->sm.ends++;
	m->sm.last = r->end;
	g_free(m->causes);
	m->causes = g_strdup(r->causes);
	g_clear_pointer(&m->complaint, g_free);
	if (r->verdict && r->verdict->lines->len)
		m->complaint = g_strdup(r->verdict->lines->pdata[0]);
	if (!r->view)
		return;
	g_string_truncate(m->lst, 0);
	g_string_truncate(m->lfts, 0);
	dump_subnet_lst(r->view->subnet, m->lst);
	dump_lfts(r->view->subnet, r->view->lids, r->view->lft, m->lfts);
	g_clear_pointer(&m->subnet, snapshot_unref);
	m->subnet = snapshot_ref(r->view->subnet);
}

static void
site_sm_start(struct site_sm *m, struct lab *lab, GHashTable *names,
	      bool force_heavy)
{
	const struct sm_instance_params params = {
		.wire = { .timeout_ms = 50, .retries = 1, .max_wire = 16 },
		.sweep = {
			.sweep_s = 10, .force_heavy = force_heavy,
			.names = names, .policy = &policy_default,
		},
	};

	memset(m, 0, sizeof(*m));
	m->lst = g_string_new(NULL);
	m->lfts = g_string_new(NULL);
	lab_sm_start_as(&m->sm, lab->sim, lab_end(lab, NODE_CA, 1), &params,
			on_end, m);
}

static void
site_sm_stop(struct site_sm *m)
{
	lab_sm_stop(&m->sm);
	g_string_free(m->lst, TRUE);
	g_string_free(m->lfts, TRUE);
	g_free(m->complaint);
	g_free(m->causes);
	g_clear_pointer(&m->subnet, snapshot_unref);
}

/* A map of one name. */
static GHashTable *
name_one(uint64_t guid, const char *name)
{
	GHashTable *names = g_hash_table_new_full(g_int64_hash, g_int64_equal,
						  g_free, g_free);
	uint64_t *key = g_new(uint64_t, 1);

	*key = guid;
	g_hash_table_insert(names, key, g_strdup(name));
	return names;
}

static void
run_for(struct site_sm *m, int64_t us)
{
	sim_run(m->sm.sim, sim_now(m->sm.sim) + us);
}

static void
test_names_are_in_what_is_written(void **state)
{
	struct lab lab;
	struct site_sm m;
	uint32_t leaf;
	GHashTable *names;

	lab_open(&lab, "single(4)", NULL);
	leaf = lab_node(&lab, NODE_SWITCH, 0);
	names = name_one(lab.s->nodes[leaf].info.node_guid, "Rack {7}");
	site_sm_start(&m, &lab, names, false);
	g_hash_table_unref(names);
	assert_true(lab_sm_wait_up(&m.sm, 10 * SECOND));
	assert_non_null(strstr(m.lfts->str, "('Rack {7}'):"));
	assert_non_null(strstr(m.lfts->str, ": 'Rack {7}'\n"));
	/* braces would be the end of it for ibdmchk */
	assert_non_null(strstr(m.lst->str, "{Rack (7)}"));
	assert_null(strstr(m.lfts->str, lab.s->nodes[leaf].desc));
	assert_null(strstr(m.lst->str, lab.s->nodes[leaf].desc));
	/* who is asked what the node says of itself can tell */
	leaf = snapshot_find_node(m.subnet, lab.s->nodes[leaf].info.node_guid);
	assert_string_equal(m.subnet->nodes[leaf].desc,
			    lab.s->nodes[lab_node(&lab, NODE_SWITCH, 0)].desc);
	site_sm_stop(&m);
	lab_close(&lab);
}

static void
test_other_names_hold_from_the_next_sweep(void **state)
{
	struct lab lab;
	struct site_sm m;
	uint64_t guid;
	GHashTable *names;

	lab_open(&lab, "single(4)", NULL);
	guid = lab.s->nodes[lab_node(&lab, NODE_SWITCH, 0)].info.node_guid;
	site_sm_start(&m, &lab, NULL, false);
	assert_true(lab_sm_wait_up(&m.sm, 10 * SECOND));
	assert_null(strstr(m.lst->str, "{Rack 7}"));
	names = name_one(guid, "Rack 7");
	sweep_set_names(m.sm.sweep, names);
	g_hash_table_unref(names);
	sweep_request(m.sm.sweep, SWEEP_CAUSE_SIGNAL);
	assert_true(lab_sm_wait_up(&m.sm, 10 * SECOND));
	assert_non_null(strstr(m.lst->str, "{Rack 7}"));
	sweep_set_names(m.sm.sweep, NULL);
	sweep_request(m.sm.sweep, SWEEP_CAUSE_SIGNAL);
	assert_true(lab_sm_wait_up(&m.sm, 10 * SECOND));
	assert_null(strstr(m.lst->str, "{Rack 7}"));
	site_sm_stop(&m);
	lab_close(&lab);
}

static bool
has_fault(const struct snapshot *s, const char *start)
{
	for (uint32_t i = 0; i < s->n_faults; i++)
		if (strstr(s->faults[i].text, start))
			return true;
	return false;
}

/* Behind which port is it silent? A person goes where that says. */
static void
test_faults_have_the_names(void **state)
{
	struct lab lab;
	struct site_sm m;
	GHashTable *names;

	lab_open(&lab, "single(4)", NULL);
	names = name_one(lab.s->nodes[lab_node(&lab, NODE_SWITCH, 0)].info
			 .node_guid, "Rack 7");
	sim_node_set_mood(lab.sim, lab_node(&lab, NODE_CA, 2),
			  SIM_MOOD_SILENT);
	site_sm_start(&m, &lab, names, false);
	g_hash_table_unref(names);
	run_for(&m, 5 * SECOND);
	assert_int_equal(m.sm.last, SWEEP_END_NOT_UP);
	assert_true(has_fault(m.subnet, "Rack 7 (0x"));
	assert_non_null(strstr(m.complaint, "Rack 7 (0x"));
	site_sm_stop(&m);
	lab_close(&lab);
}

static unsigned
heavy_sweeps(bool force, char **causes)
{
	struct lab lab;
	struct site_sm m;
	unsigned n;

	lab_open(&lab, "single(4)", NULL);
	site_sm_start(&m, &lab, NULL, force);
	run_for(&m, 45 * SECOND);
	n = m.sm.ends;
	assert_int_equal(m.sm.last, SWEEP_END_UP);
	*causes = g_strdup(m.causes);
	site_sm_stop(&m);
	lab_close(&lab);
	return n;
}

/* The first one, and those at 10, 20, 30 and 40 s. */
static void
test_each_sweep_is_heavy_if_it_is_to_be(void **state)
{
	g_autofree char *forced = NULL;
	g_autofree char *quiet = NULL;

	assert_int_equal(heavy_sweeps(true, &forced), 5);
	assert_string_equal(forced, "time for the next");
	assert_int_equal(heavy_sweeps(false, &quiet), 1);
	assert_string_equal(quiet, "start");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_in_what_is_written),
		cmocka_unit_test(test_other_names_hold_from_the_next_sweep),
		cmocka_unit_test(test_faults_have_the_names),
		cmocka_unit_test(test_each_sweep_is_heavy_if_it_is_to_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
