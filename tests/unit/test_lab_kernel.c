// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * lab/kernel.c: the rules of ib_umad and ib_mad as Linux has them
 * (drivers/infiniband/core/user_mad.c, mad.c, mad_rmpp.c), on two hosts that
 * are cabled to each other, in virtual time.
 *
 * tests/golden/kernel is what programs on hosts a and b do, a line each (words
 * below), what the kernel says to it if that is not 0, and after a run what
 * they can read: agent, status, bytes, then for a MAD with its class, the
 * method, TID, segment, a checksum of data, and the path that it came.
 */
#include <errno.h>

#include "lab/kernel.h"
#include "lab/sim/state.h"
#include "sm/mad/bytes.h"
#include "tests/lib/rmpp_lab.h"
#include "tests/lib/sim_script.h"
#include "tests/lib/unit.h"

static struct unit_word all_words[24];

#define HDR	sizeof(struct ib_user_mad_hdr)

struct pair;

struct host {
	struct pair *pair;
	char name;
	struct transport *transport;
	struct kernel_port *port;
	struct kernel_file *file, *other;	/* the one of before, of `also` */
	GByteArray *last;	/* header and message, as read(2) would give */
	uint32_t sim_port;
};

struct pair {
	struct snapshot *fabric;
	struct sim *sim;
	struct host host[2];
	uint64_t sent;		/* MADs, told so far */
	GString *out;
};

static unsigned
checksum(const uint8_t *data, size_t len)
{
	unsigned sum = 0;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + data[i];
	return sum & 0xffff;
}

static void
put_message(GString *out, const struct ib_user_mad_hdr *hdr,
	    const uint8_t *mad, size_t len)
{
	struct rmpp_header r;

	g_string_append_printf(out, "agent %u, status %u, %zu bytes", hdr->id,
			       hdr->status, len);
	if (len <= 24)		/* a request that comes back */
		g_string_append_printf(out, ", TID %" G_GINT64_MODIFIER "x\n",
				       bytes_load64(mad + 8));
	if (len <= 24)
		return;
	g_string_append_printf(out, ", 0x%02x of class 0x%02x, TID %"
		G_GINT64_MODIFIER "x", mad[3], mad[1], bytes_load64(mad + 8));
	if (mad[1] != MAD_CLASS_SA) {
		g_string_append_c(out, '\n');
		return;
	}
	rmpp_header_read(mad, len, &r);
	g_string_append_printf(out, ", status 0x%x, segment %u, data %x from "
		"LID %u QP %u to bits %u", bytes_load16(mad + 4), r.segment,
		checksum(mad + 56, len - 56), be16toh(hdr->lid),
		be32toh(hdr->qpn), hdr->path_bits);
	if (hdr->grh_present)
		g_string_append_printf(out, ", GRH %u %u %x", hdr->hop_limit,
			hdr->traffic_class, be32toh(hdr->flow_label));
	g_string_append_c(out, '\n');
}

static void
on_message(const struct ib_user_mad_hdr *hdr, const uint8_t *mad, size_t len,
	   void *data)
{
	struct host *h = data;

	assert_int_equal(hdr->length, HDR + len);
	g_byte_array_set_size(h->last, 0);
	g_byte_array_append(h->last, (const uint8_t *)hdr, HDR);
	g_byte_array_append(h->last, mad, (guint)len);
	g_string_append_printf(h->pair->out, "  %c: ", h->name);
	put_message(h->pair->out, hdr, mad, len);
}

static void
pair_open(struct pair *p, const struct kernel_limits *limits, GString *out)
{
	p->fabric = generate_fabric("pair()", NULL, NULL);
	p->sim = sim_new(p->fabric, NULL);
	p->out = out;
	p->sent = 0;
	for (unsigned i = 0; i < 2; i++) {
		struct host *h = &p->host[i];

		*h = (struct host){ .pair = p, .name = "ab"[i] };
		h->sim_port = p->fabric->nodes[i].first_port + 1;
		h->transport = sim_attach(p->sim, h->sim_port, SIM_ROLE_DRIVER);
		h->port = kernel_port_new(h->transport,
			&sim_port_info(p->sim, h->sim_port)->lmc, limits);
		h->last = g_byte_array_new();
		h->file = kernel_open(h->port, KERNEL_QPS, on_message, h);
	}
}

static void
pair_close(struct pair *p)
{
	for (unsigned i = 0; i < 2; i++) {
		struct host *h = &p->host[i];

		kernel_close(h->file);
		if (h->other)
			kernel_close(h->other);
		kernel_port_free(h->port);
		transport_free(h->transport);
		g_byte_array_unref(h->last);
	}
	sim_free(p->sim);
	snapshot_unref(p->fabric);
}

static struct host *
host_of(struct pair *p, const char *name)
{
	return &p->host[*name == 'b'];
}

