// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What comes of the texts that minism reads. What it writes itself is written
 * by its own functions; names, lists and tables from elsewhere by those here,
 * in a form that has nothing left to a default, so that the parser has nothing
 * to add. OpenSM can read the partitions too, but for the word "none": it
 * refuses a ";" that is alone on its line, so none is.
 */
#include <arpa/inet.h>
#include <string.h>

#include "lab/generate.h"
#include "sm/config/guid_files.h"
#include "sm/config/partitions_conf.h"
#include "sm/persist.h"
#include "sm/state.h"
#include "tests/lib/auto.h"
#include "tests/lib/formats.h"
#include "tests/lib/sa_lab.h"
#include "tools/dump.h"
#include "tools/net_file_parse.h"
#include "topology/each.h"
#include "topology/net_file.h"
#include "topology/text.h"

static const char *const names_who[] = {
	[PARTITION_ALL] = "ALL", [PARTITION_ALL_CAS] = "ALL_CAS",
	[PARTITION_ALL_SWITCHES] = "ALL_SWITCHES",
	[PARTITION_ALL_ROUTERS] = "ALL_ROUTERS", [PARTITION_SELF] = "SELF",
};

static void
format_group(const struct partition_group *g, GString *out)
{
	char mgid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, g->mgid, mgid, sizeof(mgid));
	g_string_append_printf(out, "\n\tmgid=%s,rate=%u,mtu=%u,sl=%u,"
			       "Q_Key=0x%x,TClass=%u,FlowLabel=%u", mgid,
			       g->rate, g->mtu, g->sl, g->q_key, g->tclass,
			       g->flow_label);
}

static void
format_partition(const struct partition *p, GString *out)
{
	g_string_append_printf(out, "%s=0x%04x", p->name ? p->name : "",
			       p->pkey);
	if (p->index0)
		g_string_append(out, ",indx0");
	if (p->defmember)
		g_string_append_printf(out, ",defmember=%s",
			partition_membership_names[p->defmember]);
	g_string_append_printf(out, ",sl=%u :", p->sl);
	EACH_ITEM(const struct partition_group, g, p->groups)
		format_group(g, out);
	for (guint i = 0; i < p->rules->len; i++) {
		const struct partition_rule *rule = &g_array_index(p->rules,
						struct partition_rule, i);

		g_string_append(out, i ? ",\n\t" : "\n\t");
		if (rule->who == PARTITION_GUID)
			g_string_append_printf(out, "0x%016" G_GINT64_MODIFIER
					       "x", rule->guid);
		else
			g_string_append_printf(out, "%s", names_who[rule->who]);
		g_string_append_printf(out, "=%s",
			partition_membership_names[rule->membership]);
	}
	g_string_append(out, p->rules->len ? " ;\n" : "\n\tNONE ;\n");
}

char *
partitions_conf_format(const struct partition_rules *rules)
{
	GString *out = g_string_new(NULL);

	for (guint i = 0; i < rules->partitions->len; i++)
		format_partition(rules->partitions->pdata[i], out);
	return g_string_free(out, FALSE);
}

/* What no text may lead to. */
static void
judge_rules(const struct partition_rules *rules)
{
	unsigned before = 0;

	g_assert_cmpstr(rules->source, ==, "f");
	g_assert_nonnull(partition_rules_find(rules, PKEY_DEFAULT));
	EACH_PTR(const struct partition, p, rules->partitions) {
		g_assert_cmpuint(p->pkey, >, before);
		g_assert_cmpuint(p->pkey, <=, PKEY_BASE);
		g_assert_cmpuint(p->sl, <=, 15);
		before = p->pkey;
		for (guint k = 0; k < p->groups->len; k++) {
			const struct partition_group *g =
				&g_array_index(p->groups,
					       struct partition_group, k);

			g_assert_cmpuint(g->mgid[0], ==, 0xff);
			g_assert_cmpuint(g->mtu - 1u, <, 5);
			g_assert_cmpuint(g->rate, >=, 2);
			g_assert_cmpuint(g->flow_label, <=, 0xfffff);
		}
	}
}

static char *
partitions_normal(const char *text, GPtrArray *warnings, GError **error)
{
	AUTO(partition_rules) *rules =
		partitions_conf_parse(text, "f", warnings, error);

	if (!rules)
		return NULL;
	judge_rules(rules);
	return partitions_conf_format(rules);
}

