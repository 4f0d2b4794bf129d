// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Where keys are in a MAD.
 *
 * In each SMP the M_Key (IBA 14.2.1.1); in PortInfo the M_Key (14.2.5.6), in
 * SMInfo the SM_Key (14.2.5.13), in the Notice of trap 256 the M_Key that was
 * tried (14.2.5.1). In each MAD of the SA the SM_Key (15.2.1.1); and records
 * that have a key, of which several may follow each other.
 */
#include "sm/mad/mkey_mask.h"

#include "sm/mad/sa_mad.h"
#include "sm/mad/smp.h"

#define KEY_LEN		8u
#define SMP_KEY		24u
#define SMP_DATA	64u
#define PORT_INFO_KEY	SMP_DATA	/* the first component */
#define SM_INFO_KEY	(SMP_DATA + 8)
#define NOTICE_KEY	(SMP_DATA + 24)
#define SA_KEY		36u
#define SA_DATA		56u

static bool
is_key(size_t at, size_t offset)
{
	return at >= offset && at < offset + KEY_LEN;
}

static bool
smp_holds(const struct mad_header *h, size_t at)
{
	if (is_key(at, SMP_KEY))
		return true;
	switch (h->attr_id) {
	case MAD_ATTR_PORT_INFO:
		return is_key(at, PORT_INFO_KEY);
	case MAD_ATTR_SM_INFO:
		return is_key(at, SM_INFO_KEY);
	case MAD_ATTR_NOTICE:
		return is_key(at, NOTICE_KEY);
	}
	return false;
}

static bool
sa_holds(const struct mad_header *h, size_t at)
{
	if (is_key(at, SA_KEY))
		return true;
	switch (h->attr_id) {
	case SA_ATTR_PORT_INFO:
	case SA_ATTR_SM_INFO:
	case SA_ATTR_SERVICE:
		return at >= SA_DATA;
	}
	return false;
}

bool
mkey_mask_holds(const uint8_t *mad, size_t len, size_t at)
{
	struct mad_header h;

	/* What is no MAD of ours may be anything. */
	if (!mad_header_read(mad, len, &h))
		return true;
	switch (h.mgmt_class) {
	case MAD_CLASS_SMP_LID:
	case MAD_CLASS_SMP_DIRECT:
		return smp_holds(&h, at);
	case MAD_CLASS_SA:
		return sa_holds(&h, at);
	}
	return false;
}
