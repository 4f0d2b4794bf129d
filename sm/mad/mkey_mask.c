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

#include <glib.h>
#include <string.h>

#include "sm/mad/sa_mad.h"

/* Bytes of keys. A record of the SA may begin anywhere behind the header. */
#define ALL	0u	/* attributes */
static const struct {
	uint8_t mgmt_class;	/* of SMPs that by LID */
	uint16_t attr_id;
	size_t begin, end;
} places[] = {
	{ MAD_CLASS_SMP_LID, ALL, 24, 32 },
	{ MAD_CLASS_SMP_LID, MAD_ATTR_PORT_INFO, 64, 72 },
	{ MAD_CLASS_SMP_LID, MAD_ATTR_SM_INFO, 72, 80 },
	{ MAD_CLASS_SMP_LID, MAD_ATTR_NOTICE, 88, 96 },
	{ MAD_CLASS_SA, ALL, 36, 44 },
	{ MAD_CLASS_SA, SA_ATTR_PORT_INFO, SA_DATA_OFFSET, SIZE_MAX },
	{ MAD_CLASS_SA, SA_ATTR_SM_INFO, SA_DATA_OFFSET, SIZE_MAX },
	{ MAD_CLASS_SA, SA_ATTR_SERVICE, SA_DATA_OFFSET, SIZE_MAX },
	/* keys of services are in it */
	{ MAD_CLASS_SA, SA_ATTR_STATE, SA_DATA_OFFSET, SIZE_MAX },
};

void
mkey_mask_blank(uint8_t *mad, size_t len)
{
	struct mad_header h;

	/* bytes that are no MAD may be anything */
	if (!mad_header_read(mad, len, &h)) {
		memset(mad, 0, len);
		return;
	}
	if (h.mgmt_class == MAD_CLASS_SMP_DIRECT)
		h.mgmt_class = MAD_CLASS_SMP_LID;
	for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
		if (places[i].mgmt_class == h.mgmt_class &&
		    (places[i].attr_id == ALL ||
		     places[i].attr_id == h.attr_id) && places[i].begin < len)
			memset(mad + places[i].begin, 0,
			       MIN(places[i].end, len) - places[i].begin);
}
