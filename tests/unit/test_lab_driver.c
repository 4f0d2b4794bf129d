// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The driver's door of a lab (lab/protocol.h): a client on the socket that
 * brings its own kernel, as a virtual machine does. Two hosts on one cable; the
 * client is the driver of both, and their subnet manager.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lab/check.h"
#include "lab/server.h"
#include "sm/mad/bytes.h"
#include "sm/mad/smp.h"
#include "tests/lib/unit.h"

#define PATIENCE	(60 * G_USEC_PER_SEC)	/* only if it fails */
#define IPOIB_QP	0x48u

struct bench {
	struct snapshot *fabric;
	struct lab *lab;
	int fd;
	GByteArray *in;
	struct lab_node node;	/* of attach() */
	struct lab_port port;
};

/* desc: of both nodes; NULL: their own */
static void
bench_open(struct bench *b, const char *desc)
{
	const struct lab_options options = { .params = sim_params_default };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	b->fabric = generate_fabric("pair()", NULL, NULL);
	assert_non_null(b->fabric);
	for (unsigned i = 0; desc && i < 2; i++)
		g_strlcpy(b->fabric->nodes[i].desc, desc,
			  sizeof(b->fabric->nodes[i].desc));
	b->lab = lab_new(b->fabric, &options, NULL);
	assert_non_null(b->lab);
	b->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	g_strlcpy(addr.sun_path, lab_socket(b->lab), sizeof(addr.sun_path));
	assert_int_equal(connect(b->fd, (struct sockaddr *)&addr,
				 sizeof(addr)), 0);
	b->in = g_byte_array_new();
}

static void
bench_close(struct bench *b)
{
	if (b->fd >= 0)
		close(b->fd);
	lab_free(b->lab);
	snapshot_unref(b->fabric);
	g_byte_array_unref(b->in);
}

static void
say(struct bench *b, enum lab_type type, unsigned channel, const void *x,
    size_t x_len, const void *y, size_t y_len)
{
	const struct lab_frame frame = {
		.length = x_len + y_len, .type = type, .channel = channel,
	};
	g_autoptr(GByteArray) out = g_byte_array_new();

	g_byte_array_append(out, (const uint8_t *)&frame, sizeof(frame));
	if (x_len)
		g_byte_array_append(out, x, x_len);
	if (y_len)
		g_byte_array_append(out, y, y_len);
	assert_int_equal(send(b->fd, out->data, out->len, MSG_NOSIGNAL),
			 out->len);
}

/* The next frame, which is of this type and channel; out: what it holds, at
 * least so many bytes. False: none comes, or the connection ends. */
static bool
hear(struct bench *b, enum lab_type type, unsigned channel, void *out,
     size_t len)
{
	int64_t end = g_get_monotonic_time() + PATIENCE;
	struct lab_frame f;
	uint8_t part[4096];

	do {
		ssize_t n = recv(b->fd, part, sizeof(part), 0);

		if (n > 0)
			g_byte_array_append(b->in, part, n);
		if (b->in->len >= sizeof(f))
			memcpy(&f, b->in->data, sizeof(f));
		if (n == 0 || g_get_monotonic_time() > end)
			return false;
		g_main_context_iteration(NULL, FALSE);
	} while (b->in->len < sizeof(f) || b->in->len < sizeof(f) + f.length);
	assert_int_equal(f.type, type);
	assert_int_equal(f.channel, channel);
	assert_true(f.length >= len);
	if (len)
		memcpy(out, b->in->data + sizeof(f), len);
	g_byte_array_remove_range(b->in, 0, sizeof(f) + f.length);
	return true;
}

static int
attach(struct bench *b, unsigned channel, const char *node, uint32_t port)
{
	struct lab_attach a = { .port = port };
	struct lab_result r;
	uint16_t pkeys[2];

	g_strlcpy(a.node, node, sizeof(a.node));
	say(b, LAB_ATTACH, channel, &a, sizeof(a), NULL, 0);
	assert_true(hear(b, LAB_RESULT, channel, &r, sizeof(r)));
	if (r.error)
		return r.error;
	assert_true(hear(b, LAB_NODE, channel, &b->node, sizeof(b->node)));
	assert_true(hear(b, LAB_PORT, channel, &b->port, sizeof(b->port)));
	assert_true(hear(b, LAB_PKEYS, channel, pkeys, sizeof(pkeys)));
	assert_int_equal(pkeys[0], 0xffff);
	assert_int_equal(pkeys[1], 0);
	return 0;
}

