// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Services that clients registered (ServiceRecord, IBA 15.2.5.14).
 *
 * Purpose. A client announces under a ServiceID, on a GID and in a partition,
 * that it serves; others look it up. What is announced ends with its lease.
 *
 * Structs. `services` has the records sorted by ServiceID, ServiceGID and
 * P_Key, which together name a record, and a time before which no lease ends.
 *
 * What decides:
 *  - The ServiceGID must be a port of the requester's own node, else anybody
 *    could announce itself in the place of others, or take them off. Clients
 *    write the prefix of the subnet, the default one, or none; osmtest writes
 *    the bytes of the prefix in the other order.
 *  - A P_Key that is named must be one of the requester's and of that port's.
 *    Without one the record says 0: any.
 *  - It ends when its port has gone, or is no longer in its partition: who
 *    looks it up would be sent to nobody for as long as the lease lasts.
 *  - Without a lease it is for ever; a lease of 0 seconds is over before it
 *    begins and refused.
 *  - Set replaces a record of the same name, its key too: a client that was
 *    restarted knows no key of before. Delete compares a key or a service name
 *    only if the mask names it; what names the record is always looked at.
 *  - No answer tells the key.
 *  - There is room for a number of services in all, and for each GID, so that
 *    one client can neither fill the memory nor the store.
 */
#include <string.h>

#include "sm/sa/service.h"
#include "sm/sa/state_words.h"
#include "sm/mad/bytes.h"

#define SERVICES_MAX	16384u
#define SERVICES_A_GID	1024u
#define LEASE_FOR_EVER	UINT32_MAX
#define SECOND		G_GINT64_CONSTANT(1000000)

#define NEED		(SA_BIT(SERVICE_ID) | SA_BIT(SERVICE_GID))

struct services {
	GPtrArray *services;	/* struct service *, sorted */
	int64_t next;		/* no lease ends before; INT64_MAX: none */
	uint64_t version;
};

struct services *
services_new(void)
{
	struct services *s = g_new0(struct services, 1);

	s->services = g_ptr_array_new_with_free_func(g_free);
	s->next = INT64_MAX;
	return s;
}

void
services_free(struct services *s)
{
	if (!s)
		return;
	g_ptr_array_unref(s->services);
	g_free(s);
}

uint32_t
services_count(const struct services *s)
{
	return s->services->len;
}

const struct service *
services_at(const struct services *s, uint32_t i)
{
	return i < s->services->len ? s->services->pdata[i] : NULL;
}

uint64_t
services_version(const struct services *s)
{
	return s->version;
}

static int
compare(const struct service_record *a, const struct service_record *b)
{
	int order;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	order = memcmp(a->gid, b->gid, 16);
	return order ? order : (int)a->pkey - (int)b->pkey;
}

