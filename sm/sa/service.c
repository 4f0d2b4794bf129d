// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Services that clients registered (ServiceRecord, IBA 15.2.5.14).
 *
 * Purpose. A client registers a ServiceID for a GID and a partition, with a
 * lease; other clients look it up.
 *
 * Rules:
 *  - The ServiceGID must be a port of the requester's own node, else any client
 *    could register in the place of others, or remove them. Clients write the
 *    prefix of the subnet, the default one, or none; osmtest writes the bytes
 *    of the prefix in the other order.
 *  - A P_Key that is given must be one of the requester's and of that port's.
 *    Without one, or with 0, the record has 0: any. A Delete without one is
 *    for the P_Key that the request has all the same, else for 0.
 *  - A service ends when its port is not on the fabric, or no longer in the
 *    partition: otherwise clients would find an address without a port until
 *    the lease ends.
 *  - Without a lease it never expires; a lease of 0 seconds is refused.
 *  - ServiceID, ServiceGID and P_Key identify a record. Set replaces it, with
 *    its key: a client that was restarted has lost the old key. Delete compares
 *    key and name only if the mask has them.
 *  - Only answers to trusted requesters contain the key.
 *  - The number of services is bounded, and that of each port, so that one
 *    client can fill neither the memory nor the store.
 */
#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/sa/service.h"
#include "sm/sa/sa_query.h"
#include "topology/each.h"
#include "topology/text.h"

#define SERVICES_MAX	65536u
#define SERVICES_A_PORT	256u
#define LEASE_FOR_EVER	UINT32_MAX
#define SECOND		G_GINT64_CONSTANT(1000000)

#define NEED		(SA_BIT(SERVICE_ID) | SA_BIT(SERVICE_GID))

static int
compare_service(const void *key, const void *element)
{
	const struct service_record *a = key, *b = element;

	return uint_compare(a->id, b->id) ?: memcmp(a->gid, b->gid, 16) ?:
		uint_compare(a->pkey, b->pkey);
}

struct services *
services_new(void)
{
	struct services *s = g_new0(struct services, 1);

	s->all.list = g_ptr_array_new_with_free_func(g_free);
	s->all.compare = compare_service;
	s->next = INT64_MAX;
	return s;
}

void
services_free(struct services *s)
{
	g_ptr_array_unref(s->all.list);
	g_free(s);
}

/* For another one. The prefix of a GID can be written in several ways. */
static bool
services_have_room(const struct services *s, const uint8_t gid[16])
{
	unsigned of_port = 0;

	if (s->all.list->len >= SERVICES_MAX)
		return false;
	EACH_PTR(const struct service, other, s->all.list)
		of_port += memcmp(other->record.gid + 8, gid + 8, 8) == 0;
	return of_port < SERVICES_A_PORT;
}

/* Its lease begins now. */
static void
services_put(struct services *s, const struct service_record *record,
	     int64_t now)
{
	const struct service new = {
		.record = *record, .ends = record->lease == LEASE_FOR_EVER ?
			INT64_MAX : now + record->lease * SECOND,
	};
	struct service *old = sa_store_find(&s->all, record);

	if (old) {
		*old = new;
		s->all.version++;
	} else {
		sa_store_insert(&s->all, &new, sizeof(new));
	}
	s->next = MIN(s->next, new.ends);
}

/* --- requests --- */

static uint32_t
service_port(const struct sa_db *v, const uint8_t gid[16])
{
	uint64_t prefix = bytes_load64(gid);
	uint64_t turned = GUINT64_SWAP_LE_BE(prefix);

	if (prefix == 0 || turned == v->gid_prefix ||
	    turned == SA_GID_PREFIX_DEFAULT)
		return sa_db_guid(v, bytes_load64(gid + 8));
	return sa_db_gid(v, gid);
}

/* May `from` register the ServiceGID? *port is the port that has it. */
static unsigned
check_owner(const struct sa_db *v, uint32_t from,
	    const struct service_record *record, uint32_t *port)
{
	*port = service_port(v, record->gid);
	if (*port == SNAPSHOT_NONE)
		return SA_STATUS_INVALID_GID;
	if (v->subnet->ports[*port].node != v->subnet->ports[from].node)
		return SA_STATUS_DENIED;
	return MAD_STATUS_OK;
}

void
service_describe(const struct service *s, int64_t now,
		 struct service_record *r)
{
	*r = s->record;
	if (s->ends == INT64_MAX)
		r->lease = LEASE_FOR_EVER;
	else		/* seconds, rounded up */
		r->lease = (uint32_t)((MAX(s->ends - now, 0) + SECOND - 1) /
				      SECOND);
}

