// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * libminism-lab-umad.so: preloaded, it makes the devices of a lab look like
 * those of the kernel to a program that uses libibumad (or opens them itself).
 *
 * Paths below /sys/class/infiniband* and /dev/infiniband go to the folder that
 * the server keeps for the node. A umadN or issmN that is opened becomes a
 * connection to the server: the descriptor is a real one, so that poll, epoll,
 * fcntl, dup, fork, close and exit need no help. read, write and ioctl of such a
 * descriptor are translated (protocol.h); the kernel's rules are the server's. A
 * umad is known by its socket and not by the descriptor's number, which may
 * become another file's, or be one of several, by calls that are not seen here.
 *
 * Errors that the kernel returns from write(2), and the server could report
 * only later, are found here: an agent that is not registered, a MAD that is
 * too long (rules.h), and the TID of a request that is still pending. For this
 * the TIDs of requests with a time-out are kept until their answer or time-out
 * is read. Answers of several MADs, which are few, wait for the server's word.
 *
 * One lock is held for the time of a system call that does not wait for
 * anything but the server, which does not wait for programs. A thread that waits
 * for a MAD does so without it.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/ib_user_mad.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "lab/protocol.h"
#include "lab/rules.h"

#define AGENTS_MAX	32
#define OLD_HDR		56
#define NEW_HDR		64
#define OFF_TID		12	/* its lower half */
#define INFINIBAND_MAJOR	231

struct umad_file {
	struct umad_file *next;
	struct stat socket;
	bool is_open;		/* while this is looked up */
	uint32_t id;
	unsigned hdr;		/* size of ib_user_mad's header */
	bool used;		/* an agent was registered */
	uint8_t agents[AGENTS_MAX];	/* enum rules_agent */
	bool has_cell;
	uint8_t cell[LAB_CELL];	/* read, but its reader had no room */
	/* TID, class and agent of requests that wait: not many, any order */
	uint64_t *waiting;
	unsigned n_waiting, n_slots;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct umad_file *files;		/* with the lock */
static char sys_path[108];

/* libc's function, looked up at its first use. */
#define REAL(name) ({ \
		static __typeof__(&name) real; \
		if (!real) \
			real = (__typeof__(real))dlsym(RTLD_NEXT, #name); \
		real; \
	})

static int
umad_fail(int error)
{
	errno = error;
	return -1;
}

/* -------------------------------------------------------------- the server */

/* Sends (POLLOUT) or receives (POLLIN) all bytes, in spite of signals and
 * O_NONBLOCK. */
static bool
move_all(int fd, short event, void *bytes, size_t len)
{
	struct pollfd ready = { .fd = fd, .events = event };
	char *at = bytes;

	while (len) {
		ssize_t n = event == POLLOUT ?
			send(fd, at, len, MSG_NOSIGNAL) : recv(fd, at, len, 0);

		if (n == 0)
			return false;
		if (n < 0 && errno == EAGAIN)
			poll(&ready, 1, -1);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (n > 0) {
			at += n;
			len -= n;
		}
	}
	return true;
}

/* One frame out, one LAB_RESULT in, by a connection of its own; 0, or an errno.
 * more: room for what comes behind the result, of which there is at most
 * `room`. keep: gets the connection unless there is an error; NULL: it is
 * closed. */
static int
umad_ask(enum lab_type type, const void *data, size_t len, uint32_t *id,
	 void *more, size_t room, int *keep)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct lab_frame frame = { .length = len, .type = type };
	struct lab_result r = { .error = ENXIO };
	const char *path = getenv(LAB_ENV_SOCKET);
	int fd;

	if (!path || strlen(path) >= sizeof(addr.sun_path))
		return ENXIO;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return ENXIO;
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    !move_all(fd, POLLOUT, &frame, sizeof(frame)) ||
	    !move_all(fd, POLLOUT, (void *)data, len) ||
	    !move_all(fd, POLLIN, &frame, sizeof(frame)) ||
	    !move_all(fd, POLLIN, &r, sizeof(r)) ||
	    frame.length - sizeof(r) > room ||
	    !move_all(fd, POLLIN, more, frame.length - sizeof(r)))
		r.error = ENXIO;
	*id = r.id;
	if (keep && !r.error)
		*keep = fd;
	else
		close(fd);
	return r.error;
}

