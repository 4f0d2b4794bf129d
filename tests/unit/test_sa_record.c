// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SA records as bytes, member by member.
 *
 * One table has all components, so what it says is held against others:
 * libibmad reads what we wrote and we read what it reads, with random values;
 * PathRecord's own codec agrees with the table, and InformInfo with the figures
 * of the standard.
 */

#include <infiniband/mad.h>

#include "sm/mad/bytes.h"
#include "sm/mad/sa_record.h"
#include "tests/lib/seed.h"

/* Components that follow each other, and where libibmad has the first: from the
 * front of the record, or of the attribute that the record carries. Its fields
 * follow each other as well. Some are no member of a host struct. */
static const struct opinion {
	uint16_t attr_id;
	uint8_t component, n;
	uint8_t base;		/* bytes */
	enum MAD_FIELDS field;
} opinions[] = {
	{ SA_ATTR_NODE, 0, 1, 0, IB_SA_NR_LID_F },
	{ SA_ATTR_NODE, 2, 12, 4, IB_NODE_BASE_VERS_F },
	{ SA_ATTR_NODE, 14, 1, 0, IB_SA_NR_NODEDESC_F },
	{ SA_ATTR_SWITCH_INFO, 2, 17, 4, IB_SW_LINEAR_FDB_CAP_F },
	{ SA_ATTR_SWITCH_INFO, 21, 1, 4, IB_SW_MCAST_FDB_TOP_F },
	{ SA_ATTR_PORT_INFO, 3, 16, 4, IB_PORT_MKEY_F },
	{ SA_ATTR_PORT_INFO, 20, 26, 4, IB_PORT_LMC_F },
	{ SA_ATTR_PORT_INFO, 47, 4, 4, IB_PORT_RESP_TIME_VAL_F },
	{ SA_ATTR_PORT_INFO, 52, 1, 4, IB_PORT_LINK_ROUND_TRIP_F },
	{ SA_ATTR_PORT_INFO, 53, 3, 4, IB_PORT_CAPMASK2_F },
	{ SA_ATTR_PORT_INFO, 57, 1, 4, IB_PORT_LINK_SPEED_EXT_ENABLED_F },
	{ SA_ATTR_SM_INFO, 2, 5, 4, IB_SMINFO_GUID_F },
	{ SA_ATTR_GUID_INFO, 0, 2, 0, IB_SA_GIR_LID_F },
	{ SA_ATTR_GUID_INFO, 4, 8, 0, IB_SA_GIR_GUID0_F },
	{ SA_ATTR_MC_MEMBER, MCM_MGID, 4, 0, IB_SA_MCM_MGID_F },
	{ SA_ATTR_MC_MEMBER, MCM_MTU, 1, 0, IB_SA_MCM_MTU_F },
	{ SA_ATTR_MC_MEMBER, MCM_TCLASS, 2, 0, IB_SA_MCM_TCLASS_F },
	{ SA_ATTR_MC_MEMBER, MCM_RATE, 1, 0, IB_SA_MCM_RATE_F },
	{ SA_ATTR_MC_MEMBER, MCM_SL, 1, 0, IB_SA_MCM_SL_F },
	{ SA_ATTR_MC_MEMBER, MCM_FLOW_LABEL, 1, 0, IB_SA_MCM_FLOW_LABEL_F },
	{ SA_ATTR_MC_MEMBER, MCM_JOIN_STATE, 2, 0, IB_SA_MCM_JOIN_STATE_F },
	{ SA_ATTR_SERVICE, SERVICE_ID, 3, 0, IB_SA_SR_ID_F },
	{ SA_ATTR_SERVICE, SERVICE_LEASE, 3, 0, IB_SA_SR_LEASE_F },
	{ SA_ATTR_PATH, PATH_DGID, 4, 0, IB_SA_PR_DGID_F },
	{ SA_ATTR_PATH, PATH_NUMB_PATH, 1, 0, IB_SA_PR_NPATH_F },
	{ SA_ATTR_PATH, PATH_SL, 1, 0, IB_SA_PR_SL_F },
	{ SA_ATTR_MULTI_PATH, MULTI_NUMB_PATH, 1, 0, IB_SA_MP_NPATH_F },
	{ SA_ATTR_MULTI_PATH, MULTI_SGID_COUNT, 1, 0, IB_SA_MP_NSRC_F },
	{ SA_ATTR_MULTI_PATH, MULTI_DGID_COUNT, 1, 0, IB_SA_MP_NDEST_F },
};

