// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MADs and decisions in words.
 */
#include "sm/decisions.h"
#include "sm/mad/bytes.h"
#include "sm/mad/sa_mad.h"
#include "tests/lib/seed.h"
#include "tools/explain.h"

#define KEY	UINT64_C(0x1122334455667788)

struct printed {
	struct explain *e;
	enum explain_format format;
	GString *text;
	unsigned n;
};

static void
on_line(const struct explain_line *line, void *data)
{
	struct printed *p = data;

	p->n++;
	explain_print(line, p->format, p->text);
}

static void
on_decision(const char *what, const char *where, const char *text,
	    const char *why, const char *clause, void *data)
{
	struct printed *p = data;

	explain_say(p->e, 0, what, where, why, clause, "%s", text);
}

static void
begin(struct printed *p, enum explain_format format)
{
	*p = (struct printed){ .format = format, .text = g_string_new(NULL) };
	p->e = explain_new(on_line, p);
}

static void
end(struct printed *p)
{
	explain_free(p->e);
	g_string_free(p->text, TRUE);
}

#define EXPLAIN_TEST(name, format) \
	TEST_ON(name, struct printed, p, begin, end, format)

static const struct dr_path to_leaf = { .hops = 1, .port = { 0, 1 } };
static const struct dr_path to_spine = { .hops = 2, .port = { 0, 1, 5 } };

/* A request at `us` and its answer, 10 us later. */
static void
ask(struct printed *p, int64_t us, enum mad_method method, enum mad_attr attr,
    unsigned modifier, const struct dr_path *path, const uint8_t *data,
    unsigned status)
{
	uint8_t mad[MAD_SIZE];

	smp_build_direct(mad, method, attr, modifier, KEY, path);
	mad_set_tid(mad, 0x100000000u + (uint64_t)us);
	if (method == MAD_METHOD_SET)
		memcpy(smp_data(mad), data, SMP_DATA_LEN);
	explain_mad(p->e, us, EXPLAIN_SENT, LID_PERMISSIVE, mad, MAD_SIZE);
	memcpy(smp_data(mad), data, SMP_DATA_LEN);
	smp_make_response(mad, status);
	mad_set_tid(mad, 0x200000000u + (uint64_t)us);
	explain_mad(p->e, us + 10, EXPLAIN_RECEIVED, LID_PERMISSIVE, mad,
		    MAD_SIZE);
}

static void
ask_node(struct printed *p, int64_t us, const struct dr_path *path,
	 uint64_t guid)
{
	uint8_t data[SMP_DATA_LEN];
	struct node_info info = {
		.node_type = NODE_SWITCH, .num_ports = 8, .node_guid = guid,
		.local_port = 3,
	};

	node_info_encode(data, &info);
	ask(p, us, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, path, data, 0);
}

EXPLAIN_TEST(test_devices_are_named_as_they_become_known, EXPLAIN_TEXT)
{
	uint8_t name[SMP_DATA_LEN] = "leaf-1";

	ask_node(p, 0, &to_leaf, 0x20010);
	ask(p, 20, MAD_METHOD_GET, MAD_ATTR_NODE_DESC, 0, &to_leaf, name, 0);
	ask_node(p, 40, &to_spine, 0x30010);
	ask_node(p, 60, &to_leaf, 0x20010);
	assert_string_equal(p->text->str,
"0.000010  next door     Get NodeInfo               path 0,1 -> Switch "
"0x0000000000020010, ports: 8, entered by port 3 (which device is there? No "
"LIDs yet: the route is a list of ports) [IBA 14.2.5.3]\n"
"0.000030  0x20010       Get NodeDescription        path 0,1 -> \"leaf-1\" "
"(the name for people; all else goes by GUID) [IBA 14.2.5.2]\n"
"0.000050  leaf-1/5      Get NodeInfo               path 0,1,5 -> Switch "
"0x0000000000030010, ports: 8, entered by port 3 [IBA 14.2.5.3]\n"
"0.000070  leaf-1        Get NodeInfo               path 0,1 -> Switch "
"0x0000000000020010, ports: 8, entered by port 3 [IBA 14.2.5.3]\n");
}

EXPLAIN_TEST(test_reason_is_told_again_in_the_next_phase, EXPLAIN_TEXT)
{
	ask_node(p, 0, &to_leaf, 1);
	explain_phase(p->e, 20, "light sweep");
	g_string_truncate(p->text, 0);
	ask_node(p, 40, &to_leaf, 1);
	assert_has(p->text->str, "(which device is there?");
}