static void
copy_node(char *to, size_t size)
{
	const char *node = getenv(LAB_ENV_NODE);

	snprintf(to, size, "%s", node ? node : "");
}

static void
enter(void)
{
	struct lab_attach a = { .port = 0 };
	uint32_t id;

	copy_node(a.node, sizeof(a.node));
	if (umad_ask(LAB_ENTER, &a, sizeof(a), &id, sys_path, sizeof(sys_path),
		     NULL))
		strcpy(sys_path, "/dev/null");
}

/* -------------------------------------------------------------------- paths */

/* The path to open; room: at least PATH_MAX. Without a lab there is nothing
 * below it, rather than the host's devices. */
static const char *
redirect(const char *path, char *room)
{
	static const struct { const char *prefix; size_t cut; } maps[] = {
		{ "/sys/class/infiniband", 4 },
		{ "/dev/infiniband", 0 },
	};
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	for (size_t i = 0; path && i < 2; i++) {
		if (strncmp(path, maps[i].prefix, strlen(maps[i].prefix)))
			continue;
		/* At the first use only: most programs have none. */
		pthread_once(&once, enter);
		snprintf(room, PATH_MAX, "%s%s%s", sys_path,
			 maps[i].cut ? "" : "/dev",
			 path + (maps[i].cut ? maps[i].cut :
				 strlen(maps[i].prefix)));
		return room;
	}
	return path;
}

/* ---------------------------------------------------------- files, the lock */

static void
lock_files(void)
{
	pthread_mutex_lock(&lock);
}

static void
unlock_files(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child may use the files as well. */
__attribute__((constructor)) static void
lock_at_fork(void)
{
	pthread_atfork(lock_files, unlock_files, unlock_files);
}

static struct umad_file *
tracked_file(const struct stat *st)
{
	struct umad_file *f = files;

	while (f && (f->socket.st_ino != st->st_ino ||
		     f->socket.st_dev != st->st_dev))
		f = f->next;
	return f;
}

static void
umad_leave(int state)
{
	unlock_files();
	pthread_setcancelstate(state, NULL);
}

/* The file with the lock, and the thread is not cancelled until umad_leave();
 * or NULL, without: fd is no umad. */
static struct umad_file *
umad_enter(int fd, int *state)
{
	struct umad_file *f;
	struct stat st;

	if (!__atomic_load_n(&files, __ATOMIC_RELAXED) || fstat(fd, &st) ||
	    !S_ISSOCK(st.st_mode))
		return NULL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, state);
	lock_files();
	f = tracked_file(&st);
	if (!f)
		umad_leave(*state);
	return f;
}

/* Those that have no descriptor any more. */
static void
free_closed(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct umad_file *f, **at = &files;
	struct dirent *e;
	struct stat st;

	if (!dir)
		return;
	for (f = files; f; f = f->next)
		f->is_open = false;
	while ((e = readdir(dir))) {
		f = fstat(atoi(e->d_name), &st) ? NULL : tracked_file(&st);
		if (f)
			f->is_open = true;
	}
	closedir(dir);
	while ((f = *at)) {
		if (f->is_open) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		free(f->waiting);
		free(f);
	}
}

static bool
track_file(int fd, uint32_t id)
{
	struct umad_file *f = calloc(1, sizeof(*f));
	int state;

	if (!f || fstat(fd, &f->socket)) {
		free(f);
		return false;
	}
	f->id = id;
	f->hdr = OLD_HDR;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	lock_files();
	free_closed();
	f->next = files;
	files = f;
	umad_leave(state);
	return true;
}

