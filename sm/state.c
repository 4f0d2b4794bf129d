// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state file.
 *
 *	       touched
 *	CLEAN ---------> DUE, at 2 s after the last time
 *	  ^               |
 *	  +---------------+ written, if the text is another
 *
 * A change is written from a timer and beside the main loop, so no answer waits
 * for the disk, and a thousand joins at once are one write. If clients have changed,
 * the file says that it may lack some, and is written once more, without that, when
 * none has for 2 s: after a crash before that all are asked. A write that fails is
 * repeated after a minute, and none before that. At the end the file is written in
 * any case, since leases have become shorter. It is replaced by a new one, so a
 * crash leaves the old or the new state; it has the keys of services, so its mode
 * is 0600.
 *
 * A line that cannot be read, as of a newer version, is set aside in the file
 * state.damaged, and costs its fact: a LID comes from the fabric, an engine finds a
 * rank anew, and clients are asked to reregister (IBA 14.4.2).
 *
 * Cost. Only the text of a part that was touched is made anew.
 */
#include "sm/state.h"

#include <string.h>

#include "sm/file_writer.h"
#include "sm/io/transport.h"
#include "topology/each.h"

#define PAUSE_US	(2 * (int64_t)G_USEC_PER_SEC)
#define RETRY_US	(60 * (int64_t)G_USEC_PER_SEC)
#define SEAL		"= end "

struct state {
	struct state_params params;
	struct transport *transport;
	char *path;		/* NULL: no file */
	struct file_writer *writer;	/* NULL: nothing is written */
	struct state_copy {
		GString *text;		/* NULL: none was made, as of clients */
		bool is_old;		/* the part may have another by now */
	} copies[STATE_OWNERS_MAX];
	uint64_t version;	/* of clients, that the file has; */
	bool is_changed;	/* it lacks something of the copies */
	GString *foreign;	/* lines of parts that are not here */
	bool clients;		/* they are all, or were asked again, */
	bool is_past;		/* but may have registered with another master
				   since: no restart may trust the file */
	bool is_trusted;	/* by a restart: no client came or went since it
				   was written, or does before it is again */
	bool is_writing;
	int64_t not_before, due;
	unsigned timer;		/* 0: not running */
};

/* -------------------------------------------------------------------- text */

static bool
has_clients(const struct state *s)
{
	return s->params.owners[s->params.n - 1].part->version;
}

/* Of the clients; 0: they are not here. */
static uint64_t
clients_version(const struct state *s)
{
	const struct state_owner *last = &s->params.owners[s->params.n - 1];

	return has_clients(s) ? last->part->version(last->owner) : 0;
}

/* Makes the copy of a part anew if it is old. True: it is another text. */
static bool
renew(struct state *s, size_t i)
{
	const struct state_owner *o = &s->params.owners[i];
	struct state_copy *c = &s->copies[i];
	g_autoptr(GString) before = NULL;

	if (o->part->version || (c->text && !c->is_old))
		return false;
	before = g_steal_pointer(&c->text);
	c->text = g_string_new(NULL);
	o->part->save(o->owner, c->text, transport_now(s->transport));
	c->is_old = false;
	return before && !g_string_equal(before, c->text);
}

/* Does the file lack something? */
static bool
is_changed(struct state *s)
{
	for (size_t i = 0; i < s->params.n; i++)
		s->is_changed |= renew(s, i);
	return s->is_changed || clients_version(s) != s->version;
}

static void
put_text(struct state *s, GString *out, bool clients)
{
	is_changed(s);
	g_string_append(out, STATE_HEAD);
	g_string_append_len(out, s->foreign->str, (gssize)s->foreign->len);
	for (size_t i = 0; i < s->params.n; i++) {
		const struct state_owner *o = &s->params.owners[i];
		const GString *copy = s->copies[i].text;

		if (copy)
			g_string_append_len(out, copy->str, (gssize)copy->len);
		else if (clients)
			g_string_append(out, STATE_CLIENTS);
		if (!copy)
			o->part->save(o->owner, out,
				      transport_now(s->transport));
	}
}

void
state_write(GString *out, void *data)
{
	g_autofree char *sum = NULL;
	struct state *s = data;

	put_text(s, out, s->clients);
	sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256,
					  (const guchar *)out->str, out->len);
	g_string_append_printf(out, SEAL "%s\n", sum);
}

size_t
state_sealed(const char *text, size_t len)
{
	/* an empty message has no text */
	const char *seal = text ? g_strrstr_len(text, (gssize)len, "\n" SEAL) :
		NULL;
	size_t before = seal ? (size_t)(seal - text) + 1 : 0;
	size_t at = before + strlen(SEAL);
	g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256,
					(const guchar *)text, before);

	return before && len - at >= strlen(sum) &&
		memcmp(text + at, sum, strlen(sum)) == 0 ? before : 0;
}

/* ----------------------------------------------------------------- writing */

static void state_on_timer(void *data);

static bool
owes_trust(const struct state *s)
{
	return s->clients && !s->is_past && !s->is_trusted;
}

static void
state_wait(struct state *s, int64_t delay)
{
	int64_t due = MAX(transport_now(s->transport) + delay, s->not_before);

	if (s->is_writing || (s->timer && s->due <= due))
		return;
	transport_timer_clear(s->transport, &s->timer);
	s->due = due;
	s->timer = transport_timer_start(s->transport, due, state_on_timer, s);
}

static void
state_on_written(const GError *error, void *data)
{
	struct state *s = data;

	s->is_writing = false;
	s->not_before = transport_now(s->transport) +
		(error ? RETRY_US : PAUSE_US);
	s->is_changed |= error != NULL;
	if (is_changed(s) || owes_trust(s))
		state_wait(s, 0);
}