#define ROUNDS	1000u
#define HOST_LEN	512u	/* no host struct is longer */

/* A host struct with any value in each member. */
static void
fill_host(unsigned attr_id, uint8_t *host, uint64_t *rng)
{
	unsigned n;
	const struct mad_field *f = sa_fields(attr_id, &n);

	seed_fill(host, HOST_LEN, rng);
	for (; n > 0; n--, f++)
		if (f->size && f->host == MAD_FIELD_FLAG)
			host[f->member] &= 1;
}

static void
put_number(uint8_t *out, uint64_t value, unsigned bits)
{
	value &= UINT64_MAX >> (64 - bits);
	memset(out, 0, SA_DATA_LEN);
	memcpy(out, &value, sizeof(value));
}

/* As bytes: the member, or what is on the wire where there is none; numbers by
 * the width of the component. */
static void
our_bytes(const struct mad_field *f, const uint8_t *host, const uint8_t *wire,
	  uint8_t *out)
{
	bool is_number = f->bits <= 64 && f->host != MAD_FIELD_BYTES;
	unsigned at = f->offset / 8, len = f->bits / 8;

	memset(out, 0, SA_DATA_LEN);
	if (f->size && is_number)
		put_number(out, number_at(host + f->member, f->size), f->bits);
	else if (f->size)
		memcpy(out, host + f->member, f->size);
	else if (is_number)	/* of whole bytes, all of them */
		put_number(out, bytes_load(wire + at, len), f->bits);
	else
		memcpy(out, wire + at, len);
}

static void
libibmad_bytes(const struct mad_field *f, enum MAD_FIELDS field, uint8_t *from,
	       uint8_t *out)
{
	memset(out, 0, SA_DATA_LEN);
	if (f->bits > 64 || f->host == MAD_FIELD_BYTES)
		mad_get_array(from, 0, field, out);
	else
		put_number(out, f->bits == 64 ?
			   mad_get_field64(from, 0, field) :
			   mad_get_field(from, 0, field), f->bits);
}

/* i: of its components */
static void
assert_alike(const struct opinion *o, unsigned i, const uint8_t *host,
	     uint8_t *wire, const char *what)
{
	uint8_t ours[SA_DATA_LEN], theirs[SA_DATA_LEN];
	unsigned n;
	const struct mad_field *f = sa_fields(o->attr_id, &n) + o->component +
		i;

	assert_true(o->component + i < n);
	our_bytes(f, host, wire, ours);
	libibmad_bytes(f, o->field + i, wire + o->base, theirs);
	if (memcmp(ours, theirs, sizeof(ours)))
		fail_msg("%s.%s %s", sa_attr_name(o->attr_id), f->name, what);
}

TEST(test_libibmad_reads_and_writes_each_component_alike)
{
	uint64_t rng = prng_stream(53, 0);
	uint8_t host[HOST_LEN], wire[SA_DATA_LEN];

	printf("# seed 53\n");
	for (size_t k = 0; k < G_N_ELEMENTS(opinions) * ROUNDS; k++) {
		const struct opinion *o = &opinions[k / ROUNDS];

		fill_host(o->attr_id, host, &rng);
		sa_record_encode(o->attr_id, wire, host);
		for (unsigned i = 0; i < o->n; i++)
			assert_alike(o, i, host, wire, "encoded");
		seed_fill(wire, sizeof(wire), &rng);
		sa_record_decode(o->attr_id, wire, host);
		for (unsigned i = 0; i < o->n; i++)
			assert_alike(o, i, host, wire, "decoded");
	}
}