static char *
conf_normal(const char *text, GPtrArray *warnings, GError **error)
{
	AUTO(options) *conf = options_new();
	g_autoptr(GString) out = g_string_new(NULL);
	struct options_value v;
	size_t at = 0;

	if (!options_parse(conf, text, "f", warnings, error))
		return NULL;
	g_assert_cmpuint(conf->max_smps, >=, 1);
	g_assert_cmpuint(conf->priority, <=, 15);
	g_assert_cmpuint(conf->lmc, <=, 7);
	while (options_next(conf, &at, &v))
		if (v.from == OPTIONS_FILE)
			g_string_append_printf(out, "%s %s\n", v.key,
					       v.value ? v.value : "(null)");
	return g_string_free(g_steal_pointer(&out), FALSE);
}

static char *
guids_normal(const char *text, GPtrArray *warnings, GError **error)
{
	g_autoptr(GArray) list = guid_list_parse(text, "f", error);
	GString *out;

	if (!list)
		return NULL;
	out = g_string_new(NULL);
	for (guint i = 0; i < list->len; i++) {
		const uint64_t *guid = &g_array_index(list, uint64_t, i);

		g_assert_true(i == 0 || guid[-1] < *guid);
		g_assert_true(guid_list_has(list, *guid));
		g_assert_false(guid_list_has(NULL, *guid));
		g_string_append_printf(out, "0x%" G_GINT64_MODIFIER "x\n",
				       *guid);
	}
	return g_string_free(out, FALSE);
}

static int
compare_guids(gconstpointer a, gconstpointer b)
{
	const uint64_t x = **(uint64_t *const *)a, y = **(uint64_t *const *)b;

	return x < y ? -1 : x > y;
}

static char *
names_normal(const char *text, GPtrArray *warnings, GError **error)
{
	g_autoptr(GHashTable) names = node_name_map_parse(text, "f", warnings,
							  error);
	g_autofree gpointer *guids = NULL;
	GString *out;
	guint n;

	if (!names)
		return NULL;
	guids = g_hash_table_get_keys_as_array(names, &n);
	qsort(guids, n, sizeof(*guids), compare_guids);
	out = g_string_new(NULL);
	for (guint i = 0; i < n; i++)
		g_string_append_printf(out, "0x%" G_GINT64_MODIFIER
				       "x \"%s\"\n", *(uint64_t *)guids[i],
				       (char *)g_hash_table_lookup(names,
								   guids[i]));
	return g_string_free(out, FALSE);
}

/* On a fabric; what is written of them is read as the same. What is to be
 * remarked, and what is written of the switches of the file. */
static void
judge_tables(const struct lft_file *file, GString *out)
{
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	AUTO(snapshot) *s = generate_fabric("PGFT(2,4;1,2)", NULL, NULL);
	AUTO(lid_map) *lids = lid_assign(s, 0,
		(const struct lid_range *)(const void *)file->owners->data,
		file->owners->len, NULL, NULL);
	AUTO(lft) *lft = lft_file_tables(file, s, lids, notes, &error);
	g_autoptr(GString) text = g_string_new(NULL);
	AUTO(lft_file) *again = NULL;
	AUTO(lft) *same = NULL;

	EACH_PTR(const char, note, notes)
		g_string_append_printf(out, "note: %s\n", note);
	if (!lft) {
		g_string_append_printf(out, "none: %s\n", error->message);
		return;
	}
	dump_tables(s, lids, lft, text);
	g_string_append(out, text->str);
	again = lft_file_parse(text->str, "again", NULL);
	same = lft_file_tables(again, s, lids, NULL, NULL);
	for (uint32_t sw = 0; sw < lft->n_switches; sw++)
		g_assert_cmpmem(lft_row(same, sw), same->top + 1u,
				lft_row(lft, sw), same->top + 1u);
}

