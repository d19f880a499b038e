/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "pmd.h"

/* The CPUs of the process as they were before EAL narrowed its own thread. */
static cpu_set_t process_cpus;

int
pmd_eal_init(int argc, char **argv)
{
	if (sched_getaffinity(0, sizeof(process_cpus), &process_cpus) != 0)
		return -errno;
	rte_errno = 0;
	int rc = rte_eal_init(argc, argv);
	return rc < 0 ? pmd_failed(rc) : rc;
}

int
pmd_eal_cleanup(void)
{
	int rc = rte_eal_cleanup();
	return rc < 0 ? pmd_failed(rc) : 0;
}

int
pmd_eal_lcores(unsigned int *lcores, int room)
{
	unsigned int lcore;
	int count = 0;

	if (room > 0)
		lcores[count++] = rte_get_main_lcore();
	RTE_LCORE_FOREACH_WORKER(lcore)
	{
		if (count < room)
			lcores[count++] = lcore;
	}
	return count;
}

int
pmd_lcore_socket(unsigned int lcore)
{
	return (int)rte_lcore_to_socket_id(lcore);
}

/* Exported by thread.go. */
extern void pmdThreadMain(uintptr_t handle);

/*
 * Runs on the lcore's thread and stays in Go for the life of the worker. The
 * thread gets all CPUs of the process back until Go has locked it: a thread
 * that Go's scheduler starts in between would inherit the lcore's one CPU.
 */
static int
lcore_main(void *handle)
{
	pthread_setaffinity_np(pthread_self(), sizeof(process_cpus), &process_cpus);
	pmdThreadMain((uintptr_t)handle);
	return 0;
}

int
pmd_lcore_launch(unsigned int lcore, uintptr_t handle)
{
	int rc = rte_eal_remote_launch(lcore_main, (void *)handle, lcore);
	return rc < 0 ? pmd_failed(rc) : 0;
}

/* rte_eal_wait_lcore spins; here the wait is for the last instructions of a worker only. */
int
pmd_lcore_wait(unsigned int lcore)
{
	while (rte_eal_get_lcore_state(lcore) == RUNNING)
		pmd_sleep(20 * 1000);
	return rte_eal_wait_lcore(lcore);
}

int
pmd_thread_pin(void)
{
	unsigned int lcore = rte_lcore_id();

	if (lcore == LCORE_ID_ANY)
		return -EINVAL;
	rte_cpuset_t cpus = rte_lcore_cpuset(lcore);
	return -pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
}

int
pmd_thread_lcore_id(void)
{
	unsigned int lcore = rte_lcore_id();
	return lcore == LCORE_ID_ANY ? -1 : (int)lcore;
}

/*
 * Log records go through a pipe as a header and a piece of text, so that no
 * thread of DPDK ever enters Go or waits: what does not fit is counted as lost.
 */
struct log_record {
	uint32_t level; /* RTE_LOG_EMERG and so on; 0: token of pmd_log_sync */
	uint32_t value; /* length of the text, or the token */
};

#define LOG_TEXT_MAX 1024 /* a record must stay below PIPE_BUF to be written at once */

static uint64_t log_lost;

static int
log_send(int fd, struct log_record head, const char *text, size_t length)
{
	struct iovec parts[2] = {
		{ .iov_base = &head, .iov_len = sizeof(head) },
		{ .iov_base = (void *)(uintptr_t)text, .iov_len = length },
	};
	ssize_t n;

	do {
		n = writev(fd, parts, 2);
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		__atomic_add_fetch(&log_lost, 1, __ATOMIC_RELAXED);
		return -errno;
	}
	return 0;
}

static ssize_t
log_write(void *cookie, const char *text, size_t length)
{
	int level = rte_log_cur_msg_loglevel();

	for (size_t done = 0; done < length;) {
		size_t n = RTE_MIN(length - done, (size_t)LOG_TEXT_MAX);
		struct log_record head = { .level = level > 0 ? (uint32_t)level : RTE_LOG_INFO,
			.value = n };
		log_send((int)(intptr_t)cookie, head, text + done, n);
		done += n;
	}
	return (ssize_t)length;
}

static int log_fd = -1;

int
pmd_log_open(int fd)
{
	cookie_io_functions_t functions = { .write = log_write };
	FILE *stream = fopencookie((void *)(intptr_t)fd, "w", functions);

	if (stream == NULL)
		return errno > 0 ? -errno : -ENOMEM;
	log_fd = fd;
	return rte_openlog_stream(stream);
}

int
pmd_log_sync(uint32_t token)
{
	struct log_record head = { .level = 0, .value = token };
	return log_send(log_fd, head, NULL, 0);
}

uint64_t
pmd_log_lost(void)
{
	return __atomic_load_n(&log_lost, __ATOMIC_RELAXED);
}

int
pmd_has_hugepages(void)
{
	return rte_eal_has_hugepages();
}

const char *
pmd_version(void)
{
	return rte_version();
}

uint64_t
pmd_tsc_hz(void)
{
	return rte_get_tsc_hz();
}

uint64_t
pmd_tsc(void)
{
	return rte_rdtsc();
}

/* Go's scheduler interrupts system calls with signals; the rest of the time is slept then. */
void
pmd_sleep(uint64_t nanoseconds)
{
	struct timespec rest = {
		.tv_sec = (time_t)(nanoseconds / 1000000000),
		.tv_nsec = (long)(nanoseconds % 1000000000),
	};

	while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
		;
}
