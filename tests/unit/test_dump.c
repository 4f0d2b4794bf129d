// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fabric as text: OpenSM's dumps, line by line as OpenSM writes them, and
 * the picture.
 */
#include <glib/gstdio.h>
#include <string.h>

#include "routing/engine.h"
#include "tests/lib/auto.h"
#include "tests/lib/engine_route.h"
#include "lab/show.h"
#include "tests/lib/dumped.h"
#include "tests/lib/folder.h"
#include "tests/lib/unit.h"
#include "topology/snapshot.h"
#include "topology/generate.h"
#include "topology/net_file.h"

struct fabric {
	struct snapshot *s;
	struct lid_map *lids;
	struct lft *lft;
	GString *out;
};

/* The fabric as it is when the SM is done: LIDs set, links Active. */
static struct fabric *
fabric_route(struct snapshot *s)
{
	struct fabric *f = g_new0(struct fabric, 1);

	f->s = s;
	f->lids = lid_assign(s, 0, NULL, 0, NULL, NULL);
	assert_non_null(f->lids);
	for (uint32_t port = 0; port < s->n_ports; port++) {
		struct port_info *info = &s->ports[port].info;

		info->lid = f->lids->base[port];
		if (info->state == PORT_STATE_INIT)
			info->state = PORT_STATE_ACTIVE;
	}
	f->lft = engine_tables(&engine_minhop, s, f->lids);
	f->out = g_string_new(NULL);
	return f;
}

static struct fabric *
fabric_new(const char *spec)
{
	const struct generate_options options = { .seed = 3 };
	struct snapshot *s = generate_fabric(spec, &options, NULL);

	assert_non_null(s);
	return fabric_route(s);
}

static void
fabric_free(struct fabric *f)
{
	g_string_free(f->out, TRUE);
	lft_free(f->lft);
	lid_map_free(f->lids);
	snapshot_unref(f->s);
	g_free(f);
}

AUTO_DEFINE(fabric, fabric_free)

static const char *const names[] = {
	"opensm-subnet.lst", "opensm.fdbs", "opensm.mcfdbs",
	"opensm-lfts.dump",
};

static void
dump(struct fabric *f, const char *name)
{
	dumped_read(f->s, f->lids, f->lft, name, f->out);
}

static uint32_t
node_named(const struct fabric *f, const char *desc)
{
	for (uint32_t node = 0; node < f->s->n_nodes; node++)
		if (strcmp(f->s->nodes[node].desc, desc) == 0)
			return node;
	fail_msg("no node %s", desc);
	return SNAPSHOT_NONE;
}

/* The only port of a host. */
static uint32_t
host_port(const struct fabric *f, const char *desc)
{
	return f->s->nodes[node_named(f, desc)].first_port + 1;
}

static unsigned
host_lid(const struct fabric *f, const char *desc)
{
	return f->lids->base[host_port(f, desc)];
}

static uint8_t *
entry(struct fabric *f, const char *sw, unsigned lid)
{
	const struct snapshot_node *n = &f->s->nodes[node_named(f, sw)];

	return lft_row(f->lft, n->sw_index) + lid;
}