static void
put_result(struct pair *p, int result)
{
	static const struct {
		int error;
		const char *name;
	} names[] = {
		{ EINVAL, "EINVAL" }, { EIO, "EIO" }, { ENOMEM, "ENOMEM" },
		{ EPROTONOSUPPORT, "EPROTONOSUPPORT" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (result == -names[i].error)
			g_string_append_printf(p->out, "  %s\n", names[i].name);
	if (result > 0)
		g_string_append_printf(p->out, "  %d\n", result);
}

/* HOST QPN CLASS VERSION RMPP METHODS */
WORDS("register", do_register, struct pair *p)
{
	struct ib_user_mad_reg_req r = {
		.qpn = word_number(words[1]),
		.mgmt_class = word_number(words[2]),
		.mgmt_class_version = word_number(words[3]),
		.rmpp_version = word_number(words[4]),
		.method_mask = { word_number(words[5]) },
	};
	int error = kernel_ioctl(host_of(p, words[0])->file,
				 IB_USER_MAD_REGISTER_AGENT, &r);

	put_result(p, error ?: (int)r.id);
}

/* HOST flag|plain: a program that does RMPP of the SA itself, with the flag or
 * by asking for none */
WORDS("own-rmpp", do_own_rmpp, struct pair *p)
{
	bool flag = *words[1] == 'f';
	struct ib_user_mad_reg_req2 r = {
		.qpn = 1, .mgmt_class = MAD_CLASS_SA, .mgmt_class_version = 2,
		.flags = flag ? IB_USER_MAD_USER_RMPP : 0, .rmpp_version = flag,
	};
	int error = kernel_ioctl(host_of(p, words[0])->file,
				 IB_USER_MAD_REGISTER_AGENT2, &r);

	put_result(p, error ?: (int)r.id);
}

/* HOST AGENT */
WORDS("unregister", do_unregister, struct pair *p)
{
	uint32_t id = word_number(words[1]);

	put_result(p, kernel_ioctl(host_of(p, words[0])->file,
				   IB_USER_MAD_UNREGISTER_AGENT, &id));
}

/* also HOST: a second file; reopen HOST QPS: in place of the one; close HOST:
 * the first of two */
WORDS("also reopen close", do_file, struct pair *p)
{
	struct host *h = host_of(p, words[0]);

	if (*words[-1] == 'c') {
		kernel_close(g_steal_pointer(&h->other));
		return;
	}
	if (*words[-1] == 'a')
		h->other = h->file;
	else
		kernel_close(h->file);
	h->file = kernel_open(h->port, words[1] ? word_number(words[1]) :
			      KERNEL_QPS, on_message, h);
}

/* KEY=VALUE ..: of what is written, and N times */
struct writing {
	unsigned agent, lid, qpn, ms, retries, len, times, path_bits, grh;
	unsigned segment, window, flags, type, version, method, hop, class;
	unsigned tid;
};

static void
read_writing(struct writing *w, char **words)
{
	const struct unit_setting settings[] = {
		{ "agent", &w->agent }, { "lid", &w->lid }, { "qp", &w->qpn },
		{ "ms", &w->ms }, { "retries", &w->retries },
		{ "len", &w->len }, { "times", &w->times },
		{ "bits", &w->path_bits }, { "grh", &w->grh },
		{ "segment", &w->segment }, { "window", &w->window },
		{ "flags", &w->flags }, { "type", &w->type },
		{ "version", &w->version }, { "method", &w->method },
		{ "hop", &w->hop }, { "class", &w->class }, { "tid", &w->tid },
		{ NULL, NULL },
	};

	unit_set(settings, words);
}

static void
write_mad(struct pair *p, struct host *h, const struct writing *w, uint8_t *mad)
{
	const struct ib_user_mad_hdr hdr = {
		.id = w->agent, .timeout_ms = w->ms, .retries = w->retries,
		.qpn = htobe32(w->qpn), .lid = htobe16((uint16_t)w->lid),
		.path_bits = (uint8_t)w->path_bits, .grh_present = w->grh != 0,
		.hop_limit = 255, .traffic_class = 3,
		.flow_label = htobe32(0x12345),
	};
	g_autofree uint8_t *buf = g_malloc(HDR + w->len);

	for (unsigned i = 0; i < w->times; i++) {
		if (w->times > 1)
			mad_set_tid(mad, w->tid + i);
		memcpy(buf, &hdr, HDR);
		memcpy(buf + HDR, mad, w->len);
		put_result(p, kernel_write(h->file, buf, HDR + w->len));
	}
}

/* HOST KEY=VALUE ..: Get NodeInfo of the other one, by directed route */
WORDS("smp", do_smp, struct pair *p)
{
	static const struct dr_path path = { .hops = 1, .port = { 0, 1 } };
	struct writing w = { .lid = 0xffff, .ms = 100, .len = MAD_SIZE,
			     .times = 1, .tid = 7, .class = 0x81 };
	uint8_t mad[MAD_SIZE + 1] = { 0 };

	read_writing(&w, words + 1);
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0, &path);
	mad_set_tid(mad, UINT64_C(0xdeadbeef00000000) | w.tid);	/* not ours */
	mad[1] = (uint8_t)w.class;
	mad[6] = (uint8_t)w.hop;
	write_mad(p, host_of(p, words[0]), &w, mad);
}

/* HOST KEY=VALUE ..: of the SA; len: that is also of its data */
WORDS("gmp", do_gmp, struct pair *p)
{
	struct host *h = host_of(p, words[0]);
	struct writing w = { .lid = 2 - (h->name == 'b'), .qpn = 1, .ms = 3000,
			     .len = MAD_SIZE, .times = 1, .tid = 1, .agent = 1,
			     .method = METHOD_GET_TABLE };
	g_autofree uint8_t *mad = NULL;

	read_writing(&w, words + 1);
	mad = g_malloc0(MAX(w.len, MAD_SIZE));
	rmpplab_header(mad, (uint8_t)w.method, w.tid);
	for (size_t i = 56; i < w.len && w.len != MAD_SIZE; i++)
		mad[i] = rmpplab_byte(i * 7 + i / 251);
	if (w.version)
		rmpp_header_write(mad, &(struct rmpp_header){
			.version = (uint8_t)w.version, .type = (uint8_t)w.type,
			.flags = (uint8_t)w.flags, .segment = w.segment,
			.length = w.window });
	if (w.len > 56 && w.len != MAD_SIZE)
		g_string_append_printf(p->out, "  data %x\n",
				       checksum(mad + 56, w.len - 56));
	write_mad(p, h, &w, mad);
}

/* HOST DATA KEY=VALUE ..: a table of so many bytes, by RMPP, is the answer to
 * the last message that came */
WORDS("answer", do_answer, struct pair *p)
{
	struct host *h = host_of(p, words[0]);
	unsigned data = word_number(words[1]);
	struct writing w = { .lid = 1, .qpn = 1, .len = 56 + data, .times = 1,
			     .flags = RMPP_FLAG_ACTIVE };
	g_autofree uint8_t *mad = g_malloc0(MAX(56 + data, MAD_SIZE));

	read_writing(&w, words + 2);
	rmpplab_header(mad, METHOD_GET_TABLE_RESP,
		       w.tid ?: bytes_load64(h->last->data + HDR + 8));
	mad[24] = RMPP_VERSION;
	mad[25] = RMPP_TYPE_DATA;
	mad[26] = (uint8_t)w.flags;
	if (!w.flags)
		memset(mad + 24, 0, 3);
	for (size_t i = 0; i < data; i++)
		mad[56 + i] = (uint8_t)(i * 7 + i / 251);
	g_string_append_printf(p->out, "  data %x\n", checksum(mad + 56, data));
	write_mad(p, h, &w, mad);
}

/* TIME; what came is told, and how many MADs were sent */
WORDS("run", do_run, struct pair *p)
{
	sim_run(p->sim, sim_now(p->sim) + word_time(words[0]));
}

WORDS("sent", do_sent, struct pair *p)
{
	uint64_t sent = sim_stats(p->sim)->sent;

	g_string_append_printf(p->out, "  %u, lost at a QP: %u, P_Keys: %u\n",
		(unsigned)(sent - p->sent), (unsigned)sim_stats(p->sim)->lost_qp,
		sim_port_info(p->sim, p->host[1].sim_port)->p_key_violations);
	p->sent = sent;
}

/* HOST LID LMC [STATE [MTU]]: as its manager leaves it */
WORDS("port", do_port, struct pair *p)
{
	struct port_info *info =
		&p->sim->ports[host_of(p, words[0])->sim_port].info;

	info->lid = word_number(words[1]);
	info->lmc = word_number(words[2]);
	info->state = words[3] ? word_number(words[3]) : PORT_STATE_ACTIVE;
	if (words[3] && words[4])
		info->neighbor_mtu = word_number(words[4]);
}

/* HOST P_KEY: the only one of its table */
WORDS("pkey", do_pkey, struct pair *p)
{
	struct sim_port *port =
		&p->sim->ports[host_of(p, words[0])->sim_port];

	if (!port->tables) {
		port->tables = g_new0(struct sim_tables, 1);
		port->tables->pkeys = g_malloc0_n(4, SIM_TABLE_BLOCK);
	}
	bytes_store(port->tables->pkeys[0], word_number(words[1]), 2);
}

/* What becomes of b, or of the cable. */
WORDS("silent slow loss", do_fault, struct pair *p)
{
	if (strcmp(words[-1], "silent") == 0)
		sim_node_set_mood(p->sim, 1, SIM_MOOD_SILENT);
	else if (strcmp(words[-1], "slow") == 0)
		sim_node_set_speed(p->sim, 1, 50 * 1000 * 1000);
	else
		sim_link_set_loss(p->sim, p->host[0].sim_port, 1000);
}

/* 6.17, in the first line: the limits of that kernel. */
GOLDEN("kernel", transcript)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	bool limits = strcmp(lines[0], "6.17") == 0;
	AUTO_VALUE(pair_close) struct pair p;

	pair_open(&p, &(struct kernel_limits){ .is_6_17 = limits }, out);
	for (char **line = lines; **line; line++) {
		g_string_append_printf(out, "%s\n", *line);
		if (line > lines || !limits)
			unit_play(all_words, &p, *line);
	}
}
