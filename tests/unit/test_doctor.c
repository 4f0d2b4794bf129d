// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What minismctl doctor finds in the view that a manager writes.
 */
#include "sm/sweep/sweep.h"
#include "sm/view.h"
#include "tests/lib/unit.h"
#include "tools/show.h"
#include "topology/net_file.h"

#define OWN	0x1234u

struct setup {
	struct view_values *values;
	GString *text;		/* the answer */
	bool good, as_json;
};

static void
setup_open(struct setup *t)
{
	const struct generate_options options = { .seed = 3 };
	struct snapshot *s = generate_fabric("PGFT(2,3;1,2)", &options, NULL);

	t->text = g_string_new(NULL);
	t->values = g_new0(struct view_values, 1);
	*t->values = (struct view_values){
		.generation = 3, .port_guid = OWN, .s = s,
		.lids = lid_assign(s, 0, NULL, 0, NULL, NULL),
		.held = port_tables_new(s), .before = g_string_new(NULL),
	};
	view_line_put(VIEW_MANAGER, (uint64_t[VIEW_WORDS]){ 0 }, "mlx5_0",
		      t->values->before);
	view_text_put(VIEW_ROLE, "observing", t->values->before);
}

static void
setup_close(struct setup *t)
{
	view_values_free(t->values);
	g_string_free(t->text, TRUE);
}

FIXTURE(setup)

static bool
doctor_is_content(struct tool_view *v, bool as_json, GString *text)
{
	char *words[] = { (char *)"doctor", NULL };
	struct show q = { .v = v, .words = words,
			  .out = { .out = text, .as_json = as_json } };

	assert_non_null(v);
	return show_run(&q, NULL) == 0;
}

/* The answer, of the text of a view. */
static const char *
doctor_of(struct setup *t, const char *verdict)
{
	g_autoptr(GString) view = g_string_new(NULL);
	AUTO(tool_view) *v = NULL;

	view_line_put(VIEW_VERDICT, (uint64_t[VIEW_WORDS]){ 0 }, verdict,
		      t->values->before);
	view_write(t->values, view);
	v = tool_view_read(view->str, "v", NULL);
	g_string_truncate(t->text, 0);
	t->good = doctor_is_content(v, t->as_json, t->text);
	return t->text->str;
}

/* The only finding. */
static void
assert_finds(struct setup *t, const char *line)
{
	const char *text = doctor_of(t, "up");

	assert_false(t->good);
	if (strncmp(text, line, strlen(line)))
		fail_msg("not \"%s\" but:\n%s", line, text);
	assert_true(g_str_has_prefix(strchr(text, '\n') + 1, "model: "));
}

static void
assert_finds_nothing(struct setup *t)
{
	doctor_of(t, "up");
	assert_true(t->good);
}

/* Of a host. */
static struct port_info *
host_info(struct setup *t)
{
	return &t->values->s->ports[t->values->s->local_port].info;
}

static void
assert_finds_host(struct setup *t, const char *what)
{
	g_autofree char *line = g_strdup_printf("%s: %s: ", what,
		snapshot_name_of(t->values->s, t->values->s->local_port));

	assert_finds(t, line);
}

/* The view is of a master, and has these lines. */
static void
become_master(struct setup *t)
{
	g_string_truncate(t->values->before, 0);
	view_text_put(VIEW_ROLE, "master", t->values->before);
}

SETUP_TEST(test_a_clean_fabric_has_no_finding)
{
	const char *text = doctor_of(t, "up");

	assert_true(t->good);
	assert_true(g_str_has_prefix(text, "of what was asked, nothing"));
	assert_has(text, "model: 6 x CA ");
	assert_has(text, "not asked: adaptive routing");
	assert_null(strstr(text, "SLs on VLs"));
	t->as_json = true;
	assert_true(g_str_has_prefix(doctor_of(t, "up"), "{\"findings\":[],"));
}

SETUP_TEST(test_the_verdict_is_a_finding)
{
	assert_true(g_str_has_prefix(doctor_of(t, "not up"), "the subnet is "
				     "not as it should be: NOT UP: "));
	assert_false(t->good);
}

SETUP_TEST(test_another_manager_is_a_finding)
{
	view_line_put(VIEW_SM, (uint64_t[]){ 0xabc, 3, 7 }, "node-07",
		      t->values->before);
	assert_finds(t, "another subnet manager: node-07 (0x0000000000000abc), "
		     "master, priority 7: ");
}

