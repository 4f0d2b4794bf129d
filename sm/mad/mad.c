// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The common MAD header.
 *
 * Layout (IBA 13.4.2), offsets in bytes, all big-endian:
 *
 *	 0 BaseVersion   1 MgmtClass   2 ClassVersion   3 R bit, Method
 *	 4 Status        6 ClassSpecific
 *	 8 TransactionID
 *	16 AttributeID  18 reserved   20 AttributeModifier
 *
 * On a directed route (IBA 14.2.1.2) the top bit of bytes 4-5 is D, the
 * direction, and bytes 6 and 7 are HopPointer and HopCount.
 *
 * A sweep reads this header once for every answer, so it is loaded by hand;
 * attributes are decoded by the tables of mad_tables.c. The names are those of
 * IBA 13.4.5 to 13.4.8 and 14.2.5, as the diagnostics print them.
 */
#include "sm/mad/mad.h"

#include <glib.h>
#include <string.h>

#include "sm/mad/bytes.h"

#define OFF_HOP_POINTER	6
#define OFF_HOP_COUNT	7
#define OFF_TID		8

#define DIRECTION_BIT	0x8000u

/* IBA 13.4.7: bits 2 to 4 hold a code, bits 0 and 1 stand alone */
#define STATUS_REDIRECT	0x0002u
#define STATUS_CODE	0x001cu

struct name {
	unsigned value;
	const char *text;
};

static const struct name method_names[] = {
	{ 0x01, "Get" },
	{ 0x02, "Set" },
	{ 0x03, "Send" },
	{ 0x05, "Trap" },
	{ 0x06, "Report" },
	{ 0x07, "TrapRepress" },
	{ 0x12, "GetTable" },
	{ 0x13, "GetTraceTable" },
	{ 0x14, "GetMulti" },
	{ 0x15, "Delete" },
	{ 0x81, "GetResp" },
	{ 0x86, "ReportResp" },
	{ 0x92, "GetTableResp" },
	{ 0x94, "GetMultiResp" },
	{ 0x95, "DeleteResp" },
};

static const struct name attr_names[] = {
	{ 0x0001, "ClassPortInfo" },
	{ MAD_ATTR_NOTICE, "Notice" },
	{ 0x0003, "InformInfo" },
	{ MAD_ATTR_NODE_DESC, "NodeDescription" },
	{ MAD_ATTR_NODE_INFO, "NodeInfo" },
	{ MAD_ATTR_SWITCH_INFO, "SwitchInfo" },
	{ MAD_ATTR_GUID_INFO, "GUIDInfo" },
	{ MAD_ATTR_PORT_INFO, "PortInfo" },
	{ MAD_ATTR_PKEY_TABLE, "P_KeyTable" },
	{ MAD_ATTR_SL2VL, "SLtoVLMappingTable" },
	{ MAD_ATTR_VL_ARB, "VLArbitrationTable" },
	{ MAD_ATTR_LINEAR_FT, "LinearForwardingTable" },
	{ 0x001a, "RandomForwardingTable" },
	{ MAD_ATTR_MULTICAST_FT, "MulticastForwardingTable" },
	{ MAD_ATTR_SM_INFO, "SMInfo" },
	{ 0x0030, "VendorDiag" },
	{ 0x0031, "LedInfo" },
};

static const struct name status_names[] = {
	{ MAD_STATUS_BAD_VERSION, "bad version" },
	{ MAD_STATUS_BAD_METHOD, "method not supported" },
	{ MAD_STATUS_BAD_ATTRIBUTE, "method and attribute not supported" },
	{ MAD_STATUS_BAD_VALUE, "invalid attribute value" },
};

bool
mad_header_read(const uint8_t *mad, size_t len, struct mad_header *h)
{
	if (len < MAD_SIZE)
		return false;

	h->base_version = mad[0];
	h->mgmt_class = mad[1];
	h->class_version = mad[2];
	h->method = mad[MAD_OFF_METHOD];
	h->status = bytes_load16(mad + MAD_OFF_STATUS);
	h->tid = bytes_load64(mad + OFF_TID);
	h->attr_id = bytes_load16(mad + MAD_OFF_ATTR_ID);
	h->attr_mod = bytes_load32(mad + MAD_OFF_ATTR_MOD);
	h->hop_pointer = 0;
	h->hop_count = 0;
	h->returning = false;

	if (h->mgmt_class == MAD_CLASS_SMP_DIRECT) {
		h->hop_pointer = mad[OFF_HOP_POINTER];
		h->hop_count = mad[OFF_HOP_COUNT];
		h->returning = h->status & DIRECTION_BIT;
		h->status &= ~DIRECTION_BIT;
	}
	return true;
}

void
mad_build(uint8_t mad[MAD_SIZE], unsigned mgmt_class, unsigned class_version,
	  unsigned method, unsigned attr_id)
{
	memset(mad, 0, MAD_SIZE);
	mad[0] = MAD_BASE_VERSION;
	mad[1] = (uint8_t)mgmt_class;
	mad[2] = (uint8_t)class_version;
	mad[MAD_OFF_METHOD] = (uint8_t)method;
	bytes_store16(mad + MAD_OFF_ATTR_ID, (uint16_t)attr_id);
}

void
mad_set_tid(uint8_t *mad, uint64_t tid)
{
	bytes_store64(mad + OFF_TID, tid);
}

static const char *
find_name(const struct name *names, size_t n, unsigned value)
{
	for (size_t i = 0; i < n; i++)
		if (names[i].value == value)
			return names[i].text;
	return "?";
}

const char *
mad_method_name(unsigned method)
{
	return find_name(method_names, G_N_ELEMENTS(method_names), method);
}

const char *
mad_attr_name(unsigned attr_id)
{
	return find_name(attr_names, G_N_ELEMENTS(attr_names), attr_id);
}

/* The code is more specific than the two single bits, so it goes first. */
const char *
mad_status_name(unsigned status)
{
	if (status & STATUS_CODE)
		return find_name(status_names, G_N_ELEMENTS(status_names),
				 status & STATUS_CODE);
	if (status & MAD_STATUS_BUSY)
		return "busy";
	if (status & STATUS_REDIRECT)
		return "redirection required";
	return status == MAD_STATUS_OK ? "OK" : "?";
}
