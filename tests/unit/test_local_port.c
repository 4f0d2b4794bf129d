// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which of several local ports a subnet manager takes. A table of machines;
 * the choice does not depend on the order of their ports but among equals.
 */
#include <string.h>

#include "sm/io/local_port.h"
#include "tests/lib/unit.h"

enum { DOWN = 1, INIT = 2, ARMED = 3, ACTIVE = 4 };
enum { POLLING = 2, DISABLED = 3, LINK_UP = 5 };

#define MAX_PORTS 4

struct machine {
	const char *what;
	struct local_port_wish wish;
	const char *chosen;		/* "a2"; NULL: none */
	struct local_port ports[MAX_PORTS];	/* up to one without a name */
};

static const struct machine machines[] = {
	{ "one port", { 0 }, "a1",
	  { { "a", 1, 1, true, false, ACTIVE, LINK_UP, 5, 0, 3 } } },
	{ "a port in Init before one of a managed fabric", { 0 }, "b1",
	  { { "a", 1, 1, true, false, ACTIVE, LINK_UP, 5, 0, 3 },
	    { "b", 1, 2, true, false, INIT, LINK_UP, 0, 0, 0 } } },
	{ "Ethernet is never taken, however much up", { 0 }, "b1",
	  { { "a", 1, 1, false, false, ACTIVE, LINK_UP, 0, 0, 0 },
	    { "b", 1, 2, true, false, DOWN, POLLING, 0, 0, 0 } } },
	{ "our own fabric after a restart", { 0 }, "b1",
	  { { "a", 1, 1, true, false, INIT, LINK_UP, 0, 0, 0 },
	    { "b", 1, 2, true, false, ACTIVE, LINK_UP, 7, 0, 7 } } },
	{ "our own fabric, with an LMC", { 0 }, "b1",
	  { { "a", 1, 1, true, false, ACTIVE, LINK_UP, 8, 0, 1 },
	    { "b", 1, 2, true, false, ACTIVE, LINK_UP, 4, 2, 5 } } },
	{ "a link before none", { 0 }, "a2",
	  { { "a", 1, 1, true, false, DOWN, POLLING, 0, 0, 0 },
	    { "a", 2, 2, true, false, INIT, LINK_UP, 0, 0, 0 } } },
	{ "another's fabric before no link", { 0 }, "a2",
	  { { "a", 1, 1, true, false, DOWN, POLLING, 0, 0, 0 },
	    { "a", 2, 2, true, false, ACTIVE, LINK_UP, 9, 0, 1 } } },
	{ "no link before a disabled port", { 0 }, "a2",
	  { { "a", 1, 1, true, false, DOWN, DISABLED, 0, 0, 0 },
	    { "a", 2, 2, true, false, DOWN, POLLING, 0, 0, 0 } } },
	{ "an SM LID of earlier days in Init does not count", { 0 }, "a1",
	  { { "a", 1, 1, true, false, INIT, LINK_UP, 4, 0, 1 },
	    { "a", 2, 2, true, false, INIT, LINK_UP, 0, 0, 0 } } },
	{ "no QP0, no manager", { 0 }, "a2",
	  { { "a", 1, 1, true, true, INIT, LINK_UP, 0, 0, 0 },
	    { "a", 2, 2, true, false, ACTIVE, LINK_UP, 9, 0, 1 } } },
	{ "a number: the best of those that have it", { .num = 1 }, "b1",
	  { { "a", 1, 1, true, false, ACTIVE, LINK_UP, 5, 0, 3 },
	    { "a", 2, 2, true, false, INIT, LINK_UP, 0, 0, 0 },
	    { "b", 1, 3, true, false, INIT, LINK_UP, 0, 0, 0 } } },
	{ "a name and a number: that, whatever it is",
	  { .ca_name = "a", .num = 1 }, "a1",
	  { { "a", 1, 1, true, false, DOWN, DISABLED, 0, 0, 0 },
	    { "a", 2, 2, true, false, INIT, LINK_UP, 0, 0, 0 } } },
	{ "a GUID", { .guid = 2 }, "b1",
	  { { "a", 1, 1, true, false, INIT, LINK_UP, 0, 0, 0 },
	    { "b", 1, 2, true, false, DOWN, POLLING, 0, 0, 0 } } },
	{ "a GUID of an Ethernet port", { .guid = 2 }, NULL,
	  { { "a", 1, 1, true, false, INIT, LINK_UP, 0, 0, 0 },
	    { "b", 1, 2, false, false, ACTIVE, LINK_UP, 0, 0, 0 } } },
	{ "a GUID that two devices have: the one with QP0", { .guid = 2 },
	  "b1",
	  { { "a", 1, 2, true, true, INIT, LINK_UP, 0, 0, 0 },
	    { "b", 1, 2, true, false, INIT, LINK_UP, 0, 0, 0 } } },
	{ "the device for GMPs is named: the one with QP0",
	  { .ca_name = "a", .num = 1 }, "b1",
	  { { "a", 1, 2, true, true, INIT, LINK_UP, 0, 0, 0 },
	    { "b", 1, 2, true, false, INIT, LINK_UP, 0, 0, 0 } } },
	{ "no PortGUID in common", { .ca_name = "a" }, NULL,
	  { { "a", 1, 0, true, true, INIT, LINK_UP, 0, 0, 0 },
	    { "b", 1, 0, true, false, INIT, LINK_UP, 0, 0, 0 } } },
	{ "a device with planes, all alike: the first", { .ca_name = "a" },
	  "b1",
	  { { "a", 1, 2, true, true, INIT, LINK_UP, 0, 0, 0 },
	    { "b", 1, 2, true, false, INIT, LINK_UP, 0, 0, 0 },
	    { "b", 2, 2, true, false, INIT, LINK_UP, 0, 0, 0 } } },
	{ "of the planes the one that is named", { .ca_name = "b", .num = 2 },
	  "b2",
	  { { "a", 1, 2, true, true, INIT, LINK_UP, 0, 0, 0 },
	    { "b", 1, 2, true, false, INIT, LINK_UP, 0, 0, 0 },
	    { "b", 2, 2, true, false, INIT, LINK_UP, 0, 0, 0 } } },
	{ "nothing at all", { 0 }, NULL, { { .num = 0 } } },
};

