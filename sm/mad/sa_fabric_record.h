/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Records of the fabric (IBA 15.2.5): host structs -> bytes.
 */
#ifndef MINISM_MAD_SA_FABRIC_RECORD_H
#define MINISM_MAD_SA_FABRIC_RECORD_H

#include "sm/mad/sa_match.h"
#include "sm/mad/smp.h"

/* Records of the fabric, whole: key fields in front, attribute behind. */
void node_record_encode(uint8_t *data, uint16_t lid,
			const struct node_info *info, const char *desc);
void port_info_record_encode(uint8_t *data, uint16_t lid, uint8_t port,
			     const struct port_info *info);
void switch_info_record_encode(uint8_t *data, uint16_t lid,
			       const struct switch_info *info);
void linear_ft_record_encode(uint8_t *data, uint16_t lid, uint16_t block,
			     const uint8_t ports[64]);
void multicast_ft_record_encode(uint8_t *data, uint16_t lid,
				unsigned position, unsigned block,
				const uint16_t masks[32]);
void link_record_encode(uint8_t *data, uint16_t from_lid, uint8_t from_port,
			uint8_t to_port, uint16_t to_lid);
void sm_info_record_encode(uint8_t *data, uint16_t lid,
			   const struct sm_info *info);
void guid_info_record_encode(uint8_t *data, uint16_t lid, uint8_t block,
			     const uint64_t guids[8]);
void pkey_table_record_encode(uint8_t *data, uint16_t lid, uint16_t block,
			      uint8_t port, const uint16_t pkeys[32]);
/* vl: by SL; table: 64 bytes of VL and weight. */
void sl_to_vl_record_encode(uint8_t *data, uint16_t lid, uint8_t in_port,
			    uint8_t out_port, const uint8_t vl[16]);
void vl_arb_record_encode(uint8_t *data, uint16_t lid, uint8_t port,
			  uint8_t block, const uint8_t table[64]);

#endif
