/* Take as much as possible of what all processes of a user share (hold FORKS), or print what is left (probe). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int terminals(int most) {
    int held = 0;
    while (held < most && posix_openpt(O_RDWR | O_NOCTTY) >= 0) held++;
    return held;
}
static int queued_signals(int most) {
    int held = 0;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &one, 0);
    union sigval value = {0};
    while (held < most && sigqueue(getpid(), SIGRTMIN + 1, value) == 0) held++;
    return held;
}
static int timers(int most) {
    int held = 0;
    timer_t timer;
    while (held < most && timer_create(CLOCK_MONOTONIC, 0, &timer) == 0) held++;
    return held;
}
static int descriptors_in_flight(int most) {
    int held = 0, pair[2];
    while (held < most && socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0)
        for (int full = 0; !full && held < most;) {
            char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
            struct iovec bytes = {&byte, 1};
            struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
            struct cmsghdr *head = CMSG_FIRSTHDR(&message);
            head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof(int));
            memcpy(CMSG_DATA(head), &pair[1], sizeof(int));
            if (sendmsg(pair[0], &message, MSG_DONTWAIT) < 0) full = 1; else held++;
        }
    return held;
}
static int pipe_bytes(int most) {
    int held = 0, ends[2];
    while (held < most && pipe(ends) == 0) {
        if (most > 65536) fcntl(ends[0], F_SETPIPE_SZ, 1 << 20);
        held += fcntl(ends[0], F_GETPIPE_SZ);
    }
    return held;
}

int main(int count, char **words) {
    if (count < 3) {
        printf("{\"terminals\": %d, \"queued signals\": %d, \"timers\": %d, \"descriptors in flight\": %d, \"pipe bytes\": %d}\n",
               terminals(1), queued_signals(100), timers(1), descriptors_in_flight(10), pipe_bytes(1));
        return 0;
    }
    int forks = atoi(words[2]), ready[2];
    if (pipe(ready)) return 1;
    for (int each = 0; each < forks; each++) {
        if (fork() != 0) continue;
        if (each % 2) terminals(100), queued_signals(1 << 30), timers(100), descriptors_in_flight(1 << 30);
        else pipe_bytes(1 << 30);
        if (write(ready[1], "", 1) < 0) return 1;
        for (;;) pause();
    }
    char one;
    for (int each = 0; each < forks; each++) if (read(ready[0], &one, 1) != 1) return 1;
    puts("holding");
    fflush(stdout);
    getchar();
}
