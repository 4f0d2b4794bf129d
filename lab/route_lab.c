// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The routing laboratory: the work between options and report.
 *
 * Flow. lab_open: fabric (file or formula), failures, LIDs, graph, lists of
 * GUIDs, previous tables. lab_try_auto, lab_try_engine and lab_try_file make one
 * row each: tables, verification, figures.
 *
 * LIDs. Those in the fabric's file count; ports without one get the LIDs that
 * the files of tables have for them, so that tables of another subnet manager
 * are verified on the fabric that they were made for; the rest are assigned as
 * minism would.
 */
#include <string.h>
#include <time.h>

#include "lab/generate.h"
#include "lab/lft_file.h"
#include "lab/route_lab.h"
#include "routing/multicast.h"
#include "routing/select.h"
#include "sm/config/guid_files.h"
#include "tools/trace.h"
#include "topology/each.h"
#include "topology/port_search.h"
#include "topology/prng.h"
#include "topology/text.h"

const char *
lab_verdict_name(enum lab_verdict verdict)
{
	static const char *const names[] = {
		[LAB_GOOD] = "good",
		[LAB_REFUSED] = "refused",
		[LAB_UNREACHABLE] = "unreachable",
		[LAB_ASTRAY] = "astray",
		[LAB_CREDIT_LOOP] = "credit loop",
	};

	return names[verdict];
}

/* --- files --- */

static struct snapshot *
load_subnet(const struct lab_wish *w, GError **error)
{
	/* Links of a formula fail in the generator: the same ones as in
	 * minism-fabric. */
	const struct generate_options options = {
		.seed = w->seed,
		.shuffle_guids = w->shuffle,
		.fail_per_mille = w->fail_links,
	};
	struct link_failures damage = {
		.seed = w->seed,
		.links_per_mille = generate_is_formula(w->fabric) ? 0 :
			w->fail_links,
		.switches_per_mille = w->fail_switches,
	};
	struct snapshot *s = generate_or_read(w->fabric, &options, error), *rest;

	if (!s || (!damage.links_per_mille && !damage.switches_per_mille))
		return s;
	rest = snapshot_fail_links(s, &damage);
	snapshot_unref(s);
	return rest;
}

/* With the largest LMC that the fabric or the file has. */
static bool
lab_assign_lids(struct route_lab *lab, const struct lft_file *file,
		GError **error)
{
	const GArray *owners = file ? file->owners : NULL;
	const struct snapshot *s = lab->subnet;
	bool has_lids = false;
	unsigned lmc = 0;

	for (uint32_t p = 0; p < s->n_ports; p++) {
		if (!s->ports[p].known || !snapshot_is_end_port(s, p))
			continue;
		lmc = MAX(lmc, s->ports[p].info.lmc);
		has_lids |= s->ports[p].info.lid != LID_NONE;
	}
	if (owners)
		EACH_ITEM(const struct lid_range, range, owners)
			while (lmc < LMC_MAX &&
			       range->max - range->min >= 1 << lmc)
				lmc++;
	/* Guessing would make nonsense of good tables. */
	if (file && owners->len == 0 && !has_lids) {
		return text_refuse(error, "%s: does not say which port has "
				   "which LID, nor does %s", file->name,
				   lab->wish->fabric);
	}
	lab->lids = lid_assign(s, lmc, owners ? (const struct lid_range *)
				(const void *)owners->data : NULL,
				owners ? owners->len : 0, lab->notes, error);
	return lab->lids != NULL;
}

/* Tables of files need LIDs, and LIDs may come from these files. */
static bool
lab_open_tables(struct route_lab *lab, GError **error)
{
	const char *const paths[] = { lab->wish->lfts, lab->wish->before };
	struct lft **const tables[] = { &lab->lfts, &lab->before };
	struct lft_file *files[G_N_ELEMENTS(paths)] = { NULL };
	bool ok = true;

	for (size_t i = 0; ok && i < G_N_ELEMENTS(paths); i++) {
		g_autofree char *text = paths[i] ?
			text_read_file(paths[i], error) : NULL;

		files[i] = text ? lft_file_parse(text, paths[i], error) : NULL;
		ok = files[i] || !paths[i];
	}
	ok = ok && lab_assign_lids(lab, files[0] ? files[0] : files[1], error);
	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
		if (ok && files[i]) {
			*tables[i] = lft_file_tables(files[i], lab->subnet,
						     lab->lids, lab->notes,
						     error);
			ok = *tables[i];
		}
		lft_file_free(files[i]);
	}
	return ok;
}

