// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fabric as text: OpenSM's dumps, line by line as OpenSM writes them, and
 * routes. tests/golden/dumps has a fabric, a formula or a file of
 * tests/data, then what is done to it or asked of it, a line each.
 */
#include <glib/gstdio.h>

#include "tests/lib/dumped.h"
#include "tests/lib/engine_route.h"
#include "tests/lib/unit.h"

static struct unit_word all_words[8];

struct fabric {
	struct snapshot *s;
	struct lid_map *lids;
	struct lft *lft;
	GString *out;
};

/* The fabric as it is when the SM is done: LIDs set, links Active. */
static void
fabric_open(struct fabric *f, const char *spec)
{
	g_autofree char *path = folder_source("tests/data", spec);
	struct snapshot *s = generate_or_read(generate_is_formula(spec) ? spec :
					   path, NULL, NULL);

	assert_non_null(s);
	*f = (struct fabric){ s, lid_assign(s, 0, NULL, 0, NULL, NULL), NULL,
			      g_string_new(NULL) };
	for (uint32_t port = 0; port < s->n_ports; port++) {
		struct port_info *info = &s->ports[port].info;

		info->lid = f->lids->base[port];
		if (info->state == PORT_STATE_INIT)
			info->state = PORT_STATE_ACTIVE;
	}
	for (uint32_t node = 0; node < s->n_nodes; node++)
		s->nodes[node].info.revision = 0xa1;	/* no net file has it */
	f->lft = engine_tables(&engine_minhop, s, f->lids);
}

static void
fabric_close(struct fabric *f)
{
	g_string_free(f->out, TRUE);
	lft_free(f->lft);
	lid_map_free(f->lids);
	snapshot_unref(f->s);
}

static struct snapshot_node *
node_of(const struct fabric *f, const char *desc)
{
	uint32_t n = 0;

	while (strcmp(f->s->nodes[n].desc, desc))
		assert_true(++n < f->s->n_nodes);
	return &f->s->nodes[n];
}

/* The only port of a host, port 0 of a switch. */
static uint32_t
port_of(const struct fabric *f, const char *desc)
{
	const struct snapshot_node *n = node_of(f, desc);

	return n->first_port + !snapshot_is_switch(n);
}

/* FILE */
WORDS("dump", do_dump, struct fabric *f)
{
	g_autoptr(GString) dump = g_string_new(NULL);

	dumped_read(f->s, f->lids, f->lft, words[0], dump);
	g_string_append(f->out, dump->str);
}

/* SWITCH HOST: its line of opensm.fdbs, behind the LID */
WORDS("fdb", do_fdb, struct fabric *f)
{
	g_autoptr(GString) dump = g_string_new(NULL);
	g_autofree char *head = g_strdup_printf("Switch 0x%016"
		G_GINT64_MODIFIER "x\n", node_of(f, words[0])->info.node_guid);
	g_autofree char *lid = g_strdup_printf("\n0x%04X : ",
		f->lids->base[port_of(f, words[1])]);
	const char *line;

	dumped_read(f->s, f->lids, f->lft, "opensm.fdbs", dump);
	line = strstr(strstr(dump->str, head), lid) + strlen(lid);
	g_string_append_printf(f->out, "%.*s\n", (int)strcspn(line, "\n"), line);
}

/* SWITCH HOST PORT|NODE: the entry, or by the port to that node */
WORDS("entry", do_entry, struct fabric *f)
{
	const struct snapshot_node *n = node_of(f, words[0]);
	uint32_t port = n->first_port + 1;

	while (g_ascii_isalpha(*words[2]) &&
	       (f->s->ports[port].peer == SNAPSHOT_NONE ||
		strcmp(snapshot_name_of(f->s, f->s->ports[port].peer),
		       words[2])))
		port++;
	lft_row(f->lft, n->sw_index)[f->lids->base[port_of(f, words[1])]] =
		g_ascii_isalpha(*words[2]) ? f->s->ports[port].num :
		word_number(words[2]);
}

/* What becomes of a node's port, or of all ports. */
WORDS("state unknown", do_port, struct fabric *f)
{
	for (uint32_t i = 0; i < f->s->n_ports; i++) {
		struct snapshot_port *p = &f->s->ports[i];

		if (strcmp(words[0], "all") && i != port_of(f, words[0]))
			continue;
		if (strcmp(words[-1], "state") == 0)
			p->info.state = word_number(words[1]);
		else
			p->known = false;
	}
}

GOLDEN("dumps", drawn)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	AUTO_VALUE(fabric_close) struct fabric f;

	fabric_open(&f, lines[0]);
	for (char **line = lines + 1; *line && **line; line++)
		unit_play(all_words, &f, *line);
	g_string_append(out, f.out->str);
}

TEST(test_dump_all_writes_into_folder_and_replaces)
{
	static const char *const names[] = {
		"opensm-subnet.lst", "opensm.fdbs", "opensm-lfts.dump",
		"minism.net",
	};
	AUTO_VALUE(fabric_close) struct fabric f;
	AUTO_ENTER(top);

	fabric_open(&f, "PGFT(3,3;1,2)");
	/* Twice: the second time it replaces. */
	for (unsigned i = 0; i < 2; i++)
		assert_true(dump_all("deep", f.s, f.lids, f.lft, NULL));
	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename("deep", names[i], NULL);
		GStatBuf st;

		dumped_read(f.s, f.lids, f.lft, names[i], f.out);
		assert_file("deep", names[i], f.out->str);
		/* It tells of the fabric: its owner decides who reads it. */
		assert_int_equal(g_stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
	/* Nothing that was only for the time of writing. */
	assert_int_equal(folder_remove("deep"), G_N_ELEMENTS(names));
	assert_int_equal(g_rmdir(top), 0);
}

TEST(test_dump_all_fails_with_the_path_in_the_message)
{
	AUTO_VALUE(fabric_close) struct fabric f;
	AUTO_ENTER(top);
	g_autoptr(GError) error = NULL, second = NULL;

	fabric_open(&f, "single(2)");
	assert_true(g_file_set_contents("file", "x", 1, NULL));
	assert_false(dump_all("file", f.s, f.lids, f.lft, &error));
	assert_non_null(error);
	assert_true(error->domain == G_FILE_ERROR);
	assert_has(error->message, "file");

	/* A directory where a file should be: an error, and no litter. */
	assert_int_equal(g_mkdir("opensm.fdbs", 0700), 0);
	assert_false(dump_all(top, f.s, f.lids, f.lft, &second));
	assert_has(second->message, "opensm.fdbs");
	assert_int_equal(g_rmdir("opensm.fdbs"), 0);
	assert_int_equal(folder_remove(top), 2);
}
