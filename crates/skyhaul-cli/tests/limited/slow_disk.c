/* A disk that takes its time, by LD_PRELOAD: each chunk waits for so many microseconds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

enum { LEAST_CHUNK = 65536 };

static void wait_for(const char *name, size_t bytes) {
    const char *microseconds = getenv(name);
    if (microseconds && bytes >= LEAST_CHUNK)
        usleep((useconds_t)atoi(microseconds));
}

ssize_t pread64(int fd, void *to, size_t bytes, off64_t offset) {
    ssize_t (*real)(int, void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pread64");
    wait_for("SLOW_READ_US", bytes);
    return real(fd, to, bytes, offset);
}

ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t offset) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    wait_for("SLOW_WRITE_US", bytes);
    return real(fd, from, bytes, offset);
}