static uint64_t
switch_guid(const struct route_lab *lab, uint32_t sw)
{
	return lab->subnet->nodes[lab->subnet->switches[sw]].info.node_guid;
}

/* 0: the target is port 0 of a switch. */
static uint64_t
target_guid(const struct route_lab *lab, uint32_t target)
{
	const struct graph_target *t = &lab->g->targets[target];

	return t->port ? lab->subnet->ports[lab->lids->owner[t->lid]].guid : 0;
}

/* *marks, of n elements: true if the GUID is in the file; NULL without one. */
static bool
lab_mark(struct route_lab *lab, const char *path, const char *what, uint32_t n,
	 uint64_t (*guid_of)(const struct route_lab *lab, uint32_t i),
	 uint8_t **marks, GError **error)
{
	g_autofree char *text = path ? text_read_file(path, error) : NULL;
	g_autoptr(GArray) list = text ? guid_list_parse(text, path, error) :
		NULL;
	uint32_t n_found = 0;

	if (!list)
		return !path;
	*marks = g_new0(uint8_t, n);
	for (uint32_t i = 0; i < n; i++)
		n_found += (*marks)[i] = guid_list_has(list, guid_of(lab, i));
	if (n_found < list->len)
		text_add(lab->notes, "%s: %u of %u GUIDs are %s of this fabric",
			 path, n_found, list->len, what);
	return true;
}

bool
lab_open(struct route_lab *lab, const struct lab_wish *wish, GError **error)
{
	*lab = (struct route_lab){
		.wish = wish,
		.notes = g_ptr_array_new_with_free_func(g_free),
	};
	lab->subnet = load_subnet(wish, error);
	if (!lab->subnet || !lab_open_tables(lab, error))
		return false;
	lab->g = graph_new(lab->subnet, lab->lids);
	lab->hosts = order_hosts(lab->g, &lab->n_hosts);
	if (!wish->no_figures)
		lab->bound = metrics_bound(lab->g, false);
	return lab_mark(lab, wish->roots, "switches", lab->subnet->n_switches,
			switch_guid, &lab->is_root, error) &&
		lab_mark(lab, wish->io, "CA ports", lab->g->n_targets,
			 target_guid, &lab->is_io, error);
}

void
lab_close(struct route_lab *lab)
{
	lft_free(lab->lfts);
	lft_free(lab->before);
	g_free(lab->is_root);
	g_free(lab->is_io);
	g_free(lab->hosts);
	graph_free(lab->g);
	lid_map_free(lab->lids);
	snapshot_unref(lab->subnet);
	g_ptr_array_unref(lab->notes);
}

/* --- rows --- */

/* CPU time of all threads: another load of the machine does not matter. */
static double
cpu_ms(void)
{
	return (double)clock() * 1e3 / CLOCKS_PER_SEC;
}

static void
row_verify(struct lab_row *row, const struct route_lab *lab)
{
	const struct verify_reach *reach = &row->verified.reach;
	double start = cpu_ms();
	struct channels_result channels;
	struct lft *entries;

	verify_tables(lab->g, row->lft, NULL, row->ranks, &row->verified);
	row->verify_ms = cpu_ms() - start;
	if (row->ranks) {	/* it did not count channels */
		channels_clear(&row->verified.channels);
		channels_check_ordered(lab->g, row->lft, NULL, NULL, NULL,
				       &row->verified.channels);
	}
	/* A loop may exist only with the traffic of switches. */
	if (row->verified.channels.n_looped) {
		entries = metrics_host_entries(lab->g, row->lft);
		channels_check_ordered(lab->g, entries, NULL, NULL, NULL,
				       &channels);
		row->looped_hosts = channels.n_looped;
		channels_clear(&channels);
		lft_free(entries);
	}
	if (lab->before)
		channels_check_ordered(lab->g, row->lft, lab->before, NULL,
				       NULL, &row->together);
	if (row->verified.channels.n_looped || row->together.n_looped)
		row->verdict = LAB_CREDIT_LOOP;
	else if (reach->looping || reach->astray)
		row->verdict = LAB_ASTRAY;
	else if (reach->lost_hosts || reach->lost_mixed)
		row->verdict = LAB_UNREACHABLE;
}

