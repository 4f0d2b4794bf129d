// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "sm/mad/perf.h"

#include <glib.h>

#include "sm/mad/bytes.h"

/* RcvRemotePhysical counts packets that were marked bad on their way, so
 * another cable is at fault. */
const struct perf_error_field perf_error_fields[PERF_COUNTERS] = {
	[PERF_SYMBOL] =
	{ "SymbolErrorCounter", "symbol", true, 4, 16, 0 },
	[PERF_LINK_RECOVERY] =
	{ "LinkErrorRecoveryCounter", "recovery", true, 6, 8, 0 },
	[PERF_LINK_DOWNED] =
	{ "LinkDownedCounter", "downed", false, 7, 8, 0 },
	[PERF_RCV] =
	{ "PortRcvErrors", "rcv", true, 8, 16, 0 },
	[PERF_RCV_REMOTE_PHYSICAL] =
	{ "PortRcvRemotePhysicalErrors", "remote", false, 10, 16, 0 },
	[PERF_RCV_SWITCH_RELAY] =
	{ "PortRcvSwitchRelayErrors", "relay", false, 12, 16, 0 },
	[PERF_XMIT_DISCARDS] =
	{ "PortXmitDiscards", "discards", false, 14, 16, 0 },
	[PERF_XMIT_CONSTRAINT] =
	{ "PortXmitConstraintErrors", "xmit-constraint", false, 16, 8, 0 },
	[PERF_RCV_CONSTRAINT] =
	{ "PortRcvConstraintErrors", "rcv-constraint", false, 17, 8, 0 },
	[PERF_LOCAL_INTEGRITY] =
	{ "LocalLinkIntegrityErrors", "integrity", true, 19, 4, 4 },
	[PERF_BUFFER_OVERRUN] =
	{ "ExcessiveBufferOverrunErrors", "overrun", false, 19, 4, 0 },
	[PERF_VL15_DROPPED] =
	{ "VL15Dropped", "vl15", false, 22, 16, 0 },
	[PERF_XMIT_WAIT] =
	{ "PortXmitWait", "wait", false, 40, 32, 0 },
};

uint32_t
perf_error_max(enum perf_error error)
{
	return UINT32_MAX >> (32 - perf_error_fields[error].bits);
}

void
perf_errors_load(const uint8_t *data, uint64_t errors[PERF_COUNTERS])
{
	for (unsigned i = 0; i < PERF_COUNTERS; i++) {
		const struct perf_error_field *f = &perf_error_fields[i];

		errors[i] = f->bits == 32 ? bytes_load32(data + f->offset) :
			f->bits == 16 ? bytes_load16(data + f->offset) :
			data[f->offset] >> f->shift & perf_error_max(i);
	}
}

void
perf_errors_store(uint8_t *data, const uint64_t errors[PERF_COUNTERS])
{
	for (unsigned i = 0; i < PERF_COUNTERS; i++) {
		const struct perf_error_field *f = &perf_error_fields[i];
		uint64_t value = MIN(errors[i], perf_error_max(i));

		if (f->bits < 8)
			data[f->offset] |= (uint8_t)(value << f->shift);
		else
			bytes_store(data + f->offset, value, f->bits / 8);
	}
}
