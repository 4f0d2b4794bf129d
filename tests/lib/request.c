// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests as text: see request.h.
 */
#include "tests/lib/request.h"

#include <arpa/inet.h>
#include <inttypes.h>

#include "sm/mad/bytes.h"
#include "tests/lib/script.h"
#include "tests/lib/unit.h"

#define VALUE_MAX	64u	/* bytes */

static const struct {
	const char *name;
	unsigned status;
} statuses[] = {
	{ "ok", 0 }, { "dropped", REQUEST_DROPPED },
	{ "silent", REQUEST_SILENT },
	{ "busy", MAD_STATUS_BUSY },
	{ "bad-version", MAD_STATUS_BAD_VERSION },
	{ "bad-method", MAD_STATUS_BAD_METHOD },
	{ "bad-attribute", MAD_STATUS_BAD_ATTRIBUTE },
	{ "bad-value", MAD_STATUS_BAD_VALUE },
	{ "no-resources", SA_STATUS_NO_RESOURCES },
	{ "invalid", SA_STATUS_REQ_INVALID },
	{ "no-records", SA_STATUS_NO_RECORDS },
	{ "too-many", SA_STATUS_TOO_MANY },
	{ "invalid-gid", SA_STATUS_INVALID_GID },
	{ "insufficient", SA_STATUS_INSUFFICIENT },
	{ "denied", SA_STATUS_DENIED },
};

static unsigned
status_of(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(statuses); i++)
		if (strcmp(statuses[i].name, name) == 0)
			return statuses[i].status;
	fail_msg("no status is called %s", name);
	return 0;
}

static unsigned
number_of(const char *name, unsigned end, const char *(*name_of)(unsigned))
{
	if (g_ascii_isdigit(*name))
		return (unsigned)strtoul(name, NULL, 0);
	for (unsigned i = 0; i < end; i++)
		if (strcmp(name_of(i), name) == 0)
			return i;
	fail_msg("what is %s?", name);
	return 0;
}

/* The record that carries the attribute of an SMP, behind its key fields. */
static void
find_table(struct request *r)
{
	static const struct {
		unsigned smp, record, base;
	} tables[] = {
		{ MAD_ATTR_NODE_INFO, SA_ATTR_NODE, 32 },
		{ MAD_ATTR_NODE_DESC, SA_ATTR_NODE, 352 },
		{ MAD_ATTR_PORT_INFO, SA_ATTR_PORT_INFO, 32 },
		{ MAD_ATTR_SWITCH_INFO, SA_ATTR_SWITCH_INFO, 32 },
		{ MAD_ATTR_SM_INFO, SA_ATTR_SM_INFO, 32 },
		{ MAD_ATTR_LINEAR_FT, SA_ATTR_LINEAR_FT, 64 },
		{ MAD_ATTR_MULTICAST_FT, SA_ATTR_MULTICAST_FT, 64 },
		{ MAD_ATTR_GUID_INFO, SA_ATTR_GUID_INFO, 64 },
		{ MAD_ATTR_SL2VL, SA_ATTR_SL_TO_VL, 64 },
	};

	if (!r->kind->is_smp)
		r->table = mad_attr_table(r->attr_id);
	for (size_t i = 0; r->kind->is_smp && i < G_N_ELEMENTS(tables); i++)
		if (tables[i].smp == r->attr_id) {
			r->table = mad_attr_table(tables[i].record);
			r->base = tables[i].base;
		}
}

/* ---- components ---- */

/* NAME, NAME[N] or @OFFSET/BYTES: where it is, and its bit of the mask. */
struct place {
	unsigned at, bits, n;
};

static struct place
find_place(const struct request *r, const char *name, size_t len)
{
	unsigned nth = 0;
	const char *more = memchr(name, '[', len);
	char *end;

	if (*name == '@') {
		unsigned at = (unsigned)strtoul(name + 1, &end, 10) * 8;

		return (struct place){
			at, *end == '/' ?
			(unsigned)strtoul(end + 1, NULL, 10) * 8 : 8, 0,
		};
	}
	if (more) {
		nth = (unsigned)strtoul(more + 1, NULL, 10);
		len = (size_t)(more - name);
	}
	for (unsigned i = 0; r->table && i < r->table->n_fields; i++) {
		const struct mad_field *f = &r->table->fields[i];

		if (strlen(f->name) == len && !strncmp(f->name, name, len) &&
		    !nth--)
			return (struct place){ f->offset - r->base, f->bits,
					       i };
	}
	fail_msg("%.*s is no component of it", (int)len, name);
	return (struct place){ 0, 0, 0 };
}