static char *
tables_normal(const char *text, GPtrArray *warnings, GError **error)
{
	AUTO(lft_file) *file = lft_file_parse(text, "f", error);
	GString *out;

	if (!file)
		return NULL;
	out = g_string_new(NULL);
	EACH_ITEM(struct lft_file_table, t, file->tables) {
		g_string_append_printf(out, "Unicast lids of switch guid 0x%"
				       G_GINT64_MODIFIER "x\n", t->guid);
		for (guint lid = 0; lid < t->ports->len; lid++)
			if (t->ports->data[lid] != LFT_NO_PATH)
				g_string_append_printf(out, "0x%04x %03u\n",
					lid, t->ports->data[lid]);
	}
	EACH_ITEM(struct lid_range, r, file->owners)
		g_string_append_printf(out, "0x%" G_GINT64_MODIFIER
				       "x has 0x%04x to 0x%04x\n", r->guid,
				       r->min, r->max);
	judge_tables(file, out);
	return g_string_free(out, FALSE);
}

/* Keys are secret: an error repeats nothing of the text. */
static char *
mkey_db_normal(enum mkey_db_file file, const char *text, GError **error)
{
	AUTO(mkey_db) *k = mkey_db_new(1, MKEY_DB_PER_PORT);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	GString *out;

	for (char **line = lines; *line; line++) {
		if (mkey_db_take(k, file, *line, error))
			continue;
		g_assert_cmpuint(strlen((*error)->message), <, 80);
		g_prefix_error(error, "f:%u: ", (unsigned)(line - lines) + 1);
		return NULL;
	}
	out = g_string_new(NULL);
	mkey_db_write(k, file, out);
	return g_string_free(out, FALSE);
}

static char *
guid2mkey_normal(const char *text, GPtrArray *warnings, GError **error)
{
	return mkey_db_normal(MKEY_DB_KEYS, text, error);
}

static char *
neighbors_normal(const char *text, GPtrArray *warnings, GError **error)
{
	return mkey_db_normal(MKEY_DB_CABLES, text, error);
}

static void
judge_cables(const struct snapshot *s)
{
	for (uint32_t i = 0; i < s->n_ports; i++)
		if (s->ports[i].peer != SNAPSHOT_NONE)
			g_assert_cmpuint(s->ports[s->ports[i].peer].peer, ==,
					 i);
}

static char *
net_normal(const char *text, GPtrArray *warnings, GError **error)
{
	AUTO(snapshot) *s = net_file_parse(text, "f", error);
	GString *out;

	if (!s)
		return NULL;
	judge_cables(s);
	out = g_string_new(NULL);
	net_file_write(s, out);
	return g_string_free(out, FALSE);
}

/* Both ends of each, a line for those of a node; and which nodes are a part of
 * their neighbour. */
static void
format_cables(const struct snapshot *s, GString *out)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);

	for (uint32_t p = 0; p < s->n_ports; p++) {
		uint32_t q = s->ports[p].peer;

		if (q == SNAPSHOT_NONE || q < p)
			continue;
		g_ptr_array_add(lines, g_strdup_printf("%s[%u] %s[%u]%s",
			snapshot_node_of(s, p)->desc, s->ports[p].num,
			snapshot_node_of(s, q)->desc, s->ports[q].num,
			snapshot_node_of(s, p)->info.system_guid ==
			snapshot_node_of(s, q)->info.system_guid ?
			" one system" : ""));
	}
	g_ptr_array_sort(lines, text_compare);
	for (guint i = 0; i < lines->len; i++) {
		const char *line = lines->pdata[i], *last = i ?
			lines->pdata[i - 1] : "";
		size_t name = strcspn(line, "[");

		if (strncmp(line, last, name + 1) == 0)
			g_string_append_printf(out, ", %s", line + name);
		else
			g_string_append_printf(out, i ? "\n%s" : "%s", line);
	}
	g_string_append_c(out, '\n');
}

/* A formula (generate.h), or "cables of" one; before that, "shuffled" and
 * "damaged" may stand. */
static char *
formula_normal(const char *text, GPtrArray *warnings, GError **error)
{
	const struct generate_options options = {
		.seed = 3, .shuffle_guids = g_str_has_prefix(text, "shuffled "),
		.fail_per_mille = strstr(text, "damaged ") ? 200 : 0,
	};
	const char *of = strstr(text, "cables of ");
	g_autofree char *spec = g_strdup(of ? of + strlen("cables of ") : text);
	AUTO(snapshot) *s = NULL;
	GString *out = g_string_new(NULL);
	uint32_t n = 0;

	s = generate_fabric(g_strdelimit(spec, "\n", '\0'), &options, error);
	if (!s) {
		g_string_free(out, TRUE);
		g_prefix_error(error, "f: ");	/* it is a word of a line */
		return NULL;
	}
	g_assert_cmpuint(s->n_nodes, <=, 65535);
	g_assert_cmpuint(s->local_port, <, s->n_ports);
	g_assert_cmpuint(s->n_faults, ==, 0);
	judge_cables(s);
	for (uint32_t p = 0; p < s->n_ports; p++)
		n += s->ports[p].peer != SNAPSHOT_NONE;
	g_string_append_printf(out, "%u hosts, %u switches, %u cables\n",
			       s->n_nodes - s->n_switches, s->n_switches,
			       n / 2);
	if (of)
		format_cables(s, out);
	return g_string_free(out, FALSE);
}