/* Our own port may say IsSM, and one that answers has its line. */
SETUP_TEST(test_a_manager_that_is_mute_is_a_finding)
{
	uint64_t guid;

	host_info(t)->cap_mask = PORT_CAP_IS_SM;
	guid = t->values->s->ports[t->values->s->local_port].guid;
	assert_finds_host(t, "a subnet manager that does not answer");
	t->values->port_guid = guid;
	assert_finds_nothing(t);
	t->values->port_guid = OWN;
	view_line_put(VIEW_SM, (uint64_t[]){ guid, 2, 7 }, "n",
		      t->values->before);
	t->values->port_guid = guid;
	assert_finds_nothing(t);
	t->values->port_guid = OWN;
	view_line_put(VIEW_SM, (uint64_t[]){ 0xabc, 3, 7 }, "m",
		      t->values->before);
	assert_null(strstr(doctor_of(t, "up"), "does not answer"));
}

/* The mask holds only if CapabilityMask says so. */
SETUP_TEST(test_virtual_ports_are_a_finding)
{
	struct port_info *i = host_info(t);

	i->cap_mask2 = PORT_CAP2_HAS_VIRTUALIZATION;
	assert_finds_nothing(t);
	i->cap_mask = PORT_CAP_HAS_CAP_MASK2;
	assert_finds_host(t, "ports with virtual ports");
	assert_has(t->text->str, "VFs of these ports stay down with any open "
		   "manager");
}

SETUP_TEST(test_a_key_is_a_finding_and_is_not_told)
{
	struct port_info *i = host_info(t);
	g_autoptr(GString) view = g_string_new(NULL);

	i->m_key = 0xfeedfacecafe1234;
	assert_finds_host(t, "ports with an M_Key");
	view_write(t->values, view);
	assert_null(strstr(view->str, "feedface"));
	i->m_key = 0;
	i->m_key_protect = 1;
	assert_finds_host(t, "ports with an M_Key");
}

/* A master set them itself. */
SETUP_TEST(test_the_keys_of_a_master_are_no_finding)
{
	host_info(t)->m_key = 1;
	assert_finds_host(t, "ports with an M_Key");
	become_master(t);
	assert_null(strstr(doctor_of(t, "up"), "ports with an M_Key"));
	assert_true(t->good);
}

/* What a master found when it wrote, each once, of both texts. */
SETUP_TEST(test_a_foreign_key_is_a_finding_of_a_master)
{
	static const char *const complaints[] = {
		"H-1 (0x0000000000000011) port 1 rejects Sets: it has a foreign "
			"M_Key",
		"silent: the node behind S-1-0 port 3 does not answer NodeInfo: "
			"hung, without a driver, or protected by a foreign M_Key",
	};
	uint64_t fault[VIEW_WORDS] = { [FAULT_KIND] = EXPECTED_SILENT,
				       [FAULT_NAME] = 7 };

	become_master(t);
	for (size_t i = 0; i < G_N_ELEMENTS(complaints); i++)
		view_text_put(i ? VIEW_WARNING : VIEW_COMPLAINT, complaints[i],
			      t->values->before);
	view_line_put(VIEW_FAULT, fault, "silent port S-1-0/4, the node there (H-4) "
		      "rejects Sets: it has a foreign M_Key", t->values->before);
	assert_finds(t, "ports with a foreign M_Key: H-1 (0x0000000000000011) "
		     "port 1, S-1-0/4: enter it in guid2mkey");
}

/* VL 0 for all, and SL modulo VLs, are defaults. */
SETUP_TEST(test_other_vls_are_a_finding)
{
	struct snapshot *s = t->values->s;
	union port_block b = { 0 };

	host_info(t)->oper_vls = 3;
	for (unsigned kind = 0; kind < 2; kind++) {
		for (unsigned sl = 0; sl < SL_COUNT; sl++)
			b.vl[sl] = (uint8_t)(kind ? sl % 4 : 0);
		port_tables_set(t->values->held, PORT_TABLE_SL2VL,
				s->local_port, 0, &b);
		assert_finds_nothing(t);
	}
	b.vl[3] = 15;
	port_tables_set(t->values->held, PORT_TABLE_SL2VL, s->local_port, 0,
			&b);
	assert_finds_host(t, "SLs on other VLs than by default");
}