/* Backwards, too: the same, unless two ports are equal. */
TEST(test_best_port_is_taken)
{
	for (size_t i = 0; i < G_N_ELEMENTS(machines); i++) {
		const struct machine *m = &machines[i];
		bool has_equals = strstr(m->what, "earlier days") ||
			strstr(m->what, "all alike");
		struct local_port back[MAX_PORTS];
		size_t n = 0;

		while (n < MAX_PORTS && m->ports[n].ca_name[0])
			n++;
		for (size_t p = 0; p < n; p++)
			back[p] = m->ports[n - 1 - p];
		for (int is_back = 0; is_back < 2 - has_equals; is_back++) {
			const struct local_port *p = local_port_choose(is_back ?
				back : m->ports, n, &m->wish);
			g_autofree char *name = p ? g_strdup_printf("%s%u",
				p->ca_name, p->num) : NULL;

			if (g_strcmp0(name, m->chosen))
				fail_msg("%s, %d: %s", m->what, is_back, name);
		}
	}
}

TEST(test_port_for_gmps_is_its_own_or_a_twin)
{
	const struct local_port ports[] = {
		{ "a", 1, 1, true, false, INIT, LINK_UP, 0, 0, 0 },
		{ "b", 1, 2, true, false, INIT, LINK_UP, 0, 0, 0 },
		{ "c", 1, 2, false, true, INIT, LINK_UP, 0, 0, 0 },
		{ "d", 1, 2, true, true, INIT, LINK_UP, 0, 0, 0 },
	};

	assert_ptr_equal(local_port_gsi(ports, 4, &ports[0]), &ports[0]);
	assert_ptr_equal(local_port_gsi(ports, 4, &ports[1]), &ports[3]);
	assert_ptr_equal(local_port_gsi(ports, 3, &ports[1]), &ports[1]);
}

