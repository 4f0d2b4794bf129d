// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The words of tests/scripts/mkey_db.scn: M_Keys, which one opens which port,
 * and the memory of them as text.
 */
#include "tests/lib/plan_lab.h"
#include "tests/lib/request.h"
#include "tests/lib/unit.h"

static struct unit_word all_words[24];

#define KEY_A	UINT64_C(0x1111222233334444)

struct lab {
	struct mkey_db *k;
	struct snapshot *s;
};

static void
lab_open(struct lab *lab)
{
	lab->k = mkey_db_new(KEY_A, MKEY_DB_ONE);
	lab->s = generate_fabric("single(4)", NULL, NULL);
}

static void
lab_close(struct lab *lab)
{
	mkey_db_free(lab->k);
	snapshot_unref(lab->s);
}

FIXTURE(lab)

static uint32_t
port_of(const struct lab *lab, const char *name)
{
	uint32_t port = fabric_port(lab->s, name);

	assert_int_not_equal(port, SNAPSHOT_NONE);
	return port;
}

static uint64_t
guid_of(const struct lab *lab, const char *name)
{
	return g_ascii_isdigit(*name) ? word_number(name) :
		lab->s->ports[port_of(lab, name)].guid;
}

static void
use(struct lab *lab, struct mkey_db *k)
{
	mkey_db_free(lab->k);
	lab->k = k;
}

/* one|per-port KEY */
WORDS("keys", do_keys, struct lab *lab)
{
	use(lab, mkey_db_new(word_number(words[1]), strcmp(words[0], "one") ?
			     MKEY_DB_PER_PORT : MKEY_DB_ONE));
}

WORDS("none", do_none, struct lab *lab)
{
	use(lab, NULL);
}

/* GUID KEY .. */
WORDS("tries", do_tries, struct lab *lab)
{
	uint64_t tries[MKEY_DB_TRIES];
	unsigned n = mkey_db_tries(lab->k, guid_of(lab, words[0]), 0, tries);

	assert_int_equal(n, g_strv_length(words + 1));
	for (unsigned i = 0; i < n; i++)
		assert_range(words[1 + i], tries[i]);
}

/* prove, intend GUID KEY */
WORDS("prove intend", do_prove, struct lab *lab)
{
	(*words[-1] == 'p' ? mkey_db_prove : mkey_db_intend)
		(lab->k, guid_of(lab, words[0]), word_number(words[1]));
}

/* key, wanted, not-wanted GUID KEY */
WORDS("key wanted not-wanted", do_key, struct lab *lab)
{
	uint64_t guid = guid_of(lab, words[0]);
	uint64_t key = *words[-1] == 'k' ? mkey_db_of(lab->k, guid) :
		mkey_db_wanted(lab->k, guid);

	assert_int_equal(key != word_number(words[1]), *words[-1] == 'n');
}

/* at PORT KEY */
WORDS("at", do_at, struct lab *lab)
{
	assert_true(mkey_db_at(lab->k, lab->s, port_of(lab, words[0])) ==
		    word_number(words[1]));
}

/* LID KEY; no-key-of-lid LID */
WORDS("key-of-lid no-key-of-lid", do_key_of_lid, struct lab *lab)
{
	uint64_t key;
	bool is = mkey_db_of_lid(lab->k, word_number(words[0]), &key);

	assert_int_equal(is, words[1] != NULL);
	assert_true(!is || key == word_number(words[1]));
}

/* GUID NUM GUID NUM */
WORDS("cable", do_cable, struct lab *lab)
{
	const struct mkey_db_cable c = {
		{ guid_of(lab, words[0]), guid_of(lab, words[2]) },
		{ word_number(words[1]), word_number(words[3]) },
	};

	mkey_db_add_cable(lab->k, &c);
}

/* GUID NUM|PORT GUID */
WORDS("behind", do_behind, struct lab *lab)
{
	uint8_t num = g_ascii_isdigit(*words[1]) ? word_number(words[1]) :
		lab->s->ports[port_of(lab, words[1])].num;

	assert_true(mkey_db_behind(lab->k, guid_of(lab, words[0]), num) ==
		    guid_of(lab, words[2]));
}

/* PORT COMPONENT=VALUE ..: of PortInfo */
WORDS("port", do_port, struct lab *lab)
{
	struct port_info *info = &lab->s->ports[port_of(lab, words[0])].info;

	for (words++; *words; words++)
		request_poke(SA_ATTR_PORT_INFO, info, *words);
}

WORDS("learn", do_learn, struct lab *lab)
{
	mkey_db_learn(lab->k, lab->s);
}

WORDS("lock unlock-all", do_lock, struct lab *lab)
{
	uint64_t guid = words[0] ? guid_of(lab, words[0]) : 0;

	if (guid)
		g_hash_table_add(lab->k->locked, g_memdup2(&guid, sizeof(guid)));
	else
		g_hash_table_remove_all(lab->k->locked);
}

WORDS("is-locked", do_is_locked, struct lab *lab)
{
	assert_range(words[1], mkey_db_is_locked(lab->k,
						 guid_of(lab, words[0])));
}

/* new-version, same-version LINE: what it does to the count of changes */
WORDS("new-version same-version", do_versions, struct lab *lab)
{
	uint64_t before = lab->k->version;

	unit_play(all_words, lab, text);
	assert_int_equal(lab->k->version > before, *words[-1] == 'n');
}

SCRIPT(mkey_db, "mkey_db.scn", all_words, lab_new, lab_free)