/* And none was forgotten: a component that is not reserved is the member of
 * a struct, or one of the keys in front. */
TEST(test_each_component_is_some_member)
{
	static const struct {
		uint16_t attr_id;
		uint64_t keys;
	} all[] = {
		{ SA_ATTR_PATH, 3 }, { SA_ATTR_MULTI_PATH, 1 << 16 | 1 << 21 },
		{ SA_ATTR_MC_MEMBER, 0 }, { SA_ATTR_SERVICE, 0 },
		{ SA_ATTR_INFORM_INFO, 0 }, { SA_ATTR_INFORM_INFO_RECORD, 0 },
		{ SA_ATTR_NODE, 1 | 1 << 14 }, { SA_ATTR_PORT_INFO, 7 },
		{ SA_ATTR_SWITCH_INFO, 1 }, { SA_ATTR_SM_INFO, 1 },
	};

	for (size_t k = 0; k < G_N_ELEMENTS(all); k++) {
		unsigned n;
		const struct mad_field *f = sa_fields(all[k].attr_id, &n);

		for (unsigned i = 0; i < n; i++)
			if (f[i].kind != MAD_FIELD_RESERVED &&
			    (f[i].size == 0) != (all[k].keys >> i & 1))
				fail_msg("%s.%s", sa_attr_name(all[k].attr_id),
					 f[i].name);
	}
}

/* PathRecord's own codec against the table. */
TEST(test_path_codec_and_table_agree)
{
	uint64_t rng = prng_stream(54, 0);
	uint8_t wire[64], table[64], host[HOST_LEN];
	struct path_record a, b;

	printf("# seed 54\n");
	for (unsigned round = 0; round < ROUNDS; round++) {
		fill_host(SA_ATTR_PATH, host, &rng);
		memcpy(&a, host, sizeof(a));
		path_record_encode(wire, &a);
		sa_record_encode(SA_ATTR_PATH, table, &a);
		assert_memory_equal(wire + 8, table + 8, sizeof(wire) - 8);
		assert_true(bytes_load(wire, 8) == a.service_id);

		seed_fill(wire, sizeof(wire), &rng);
		memset(&a, 0, sizeof(a));
		memset(&b, 0, sizeof(b));
		path_record_decode(wire, &a);
		sa_record_decode(SA_ATTR_PATH, wire, &b);
		b.service_id = bytes_load(wire, 8);
		assert_memory_equal(&a, &b, sizeof(a));
	}
}

/* Of which libibmad has nothing to say: by the figures of IBA 13.4.8.3. */
TEST(test_inform_info_as_bytes)
{
	static const uint8_t want[40] = {
		0xfe, 0x80, [15] = 0x77,
		0x01, 0x02, 0x03, 0x04, 0, 0, 1, 1, 0x05, 0x06, 0x07, 0x08,
		0x09, 0x0a, 0x0b, 0x1f, 0, 0x0c, 0x0d, 0x0e,
	};
	struct inform_info info = {
		.gid = { 0xfe, 0x80, [15] = 0x77 }, .lid_begin = 0x0102,
		.lid_end = 0x0304, .generic = true, .subscribe = 1,
		.type = 0x0506, .trap = 0x0708, .qpn = 0xff090a0b,
		.resp_time = 0xff, .producer = 0xff0c0d0e,
	};
	struct inform_info_record r = {
		.index = 0x0203, .subscriber_gid = { 0xfd, [15] = 0x66 },
	};
	uint8_t out[SA_DATA_LEN];

	memset(out, 0xee, sizeof(out));
	sa_record_encode(SA_ATTR_INFORM_INFO, out, &info);
	assert_memory_equal(out, want, sizeof(want));
	assert_int_equal(out[sizeof(want)], 0xee);
	out[22] = 0x80;		/* any value but 0 is true */
	sa_record_decode(SA_ATTR_INFORM_INFO, out, &info);
	assert_true(info.generic);
	r.info = info;
	memset(out, 0xee, sizeof(out));
	sa_record_encode(SA_ATTR_INFORM_INFO_RECORD, out, &r);
	assert_memory_equal(out, r.subscriber_gid, 16);
	assert_memory_equal(out + 16, "\2\3\0\0\0\0\0\0", 8);
	assert_memory_equal(out + 24, want, sizeof(want));
	assert_int_equal(out[64], 0xee);
}