/* An observer takes membership from what ports hold, in any order. */
SETUP_TEST(test_a_port_is_in_the_partitions_of_its_table)
{
	const struct snapshot *s = t->values->s;
	const union port_block b = { .pkeys = { 0x7fff, 0x8003, 0, 0x0002 } };
	static const unsigned what[] = { 0, 0, PARTITION_LIMITED,
					 PARTITION_FULL, 0 };
	AUTO(memberships) *m = NULL;
	uint32_t other = 0;

	while (other == s->local_port || !snapshot_is_end_port(s, other) ||
	       !port_pkey_cap(s, other))
		other++;
	port_tables_set(t->values->held, PORT_TABLE_PKEY, s->local_port, 0, &b);
	m = observe_memberships(s, t->values->held);
	for (unsigned i = 1; i < G_N_ELEMENTS(what); i++) {
		assert_int_equal(memberships_of(m, s->local_port, (uint16_t)i),
				 what[i]);
		assert_int_equal(memberships_of(m, other, (uint16_t)i), 0);
	}
	assert_int_equal(memberships_of(m, s->local_port, PKEY_DEFAULT),
			 PARTITION_LIMITED);
}

/* Also one whose host answers, and takes no address. */
SETUP_TEST(test_silent_ports_are_a_finding)
{
	view_line_put(VIEW_FAULT, (uint64_t[VIEW_WORDS]){ 1, 5, 6, [FAULT_KIND] =
		      EXPECTED_SILENT, [FAULT_NAME] = 8 }, "silent port leaf-1/4, "
		      "node-04 acknowledges an address and does not take it",
		      t->values->before);
	doctor_of(t, "degraded");
	assert_has(t->text->str, "ports with a link and no host that can be "
		   "used: leaf-1/4: ");
}

/* Many of one kind are counted. */
SETUP_TEST(test_devices_of_a_kind_are_a_finding)
{
	struct snapshot *s = t->values->s;
	g_autofree char *far = NULL, *line = NULL;
	uint32_t host = s->ports[s->local_port].node;

	s->nodes[host].info.system_guid = snapshot_node_of(s,
		s->ports[s->local_port].peer)->info.node_guid;
	far = snapshot_port_name(s, s->ports[s->local_port].peer);
	line = g_strdup_printf("aggregation nodes (SHARP): %s: ", far);
	assert_finds(t, line);
	for (uint32_t i = 0; i < s->n_ports; i++)
		s->ports[i].info.m_key = 1;
	assert_has(doctor_of(t, "up"), " and 7 more: without it");
}

/* The answer, of a net file. */
static GString *
doctor_of_net(struct snapshot *s)
{
	g_autoptr(GString) net = g_string_new(NULL);
	GString *text = g_string_new(NULL);
	AUTO(tool_view) *v = NULL;

	net_file_write(s, net);
	snapshot_unref(s);
	v = tool_view_read(net->str, "net", NULL);
	doctor_is_content(v, false, text);
	return text;
}

TEST(test_a_net_file_tells_what_is_missing)
{
	const struct generate_options options = { .seed = 3 };
	struct snapshot *s = generate_fabric("PGFT(2,3;1,2)", &options, NULL);
	uint32_t last = SNAPSHOT_NONE;
	g_autoptr(GString) text = NULL, inside = NULL;

	for (uint32_t i = 0; i < s->n_switches; i++)
		if (s->nodes[s->switches[i]].info.num_ports == 3)
			last = s->nodes[s->switches[i]].first_port + 3;
	assert_int_not_equal(last, SNAPSHOT_NONE);
	s->ports[s->ports[last].peer].peer = SNAPSHOT_NONE;
	s->ports[last].peer = SNAPSHOT_NONE;
	text = doctor_of_net(s);
	assert_has(text->str, "this is a net file");
	assert_has(text->str, "switches with an odd last port: ");
	assert_has(text->str, "SLs on VLs: ask");
	/* a CA inside of each switch has its last port, the fifth of leaves */
	inside = doctor_of_net(generate_fabric("PGFT(2,3;1,2)+an", &options,
					       NULL));
	assert_has(inside->str, "odd last port: ");
}