/* With a seal, which a liar can put on. */
static void
judge_seal(const GString *text)
{
	g_autofree char *body = g_strconcat(text->str, "\n", NULL);
	g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256,
							     body, -1);
	g_autofree char *whole = g_strdup_printf("%s= end %s\n\n", body, sum);

	g_assert_cmpuint(state_sealed(whole, strlen(whole)), ==, strlen(body));
}

/* The state, with \1 for a NUL: a bad line costs its fact. Then its clients
 * meet a fabric. */
static char *
state_normal(const char *text, GPtrArray *warnings, GError **error)
{
	static struct lab l;
	struct persist *persist = persist_new(NULL);
	struct expected *expected = expected_new();
	struct state_told told = { .foreign = g_string_new(NULL) };
	size_t len = strlen(text);
	g_autofree char *copy = g_strdelimit(g_strdup(text), "\1", '\0');
	GString *out = g_string_new(NULL);

	if (!l.s)
		sa_lab_open(&l, "single(12)", 0);

	const struct state_owner owners[] = {
		{ &lid_part, &persist->lids }, { &persist_part, persist },
		{ &expected_part, expected }, { &sa_part, l.sa },
	};

	sa_part.clear(l.sa);
	state_read(owners, G_N_ELEMENTS(owners), copy, len, 0, &told);
	g_assert_true(warnings || !told.n_bad);
	if (told.first)
		g_ptr_array_add(warnings, g_strdup_printf("f: %s", told.first));
	g_string_append(out, told.foreign->str);
	for (size_t i = 0; i < G_N_ELEMENTS(owners); i++)
		owners[i].part->save(owners[i].owner, out, 0);
	judge_seal(out);
	state_sealed(text, len);
	expected_accept(expected, NULL);
	sa_publish(l.sa, l.v, 0);
	sa_lab_check(l.sa);
	state_told_clear(&told);
	persist_free(persist);
	expected_free(expected);
	return g_string_free(out, FALSE);
}

static const struct format formats[] = {
	{ "conf", conf_normal, false },
	{ "formula", formula_normal, false },
	{ "guid2mkey", guid2mkey_normal, true },
	{ "guids", guids_normal, true },
	{ "neighbors", neighbors_normal, true },
	{ "netfile", net_normal, true },
	{ "nodenames", names_normal, true },
	{ "partitions", partitions_normal, true },
	{ "state", state_normal, true },
	{ "tables", tables_normal, false },
};

const struct format *
format_find(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

/* Twenty lines that say where, and how many more there are. */
static void
judge_error(const GError *error)
{
	g_auto(GStrv) lines = g_strsplit(error->message, "\n", -1);

	g_assert_true(g_error_matches(error, TEXT_ERROR, TEXT_ERROR_SYNTAX));
	g_assert_cmpuint(g_strv_length(lines), <=, 20 + 1);
	for (guint i = 0; lines[i]; i++)
		g_assert_true(g_str_has_prefix(lines[i], i < 20 ? "f:" :
					       "and "));
	g_assert_true(g_utf8_validate(error->message, -1, NULL));
}

char *
format_judge(const struct format *f, const char *text, GPtrArray *warnings,
	     GError **error)
{
	g_autoptr(GError) refused = NULL;
	char *once = f->normal(text, warnings, &refused);
	g_autofree char *twice = NULL;

	g_assert_true((once == NULL) == (refused != NULL));
	if (refused) {
		judge_error(refused);
		g_propagate_error(error, g_steal_pointer(&refused));
		return NULL;
	}
	if (!f->is_read)
		return once;
	twice = f->normal(once, NULL, &refused);
	g_assert_no_error(refused);
	g_assert_cmpstr(once, ==, twice);
	return once;
}