/* Set of PortInfo over channel 1; the answer, and what the drivers are told. */
static void
set_port(struct bench *b, unsigned hops, uint16_t lid, unsigned state)
{
	uint32_t host = b->fabric->nodes[hops].first_port + 1;
	struct port_info info = *sim_port_info(lab_console(b->lab)->sim, host);
	struct dr_path path = { .hops = hops, .port = { 0, 1 } };
	struct lab_address a = { .dlid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE], got[sizeof(a) + MAD_SIZE];
	struct lab_port told;

	smp_build_direct(mad, MAD_METHOD_SET, MAD_ATTR_PORT_INFO, 1, 0, &path);
	mad[6] = 1;	/* HopPointer, as the kernel's SMI leaves it */
	info.lid = lid;
	info.sm_lid = 1;
	info.state = state;
	info.client_reregister = state == PORT_STATE_ACTIVE;
	info.phys_state = 0;
	port_info_encode(smp_data(mad), &info);
	say(b, LAB_SEND, 1, &a, sizeof(a), mad, sizeof(mad));
	assert_true(hear(b, LAB_RECEIVE, 1, got, sizeof(got)));
	assert_true(hear(b, LAB_PORT, hops ? 2 : 1, &told, sizeof(told)));
	assert_int_equal(bytes_load16(got + sizeof(a) + 4) & 0x7fff, 0);
	assert_int_equal(told.lid, lid);
	assert_int_equal(told.state, state);
	assert_true(told.changed & LAB_CHANGED_PORT);
	assert_int_equal(!!(told.changed & LAB_CHANGED_REREGISTER),
			 state == PORT_STATE_ACTIVE);
}

static void
attach_both(struct bench *b)
{
	bench_open(b, NULL);
	assert_int_equal(attach(b, 1, b->fabric->nodes[0].desc, 0), 0);
	assert_int_equal(attach(b, 2, b->fabric->nodes[1].desc, 1), 0);
}

TEST_ON(test_a_port_is_attached_once, struct bench, b, bench_open, bench_close,
	NULL)
{
	assert_int_equal(attach(b, 1, "nobody", 0), ENODEV);
	assert_int_equal(attach(b, 1, b->fabric->nodes[0].desc, 9), ENODEV);
	assert_int_equal(attach(b, 1, b->fabric->nodes[0].desc, 1), 0);
	assert_int_equal(b->node.node_guid, b->fabric->nodes[0].info.node_guid);
	assert_int_equal(b->node.port, 1);
	assert_int_equal(b->port.state, PORT_STATE_INIT);
	assert_int_equal(b->port.port_guid,
			 b->fabric->ports[b->fabric->local_port].guid);
	assert_int_equal(attach(b, 3, b->fabric->nodes[0].desc, 1), EBUSY);
	say(b, LAB_DETACH, 1, NULL, 0, NULL, 0);
	assert_int_equal(attach(b, 3, b->fabric->nodes[0].desc, 1), 0);
}

TEST_ON(test_data_follow_the_fabric, struct bench, b, attach_both, bench_close)
{
	struct lab_address a = {
		.dlid = 2, .dst_qp = IPOIB_QP, .src_qp = IPOIB_QP + 1,
		.qkey = 0x0b1b, .has_grh = 1,
	}, got;
	char text[sizeof(got) + 5];

	/* no LID, no way: lost */
	say(b, LAB_SEND, 1, &a, sizeof(a), "early", 5);
	for (unsigned s = PORT_STATE_ARMED; s <= PORT_STATE_ACTIVE; s++) {
		set_port(b, 1, 2, s);
		set_port(b, 0, 1, s);
	}
	say(b, LAB_SEND, 1, &a, sizeof(a), "hello", 5);
	assert_true(hear(b, LAB_RECEIVE, 2, text, sizeof(text)));
	memcpy(&got, text, sizeof(got));
	assert_memory_equal(text + sizeof(got), "hello", 5);
	assert_int_equal(got.slid, 1);
	assert_int_equal(got.dlid, 2);
	assert_int_equal(got.dst_qp, IPOIB_QP);
	assert_int_equal(got.src_qp, IPOIB_QP + 1);
	assert_int_equal(got.qkey, 0x0b1b);
	assert_int_equal(got.pkey_index, 0);
	assert_int_equal(bytes_load64(got.sgid + 8),
			 b->fabric->ports[b->fabric->local_port].guid);
}