static void
put_bits(uint8_t *data, const struct place *p, uint64_t value)
{
	for (unsigned i = 0; i < p->bits; i++) {
		unsigned at = p->at + p->bits - 1 - i;
		uint8_t bit = (uint8_t)(0x80 >> at % 8);

		data[at / 8] = (uint8_t)(value >> i & 1 ? data[at / 8] | bit :
					 data[at / 8] & ~bit);
	}
}

static uint64_t
get_bits(const uint8_t *data, const struct place *p)
{
	uint64_t value = 0;

	for (unsigned at = p->at; at < p->at + p->bits; at++)
		value = value << 1 | (data[at / 8] >> (7 - at % 8) & 1);
	return value;
}

/* Of more than 64 bits: a GID, or text. */
static void
read_bytes(const struct request *r, const char *text, uint8_t *bytes,
	   size_t len)
{
	struct request_name named = { .desc = NULL };

	if (r->kind->name(r->fixture, text, &named) &&
	    (len == 16 || named.desc))
		memcpy(bytes, len == 16 ? (char *)named.gid : named.desc,
		       len == 16 ? 16 : strlen(named.desc));
	else if (len != 16 || inet_pton(AF_INET6, text, bytes) != 1)
		memcpy(bytes, text, strnlen(text, len));
}

static uint64_t
read_number(const struct request *r, const char *text, unsigned bits)
{
	const char *plus = strchr(text, '+');
	g_autofree char *name = plus ? g_strndup(text, (gsize)(plus - text)) :
		g_strdup(text);
	uint64_t more = plus ? g_ascii_strtoull(plus + 1, NULL, 0) : 0;
	struct request_name named;
	char *end;

	if (r->kind->name(r->fixture, name, &named))
		return (bits == 64 ? named.guid : named.lid) + more;
	more += g_ascii_strtoull(name, &end, 0);
	if (end == name || *end)
		fail_msg("%s is no value", text);
	return more;
}

static void
put(struct request *r, const char *word)
{
	const char *equals = strchr(word, '='), *name = word;
	struct place p;

	name += *word == '.' || *word == '+' || *word == '-';
	if (!equals && *word != '+' && *word != '-')
		fail_msg("%s has no value", word);
	p = find_place(r, name, equals ? (size_t)(equals - name) :
		       strlen(name));
	if (*word == '-')
		r->mask &= ~SA_BIT(p.n);
	else if (*word != '.' && *name != '@')
		r->mask |= SA_BIT(p.n);
	if (!equals)
		return;
	memset(r->data + p.at / 8, 0, p.bits > 64 ? p.bits / 8 : 0);
	if (p.bits > 64)
		read_bytes(r, equals + 1, r->data + p.at / 8, p.bits / 8);
	else
		put_bits(r->data, &p, read_number(r, equals + 1, p.bits));
}

void
request_put(struct request *r, char **words)
{
	for (; *words && strcmp(*words, "=>"); words++) {
		g_auto(GStrv) parts = NULL;

		if (!g_ascii_islower(**words)) {
			put(r, *words);
			continue;
		}
		parts = g_strsplit(*words, "=", 2);
		if (strcmp(parts[0], "mask") == 0)
			r->mask |= g_ascii_strtoull(parts[1], NULL, 0);
		else if (!r->kind->option(r->fixture, parts[0], parts[1]))
			fail_msg("there is no option %s", *words);
	}
	if (*words)
		r->expected = words + 1;
}

void
request_read(struct request *r, const struct request_kind *kind, void *fixture,
	     char **words)
{
	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->fixture = fixture;
	if (!words[0] || !words[1])
		fail_msg("METHOD ATTRIBUTE ..");
	r->method = number_of(words[0], 0x100, mad_method_name);
	r->attr_id = number_of(words[1], 0x10000, kind->is_smp ?
			       mad_attr_name : sa_attr_name);
	find_table(r);
	request_put(r, words + 2);
}

