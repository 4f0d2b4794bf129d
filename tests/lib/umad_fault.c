// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A library to preload before libumad2sim: it makes umad and issm devices fail
 * as the kernel's do (drivers/infiniband/core/user_mad.c).
 *
 * The file that UMAD_FAULT names holds words. Another file in its place counts
 * from the next call on:
 *	gone		read, write: EIO; poll: POLLERR; the device and its
 *			sysfs folder are not there
 *	gone-after=N	gone once N MADs were read
 *	gone-old	a kernel that does not tell: write gives EINVAL, read
 *			nothing
 *	read=ERRNO	reading fails, and the file .reads gets a line each time,
 *			with a time in us
 *	late=US		a wait for MADs takes that much longer
 *	swallow		a write succeeds, and nothing ever comes back
 *	umad=ERRNO	opening a umad device fails; ERRNO in decimal
 *	issm=ERRNO	opening an issm device fails
 *	times=N		reading, or opening an issm device, fails so often
 *	return-answers	an answer is given back as one that was not acknowledged
 *	refuse-answers	writing an answer gives EINVAL, as one under way does
 *	no-module	there is no /sys/class/infiniband_mad/abi_version
 *	fsync		a disk that stalls until there are other words, also when
 *			changes of partitions are read; the file .stalls gets a
 *			line
 *	work		a computation that is shared among threads does so
 *
 * UMAD_SYS names a folder that takes the place of /sys/class.
 *
 * What is opened and closed of these devices goes to the file of that name
 * with .log at its end, a line each: "open issm"; and to .agents the classes
 * that are registered, with their methods 0 to 31: "3 0x340006".
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FDS		4096
#define UMAD_HEADER	64
#define MAD_HEADER	24
#define METHOD		(UMAD_HEADER + 3)
#define STATUS		4	/* in a umad header, host order */

/* The function of that name that we stand before. */
#define NEXT(fn) ({ \
	static __typeof__(&fn) next; \
	if (!next) \
		*(void **)&next = dlsym(RTLD_NEXT, #fn); \
	next; \
})

static const char *kind_of[FDS];	/* "umad", "issm", NULL: another */
/* Of a umad, for dlsym(): the last poll's, the MADs read, what failed of it, how
 * often it was polled for 1 ms, late, and the last header that was written. */
int umad_fault_timeout;
unsigned long umad_fault_reads, umad_fault_failures, umad_fault_waits;
unsigned char umad_fault_header[UMAD_HEADER];
static unsigned char returned[UMAD_HEADER + MAD_HEADER];
static bool is_returned;	/* it waits to be read */

static _Thread_local char words[256];
static _Thread_local long times;	/* negative: without end */

/* Reads the file if another one has taken its place; not by open() and read(),
 * which are ours here. Once a call, for a test of speed runs with it, too. */
static void
refresh(void)
{
	static _Thread_local struct stat last;
	const char *path = getenv("UMAD_FAULT"), *at;
	struct stat now = { 0 };
	long n, fd;

	if (!path || stat(path, &now) < 0)
		return;
	if (now.st_ino == last.st_ino &&
	    now.st_mtim.tv_sec == last.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == last.st_mtim.tv_nsec)
		return;
	last = now;
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? syscall(SYS_read, fd, words, sizeof(words) - 1) : 0;
	if (fd >= 0)
		syscall(SYS_close, fd);
	words[n > 0 ? n : 0] = '\0';
	at = strstr(words, "times=");
	times = at ? strtol(at + strlen("times="), NULL, 10) : -1;
}

static bool
has(const char *word)
{
	return strstr(words, word) != NULL;
}

/* -1: there is no such word */
static long
value(const char *word)
{
	const char *at = strstr(words, word);

	return at ? strtol(at + strlen(word), NULL, 10) : -1;
}

/* The error that fails this time, 0: none. */
static int
next_error(const char *word)
{
	long error = value(word);

	if (error <= 0 || !times)
		return 0;
	times -= times > 0;
	return (int)error;
}

static bool
is_gone(void)
{
	long after = value("gone-after=");

	return after >= 0 ? umad_fault_reads >= (unsigned long)after :
		has("gone") && !has("gone-old");
}

/* The shim's thread takes an answer that comes after an agent or its file has
 * gone to a queue that is NULL. A device that was taken away under requests
 * cannot be drained, so the shim keeps it until the process ends. */
static bool
is_kept(void)
{
	return value("gone-after=") >= 0;
}