/* Members of all groups, the first of which has all hosts. */
static struct multicast_member *
draw_members(const struct route_lab *lab, struct multicast_group *groups)
{
	uint32_t n = lab->n_hosts + LAB_GROUPS * LAB_MEMBERS, i, k, host;
	struct multicast_member *members = g_new(struct multicast_member, n);
	uint64_t random = prng_stream(lab->wish->seed, 7);
	const struct graph_target *t;

	for (i = 0, n = 0; i < LAB_GROUPS + 1; i++) {
		groups[i].mlid = (uint16_t)(0xc000 + i);
		groups[i].members = members + n;
		groups[i].n_members = i == 0 ? lab->n_hosts : LAB_MEMBERS;
		for (k = 0; k < groups[i].n_members; k++, n++) {
			host = i == 0 ? k : prng_below(&random, lab->n_hosts);
			t = &lab->g->targets[lab->hosts[host]];
			members[n] = (struct multicast_member){
				t->sw, t->port, true };
		}
	}
	return members;
}

static void
row_spread_groups(struct lab_row *row, const struct route_lab *lab)
{
	struct multicast_group groups[LAB_GROUPS + 1];
	struct multicast_input in = {
		.g = lab->g, .ranks = row->ranks,
		.groups = groups, .n_groups = LAB_GROUPS + 1,
	};
	g_autofree struct multicast_member *members = NULL;
	g_autofree uint32_t *own = NULL;
	struct channels *channels;
	struct multicast_output out;
	uint64_t sum = 0, n = 0;

	if (row->verified.channels.n_looped || !lab->n_hosts)
		return;
	members = draw_members(lab, groups);
	if (!in.ranks)
		in.ranks = own = multicast_ranks(lab->g);
	channels = multicast_channels(lab->g, row->lft, NULL, in.ranks);
	in.channels = channels;
	multicast_route(&in, &out);
	row->missed = out.lost->len;
	for (uint32_t e = 0; e < lab->g->n_edges; e++) {
		row->max_trees = MAX(row->max_trees, out.load[e]);
		sum += out.load[e];
		n += out.load[e] > 0;
	}
	row->mean_trees = n ? (double)sum / (double)n : 0;
	multicast_output_clear(&out);
	channels_free(channels);
}

static void
row_judge(struct lab_row *row, const struct route_lab *lab)
{
	struct metrics_sample sample = {
		.hosts = lab->hosts,
		.n_hosts = lab->n_hosts,
		.seed = lab->wish->seed,
		.n = lab->wish->permutations,
	};

	row_verify(row, lab);
	if (lab->wish->no_figures)
		return;
	metrics_all_to_all(lab->g, row->lft, row->ranks, &row->load);
	metrics_paths(lab->g, row->lft, &row->paths);
	traffic_measure(lab->g, row->lft, &sample, lab->wish->shifts,
			lab->wish->threads, &row->traffic);
	if (lab->before)
		metrics_churn(lab->before, row->lft, &row->churn);
	row_spread_groups(row, lab);
}

static struct lab_row *
row_new(const char *name)
{
	struct lab_row *row = g_new0(struct lab_row, 1);

	row->name = g_strdup(name);
	row->compute_ms = -1;
	return row;
}

void
lab_row_free(struct lab_row *row)
{
	verify_result_clear(&row->verified);
	channels_clear(&row->together);
	metrics_paths_clear(&row->paths);
	lft_free(row->lft);
	g_free(row->ranks);
	if (row->notes)
		g_ptr_array_unref(row->notes);
	g_free(row->refused);
	g_free(row->name);
	g_free(row);
}

