/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * RMPP, the reliable multi-packet protocol (IBA 13.6): the header, and what
 * sender and receiver have in common. These are in the kernel, or in a lab
 * (lab/rmpp.h).
 */
#ifndef MINISM_MAD_RMPP_H
#define MINISM_MAD_RMPP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RMPP_VERSION		1u
#define RMPP_HEADER_LEN		36u	/* common header and RMPP header */
#define RMPP_PAYLOAD_MAX	220u	/* behind it in a MAD */
#define RMPP_SA_HEADER_LEN	56u	/* SA: the data begin here */
#define RMPP_NO_RESP_TIME	31u	/* RRespTime: none is given */

enum rmpp_type {
	RMPP_TYPE_DATA = 1,
	RMPP_TYPE_ACK = 2,
	RMPP_TYPE_STOP = 3,
	RMPP_TYPE_ABORT = 4,
};

#define RMPP_FLAG_ACTIVE	0x1u
#define RMPP_FLAG_FIRST		0x2u
#define RMPP_FLAG_LAST		0x4u

struct rmpp_header {
	uint32_t segment;	/* DATA, ACK: SegmentNumber */
	uint32_t length;	/* DATA: PayloadLength; ACK: NewWindowLast */
	uint8_t version, type;	/* type: may be none of enum rmpp_type */
	uint8_t flags;
	uint8_t resp_time;	/* RRespTime, 4.096 us * 2^n */
	uint8_t status;
};

/* False if the MAD has no RMPP header: too short. Judges nothing else. */
bool rmpp_header_read(const uint8_t *mad, size_t len, struct rmpp_header *h);
void rmpp_header_write(uint8_t *mad, const struct rmpp_header *h);

/* Segments of a message, at least 1; what its PayloadLength is: the class
 * header of every segment counts (IBA 13.6.2.1). 0 if that is too much for 32
 * bits. header_len: where the data begin in each MAD. */
uint64_t rmpp_segment_count(uint64_t bytes, unsigned header_len);
uint32_t rmpp_payload_length(uint64_t bytes, unsigned header_len);

#endif