/* ------------------------------------------------------- requests that wait */

static uint64_t
umad_key_of(const uint8_t *mad, uint32_t agent)
{
	uint32_t tid;

	memcpy(&tid, mad + OFF_TID, sizeof(tid));
	return (uint64_t)mad[1] << 40 | (uint64_t)agent << 32 | tid;
}

static unsigned
find_waiting(const struct umad_file *f, uint64_t key)
{
	unsigned i = 0;

	while (i < f->n_waiting && f->waiting[i] != key)
		i++;
	return i;
}

static bool
add_waiting(struct umad_file *f, uint64_t key)
{
	unsigned more = 2 * f->n_slots + 64;
	uint64_t *slots = f->waiting;

	if (f->n_waiting == f->n_slots) {
		slots = realloc(slots, more * sizeof(*slots));
		if (!slots)
			return false;
		f->n_slots = more;
	}
	f->waiting = slots;
	slots[f->n_waiting++] = key;
	return true;
}

/* ------------------------------------------------------------ read and write */

/* The next cell is in f->cell. may_stay: it is not taken from the socket, for
 * poll(2) to see it, unless a part of it is there only. */
static int
look_at_cell(int fd, struct umad_file *f, bool may_stay)
{
	ssize_t n, taken;

	if (f->has_cell)
		return 0;
	n = recv(fd, f->cell, LAB_CELL,
		 MSG_DONTWAIT | (may_stay ? MSG_PEEK : 0));
	if (n < 0 && errno != ECONNRESET)
		return errno;
	if (n == LAB_CELL && may_stay)
		return 0;
	taken = may_stay ? 0 : n;
	f->has_cell = n > 0 && move_all(fd, POLLIN, f->cell + taken,
					LAB_CELL - taken);
	return f->has_cell ? 0 : EIO;
}

static ssize_t
take_mad(int fd, struct umad_file *f, uint8_t *buf, size_t count)
{
	struct ib_user_mad_hdr hdr;
	size_t len, first;
	unsigned i;
	int error;

	error = count < f->hdr ? EINVAL :
		look_at_cell(fd, f, count < f->hdr + MAD_SIZE);
	if (error)
		return umad_fail(error);
	memcpy(&hdr, f->cell, sizeof(hdr));
	len = hdr.length - NEW_HDR;
	hdr.length = f->hdr + len;
	first = len < MAD_SIZE ? len : MAD_SIZE;
	if (count < f->hdr + first)
		return umad_fail(EINVAL);
	memcpy(buf, &hdr, f->hdr);
	memcpy(buf + f->hdr, f->cell + NEW_HDR, first);
	if (count < f->hdr + len)
		return umad_fail(ENOSPC);
	i = find_waiting(f, umad_key_of(f->cell + NEW_HDR, hdr.id));
	if (i < f->n_waiting)
		f->waiting[i] = f->waiting[--f->n_waiting];
	if ((!f->has_cell && !move_all(fd, POLLIN, f->cell, LAB_CELL)) ||
	    !move_all(fd, POLLIN, buf + f->hdr + first, len - first))
		return umad_fail(EIO);
	f->has_cell = false;
	return f->hdr + len;
}

/* 0, or the errno by which the kernel refuses it; a request is noted. asks: the
 * server has to judge, too, since only that knows when a message is sent. */
static int
judge_write(struct umad_file *f, const uint8_t *buf, size_t count, bool *asks)
{
	struct ib_user_mad_hdr hdr;
	const uint8_t *mad = buf + f->hdr;
	enum rules_agent agent;
	uint64_t key;
	int error;

	if (count < f->hdr)
		return EINVAL;
	memcpy(&hdr, buf, f->hdr);
	if (hdr.id >= AGENTS_MAX)
		return EINVAL;
	agent = f->agents[hdr.id];
	error = rules_refuse(agent, mad, count - f->hdr);
	*asks = !error && rules_is_response(mad) && rules_by_kernel(agent, mad);
	if (error || rules_is_response(mad))
		return error;
	key = umad_key_of(mad, hdr.id);
	if (!rules_by_program(agent, mad) &&
	    find_waiting(f, key) < f->n_waiting)
		return EINVAL;
	return hdr.timeout_ms && !add_waiting(f, key) ? ENOMEM : 0;
}