EXPLAIN_TEST(test_refusal_and_silence_are_told, EXPLAIN_TEXT)
{
	const uint8_t data[SMP_DATA_LEN] = { 0 };
	uint8_t mad[MAD_SIZE];

	ask(p, 0, MAD_METHOD_SET, MAD_ATTR_PORT_INFO, 4, &to_leaf, data,
	    MAD_STATUS_BAD_VALUE);
	assert_has(p->text->str, "Set PortInfo");
	assert_has(p->text->str,
		   "refused: invalid attribute value (status 0x001c)");
	g_string_truncate(p->text, 0);
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_SWITCH_INFO, 0, KEY,
			 &to_spine);
	explain_mad(p->e, 5, EXPLAIN_RETURNED, LID_PERMISSIVE, mad, MAD_SIZE);
	assert_has(p->text->str, "Get SwitchInfo");
	assert_has(p->text->str, "no answer in time");
}

EXPLAIN_TEST(test_request_to_the_sa_names_its_components, EXPLAIN_TEXT)
{
	uint8_t mad[MAD_SIZE];

	sa_build(mad, MAD_METHOD_GET, SA_ATTR_PATH);
	bytes_store(mad + 48, SA_BIT(2) | SA_BIT(3), 8);	/* ComponentMask */
	explain_mad(p->e, 0, EXPLAIN_RECEIVED, 7, mad, MAD_SIZE);
	assert_has(p->text->str, "LID 7         Get PathRecord");
	assert_has(p->text->str, "by DGID, SGID");
}

/* Whatever is on the wire: one line each at most, no key of an SMP. */
EXPLAIN_TEST(test_any_bytes_are_one_line_without_keys, EXPLAIN_TEXT)
{
	static const uint8_t classes[] = { 0x01, 0x81, 0x03, 0x04 };
	static const uint8_t methods[] = { 1, 2, 5, 7, 0x81, 0x12, 0x92 };
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)seed_take(1));

	for (unsigned i = 0; i < 20000; i++) {
		uint8_t mad[MAD_SIZE];

		for (unsigned k = 0; k < MAD_SIZE; k++)
			mad[k] = (uint8_t)g_rand_int(rand);
		mad[1] = classes[i % G_N_ELEMENTS(classes)];
		mad[3] = methods[i / 4 % G_N_ELEMENTS(methods)];
		mad[7] &= 0x3f;
		mad[16] = 0;
		mad[17] = (uint8_t)(i % 0x40);
		p->format = i % 2 ? EXPLAIN_TEXT : EXPLAIN_JSON;
		p->n = 0;
		g_string_truncate(p->text, 0);
		explain_mad(p->e, i, i % 3, 5, mad, MAD_SIZE);
		assert_in_range(p->n, 0, 1);
		assert_true(!p->text->len ||
			    strchr(p->text->str, '\n') ==
			    p->text->str + p->text->len - 1);
	}
}

EXPLAIN_TEST(test_m_key_of_port_info_is_not_told, EXPLAIN_JSON)
{
	struct port_info info = { .m_key = KEY, .state = PORT_STATE_ARMED };
	uint8_t data[SMP_DATA_LEN];

	port_info_encode(data, &info);
	ask(p, 0, MAD_METHOD_SET, MAD_ATTR_PORT_INFO, 1, &to_leaf, data, 0);
	assert_has(p->text->str, "Armed");
	assert_null(strstr(p->text->str, "1122334455667788"));
	assert_null(strstr(p->text->str, "1234605616436508552"));
}

/* Of a ring without an order: the loop, by name. */
EXPLAIN_TEST(test_credit_loop_is_told, EXPLAIN_TEXT)
{
	const struct generate_options options = { .seed = 1 };
	AUTO(snapshot) *s = generate_fabric("ring(5;1)", &options, NULL);
	AUTO(lid_map) *lids = lid_assign(s, 0, NULL, 0, NULL, NULL);
	AUTO(graph) *g = graph_new(s, lids);
	const struct engine_input in = { .g = g };
	const struct choice_wish wish = {
		.engine = engine_by_name("minhop", NULL),
	};
	struct persist memory = { .lids.ranges = g_array_new(FALSE, FALSE, 1) };
	struct sweep sweep = {
		.next = { .subnet = s, .lids = lids }, .memory = &memory,
	};

	assert_true(choose_tables(&wish, &in, &sweep.next.choice, NULL));
	decisions_of_note(SWEEP_NOTE_LIDS, &sweep, on_decision, p);
	assert_has(p->text->str, "LID 1: the lowest that is free");
	decisions_of_note(SWEEP_NOTE_ROUTED, &sweep, on_decision, p);
	assert_has(p->text->str, "channels are in credit loops: 'S-");
	assert_null(strstr(p->text->str, " 0 channels are in credit loops"));
	assert_has(p->text->str, "0 loop");
	g_array_unref(memory.lids.ranges);
	choice_clear(&sweep.next.choice);
}