unsigned
services_set(const struct sa_query *q, void *asked)
{
	const struct sa_db *v = q->viewer.db;
	struct services *s = q->sa->services;
	struct service_record *record = asked;
	uint64_t comp_mask = q->h.comp_mask;
	uint32_t from = q->viewer.port, port;
	unsigned status;

	if ((comp_mask & NEED) != NEED)
		return SA_STATUS_INSUFFICIENT;
	status = check_owner(v, from, record, &port);
	if (status != MAD_STATUS_OK)
		return status;
	if (!(comp_mask & SA_BIT(SERVICE_PKEY)))
		record->pkey = 0;
	if (record->pkey &&
	    (!memberships_of(v->memberships, from, record->pkey) ||
	     !memberships_of(v->memberships, port, record->pkey)))
		return SA_STATUS_REQ_INVALID;
	if (!(comp_mask & SA_BIT(SERVICE_LEASE)))
		record->lease = LEASE_FOR_EVER;
	if (!(comp_mask & SA_BIT(SERVICE_KEY)))
		memset(record->key, 0, sizeof(record->key));
	if (record->lease == 0)
		return SA_STATUS_REQ_INVALID;
	if (!sa_store_find(&s->all, record) &&
	    !services_have_room(s, record->gid))
		return SA_STATUS_NO_RESOURCES;

	services_put(s, record, q->request->now);
	memset(record->key, 0, sizeof(record->key));
	return MAD_STATUS_OK;
}

unsigned
services_delete(const struct sa_query *q, void *asked)
{
	struct services *s = q->sa->services;
	struct service_record *record = asked;
	uint64_t comp_mask = q->h.comp_mask;
	struct service *service;
	uint32_t port;
	unsigned status;

	services_tick(s, q->request->now);
	service = sa_store_find(&s->all, record);
	if (!service && !(comp_mask & SA_BIT(SERVICE_PKEY))) {
		record->pkey = 0;
		service = sa_store_find(&s->all, record);
	}
	if (!service ||
	    (comp_mask & SA_BIT(SERVICE_KEY) &&
	     memcmp(service->record.key, record->key, sizeof(record->key))) ||
	    (comp_mask & SA_BIT(SERVICE_NAME) &&
	     memcmp(service->record.name, record->name, sizeof(record->name))))
		return SA_STATUS_NO_RECORDS;
	status = check_owner(q->viewer.db, q->viewer.port, record, &port);
	if (status != MAD_STATUS_OK)
		return status;

	service_describe(service, q->request->now, record);
	memset(record->key, 0, sizeof(record->key));
	sa_store_remove(&s->all, sa_store_place(&s->all, record));
	return MAD_STATUS_OK;
}

void
services_follow(struct services *s, const struct sa_db *v)
{
	for (guint i = s->all.list->len; i-- > 0;) {
		const struct service *service = s->all.list->pdata[i];
		uint32_t port = service_port(v, service->record.gid);
		uint16_t pkey = service->record.pkey;

		if (port != SNAPSHOT_NONE &&
		    (!pkey || memberships_of(v->memberships, port, pkey)))
			continue;
		sa_store_remove(&s->all, i);
	}
}

/* --- time --- */

void
services_tick(struct services *s, int64_t now)
{
	if (now < s->next)
		return;
	s->next = INT64_MAX;
	for (guint i = s->all.list->len; i-- > 0;) {
		const struct service *service = s->all.list->pdata[i];

		if (service->ends > now) {
			s->next = MIN(s->next, service->ends);
			continue;
		}
		sa_store_remove(&s->all, i);
	}
}

/* --- text ---
 *
 *   service ServiceID ServiceGID P_Key lease-left key name data
 */

static const struct state_word service_words[] = {
	STATE_WORD(service_record, id, "ServiceID", 16, 0, UINT64_MAX),
	STATE_WORD(service_record, gid, "ServiceGID", STATE_BYTES, 0, 0),
	STATE_WORD(service_record, pkey, "P_Key", 4, 0, UINT16_MAX),
	STATE_WORD(service_record, lease, "lease", 0, 1, UINT32_MAX),
	STATE_WORD(service_record, key, "key", STATE_BYTES, 0, 0),
	STATE_WORD(service_record, name, "name", STATE_BYTES, 0, 0),
	STATE_WORD(service_record, data, "data", STATE_BYTES, 0, 0),
};

static bool
service_take(void *owner, void *members, int64_t now, GError **error)
{
	struct services *s = ((struct sa *)owner)->services;
	const struct service_record *record = members;

	if (sa_store_find(&s->all, record))
		return text_refuse(error, "the service is there twice");
	if (s->all.list->len >= SERVICES_MAX)
		return text_refuse(error, "too many services");
	services_put(s, record, now);
	return true;
}

const struct state_line service_lines[] = {
	STATE_LINE("service", service_words, service_record, service_take),
	{ .keyword = NULL },
};
