/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * PortCounters of performance management (IBA 16.1.3.5): the counters of
 * errors and PortXmitWait, and where they are. PortCountersExtended may have
 * them, too, 64 bits wide, in the same order (16.1.4.11).
 */
#ifndef MINISM_MAD_PERF_H
#define MINISM_MAD_PERF_H

#include <stdbool.h>
#include <stdint.h>

#define PERF_CLASS_VERSION	1

#define PERF_ATTR_PORT_COUNTERS		0x0012
#define PERF_ATTR_PORT_COUNTERS_EXT	0x001d

/* ClassPortInfo.CapabilityMask, and CapabilityMask2, its last bit the lowest */
#define PERF_CAP_EXT_WIDTH	0x0200u
#define PERF_CAP_EXT_NO_IETF	0x0400u		/* the same without multicast */
#define PERF_CAP_XMIT_WAIT	0x1000u
#define PERF_CAP2_WIDE_ERRORS	0x2u
#define PERF_EXT_ERRORS_OFFSET	72	/* of PortCountersExtended */

/* In the order of CounterSelect. */
enum perf_error {
	PERF_SYMBOL,
	PERF_LINK_RECOVERY,
	PERF_LINK_DOWNED,
	PERF_RCV,
	PERF_RCV_REMOTE_PHYSICAL,
	PERF_RCV_SWITCH_RELAY,
	PERF_XMIT_DISCARDS,
	PERF_XMIT_CONSTRAINT,
	PERF_RCV_CONSTRAINT,
	PERF_LOCAL_INTEGRITY,
	PERF_BUFFER_OVERRUN,
	PERF_VL15_DROPPED,
	PERF_XMIT_WAIT,		/* of CounterSelect2; no error: congestion */
	PERF_COUNTERS
};
#define PERF_N_ERRORS	PERF_XMIT_WAIT

struct perf_error_field {
	const char *name;	/* of the specification */
	const char *word;	/* for a command line */
	bool is_wire;		/* a bad cable or transceiver causes it */
	uint8_t offset, bits, shift;	/* in the attribute */
};
extern const struct perf_error_field perf_error_fields[PERF_COUNTERS];

/* The largest value: a counter that has it stays there until it is cleared. */
uint32_t perf_error_max(enum perf_error error);

/* `data` is the attribute. A value that does not fit is stored as the largest
 * one. */
void perf_errors_load(const uint8_t *data, uint64_t errors[PERF_COUNTERS]);
void perf_errors_store(uint8_t *data, const uint64_t errors[PERF_COUNTERS]);

#endif