static struct engine_input
lab_input(const struct route_lab *lab)
{
	return (struct engine_input){
		.g = lab->g,
		.previous = lab->before,
		.is_root = lab->is_root,
		.is_io = lab->is_io,
		.n_threads = lab->wish->threads,
	};
}

static void
row_refuse(struct lab_row *row, const GError *error)
{
	row->refused = g_strdup(error->message);
	row->verdict = LAB_REFUSED;
}

struct lab_row *
lab_try_auto(struct route_lab *lab)
{
	const struct choice_wish wish = { .engine = NULL };
	const struct engine_input in = lab_input(lab);
	struct lab_row *row = row_new("auto");
	g_autoptr(GError) error = NULL;
	double start = cpu_ms();
	struct choice choice;

	if (!choose_tables(&wish, &in, &choice, &error)) {
		row_refuse(row, error);
		return row;
	}
	row->compute_ms = cpu_ms() - start;
	g_free(row->name);
	row->name = g_strdup(choice.engine->name);
	row->summary = choice.engine->summary;
	row->lft = lft_ref(choice.lft);
	row->ranks = g_steal_pointer(&choice.ranks);
	row->notes = g_steal_pointer(&choice.notes);
	text_add(lab->notes, "auto took %s: %s", choice.engine->name,
		 choice.reason);
	choice_clear(&choice);
	row_judge(row, lab);
	return row;
}

struct lab_row *
lab_try_engine(struct route_lab *lab, const struct engine *engine)
{
	const struct engine_input in = lab_input(lab);
	struct lab_row *row = row_new(engine->name);
	g_autoptr(GError) error = NULL;
	struct engine_output out;
	double start = cpu_ms();

	row->summary = engine->summary;
	row->lft = lft_new(lab->g->n_switches, lab->g->top);
	engine_output_init(&out, row->lft);
	if (engine->compute(&in, &out, &error)) {
		row->compute_ms = cpu_ms() - start;
		row->notes = g_ptr_array_ref(out.notes);
		row->ranks = g_steal_pointer(&out.ranks);
		row_judge(row, lab);
	} else {
		row_refuse(row, error);
	}
	engine_output_clear(&out);
	return row;
}

struct lab_row *
lab_try_file(struct route_lab *lab)
{
	g_autofree char *name = g_path_get_basename(lab->wish->lfts);
	struct lab_row *row = row_new(name);

	row->lft = lft_ref(lab->lfts);
	row_judge(row, lab);
	return row;
}

/* --- one path --- */

static void
lab_print_way(const struct route_lab *lab, const struct lab_row *row,
	      uint32_t from, uint32_t to, struct text_report *r)
{
	g_autoptr(GHashTable) shared = snapshot_shared_names(lab->subnet);
	const struct tool_view v = {
		.s = lab->subnet, .lids = lab->lids, .lft = row->lft,
		.shared = shared,
	};
	g_autofree char *a = tool_view_port_name(&v, from);
	g_autofree char *b = tool_view_port_name(&v, to);
	struct trace t;

	trace_follow(&v, from, to, &t);
	trace_explain(&v, to, &t);
	report_say(r, "%s (LID %u) -> %s (LID %u): %u switch%s%s%s\n", a,
		   lab->lids->base[from], b, lab->lids->base[to], t.n,
		   text_plural_es(t.n), t.fault ? ": NO PATH: " : "",
		   t.fault ? t.fault : "");
	trace_report(&t, &v, true, r);
}

bool
lab_print_path(const struct route_lab *lab, const struct lab_row *row,
	       char **ends, GString *out, GError **error)
{
	struct text_report r = { .out = out };
	uint32_t end[2];

	for (unsigned i = 0; i < G_N_ELEMENTS(end); i++) {
		g_autofree char *wrong = NULL;

		end[i] = port_search(lab->subnet, lab->lids, ends[i], &wrong);
		if (wrong)
			return text_refuse(error, "%s", wrong);
	}
	lab_print_way(lab, row, end[0], end[1], &r);
	report_say(&r, "\n");
	lab_print_way(lab, row, end[1], end[0], &r);
	return true;
}