TEST(test_port_is_printed_with_what_decides)
{
	const struct {
		struct local_port port;
		const char *text;
	} cases[] = {
		{ { "mlx5_0", 1, 0x10, true, false, ACTIVE, LINK_UP, 5, 0, 3 },
		  "mlx5_0 port 1 0x0000000000000010 Active, "
		  "subnet manager at LID 3" },
		{ { "mlx5_1", 2, 0x11, false, false, ACTIVE, LINK_UP, 0, 0, 0 },
		  "mlx5_1 port 2 0x0000000000000011 Active (Ethernet)" },
		{ { "mlx5_2", 1, 0x12, true, true, INIT, LINK_UP, 0, 0, 0 },
		  "mlx5_2 port 1 0x0000000000000012 Initialize "
		  "(IsSMdisabled)" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GString) out = g_string_new(NULL);

		local_port_print(&cases[i].port, out);
		assert_string_equal(out->str, cases[i].text);
	}
}

/* The reason, the list, and what an HCA with planes lacks. */
TEST(test_no_port_is_explained)
{
	static const struct local_port ports[] = {
		{ "a", 1, 2, true, true, INIT, LINK_UP, 0, 0, 0 },
		{ "b", 1, 2, true, false, INIT, LINK_UP, 0, 0, 0 },
		{ "c", 1, 3, false, true, ACTIVE, LINK_UP, 0, 0, 0 },
		{ "d", 1, 4, true, true, INIT, LINK_UP, 0, 0, 0 },
		{ "e", 1, 4, false, false, ACTIVE, LINK_UP, 0, 0, 0 },
	};
	static const struct {
		struct local_port_wish wish;
		size_t n;
		const char *first, *last;
	} cases[] = {
		{ { .guid = 4 }, 5, "d port 1 allows no subnet manager "
		  "(IsSMdisabled); local ports:\n", " type SMI parent d" },
		{ { .guid = 2 }, 1, "a port 1 allows no subnet manager "
		  "(IsSMdisabled); local ports:\n", " type SMI parent a" },
		{ { .ca_name = "d" }, 5, "no local usable port of d; ",
		  "\nIsSMdisabled: a virtual function, or an HCA with planes "
		  "(ConnectX-8) without its device for SMPs: rdma dev add smi0 "
		  "type SMI parent d" },
		/* it has one */
		{ { .ca_name = "x" }, 3, "no local usable port of x; ",
		  "\nc port 1 0x0000000000000003 Active (Ethernet)" },
		{ { .ca_name = "x", .num = 1 }, 0, "no local usable port 1 of x; ",
		  "local ports: none" },
		{ { .num = 3 }, 2, "no local usable port 3; ", "Initialize" },
		{ { .guid = 9 }, 2, "no local usable port with GUID 0x0000000000"
		  "000009; ", "Initialize" },
		{ { 0 }, 0, "no local usable port; ", "none" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GString) out = g_string_new(NULL);

		local_port_explain(ports, cases[i].n, &cases[i].wish, out);
		if (!g_str_has_prefix(out->str, cases[i].first) ||
		    !g_str_has_suffix(out->str, cases[i].last))
			fail_msg("%zu: %s", i, out->str);
	}
}

TEST(test_others_are_told_with_what_names_one)
{
	static const struct local_port ports[] = {
		{ "a", 1, 2, true, false, INIT, LINK_UP, 0, 0, 0 },
		{ "b", 1, 3, true, true, INIT, LINK_UP, 0, 0, 0 },
		{ "c", 1, 4, true, false, DOWN, POLLING, 0, 0, 0 },
		{ "c", 2, 4, true, false, DOWN, POLLING, 0, 0, 0 },
	};
	static const struct {
		unsigned first, n, chosen;
		const char *text;	/* NULL: there is no other */
	} cases[] = {
		{ 0, 2, 0, NULL },
		{ 0, 3, 0, "chosen: a port 1 0x0000000000000002 Initialize; "
		  "not chosen: c port 1 0x0000000000000004 Down; -g GUID names "
		  "one" },
		{ 2, 2, 2, "chosen: c port 1 0x0000000000000004 Down; not "
		  "chosen: c port 2 0x0000000000000004 Down; -C NAME -p N "
		  "names one" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GString) out = g_string_new(NULL);
		const struct local_port_wish any = { 0 };
		bool others = local_port_tell_choice(&ports[cases[i].first],
			cases[i].n, &any, &ports[cases[i].chosen], out);

		assert_int_equal(others, cases[i].text != NULL);
		if (others)
			assert_string_equal(out->str, cases[i].text);
	}
}