TEST_ON(test_is_sm_is_shown, struct bench, b, attach_both, bench_close)
{
	uint32_t on = 1, port;
	struct lab_port told;

	port = b->fabric->nodes[1].first_port + 1;
	say(b, LAB_IS_SM, 2, &on, sizeof(on), NULL, 0);
	assert_true(hear(b, LAB_PORT, 2, &told, sizeof(told)));
	assert_true(told.cap_mask & PORT_CAP_IS_SM);
	/* and it ends with the driver */
	close(b->fd);
	b->fd = -1;
	for (unsigned i = 0; i < 1000; i++)
		g_main_context_iteration(NULL, FALSE);
	assert_false(sim_port_info(lab_console(b->lab)->sim, port)->cap_mask &
		     PORT_CAP_IS_SM);
}

TEST_ON(test_a_device_goes_and_comes_back, struct bench, b, attach_both,
	bench_close)
{
	g_autoptr(GString) out = g_string_new(NULL);
	g_autofree char *gone = NULL, *back = NULL;
	const char *name;

	name = b->fabric->nodes[1].desc;
	gone = g_strdup_printf("unplug-device %s", name);
	back = g_strdup_printf("plug-device %s 2", name);
	assert_int_equal(console_command(lab_console(b->lab), gone, out), 0);
	assert_true(hear(b, LAB_REMOVED, 2, NULL, 0));
	assert_int_equal(attach(b, 2, name, 1), ENODEV);
	assert_int_equal(console_command(lab_console(b->lab), back, out), 0);
	assert_int_equal(attach(b, 2, name, 1), 0);
}

/* Descriptions are 64 bytes long at most, and need not differ. */
TEST(test_a_device_is_that_of_its_node)
{
	static const char *const descs[] = { "", "same", "0123456789abcdef"
		"0123456789abcdef0123456789abcdef0123456789abcdef" };

	for (size_t i = 0; i < G_N_ELEMENTS(descs); i++) {
		g_autoptr(GString) out = g_string_new(NULL);
		AUTO_VALUE(bench_close) struct bench b;
		g_autofree char *line = NULL, *name = NULL;
		uint64_t guid;

		bench_open(&b, descs[i]);
		guid = b.fabric->nodes[1].info.node_guid;
		name = lab_name_node(b.fabric, 1);
		line = g_strdup_printf("unplug-device 0x%" G_GINT64_MODIFIER
				       "x", guid);
		assert_int_equal(attach(&b, 2, name, 1), 0);
		assert_int_equal(b.node.node_guid, guid);
		assert_int_equal(console_command(lab_console(b.lab), line,
						 out), 0);
		assert_true(hear(&b, LAB_REMOVED, 2, NULL, 0));
	}
}

TEST(test_nonsense_ends_the_connection)
{
	static const struct {
		unsigned type, len;
	} cases[] = {
		{ 77, 0 }, { LAB_ATTACH, 3 }, { LAB_OPEN, 3 }, { LAB_IOCTL, 3 },
		{ LAB_SEND, 0 }, { LAB_WRITE, 64 }, { LAB_ENTER, 1 },
	};
	uint8_t junk[64] = { 0 };

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		AUTO_VALUE(bench_close) struct bench b;

		bench_open(&b, NULL);
		say(&b, cases[i].type, 0, junk, cases[i].len, NULL, 0);
		assert_false(hear(&b, LAB_RESULT, 0, NULL, 0));
	}
}
