/* Preloaded into a process, this sets its clock of the time of day, and no other clock, off by so many seconds as a file
   says, named by CLOCK_OFFSET: a long, which whoever shares the file may change at any time. ClockJumpIT compiles it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const long *offset;

__attribute__((constructor)) static void begin(void) {
  const char *name = getenv("CLOCK_OFFSET");
  int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
  if (file >= 0) {
    void *at = mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    offset = at == MAP_FAILED ? NULL : at;
    close(file);
  }
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  int failed = (int)syscall(SYS_clock_gettime, clock, at);
  if (!failed && offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    at->tv_sec += *offset;
  }
  return failed;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now)) {
    return -1;
  }
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) {
    *at = now.tv_sec;
  }
  return now.tv_sec;
}
