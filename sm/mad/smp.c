// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Subnet management packets: whole MADs, built and turned round.
 *
 * An SMP is the common header, then (IBA 14.2.1)
 *
 *	 24 M_Key
 *	 32 DrSLID, 34 DrDLID	(directed route only)
 *	 64 the attribute, 64 bytes
 *	128 InitialPath, 192 ReturnPath (directed route only), 64 bytes each
 *
 * The requests built here route by directed hops all the way: DrSLID and
 * DrDLID are permissive, so no forwarding table matters (14.2.2.1). Hop 0 of
 * InitialPath is not used. Two functions build, one turns a request into
 * its answer; the attributes are in smp_codec.c. One SMP is built for every
 * question of a sweep, so the few fields are stored by hand.
 */
#include "sm/mad/smp.h"

#include <glib.h>
#include <string.h>

#include "sm/mad/bytes.h"

#define BASE_VERSION	1
#define SMP_VERSION	1	/* ClassVersion, IBA 14.2.1 */

#define OFF_METHOD	3
#define OFF_STATUS	4
#define OFF_HOP_COUNT	7
#define OFF_ATTR_ID	16
#define OFF_ATTR_MOD	20
#define OFF_M_KEY	24
#define OFF_DR_SLID	32
#define OFF_DR_DLID	34
#define OFF_INITIAL	128

#define DIRECTION_BIT	0x8000u

static void
build(uint8_t mad[MAD_SIZE], enum mad_class mgmt_class,
      enum mad_method method, enum mad_attr attr_id, uint32_t attr_mod,
      uint64_t m_key)
{
	memset(mad, 0, MAD_SIZE);
	mad[0] = BASE_VERSION;
	mad[1] = mgmt_class;
	mad[2] = SMP_VERSION;
	mad[OFF_METHOD] = method;
	bytes_store16(mad + OFF_ATTR_ID, attr_id);
	bytes_store32(mad + OFF_ATTR_MOD, attr_mod);
	bytes_store64(mad + OFF_M_KEY, m_key);
}

void
smp_build_direct(uint8_t mad[MAD_SIZE], enum mad_method method,
		 enum mad_attr attr_id, uint32_t attr_mod,
		 uint64_t m_key, const struct dr_path *path)
{
	g_assert(path->hops <= DR_MAX_HOPS);

	build(mad, MAD_CLASS_SMP_DIRECT, method, attr_id, attr_mod, m_key);
	mad[OFF_HOP_COUNT] = path->hops;
	bytes_store16(mad + OFF_DR_SLID, LID_PERMISSIVE);
	bytes_store16(mad + OFF_DR_DLID, LID_PERMISSIVE);
	memcpy(mad + OFF_INITIAL + 1, path->port + 1, path->hops);
}

void
smp_build_lid(uint8_t mad[MAD_SIZE], enum mad_method method,
	      enum mad_attr attr_id, uint32_t attr_mod, uint64_t m_key)
{
	build(mad, MAD_CLASS_SMP_LID, method, attr_id, attr_mod, m_key);
}

/*
 * IBA 13.4.5: a Trap is answered by TrapRepress, which is no response by its
 * R bit; Get and Set are answered by GetResp. HopPointer stays: where the
 * request ended is where the answer starts (14.2.2.3).
 */
void
smp_make_response(uint8_t mad[MAD_SIZE], unsigned status)
{
	if (mad[OFF_METHOD] == MAD_METHOD_TRAP)
		mad[OFF_METHOD] = MAD_METHOD_TRAP_REPRESS;
	else
		mad[OFF_METHOD] = MAD_METHOD_GET_RESP;

	if (mad[1] == MAD_CLASS_SMP_DIRECT)
		status |= DIRECTION_BIT;
	bytes_store16(mad + OFF_STATUS, status);
}

void
smp_set_m_key(uint8_t mad[MAD_SIZE], uint64_t m_key)
{
	bytes_store64(mad + OFF_M_KEY, m_key);
}

uint64_t
smp_m_key(const uint8_t mad[MAD_SIZE])
{
	return bytes_load64(mad + OFF_M_KEY);
}