static ssize_t
write_mad(int fd, struct umad_file *f, const uint8_t *buf, size_t count)
{
	size_t head = sizeof(struct lab_frame) + NEW_HDR, len = count - f->hdr;
	struct lab_frame frame = { .length = NEW_HDR + len, .type = LAB_WRITE };
	bool asks = false;
	int error = judge_write(f, buf, count, &asks);
	uint8_t *all = error ? NULL : calloc(1, head + len);
	uint8_t *with_id;
	uint32_t id;

	if (!all)
		return umad_fail(error ? error : ENOMEM);
	/* In one piece, for speed. */
	memcpy(all, &frame, sizeof(frame));
	memcpy(all + sizeof(frame), buf, f->hdr);
	memcpy(all + head, buf + f->hdr, len);
	if (asks) {
		with_id = all + sizeof(frame) - sizeof(f->id);
		memcpy(with_id, &f->id, sizeof(f->id));
		error = umad_ask(LAB_ANSWER, with_id,
				 sizeof(f->id) + NEW_HDR + len, &id, NULL, 0,
				 NULL);
	} else if (!move_all(fd, POLLOUT, all, head + len)) {
		error = EIO;
	}
	free(all);
	return error ? umad_fail(error) : (ssize_t)count;
}

/* ------------------------------------------------------ in place of libc's */

#define PUBLIC	__attribute__((visibility("default")))

/* What a program that was built with _FORTIFY_SOURCE calls. */
PUBLIC int __open_2(const char *path, int flags);
PUBLIC int __open64_2(const char *path, int flags)
	__attribute__((alias("__open_2")));
PUBLIC int __openat_2(int dir, const char *path, int flags);
PUBLIC int __openat64_2(int dir, const char *path, int flags)
	__attribute__((alias("__openat_2")));
PUBLIC ssize_t __read_chk(int fd, void *buf, size_t count, size_t room);

static int
open_any(int dir, const char *path, int flags, mode_t mode)
{
	static const char prefix[] = "/dev/infiniband/";
	size_t len = strlen(prefix);
	struct lab_open o = { .name = "" };
	char room[PATH_MAX];
	int fd = -1, error;
	uint32_t id = 0;
	struct stat st;

	if (!path || strncmp(path, prefix, len) ||
	    (strncmp(path + len, "umad", 4) && strncmp(path + len, "issm", 4))) {
		path = redirect(path, room);
		/* such as ../dev/infiniband/umad0, or a link, leads to a device
		 * of the host: a program in a lab must not send there */
		if (path && fstatat(dir, path, &st, 0) == 0 &&
		    S_ISCHR(st.st_mode) &&
		    major(st.st_rdev) == INFINIBAND_MAJOR)
			return umad_fail(EPERM);
		return REAL(openat)(dir, path, flags, mode);
	}
	copy_node(o.node, sizeof(o.node));
	snprintf(o.name, sizeof(o.name), "%s", path + len);
	error = umad_ask(LAB_OPEN, &o, sizeof(o), &id, NULL, 0, &fd);
	if (!error && o.name[0] == 'u' && !track_file(fd, id)) {
		close(fd);
		error = ENOMEM;
	}
	if (error)
		return umad_fail(error);
	if (flags & O_NONBLOCK)
		fcntl(fd, F_SETFL, O_NONBLOCK);
	if (!(flags & O_CLOEXEC))
		fcntl(fd, F_SETFD, 0);
	return fd;
}