static bool
of_umad(int fd)
{
	return fd >= 0 && fd < FDS && kind_of[fd] &&
		strcmp(kind_of[fd], "umad") == 0;
}

static int
fail(int error)
{
	errno = error;
	return -1;
}

static void
note(const char *suffix, const char *what, const char *kind)
{
	const char *path = getenv("UMAD_FAULT");
	char name[4096], line[64];
	long fd, n;

	snprintf(name, sizeof(name), "%s%s", path ? path : "", suffix);
	snprintf(line, sizeof(line), "%s %s\n", what, kind);
	fd = path ? syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT |
			    O_APPEND | O_CLOEXEC, 0644) : -1;
	n = fd >= 0 ? syscall(SYS_write, fd, line, strlen(line)) : 0;
	if (fd >= 0 && n >= 0)
		syscall(SYS_close, fd);
}

static int
open_error(const char *path)
{
	refresh();
	if (strstr(path, "/infiniband/umad"))
		return has("gone") && (is_gone() || has("gone-old")) ? ENXIO :
			value("umad=") > 0 ? (int)value("umad=") : 0;
	if (strstr(path, "/infiniband/issm"))
		return next_error("issm=");
	if (strstr(path, "/infiniband_mad/abi_version"))
		return has("no-module") ? ENOENT : 0;
	return 0;
}

static void
stall(const char *word)
{
	const struct timespec pause = { 0, 10 * 1000 * 1000 };
	char begin[sizeof(words)];

	refresh();
	if (!has(word))
		return;
	strcpy(begin, words);
	note(".stalls", "stall", word);
	for (; strcmp(words, begin) == 0; refresh())
		nanosleep(&pause, NULL);
}

int
fsync(int fd)
{

	stall("fsync");
	return NEXT(fsync)(fd);
}

/* GLib's; routing/work.c calls it. */
void *g_thread_try_new(const char *name, void *(*fn)(void *), void *data,
		       void **error);

void *
g_thread_try_new(const char *name, void *(*fn)(void *), void *data,
		 void **error)
{

	stall("work");
	return NEXT(g_thread_try_new)(name, fn, data, error);
}

/* Where the file of that name is. */
static const char *
real_path(const char *path, char *buf, size_t size)
{
	const char *sys = getenv("UMAD_SYS");
	static const char class[] = "/sys/class/";

	if (!sys || strncmp(path, class, strlen(class)) != 0)
		return path;
	snprintf(buf, size, "%s/%s", sys, path + strlen(class));
	return buf;
}

DIR *
opendir(const char *path)
{
	char buf[4096];

	return NEXT(opendir)(real_path(path, buf, sizeof(buf)));
}

int
scandir(const char *path, struct dirent ***list,
	int (*filter)(const struct dirent *),
	int (*order)(const struct dirent **, const struct dirent **))
{
	char buf[4096];

	return NEXT(scandir)(real_path(path, buf, sizeof(buf)), list, filter,
			     order);
}

/* Those of the program: the counts of coverage are written by them. */
static void
run_destructors(void)
{
	void (*const *fini)(void) = NULL;
	struct link_map *program;
	size_t n = 0;

	if (dlinfo(dlopen(NULL, RTLD_NOW), RTLD_DI_LINKMAP, &program) < 0)
		return;
	for (const ElfW(Dyn) *d = program->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_FINI_ARRAY)
			fini = (void *)(program->l_addr + d->d_un.d_ptr);
		else if (d->d_tag == DT_FINI_ARRAYSZ)
			n = d->d_un.d_val / sizeof(*fini);
	while (fini && n)
		fini[--n]();
}

/* At exit libumad2sim frees what a thread of its own still uses if the device
 * was taken away under it: once in twelve runs that thread crashed, or waited
 * for ever. What is ours is over by then; under a sanitizer leaks are looked for
 * first, as at an end without us. */
static void
leave(int status, void *data)
{
	void (*find_leaks)(void);

	*(void **)&find_leaks = dlsym(RTLD_DEFAULT, "__lsan_do_leak_check");
	fflush(NULL);
	if (find_leaks)
		find_leaks();
	run_destructors();
	_exit(status);
}

/* Handlers run in the reverse of their order, and the shim has set up its own
 * when it has opened a device. */
static void
leave_before_the_shim(void)
{
	static bool done;

	if (!done)
		on_exit(leave, NULL);
	done = true;
}