void
request_write(const struct request_kind *kind, void *fixture,
	      uint8_t mad[MAD_SIZE], const char *format, va_list args)
{
	g_autofree char *line = g_strdup_vprintf(format, args);
	g_auto(GStrv) words = NULL;
	struct request r;

	g_shell_parse_argv(line, NULL, &words, NULL);
	request_read(&r, kind, fixture, words);
	sa_build(mad, r.method, r.attr_id);
	bytes_store64(mad + SA_DATA_OFFSET - 8, r.mask);
	memcpy(mad + SA_DATA_OFFSET, r.data, SA_DATA_LEN);
}

/* ---- answers ---- */

static void
expect_component(const struct request *r, const char *word, const uint8_t *data)
{
	const char *equals = strchr(word, '=');
	bool is_not = equals && equals > word && equals[-1] == '!';
	struct place p;
	uint64_t is, to;

	if (!equals)
		fail_msg("%s has no value", word);
	p = find_place(r, word, (size_t)(equals - word) - is_not);
	if (p.bits > 64) {
		uint8_t bytes[VALUE_MAX] = { 0 };

		read_bytes(r, equals + 1, bytes, p.bits / 8);
		if (is_not == !memcmp(bytes, data + p.at / 8, p.bits / 8))
			fail_msg("%s does not hold", word);
		return;
	}
	is = get_bits(data, &p);
	to = read_number(r, equals + 1, p.bits);
	if (is_not == (is == to))
		fail_msg("%s does not hold: it is 0x%" PRIx64, word, is);
}

void
request_expect_table(const struct request *r, const uint8_t *records,
		     unsigned n, size_t size)
{
	const uint8_t *record = records;

	if (!range_holds(r->expected[0], n))
		fail_msg("%u records, not %s", n, r->expected[0]);
	for (char **word = r->expected + 1; *word; word++) {
		if (**word != '#') {
			expect_component(r, *word, record);
			continue;
		}
		assert_in_range(atoi(*word + 1), 0, n - 1);
		record = records + (size_t)atoi(*word + 1) * size;
	}
}

void
request_expect_record(const struct request *r, unsigned status,
		      const uint8_t *record)
{
	if (!r->expected || !r->expected[0])
		fail_msg("nothing is expected");
	else if (status_of(r->expected[0]) != status)
		fail_msg("status 0x%x, not %s", status, r->expected[0]);
	for (char **word = r->expected + 1; *word; word++)
		expect_component(r, *word, record);
}

void
request_hold(const struct request_kind *kind, void *fixture, unsigned attr_id,
	     char **words, const uint8_t *record)
{
	const struct request r = {
		.kind = kind, .fixture = fixture,
		.table = mad_attr_table(attr_id),
	};

	for (; *words; words++)
		expect_component(&r, *words, record);
}

void
request_poke(unsigned attr_id, void *host, const char *word)
{
	const char *equals = strchr(word, '=');
	const struct mad_field *f = !equals ? NULL :
		mad_field_find(mad_attr_table(attr_id), word,
			       (size_t)(equals - word));

	if (!f || !f->size)
		fail_msg("%s is no member", word);
	else
		member_store((uint8_t *)host + f->member, f->size,
				g_ascii_strtoull(equals + 1, NULL, 0));
}

enum port_table
request_table(const char *name)
{
	enum port_table table = 0;

	while (!g_str_has_prefix(port_table_names[table], name))
		table++;
	return table;
}

union port_block
request_block(enum port_table table, const char *hex)
{
	union port_block b = { .bytes = { 0 } };

	for (unsigned i = 0; hex[2 * i]; i++)
		b.bytes[i] = (uint8_t)
			(g_ascii_xdigit_value(hex[2 * i]) << 4 |
			 g_ascii_xdigit_value(hex[2 * i + 1]));
	for (unsigned i = 0; table == PORT_TABLE_PKEY && i < PKEYS_A_BLOCK; i++)
		b.pkeys[i] = GUINT16_FROM_BE(b.pkeys[i]);
	return b;
}