static void
write_all(struct state *s)
{
	GString *text;

	if (!s->writer)
		return;
	transport_timer_clear(s->transport, &s->timer);
	text = g_string_new(NULL);
	s->is_trusted = s->clients && !s->is_past &&
		s->version == clients_version(s);
	put_text(s, text, s->is_trusted);
	s->version = clients_version(s);
	s->is_changed = false;
	s->is_writing = true;
	file_writer_put(s->writer, text);
}

static void
state_on_timer(void *data)
{
	struct state *s = data;

	s->timer = 0;
	if (is_changed(s) || owes_trust(s))
		write_all(s);
}

static void
make_old(struct state *s, const struct state_part *part)
{
	for (size_t i = 0; i < s->params.n; i++)
		s->copies[i].is_old |= s->params.owners[i].part == part;
}

const char *
state_failure(const struct state *s)
{
	return s ? file_writer_failure(s->writer) : NULL;
}

void
state_touch(struct state *s, const struct state_part *part, int64_t delay)
{
	make_old(s, part);
	if (s->writer && (!part->version || clients_version(s) != s->version))
		state_wait(s, delay);
}

void
state_save(struct state *s, const struct state_part *part)
{
	bool is_other = false;

	if (!s)
		return;
	make_old(s, part);
	for (size_t i = 0; i < s->params.n; i++)
		if (s->params.owners[i].part == part)
			is_other |= renew(s, i);
	s->is_changed |= is_other;
	if (is_other && state_failure(s))	/* after a while */
		state_wait(s, 0);
	else if (is_other)
		write_all(s);
}

/* ----------------------------------------------------------------- reading */

static void
read_parts(void *data, char *text, size_t len, struct state_told *told)
{
	const struct state *s = data;

	state_read(s->params.owners, s->params.n, text, len,
		   transport_now(s->transport), told);
}

/* As state_file_load(). */
static bool
read_all(struct state *s)
{
	struct state_told told = { .foreign = g_string_new(NULL) };
	g_autoptr(GPtrArray) said = g_ptr_array_new_with_free_func(g_free);
	bool ok = state_file_load(s->path, s->params.is_read_only, read_parts, s,
				  &told, said);

	EACH_PTR(const char, line, said)
		log_say(s->params.log, LOG_WARNING, "memory", "%s", line);
	s->clients = told.clients && !told.n_bad && !told.foreign->len;
	g_string_free(s->foreign, TRUE);
	s->foreign = g_steal_pointer(&told.foreign);
	if (s->foreign->len && s->params.n == STATE_OWNERS_MAX)
		log_say(s->params.log, LOG_WARNING, "memory", "%s has lines "
			"that this version does not know: they are kept",
			s->path);
	s->version = clients_version(s);
	s->is_trusted = s->clients;
	s->is_changed = is_changed(s) || told.n_bad;
	state_told_clear(&told);
	return ok;
}

struct state *
state_open(const struct state_params *params, struct transport *t)
{
	struct state *s = g_new0(struct state, 1);
	struct file_writer_params file = {
		.subsystem = "memory", .mode = STATE_FILE_OWNER_ONLY,
		.how = G_FILE_SET_CONTENTS_DURABLE,
		.written = state_on_written, .data = s,
	};

	s->params = *params;
	s->transport = t;
	s->foreign = g_string_new(NULL);
	s->not_before = transport_now(t);
	if (!params->cache_dir)
		return s;
	s->path = state_file_path(params->cache_dir, STATE_FILE_STATE);
	file.path = s->path;
	file.is_unread = !read_all(s);
	if (params->is_read_only)
		return s;
	s->writer = file_writer_new(params->disk, params->log, &file);
	if (s->is_changed)
		state_wait(s, 0);
	return s;
}

bool
state_has_clients(const struct state *s)
{
	return s->clients;
}

void
state_know_clients(struct state *s)
{
	s->clients = true;
	s->is_past = false;
}

void
state_leave_clients(struct state *s)
{
	if (s->is_past)
		return;
	s->is_past = true;
	write_all(s);
}

void
state_take(struct state *s, char *text, size_t len, int64_t now)
{
	struct state_told told = { .foreign = s->foreign };
	g_autofree char *damage = NULL;

	g_string_truncate(s->foreign, 0);
	for (size_t i = 0; i < s->params.n; i++) {
		s->params.owners[i].part->clear(s->params.owners[i].owner);
		s->copies[i].is_old = true;
	}
	state_read(s->params.owners, s->params.n, text, len, now, &told);
	/* A takeover waits for no disk; the former master has the lines. */
	damage = state_told_text(&told, "the master's state");
	if (damage)
		log_say(s->params.log, LOG_WARNING, "memory", "%s", damage);
	s->clients = told.clients && !told.n_bad && !s->foreign->len;
	s->is_past = false;
	told.foreign = NULL;
	state_told_clear(&told);
	write_all(s);
}

void
state_close(struct state *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->params.n; i++)
		s->copies[i].is_old = true;
	if (is_changed(s) || has_clients(s)) {
		s->version = clients_version(s);
		write_all(s);
	}
	transport_timer_clear(s->transport, &s->timer);
	file_writer_free(s->writer);
	for (size_t i = 0; i < s->params.n; i++)
		if (s->copies[i].text)
			g_string_free(s->copies[i].text, TRUE);
	g_string_free(s->foreign, TRUE);
	g_free(s->path);
	g_free(s);
}