int
open(const char *path, int flags, ...)
{
	int error = open_error(path);
	char buf[4096];
	mode_t mode = 0;
	va_list args;
	int fd;

	if (flags & O_CREAT) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	if (error)
		return fail(error);
	if (strstr(path, "/partitions-runtime") && !(flags & O_CREAT))
		stall("fsync");
	fd = NEXT(open)(real_path(path, buf, sizeof(buf)), flags, mode);
	if (fd < 0 || fd >= FDS)
		return fd;
	kind_of[fd] = strstr(path, "/infiniband/umad") ? "umad" :
		strstr(path, "/infiniband/issm") ? "issm" : NULL;
	if (kind_of[fd]) {
		note(".log", "open", kind_of[fd]);
		leave_before_the_shim();
	}
	return fd;
}

/* GLib's, with large files */
int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int
close(int fd)
{

	if (fd >= 0 && fd < FDS && kind_of[fd]) {
		bool keeps = of_umad(fd) && is_kept();

		note(".log", "close", kind_of[fd]);
		kind_of[fd] = NULL;
		if (keeps)
			return 0;
	}
	return NEXT(close)(fd);
}

int
ioctl(int fd, unsigned long request, ...)
{
	struct ib_user_mad_reg_req *r;
	char class[16], methods[16];
	va_list args;

	va_start(args, request);
	r = va_arg(args, void *);
	va_end(args);
	if (of_umad(fd) && request == IB_USER_MAD_UNREGISTER_AGENT && is_kept())
		return 0;
	if (of_umad(fd) && request == IB_USER_MAD_REGISTER_AGENT) {
		snprintf(class, sizeof(class), "%x", r->mgmt_class);
		snprintf(methods, sizeof(methods), "0x%x",
			 (unsigned)r->method_mask[0]);
		note(".agents", class, methods);
	}
	return NEXT(ioctl)(fd, request, r);
}

ssize_t
read(int fd, void *buf, size_t count)
{
	ssize_t n;
	int error;

	if (of_umad(fd))
		refresh();
	if (of_umad(fd) && is_gone())
		return fail(EIO);
	if (of_umad(fd) && has("gone-old"))
		return fail(EAGAIN);
	error = of_umad(fd) ? next_error("read=") : 0;
	if (error) {
		struct timespec now;
		char us[32];

		clock_gettime(CLOCK_MONOTONIC, &now);
		snprintf(us, sizeof(us), "%lld", now.tv_sec * 1000000ll +
			 now.tv_nsec / 1000);
		note(".reads", "fail", us);
		umad_fault_failures++;
		return fail(error);
	}
	if (of_umad(fd) && is_returned && count >= sizeof(returned)) {
		memcpy(buf, returned, sizeof(returned));
		is_returned = false;
		return sizeof(returned);
	}
	n = NEXT(read)(fd, buf, count);
	umad_fault_reads += of_umad(fd) && n > 0;
	return n;
}

ssize_t
write(int fd, const void *buf, size_t count)
{

	if (of_umad(fd))
		refresh();
	if (of_umad(fd) && is_gone())
		return fail(EIO);
	if (of_umad(fd) && has("gone-old"))
		return fail(EINVAL);
	if (of_umad(fd) && count >= sizeof(returned) && has("-answers") &&
	    ((const unsigned char *)buf)[METHOD] & 0x80) {
		unsigned status = ETIMEDOUT;

		if (has("refuse-answers"))
			return fail(EINVAL);
		memcpy(returned, buf, sizeof(returned));
		memcpy(returned + STATUS, &status, sizeof(status));
		is_returned = true;
		return (ssize_t)count;
	}
	if (of_umad(fd) && count >= UMAD_HEADER)
		memcpy(umad_fault_header, buf, UMAD_HEADER);
	if (of_umad(fd) && has("swallow"))
		return (ssize_t)count;
	return NEXT(write)(fd, buf, count);
}

int
poll(struct pollfd *fds, nfds_t n, int timeout)
{

	if (n == 1 && of_umad(fds->fd)) {
		refresh();
		umad_fault_timeout = timeout;
	}
	if (n == 1 && of_umad(fds->fd) && value("late=") > 0) {
		umad_fault_waits += timeout == 1;
		usleep((useconds_t)value("late="));
	}
	if (n == 1 && of_umad(fds->fd) && is_gone()) {
		fds->revents = POLLERR;
		return 1;
	}
	if (n == 1 && of_umad(fds->fd) && is_returned) {
		fds->revents = POLLIN;
		return 1;
	}
	return NEXT(poll)(fds, n, timeout);
}