static uint32_t
count_lines(const char *text)
{
	uint32_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* A fabric that can be written down: one switch, hosts on its ports 1 and 3,
 * GUIDs as small as they can be. */
static struct snapshot *
small_fabric(void)
{
	struct snapshot *s = net_file_parse(
		"vendid=0x2c9\ndevid=0xb924\nsysimgguid=0xa1\n"
		"switchguid=0xa0(a2)\nSwitch 18 \"S\" # \"sw {1}\"\n"
		"[3] \"R\"[1] # \"right\" lid 0 4xEDR\n"
		"[17] \"L\"[1] # \"left\" lid 0 4xQDR\n\n"
		"devid=0\ncaguid=0xb0\nCa 1 \"L\" # \"left\"\n"
		"[1](b1) \"S\"[17] # lid 0 lmc 0 \"sw\" lid 0 4xQDR\n\n"
		"devid=0\ncaguid=0xc0\nCa 1 \"R\" # \"right\"\n"
		"[1](c1) \"S\"[3] # lid 0 lmc 0 \"sw\" lid 0 4xEDR\n",
		"small", NULL);

	s->nodes[0].info.revision = 0xa1;
	return s;
}

#define LEFT	" Ports:01 SystemGUID:00000000000000b0 " \
		"NodeGUID:00000000000000b0 PortGUID:00000000000000b1 "
#define RIGHT	" Ports:01 SystemGUID:00000000000000c0 " \
		"NodeGUID:00000000000000c0 PortGUID:00000000000000c1 "
#define SWITCH	"{ SW Ports:12 SystemGUID:00000000000000a1 " \
		"NodeGUID:00000000000000a0 PortGUID:00000000000000a2 "

TEST(test_subnet_lst_has_a_line_a_cable_end)
{
	AUTO(fabric) *f = fabric_route(small_fabric());

	dump(f, "opensm-subnet.lst");
	assert_string_equal(f->out->str,
		SWITCH "VenID:0002C9 DevID:B924 Rev:000000A1 {sw (1)} "
		"LID:0001 PN:03 } { CA" RIGHT "VenID:00000000 DevID:0000 "
		"Rev:00000000 {right} LID:0003 PN:01 } "
		"PHY=4x LOG=ACT SPD=25\n"
		SWITCH "VenID:0002C9 DevID:B924 Rev:000000A1 {sw (1)} "
		"LID:0001 PN:11 } { CA-SM" LEFT "VenID:00000000 DevID:0000 "
		"Rev:00000000 {left} LID:0002 PN:01 } "
		"PHY=4x LOG=ACT SPD=10\n"
		"{ CA-SM" LEFT "VenID:000000 DevID:0000 Rev:00000000 {left} "
		"LID:0002 PN:01 } " SWITCH "VenID:000002C9 DevID:B924 "
		"Rev:000000A1 {sw (1)} LID:0001 PN:11 } "
		"PHY=4x LOG=ACT SPD=10\n"
		"{ CA" RIGHT "VenID:000000 DevID:0000 Rev:00000000 {right} "
		"LID:0003 PN:01 } " SWITCH "VenID:000002C9 DevID:B924 "
		"Rev:000000A1 {sw (1)} LID:0001 PN:03 } "
		"PHY=4x LOG=ACT SPD=25\n");
}

TEST(test_subnet_lst_leaves_out_what_is_not_known)
{
	AUTO(fabric) *f = fabric_route(small_fabric());

	f->s->ports[host_port(f, "left")].known = false;
	dump(f, "opensm-subnet.lst");
	assert_int_equal(count_lines(f->out->str), 2);
	assert_null(strstr(f->out->str, "{left}"));
}

TEST(test_subnet_lst_tells_states_apart)
{
	static const struct {
		unsigned state;
		const char *text;
	} cases[] = {
		{ PORT_STATE_DOWN, " LOG=DWN " }, { PORT_STATE_INIT, "=INI " },
		{ PORT_STATE_ARMED, "=ARM " }, { PORT_STATE_ACTIVE, "=ACT " },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		AUTO(fabric) *f = fabric_new("pair()");

		f->s->ports[host_port(f, "H-0")].info.state = cases[i].state;
		dump(f, "opensm-subnet.lst");
		*strchr(f->out->str, '\n') = '\0';
		assert_has(f->out->str, cases[i].text);
	}
}

TEST(test_fdbs_and_lfts_are_as_opensm_writes_them)
{
	AUTO(fabric) *f = fabric_route(small_fabric());

	dump(f, "opensm.fdbs");
	assert_string_equal(f->out->str,
		"dump_ucast_routes: Switch 0x00000000000000a0\n"
		"LID    : Port : Hops : Optimal\n"
		"0x0001 : 000  : 00   : yes\n"
		"0x0002 : 017  : 01   : yes\n"
		"0x0003 : 003  : 01   : yes\n");
	dump(f, "opensm-lfts.dump");
	assert_string_equal(f->out->str,
		"Unicast lids [0-3] of switch Lid 1 guid 0x00000000000000a0 "
		"('sw {1}'):\n"
		"0x0001 000 # Switch portguid 0x00000000000000a2: 'sw {1}'\n"
		"0x0002 017 # Channel Adapter portguid 0x00000000000000b1: "
		"'left'\n"
		"0x0003 003 # Channel Adapter portguid 0x00000000000000c1: "
		"'right'\n"
		"3 lids dumped\n");
	dump(f, "opensm.mcfdbs");
	assert_string_equal(f->out->str, "Switch 0x00000000000000a0\n"
			    "LID    : Out Port(s)\n");
}

TEST(test_tables_of_no_switch_are_empty)
{
	AUTO(fabric) *f = fabric_new("pair()");

	for (unsigned i = 1; i < G_N_ELEMENTS(names); i++) {
		dump(f, names[i]);
		assert_string_equal(f->out->str, "");
	}
}

TEST(test_lfts_leave_out_lids_without_path)
{
	AUTO(fabric) *f = fabric_route(small_fabric());

	*entry(f, "sw {1}", 2) = LFT_NO_PATH;
	dump(f, "opensm-lfts.dump");
	assert_null(strstr(f->out->str, "0x0002"));
	assert_has(f->out->str, "2 lids dumped\n");
	dump(f, "opensm.fdbs");
	assert_has(f->out->str, "0x0002 : UNREACHABLE\n0x0003 : 003  : ");
}

/* The line of (switch, LID) in the FDB dump. */
static void
assert_fdb(struct fabric *f, const char *sw, unsigned lid, const char *line)
{
	g_autofree char *head = g_strdup_printf("Switch 0x%016"
		G_GINT64_MODIFIER "x\n",
		f->s->nodes[node_named(f, sw)].info.node_guid);
	g_autofree char *want = g_strdup_printf("\n0x%04X : %s\n", lid, line);
	g_auto(GStrv) parts = NULL;
	char *at;

	dump(f, "opensm.fdbs");
	at = strstr(f->out->str, head);
	assert_non_null(at);
	parts = g_strsplit(at + 1, "Switch 0x", 2);
	assert_has(parts[0], want);
}

/* The port of a switch that leads to another one. */
static uint8_t
port_to(const struct fabric *f, const char *from, const char *to)
{
	uint32_t port = f->s->nodes[node_named(f, from)].first_port + 1;

	while (f->s->ports[port].peer == SNAPSHOT_NONE ||
	       strcmp(snapshot_name_of(f->s, f->s->ports[port].peer), to))
		port++;
	return f->s->ports[port].num;
}

TEST(test_fdbs_count_hops_by_the_tables)
{
	AUTO(fabric) *f = fabric_new("ring(6;1)");
	unsigned lid = host_lid(f, "H-2"), port = *entry(f, "S-1-0", lid);
	g_autofree char *near = g_strdup_printf("%03u  : 03   : yes", port);
	g_autofree char *far = g_strdup_printf("%03u  : 05   : No 3 hop path "
		"possible via port %u!", port_to(f, "S-1-0", "S-1-5"), port);
	g_autofree char *behind = g_strdup_printf("%03u  : 03   : yes",
		*entry(f, "S-1-4", lid));

	/* By the short way three cables: two of the ring, one to the host. */
	assert_fdb(f, "S-1-0", lid, near);
	/* The other way round it is five, once S-1-5 agrees to that. */
	*entry(f, "S-1-0", lid) = port_to(f, "S-1-0", "S-1-5");
	*entry(f, "S-1-5", lid) = port_to(f, "S-1-5", "S-1-4");
	assert_fdb(f, "S-1-0", lid, far);
	assert_fdb(f, "S-1-4", lid, behind);
}

static void
assert_unknown(struct fabric *f, const char *sw, unsigned lid)
{
	g_autofree char *line = g_strdup_printf("%03u  : HOPS UNKNOWN",
						*entry(f, sw, lid));

	assert_fdb(f, sw, lid, line);
}

TEST(test_fdbs_say_so_where_a_way_does_not_arrive)
{
	AUTO(fabric) *f = fabric_new("ring(4;1)");
	unsigned lid = host_lid(f, "H-2"), other = host_lid(f, "H-0");

	/* S-1-1 hands it to S-1-2, which now hands it back. */
	*entry(f, "S-1-2", lid) = *entry(f, "S-1-2", host_lid(f, "H-1"));
	assert_unknown(f, "S-1-2", lid);
	assert_unknown(f, "S-1-1", lid);

	/* S-1-0 gives H-3's LID to its own host, and S-1-1 may rely on it. */
	lid = host_lid(f, "H-3");
	*entry(f, "S-1-0", lid) = *entry(f, "S-1-0", other);
	*entry(f, "S-1-1", lid) = *entry(f, "S-1-1", other);
	assert_unknown(f, "S-1-0", lid);
	assert_unknown(f, "S-1-1", lid);

	/* A port 0 that is not the owner's. */
	*entry(f, "S-1-0", lid) = 0;
	assert_unknown(f, "S-1-0", lid);
}

TEST(test_fdbs_write_long_ways_in_full)
{
	AUTO(fabric) *f = fabric_new("ring(202;1)");
	unsigned lid = host_lid(f, "H-101");
	g_autofree char *line = g_strdup_printf("%03u  : 102   : yes",
						*entry(f, "S-1-0", lid));

	assert_fdb(f, "S-1-0", lid, line);
}

TEST(test_dump_all_writes_into_folder_and_replaces)
{
	AUTO(fabric) *f = fabric_new("PGFT(3,3;1,2)");
	AUTO_ENTER(top);

	/* Twice: the second time it replaces. */
	for (unsigned i = 0; i < 2; i++)
		assert_true(dump_all("deep", f->s, f->lids, f->lft, NULL));
	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename("deep", names[i], NULL);
		GStatBuf st;

		dump(f, names[i]);
		assert_file("deep", names[i], f->out->str);
		/* It tells of the fabric: its owner decides who reads it. */
		assert_int_equal(g_stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
	/* And minism.net, but nothing that was only for the time of writing. */
	assert_int_equal(folder_remove("deep"), 5);
	assert_int_equal(g_rmdir(top), 0);
}

TEST(test_dump_all_fails_with_the_path_in_the_message)
{
	AUTO(fabric) *f = fabric_new("single(2)");
	AUTO_ENTER(top);
	g_autoptr(GError) error = NULL, second = NULL;

	assert_true(g_file_set_contents("file", "x", 1, NULL));
	assert_false(dump_all("file", f->s, f->lids, f->lft, &error));
	assert_non_null(error);
	assert_true(error->domain == G_FILE_ERROR);
	assert_has(error->message, "file");

	/* A directory where a file should be: an error, and no litter. */
	assert_int_equal(g_mkdir("opensm.fdbs", 0700), 0);
	assert_false(dump_all(top, f->s, f->lids, f->lft, &second));
	assert_has(second->message, "opensm.fdbs");
	assert_int_equal(g_rmdir("opensm.fdbs"), 0);
	assert_int_equal(folder_remove(top), 2);
}

/* The picture. */

static void
assert_fits(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	assert_true(g_str_has_suffix(text, "\n") || !*text);
	for (char **line = lines; *line; line++)
		if (g_utf8_strlen(*line, -1) > 80)
			fail_msg("wider than 80 columns: %s", *line);
}

TEST(test_show_fits_its_columns_and_lines)
{
	static const char *const specs[] = {
		"pair()", "single(1)", "single(100)", "ring(7;3)",
		"PGFT(4,4;1,2)", "PGFT(4,4,4;1,4,4)", "mesh(3,3;1)",
		"PGFT(18,36;1,18)", "rails(3;4,2)",
	};
	static const unsigned limits[] = { 0, 1, 2, 7, 20, 45, 100000 };

	for (unsigned i = 0; i < G_N_ELEMENTS(specs); i++) {
		AUTO(fabric) *f = fabric_new(specs[i]);

		for (unsigned k = 0; k < G_N_ELEMENTS(limits); k++) {
			g_string_truncate(f->out, 0);
			show_fabric(f->s, f->lids, limits[k], f->out);
			assert_fits(f->out->str);
			assert_true(count_lines(f->out->str) <= limits[k]);
			assert_true(limits[k] == 0 || f->out->len > 0);
		}
	}
}

TEST(test_show_names_everyone_if_there_is_room)
{
	AUTO(fabric) *f = fabric_new("PGFT(4,4;1,2)");

	show_fabric(f->s, f->lids, 60, f->out);
	assert_has(f->out->str,
		   "6 switches, 16 hosts, 24 links 4xEDR, all Active\n");
	for (uint32_t node = 0; node < f->s->n_nodes; node++)
		assert_has(f->out->str, f->s->nodes[node].desc);
	assert_null(strstr(f->out->str, "more"));
	/* The top of the tree first. */
	assert_true(strstr(f->out->str, "\n  S-2-0 (LID ") <
		    strstr(f->out->str, "\n  S-1-0 (LID "));
}

TEST(test_show_counts_what_it_leaves_out)
{
	AUTO(fabric) *f = fabric_new("PGFT(18,36;1,18)");

	show_fabric(f->s, f->lids, 40, f->out);
	assert_int_equal(count_lines(f->out->str), 40);
	assert_has(f->out->str, " more lines\n");
}

TEST(test_show_tells_links_that_are_not_active)
{
	AUTO(fabric) *f = fabric_new("single(3)");

	f->s->ports[host_port(f, "H-1")].info.state = PORT_STATE_ARMED;
	show_fabric(f->s, f->lids, 60, f->out);
	assert_has(f->out->str, "1 switch, 3 hosts, 3 links 4xEDR, 2 Active, "
		   "1 Armed\n");
	assert_has(f->out->str, "◐ H-1 ");
	assert_has(f->out->str, "● H-2 ");
}

static void
route(struct fabric *f, uint32_t from, uint32_t to)
{
	g_string_truncate(f->out, 0);
	show_route(f->s, f->lids, f->lft, from, to, f->out);
	assert_fits(f->out->str);
}

/* Between switches it ends at port 0. */
TEST(test_route_shows_every_stop)
{
	static const char *const parts[] = {
		"route from H-0 to H-1, LID ", "● H-0 ", "■ S-1-0 ", "■ S-1-1 ",
		"  in by port 1    out by port ", "● H-1 ", "\n  3 hops\n",
	};
	AUTO(fabric) *f = fabric_new("ring(4;1)");
	uint32_t a = f->s->nodes[node_named(f, "S-1-0")].first_port;
	uint32_t b = f->s->nodes[node_named(f, "S-1-1")].first_port;

	route(f, host_port(f, "H-0"), host_port(f, "H-1"));
	assert_int_equal(count_lines(f->out->str), 6);
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		assert_has(f->out->str, parts[i]);
	route(f, a, b);
	assert_has(f->out->str, "\n  1 hop\n");
	route(f, a, a);
	assert_has(f->out->str, "\n  0 hops\n");
}

TEST(test_route_says_where_it_breaks_off)
{
	AUTO(fabric) *f = fabric_new("ring(4;1)");
	uint32_t from = host_port(f, "H-0"), to = host_port(f, "H-1");
	unsigned lid = host_lid(f, "H-1");
	const struct {
		uint8_t port;
		const char *text;
	} cases[] = {
		{ LFT_NO_PATH, "✗ no entry for LID" },
		{ 200, "✗ port 200 leads nowhere\n" },
		{ 0, "✗ port 0 leads nowhere\n" },
		{ *entry(f, "S-1-1", host_lid(f, "H-0")),
		  "✗ it was here before: a loop\n" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		*entry(f, "S-1-1", lid) = cases[i].port;
		route(f, from, to);
		assert_has(f->out->str, cases[i].text);
		assert_null(strstr(f->out->str, "hops"));
	}
	*entry(f, "S-1-0", lid) = *entry(f, "S-1-0", host_lid(f, "H-0"));
	route(f, from, to);
	assert_has(f->out->str, "✗ arrived here, but LID");
	f->s->ports[from].info.phys_state = PORT_PHYS_POLLING;
	route(f, from, to);
	assert_has(f->out->str, "✗ its link is down\n");
	f->lids->base[to] = 0;
	route(f, from, to);
	assert_has(f->out->str, "✗ the destination has no LID\n");
}

TEST(test_picked_route_leads_to_the_farthest_host)
{
	static const char *const cases[][2] = {
		{ "ring(6;2)", "H-6" }, { "single(3)", "H-1" },
		{ "pair()", "H-1" }, { "single(1)", "S-1-0" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		AUTO(fabric) *f = fabric_new(cases[i][0]);
		uint32_t from, to;

		f->s->local_port = host_port(f, "H-0");
		assert_true(show_pick_route(f->s, f->lids, &from, &to));
		assert_int_equal(from, f->s->local_port);
		assert_string_equal(snapshot_name_of(f->s, to), cases[i][1]);
		f->s->ports[from].info.phys_state = PORT_PHYS_POLLING;
		assert_false(show_pick_route(f->s, f->lids, &from, &to));
	}
}