#define OPEN(name, dir, ...) \
	PUBLIC int name(__VA_ARGS__, int flags, ...) \
	{ \
		va_list args; \
		mode_t mode; \
		\
		va_start(args, flags); \
		mode = flags & (O_CREAT | __O_TMPFILE) ? \
			va_arg(args, mode_t) : 0; \
		va_end(args); \
		return open_any(dir, path, flags, mode); \
	}

OPEN(open, AT_FDCWD, const char *path)
OPEN(open64, AT_FDCWD, const char *path)
OPEN(openat, dir, int dir, const char *path)
OPEN(openat64, dir, int dir, const char *path)

PUBLIC int
__open_2(const char *path, int flags)
{
	return open_any(AT_FDCWD, path, flags, 0);
}

PUBLIC int
__openat_2(int dir, const char *path, int flags)
{
	return open_any(dir, path, flags, 0);
}

PUBLIC ssize_t
read(int fd, void *buf, size_t count)
{
	struct umad_file *f;
	uint8_t byte;
	ssize_t n;
	int state;

	do {
		f = umad_enter(fd, &state);
		if (!f)
			return REAL(read)(fd, buf, count);
		n = take_mad(fd, f, buf, count);
		umad_leave(state);
		if (n >= 0 || errno != EAGAIN)
			return n;
		/* As long as there is nothing to read; fails if O_NONBLOCK. */
		n = recv(fd, &byte, 1, MSG_PEEK);
	} while (n >= 0 || errno == ECONNRESET);
	return -1;
}

PUBLIC ssize_t
__read_chk(int fd, void *buf, size_t count, size_t room)
{
	if (count > room)
		abort();
	return read(fd, buf, count);
}

PUBLIC ssize_t
write(int fd, const void *buf, size_t count)
{
	struct umad_file *f;
	ssize_t n;
	int state;

	f = umad_enter(fd, &state);
	if (!f)
		return REAL(write)(fd, buf, count);
	n = write_mad(fd, f, buf, count);
	umad_leave(state);
	return n;
}

/* An ioctl has succeeded. */
static void
note_ioctl(struct umad_file *f, unsigned long code, const void *arg)
{
	const struct ib_user_mad_reg_req *old = arg;
	const struct ib_user_mad_reg_req2 *new = arg;
	uint32_t id;

	memcpy(&id, arg, sizeof(id));
	switch (code) {
	case IB_USER_MAD_REGISTER_AGENT:
		f->agents[id] = rules_agent(old->rmpp_version, 0);
		f->used = true;
		break;
	case IB_USER_MAD_REGISTER_AGENT2:
		f->agents[id] = rules_agent(new->rmpp_version, new->flags);
		if (!f->used)
			f->hdr = NEW_HDR;
		f->used = true;
		break;
	case IB_USER_MAD_UNREGISTER_AGENT:
		f->agents[id] = RULES_AGENT_ABSENT;
		for (unsigned i = f->n_waiting; i-- > 0;)
			if ((f->waiting[i] >> 32 & 0xff) == id)
				f->waiting[i] = f->waiting[--f->n_waiting];
		break;
	case IB_USER_MAD_ENABLE_PKEY:
		f->hdr = NEW_HDR;
		break;
	}
}

PUBLIC int
ioctl(int fd, unsigned long code, ...)
{
	struct lab_ioctl io = { .code = (uint32_t)code };
	size_t size = code == IB_USER_MAD_ENABLE_PKEY ? 0 :
		code == IB_USER_MAD_UNREGISTER_AGENT ? sizeof(uint32_t) :
		_IOC_SIZE(code);
	struct umad_file *f;
	int error, state;
	va_list args;
	uint32_t id;
	void *arg;

	va_start(args, code);
	arg = va_arg(args, void *);
	va_end(args);
	f = umad_enter(fd, &state);
	if (!f)
		return REAL(ioctl)(fd, code, arg);
	io.id = f->id;
	if (size && size <= LAB_IOCTL_MAX)
		memcpy(io.arg, arg, size);
	error = umad_ask(LAB_IOCTL, &io, sizeof(io), &id, io.arg,
			 sizeof(io.arg), NULL);
	if (size && size <= LAB_IOCTL_MAX)
		memcpy(arg, io.arg, size);
	if (!error)
		note_ioctl(f, code, io.arg);
	umad_leave(state);
	return error ? umad_fail(error) : 0;
}

