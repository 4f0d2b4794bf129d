// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The memory of M_Keys.
 *
 * guid2mkey says which key a port was given, neighbors who was behind which
 * port. The first is useless without the second: a port at protection level 2
 * answers nobody who does not have its key, so whose key it takes must be
 * known before the port has said who it is.
 *
 * What is going to be sent is written first, and flushed (g_file_set_contents
 * with CONSISTENT and DURABLE: a temporary file, synced, renamed); else a crash
 * at the wrong moment could leave a port with a key that nobody knows.
 *
 * The files are OpenSM's, so each of the two finds what the other left. Who
 * may read them may manage the fabric: they are for their owner alone, also
 * while they are set aside.
 */
#include "sm/persist_keys.h"

#include <glib/gstdio.h>

#include "sm/plan/mkey_file.h"
#include "topology/state_file.h"

#define FILE_MODE	0600

typedef bool (*read_fn)(struct mkey_db *k, const char *text, const char *name,
			GError **error);
typedef void (*write_fn)(const struct mkey_db *k, GString *out);

struct file {
	char *path;
	GString *held;		/* what is on the disk */
	write_fn write;
};

struct persist_keys {
	struct mkey_db *ring;
	struct log *log;
	struct file keys, cables;	/* path NULL: none */
	uint64_t version;	/* of the ring, when it was written */
};

/* ----------------------------------------------------------------- reading */

/* A file of another's making may be open to all: that is put right at once,
 * before the next write, which may be long in coming. */
static void
close_to_others(struct persist_keys *ks, const char *path)
{
	GStatBuf st;

	if (g_lstat(path, &st) || !S_ISREG(st.st_mode) ||
	    !(st.st_mode & 077))
		return;
	log_say(ks->log, LOG_WARNING, "keys", "%s was open to others than its "
		"owner (mode %03o)%s", path, st.st_mode & 0777,
		g_chmod(path, FILE_MODE) ? ", and that cannot be changed" :
		"; no longer");
}

/* A file and the ring that it is read into. */
struct reading {
	struct mkey_db *ring;
	struct file *file;
	read_fn read;
};

static bool
parse(const char *text, const char *path, void *data, GError **error)
{
	struct reading *r = data;

	if (!r->read(r->ring, text, path, error))
		return false;
	g_string_assign(r->file->held, text);
	return true;
}

static void
load(struct persist_keys *ks, struct file *f, read_fn read)
{
	struct reading r = { .ring = ks->ring, .file = f, .read = read };
	g_autofree char *told = NULL;

	close_to_others(ks, f->path);
	state_file_load(f->path, parse, &r, &told);
	if (told)
		log_say(ks->log, LOG_WARNING, "keys", "%s", told);
}

static void
file_open(struct file *f, const char *dir, const char *name, write_fn write)
{
	f->path = g_build_filename(dir, name, NULL);
	f->held = g_string_new(NULL);
	f->write = write;
}

static void
file_close(struct file *f)
{
	g_free(f->path);
	if (f->held)
		g_string_free(f->held, TRUE);
}

struct persist_keys *
persist_keys_open(const char *cache_dir, uint64_t m_key, enum mkey_db_mode mode,
	      struct log *log)
{
	struct persist_keys *ks = g_new0(struct persist_keys, 1);

	ks->log = log;
	ks->ring = mkey_db_new(m_key, mode);
	if (cache_dir) {
		file_open(&ks->keys, cache_dir, "guid2mkey",
			  mkey_file_write_keys);
		file_open(&ks->cables, cache_dir, "neighbors",
			  mkey_file_write_cables);
		load(ks, &ks->keys, mkey_file_read_keys);
		load(ks, &ks->cables, mkey_file_read_cables);
	}
	ks->version = mkey_db_version(ks->ring);
	return ks;
}

void
persist_keys_close(struct persist_keys *ks)
{
	if (!ks)
		return;
	mkey_db_free(ks->ring);
	file_close(&ks->keys);
	file_close(&ks->cables);
	g_free(ks);
}

struct mkey_db *
persist_keys_ring(const struct persist_keys *ks)
{
	return ks->ring;
}

void
persist_keys_learn(struct persist_keys *ks, const struct snapshot *s)
{
	if (ks)
		mkey_db_learn(ks->ring, s);
}

bool
persist_keys_lock(struct persist_keys *ks, const GArray *guids)
{
	bool news = false;

	for (guint i = 0; ks && i < guids->len; i++) {
		uint64_t guid = g_array_index(guids, uint64_t, i);

		news |= !mkey_db_is_locked(ks->ring, guid);
		mkey_db_lock(ks->ring, guid);
	}
	return news;
}

/* ----------------------------------------------------------------- writing */

static bool
file_save(struct persist_keys *ks, struct file *f)
{
	GString *text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	f->write(ks->ring, text);
	if (g_string_equal(text, f->held)) {
		g_string_free(text, TRUE);
		return true;
	}
	if (!state_file_write(f->path, text, G_FILE_SET_CONTENTS_CONSISTENT |
			      G_FILE_SET_CONTENTS_DURABLE, FILE_MODE,
			      &error)) {
		log_limited(ks->log, LOG_WARNING, "keys", "not remembered",
			    "%s", error->message);
		g_string_free(text, TRUE);
		return false;
	}
	g_string_free(f->held, TRUE);
	f->held = text;
	return true;
}

bool
persist_keys_save(struct persist_keys *ks)
{
	uint64_t version;
	bool well;

	if (!ks || !ks->keys.path)
		return true;
	version = mkey_db_version(ks->ring);
	if (version == ks->version)
		return true;
	well = file_save(ks, &ks->keys);
	well = file_save(ks, &ks->cables) && well;
	if (well)
		ks->version = version;
	return well;
}
