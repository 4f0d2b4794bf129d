// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Attributes: 64 bytes, decoded and encoded again. What an encoder writes must
 * be decoded to the same, or a value that was read would change when it is
 * written back. Byte 0 chooses the attribute.
 */
#include "sm/mad/smp.h"
#include "tests/fuzz/fuzz.h"

/* The attribute in `in` as it is after decoding and encoding. */
static void
turn_round(unsigned which, const uint8_t in[SMP_DATA_LEN],
	   uint8_t out[SMP_DATA_LEN])
{
	struct node_info node;
	struct switch_info sw;
	struct port_info port;
	struct sm_info sm;
	struct notice notice;

	switch (which % 5) {
	case 0:
		node_info_decode(in, &node);
		node_info_encode(out, &node);
		g_assert_nonnull(node_type_name(node.node_type));
		break;
	case 1:
		switch_info_decode(in, &sw);
		switch_info_encode(out, &sw);
		break;
	case 2:
		port_info_decode(in, &port);
		port_info_encode(out, &port);
		g_assert_nonnull(port_width(&port)->name);
		g_assert_nonnull(port_speed(&port)->name);
		g_assert_nonnull(port_state_name(port.state));
		g_assert_nonnull(port_phys_name(port.phys_state));
		g_assert_cmpuint(port_mtu_bytes(port.mtu_cap), <=, 4096);
		break;
	case 3:
		sm_info_decode(in, &sm);
		sm_info_encode(out, &sm);
		g_assert_nonnull(sm_state_name(sm.state));
		break;
	case 4:
		/* is only ever read */
		notice_decode(in, &notice);
		g_assert_nonnull(notice_trap_name(notice.trap));
		memcpy(out, in, SMP_DATA_LEN);
		break;
	}
}

FUZZ_TARGET(attr)
{
	struct fuzz_input in = { data, size };
	uint8_t raw[SMP_DATA_LEN], once[SMP_DATA_LEN], twice[SMP_DATA_LEN];
	unsigned which = fuzz_byte(&in);

	fuzz_bytes(&in, raw, sizeof(raw));
	memset(once, 0xff, sizeof(once));
	memset(twice, 0, sizeof(twice));
	turn_round(which, raw, once);
	turn_round(which, once, twice);
	g_assert_cmpmem(once, sizeof(once), twice, sizeof(twice));
	return 0;
}