/* As the data of an SMP has it. */
static void
smp_code(unsigned attr_id, uint8_t *data, void *host, bool writes)
{
	switch (attr_id) {
	case SA_ATTR_NODE:
		writes ? node_info_encode(data, host) :
			node_info_decode(data, host);
		break;
	case SA_ATTR_SWITCH_INFO:
		writes ? switch_info_encode(data, host) :
			switch_info_decode(data, host);
		break;
	case SA_ATTR_PORT_INFO:
		writes ? port_info_encode(data, host) :
			port_info_decode(data, host);
		break;
	default:
		writes ? sm_info_encode(data, host) :
			sm_info_decode(data, host);
	}
}

/*
 * As an SMP carries an attribute it is that of the record, and nothing else:
 * what is reserved is 0, and a value too wide spills nowhere. Of the masks,
 * LinkSpeedExtActive2 is in a PortInfo, but no component of the record.
 */
TEST(test_attributes_of_smps_are_those_of_records)
{
	static const struct {
		uint16_t attr_id;
		unsigned len;
		uint8_t partly[4][2];	/* offset, the bits that are defined */
	} all[] = {
		{ SA_ATTR_NODE, 40, { { 0, 0xff } } },
		{ SA_ATTR_SWITCH_INFO, 20, { { 16, 0xf8 }, { 17, 0 } } },
		{ SA_ATTR_PORT_INFO, 64, { { 34, 0xc7 }, { 52, 0x1f },
		  { 56, 0x60 }, { 63, 0x1f } } },
		{ SA_ATTR_SM_INFO, 21, { { 0, 0xff } } },
	};
	uint8_t host[HOST_LEN], in[SMP_DATA_LEN], out[SMP_DATA_LEN];
	uint8_t record[SA_DATA_LEN];
	uint64_t rng = prng_stream(55, 0);

	for (size_t k = 0; k < G_N_ELEMENTS(all) * ROUNDS; k++) {
		unsigned a = k / ROUNDS;

		fill_host(all[a].attr_id, host, &rng);
		smp_code(all[a].attr_id, out, host, true);
		sa_record_encode(all[a].attr_id, record, host);
		assert_memory_equal(out, record + 4, all[a].len);

		seed_fill(in, sizeof(in), &rng);
		smp_code(all[a].attr_id, in, host, false);
		seed_fill(out, sizeof(out), &rng);
		smp_code(all[a].attr_id, out, host, true);
		for (unsigned i = 0; i < 4; i++)
			if (all[a].partly[i][0])
				in[all[a].partly[i][0]] &= all[a].partly[i][1];
		memset(in + all[a].len, 0, sizeof(in) - all[a].len);
		assert_memory_equal(out, in, sizeof(out));
	}
}

/* Whatever a device says. */
TEST(test_any_value_has_a_name)
{
	for (unsigned n = 0; n <= UINT16_MAX; n++) {
		const struct port_info p = {
			.width_active = (uint8_t)n,
			.speed_active = n >> 8 & 0xf,
			.speed_ext_active = n >> 12,
		};

		assert_non_null(notice_trap_name(n));
		assert_non_null(port_width(&p)->name);
		assert_non_null(port_speed(&p)->name);
		assert_non_null(node_type_name(n & 0xff));
		assert_non_null(port_state_name(n & 0xf));
		assert_non_null(port_phys_name(n & 0xf));
		assert_non_null(sm_state_name(n & 0xf));
		assert_in_range(port_mtu_bytes(n & 0xf), 0, 4096);
	}
	assert_string_equal(sm_state_name(SM_STATE_MASTER), "master");
	assert_string_equal(sm_state_name(SM_STATE_MASTER + 1), "?");
	assert_string_equal(notice_trap_name(128), "link state change");
	assert_string_equal(notice_trap_name(0), "?");
}