/* Where the record is, or would have to be put. */
uint32_t
services_place(const struct services *s, const struct service_record *name)
{
	guint low = 0;
	guint high = s->services->len;

	while (low < high) {
		guint mid = low + (high - low) / 2;

		if (compare(&services_at(s, mid)->record, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct service *
services_find(const struct services *s, const struct service_record *name)
{
	guint place = services_place(s, name);
	struct service *service;

	if (place == s->services->len)
		return NULL;
	service = s->services->pdata[place];
	return compare(&service->record, name) == 0 ? service : NULL;
}

static bool
has_room(const struct services *s, const uint8_t gid[16])
{
	unsigned of_gid = 0;

	if (s->services->len >= SERVICES_MAX)
		return false;
	for (guint i = 0; i < s->services->len; i++)
		of_gid += memcmp(services_at(s, i)->record.gid, gid, 16) == 0;
	return of_gid < SERVICES_A_GID;
}

static void
services_put(struct services *s, const struct service_record *record,
	     int64_t ends)
{
	struct service *service = services_find(s, record);

	if (!service) {
		service = g_new(struct service, 1);
		g_ptr_array_insert(s->services,
				   (gint)services_place(s, record), service);
	}
	service->record = *record;
	service->ends = ends;
	s->next = MIN(s->next, ends);
	s->version++;
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

/* May `from` speak for the ServiceGID? *port is what it means. */
static unsigned
check_owner(const struct sa_db *v, uint32_t from,
	    const struct service_record *record, uint32_t *port)
{
	if (from == SNAPSHOT_NONE)
		return SA_STATUS_REQ_INVALID;
	*port = service_port(v, record->gid);
	if (*port == SNAPSHOT_NONE)
		return SA_STATUS_INVALID_GID;
	if (v->subnet->ports[*port].node != v->subnet->ports[from].node)
		return SA_STATUS_DENIED;
	return MAD_STATUS_OK;
}

static bool
has_pkey(const struct sa_db *v, uint32_t port, uint16_t pkey)
{
	return memberships_of(v->memberships, port, pkey) != 0;
}

/* The seconds that are left, a started one counts. */
static uint32_t
lease_left(int64_t ends, int64_t now)
{
	if (ends == INT64_MAX)
		return LEASE_FOR_EVER;
	return (uint32_t)((MAX(ends - now, 0) + SECOND - 1) / SECOND);
}

void
service_describe(const struct service *s, int64_t now,
		 struct service_record *r)
{
	*r = s->record;
	r->lease = lease_left(s->ends, now);
	memset(r->key, 0, sizeof(r->key));
}

static int64_t
lease_end(uint32_t lease, int64_t now)
{
	return lease == LEASE_FOR_EVER ? INT64_MAX : now + lease * SECOND;
}

unsigned
services_set(struct services *s, const struct sa_db *v, uint32_t from,
	     uint64_t comp_mask, struct service_record *record, int64_t now)
{
	uint32_t port;
	unsigned status;

	if ((comp_mask & NEED) != NEED)
		return SA_STATUS_INSUFFICIENT;
	status = check_owner(v, from, record, &port);
	if (status != MAD_STATUS_OK)
		return status;
	if (!(comp_mask & SA_BIT(SERVICE_PKEY)))
		record->pkey = 0;
	else if (!has_pkey(v, from, record->pkey) ||
		 !has_pkey(v, port, record->pkey))
		return SA_STATUS_REQ_INVALID;
	if (!(comp_mask & SA_BIT(SERVICE_LEASE)))
		record->lease = LEASE_FOR_EVER;
	if (!(comp_mask & SA_BIT(SERVICE_KEY)))
		memset(record->key, 0, sizeof(record->key));
	if (record->lease == 0)
		return SA_STATUS_REQ_INVALID;
	if (!services_find(s, record) && !has_room(s, record->gid))
		return SA_STATUS_NO_RESOURCES;

	services_put(s, record, lease_end(record->lease, now));
	memset(record->key, 0, sizeof(record->key));
	return MAD_STATUS_OK;
}

/* Does the record have the key and the name that the mask asks for? */
static bool
is_meant(const struct service_record *stored, uint64_t comp_mask,
	 const struct service_record *asked)
{
	if (comp_mask & SA_BIT(SERVICE_KEY) &&
	    memcmp(stored->key, asked->key, sizeof(stored->key)) != 0)
		return false;
	return !(comp_mask & SA_BIT(SERVICE_NAME)) ||
		memcmp(stored->name, asked->name, sizeof(stored->name)) == 0;
}

unsigned
services_delete(struct services *s, const struct sa_db *v, uint32_t from,
		uint64_t comp_mask, struct service_record *record, int64_t now)
{
	struct service *service;
	uint32_t port;
	unsigned status;

	services_tick(s, now);
	service = services_find(s, record);
	if (!service || !is_meant(&service->record, comp_mask, record))
		return SA_STATUS_NO_RECORDS;
	status = check_owner(v, from, record, &port);
	if (status != MAD_STATUS_OK)
		return status;

	service_describe(service, now, record);
	g_ptr_array_remove_index(s->services, services_place(s, record));
	s->version++;
	return MAD_STATUS_OK;
}

void
services_follow(struct services *s, const struct sa_db *v)
{
	for (guint i = s->services->len; i-- > 0;) {
		const struct service_record *r = &services_at(s, i)->record;
		uint32_t port = service_port(v, r->gid);

		if (port != SNAPSHOT_NONE &&
		    (!r->pkey || has_pkey(v, port, r->pkey)))
			continue;
		g_ptr_array_remove_index(s->services, i);
		s->version++;
	}
}

/* --- time --- */

int64_t
services_deadline(const struct services *s)
{
	return s->next;
}

void
services_tick(struct services *s, int64_t now)
{
	if (now < s->next)
		return;
	s->next = INT64_MAX;
	for (guint i = s->services->len; i-- > 0;) {
		const struct service *service = services_at(s, i);

		if (service->ends > now) {
			s->next = MIN(s->next, service->ends);
			continue;
		}
		g_ptr_array_remove_index(s->services, i);
		s->version++;
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

static const struct state_line service_line = {
	"service", service_words, G_N_ELEMENTS(service_words), 0,
};

void
services_save(const struct services *s, GString *out, int64_t now)
{
	for (uint32_t i = 0; i < services_count(s); i++) {
		const struct service *service = services_at(s, i);
		struct service_record r = service->record;

		r.lease = lease_left(service->ends, now);
		if (r.lease)
			state_line_save(&service_line, out, &r);
	}
}

bool
services_load_line(struct services *s, char **words, guint n_words,
		   int64_t now, GError **error)
{
	struct service_record r = { .id = 0 };

	if (!state_line_load(&service_line, words, n_words, &r, error))
		return false;
	if (services_find(s, &r))
		return state_line_refuse(error, "the service is there twice");
	if (!has_room(s, r.gid))
		return state_line_refuse(error, "too many services");
	services_put(s, &r, lease_end(r.lease, now));
	return true;
}