/* Calls of which only the path changes. */
#define ELSEWHERE(type, name, params, ...) \
	PUBLIC type name params; \
	PUBLIC type name params \
	{ \
		char room[PATH_MAX]; \
		\
		return REAL(name)(__VA_ARGS__); \
	}
#define THERE	redirect(path, room)

ELSEWHERE(DIR *, opendir, (const char *path), THERE)
ELSEWHERE(int, chdir, (const char *path), THERE)
ELSEWHERE(int, access, (const char *path, int mode), THERE, mode)
ELSEWHERE(int, eaccess, (const char *path, int mode), THERE, mode)
ELSEWHERE(int, euidaccess, (const char *path, int mode), THERE, mode)
ELSEWHERE(int, faccessat, (int dir, const char *path, int mode, int flags),
	  dir, THERE, mode, flags)
ELSEWHERE(int, statx, (int dir, const char *path, int flags, unsigned mask,
	  struct statx *st), dir, THERE, flags, mask, st)
ELSEWHERE(char *, realpath, (const char *path, char *to), THERE, to)
ELSEWHERE(char *, __realpath_chk, (const char *path, char *to, size_t size),
	  THERE, to, size)
ELSEWHERE(char *, canonicalize_file_name, (const char *path), THERE)
ELSEWHERE(ssize_t, readlink, (const char *path, char *buf, size_t size),
	  THERE, buf, size)
ELSEWHERE(ssize_t, __readlink_chk, (const char *path, char *buf, size_t size,
	  size_t real_size), THERE, buf, size, real_size)
ELSEWHERE(ssize_t, readlinkat, (int dir, const char *path, char *buf,
	  size_t size), dir, THERE, buf, size)
ELSEWHERE(ssize_t, __readlinkat_chk, (int dir, const char *path, char *buf,
	  size_t size, size_t real_size), dir, THERE, buf, size, real_size)
ELSEWHERE(int, inotify_add_watch, (int fd, const char *path, uint32_t mask),
	  fd, THERE, mask)

/* Those that there are twice, for large files; and what programs call for stat
 * that were built with a glibc before 2.33. */
#define TWINS(x) \
ELSEWHERE(FILE *, fopen##x, (const char *path, const char *mode), \
	  THERE, mode) \
ELSEWHERE(FILE *, freopen##x, (const char *path, const char *mode, FILE *f), \
	  THERE, mode, f) \
ELSEWHERE(int, scandir##x, (const char *path, struct dirent##x ***list, \
	  int (*filter)(const struct dirent##x *), \
	  int (*compare)(const struct dirent##x **, \
			 const struct dirent##x **)), \
	  THERE, list, filter, compare) \
ELSEWHERE(int, stat##x, (const char *path, struct stat##x *st), THERE, st) \
ELSEWHERE(int, lstat##x, (const char *path, struct stat##x *st), THERE, st) \
ELSEWHERE(int, fstatat##x, (int dir, const char *path, struct stat##x *st, \
	  int flags), dir, THERE, st, flags) \
ELSEWHERE(int, __xstat##x, (int version, const char *path, \
	  struct stat##x *st), version, THERE, st) \
ELSEWHERE(int, __lxstat##x, (int version, const char *path, \
	  struct stat##x *st), version, THERE, st) \
ELSEWHERE(int, __fxstatat##x, (int version, int dir, const char *path, \
	  struct stat##x *st, int flags), version, dir, THERE, st, flags)

TWINS()
TWINS(64)