/* AttributeOffset of OpenSM's answers; of a ServiceRecord and MFT, of which it had
 * none, and of what is no answer: the sizes of IBA. */
TEST(test_attribute_offsets_are_what_clients_expect)
{
	static const struct {
		uint16_t attr_id, offset;
	} known[] = {
		{ SA_ATTR_CLASS_PORT_INFO, 9 }, { SA_ATTR_NODE, 14 },
		{ SA_ATTR_PORT_INFO, 9 }, { SA_ATTR_SL_TO_VL, 2 },
		{ SA_ATTR_SWITCH_INFO, 3 }, { SA_ATTR_LINEAR_FT, 9 },
		{ SA_ATTR_MULTICAST_FT, 9 }, { SA_ATTR_SM_INFO, 4 },
		{ SA_ATTR_LINK, 1 }, { SA_ATTR_GUID_INFO, 9 },
		{ SA_ATTR_SERVICE, 22 }, { SA_ATTR_PKEY_TABLE, 9 },
		{ SA_ATTR_PATH, 8 }, { SA_ATTR_VL_ARB, 9 },
		{ SA_ATTR_MC_MEMBER, 7 }, { SA_ATTR_INFORM_INFO_RECORD, 8 },
		{ SA_ATTR_MULTI_PATH, 3 }, { SA_ATTR_NOTICE, 10 },
		{ SA_ATTR_INFORM_INFO, 5 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
		uint8_t seen[SA_DATA_LEN * 8] = { 0 };
		unsigned n;
		const struct mad_field *f = sa_fields(known[i].attr_id, &n);

		assert_int_equal(sa_record_size(known[i].attr_id),
				 known[i].offset * 8u);
		assert_in_range(n, 0, 64);
		/* the components cover no bit twice */
		for (; n > 0; n--, f++) {
			assert_true(f->offset + f->bits <=
				    known[i].offset * 64u);
			for (unsigned b = 0; b < f->bits; b++)
				assert_false(seen[f->offset + b]++);
		}
	}
}

/* ------------------------------------------------------------- the rest */

/* Each width with each speed has a rate of its own speed. */
TEST(test_every_link_has_a_rate)
{
	static const uint8_t widths[][2] = {
		{ 1, 1 }, { 2, 4 }, { 4, 8 }, { 8, 12 }, { 16, 2 },
	};
	static const struct {
		uint8_t speed, extended, extended2;
		unsigned mbps;
	} speeds[] = {
		{ 1, 0, 0, 2500 }, { 2, 0, 0, 5000 }, { 4, 0, 0, 10000 },
		{ 4, 1, 0, 14000 }, { 4, 2, 0, 25000 }, { 4, 4, 0, 50000 },
		{ 4, 8, 0, 100000 }, { 4, 0, 1, 200000 }, { 4, 8, 1, 200000 },
	};

	for (size_t w = 0; w < G_N_ELEMENTS(widths); w++)
		for (size_t s = 0; s < G_N_ELEMENTS(speeds); s++) {
			const struct port_info p = {
				.width_active = widths[w][0],
				.speed_active = speeds[s].speed,
				.speed_ext_active = speeds[s].extended,
				.speed_ext2_active = speeds[s].extended2,
			};

			/* no code says more than 1,600 Gb/s */
			assert_int_equal(sa_rate_mbps(sa_rate_of(&p)),
					 MIN(speeds[s].mbps * widths[w][1],
					     1600000));
		}
}
