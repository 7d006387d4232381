/*
 * Preloaded into an appliance (LD_PRELOAD): while the file POSTHORN_FAIL_SYNC is there, syncs of the database itself
 * fail as on a disk that does not take the pages. Our own code is not involved when SQLite itself syncs, at a
 * checkpoint.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(int fd) {
  static const char name[] = "posthorn.db";
  const char *trigger = getenv("POSTHORN_FAIL_SYNC");
  char link[64], path[4096];
  if (trigger == NULL || access(trigger, F_OK) != 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < (ssize_t)strlen(name)) return 0;
  path[length] = 0;
  return strcmp(path + length - strlen(name), name) == 0;
}

static int sync_by(const char *function, int fd) {
  if (fails(fd)) {
    errno = EIO;
    return -1;
  }
  return ((int (*)(int))dlsym(RTLD_NEXT, function))(fd);
}

int fdatasync(int fd) { return sync_by("fdatasync", fd); }
int fsync(int fd) { return sync_by("fsync", fd); }
