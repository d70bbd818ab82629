"""Try parts of the kernel that no player needs: each is a way to its bugs, if not to the host."""

from fairplay.testing.escapes.escape_attempt import EscapeAttempt, Language

C = Language.C

KERNEL_ATTEMPTS = (
    EscapeAttempt(
        name="makes user namespaces",
        tries="rights in a namespace of its own: unshare, clone and clone3",
        language=C,
        turn=r"""
static int idle(void *_) { return 0; }
static void turn(void) {
    static char stack[1 << 16];
    static int kinds[] = {0x80 /* time */, 0x02000000 /* cgroup */, CLONE_NEWUSER,
                          CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS};
    for (unsigned at = 0; at < sizeof kinds / sizeof *kinds; at++) {
        if (kinds[at] > 0xff) TRY(clone(idle, stack + sizeof stack, kinds[at] | SIGCHLD, 0));
        if (kinds[at] > 0xff) TRY(clone(idle, stack + sizeof stack, kinds[at] | CLONE_NEWUSER | SIGCHLD, 0));
        struct { uint64_t flags, a, b, c, signal, d, e, f; } how = {kinds[at], 0, 0, 0, SIGCHLD};
        long child = syscall(435, &how, sizeof how);  /* clone3 */
        if (child == 0) _exit(0);
        reached("clone3", child);
        TRY(unshare(kinds[at]));
    }
    TRY(unshare(CLONE_NEWUSER | CLONE_NEWNS));
}
""",
    ),
    EscapeAttempt(
        name="joins other namespaces",
        tries="setns to namespaces of its parents and of the host",
        language=C,
        turn=r"""
static void turn(void) {
    static const char *kinds[] = {"mnt", "net", "pid", "user", "ipc", "uts", "cgroup", "time"};
    long processes[] = {1, getppid(), number("referee"), number("parent")};
    for (int at = 0; at < 8; at++)
        for (int whose = 0; whose < 4; whose++) {
            char path[64], own[64], theirs[64];
            snprintf(path, sizeof path, "/proc/%ld/ns/%s", processes[whose], kinds[at]);
            int held = open(path, O_RDONLY);
            if (held >= 0) TRY(setns(held, 0));
        }
    int held = syscall(434, 1, 0);  /* pidfd_open */
    if (held >= 0) TRY(setns(held, CLONE_NEWNS));
}
""",
    ),
    EscapeAttempt(
        name="mounts",
        tries="mount, umount, pivot_root, chroot, and the newer calls that do the same",
        language=C,
        turn=r"""
#include <sys/mount.h>
static void turn(void) {
    TRY(mount("none", "/tmp", "tmpfs", 0, 0));
    TRY(mount("/usr", "/tmp", 0, MS_BIND, 0));
    TRY(mount(0, "/", 0, MS_REMOUNT | MS_BIND, 0));
    TRY(mount("proc", "/tmp", "proc", 0, 0));
    TRY(umount2("/tmp", MNT_DETACH));
    TRY(umount2("/proc", MNT_DETACH));
    TRY(syscall(SYS_pivot_root, "/tmp", "/tmp"));
    TRY(chroot("/tmp"));
    TRY(syscall(428, AT_FDCWD, "/", 1));              /* open_tree, OPEN_TREE_CLONE */
    TRY(syscall(430, "tmpfs", 0));                    /* fsopen */
    TRY(syscall(433, AT_FDCWD, "/", 0));              /* fspick */
    TRY(syscall(429, AT_FDCWD, "/usr", AT_FDCWD, "/tmp", 0)); /* move_mount */
    uint64_t attributes[4] = {0, 1, 0, 0};
    TRY(syscall(442, AT_FDCWD, "/", 0, attributes, sizeof attributes)); /* mount_setattr: writable again */
}
""",
    ),
    EscapeAttempt(
        name="opens files by their handles",
        tries="files outside of its root, by numbers (open_by_handle_at)",
        language=C,
        turn=r"""
static void turn(void) {
    static const char *places[] = {"/", "/usr", "/tmp", "/proc", "/dev"};
    for (int at = 0; at < 5; at++) {
        struct { struct file_handle head; unsigned char bytes[128]; } handle = {{128}};
        int mount = 0, held = open(places[at], O_RDONLY | O_DIRECTORY);
        if (name_to_handle_at(AT_FDCWD, places[at], &handle.head, &mount, 0) == 0 && held >= 0)
            TRY(open_by_handle_at(held, &handle.head, O_RDONLY));
    }
}
""",
    ),
    EscapeAttempt(
        name="rings the kernel",
        tries="io_uring, which does system calls that no filter sees",
        language=C,
        turn="static void turn(void) {\n    char how[120] = {0};\n    TRY(syscall(425, 4, how));\n}\n",
    ),
    EscapeAttempt(
        name="opens strange sockets",
        tries="families other than UNIX: the internet, VSOCK, ALG, PACKET, Bluetooth and others",
        language=C,
        turn=r"""
static void turn(void) {
    TRY(socket(40, SOCK_STREAM, 0));     /* AF_VSOCK: the hypervisor */
    TRY(socket(38, SOCK_SEQPACKET, 0));  /* AF_ALG: the kernel's ciphers */
    TRY(socket(AF_PACKET, SOCK_RAW, 0));
    TRY(socket(AF_INET, SOCK_RAW, 1));
    for (int kind = 1; kind < 3; kind++) {  /* sockets of the internet are counted for the whole machine */
        TRY(socket(AF_INET, kind, 0));
        TRY(socket(AF_INET6, kind, 0));
    }
    static const int others[] = {3, 4, 5, 9, 15, 21, 26, 28, 29, 30, 31, 35, 37, 39, 41, 42, 43, 44, 45};
    for (unsigned at = 0; at < sizeof others / sizeof *others; at++)
        for (int kind = 1; kind < 6; kind++) TRY(socket(others[at], kind, 0));
}
""",
    ),
    EscapeAttempt(
        name="opens strange netlinks",
        tries="every part of the kernel that speaks netlink but for routes, which are those of its own network",
        language=C,
        turn=r"""
static void turn(void) {
    for (int kind = 1; kind < 32; kind++) {
        TRY(socket(AF_NETLINK, SOCK_RAW, kind));
        TRY(socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, kind));
    }
}
""",
    ),
    EscapeAttempt(
        name="handles page faults",
        tries="userfaultfd, with which races in the kernel are won",
        language=C,
        turn=r"""
static void turn(void) {
    TRY(syscall(SYS_userfaultfd, 0));
    TRY(syscall(SYS_userfaultfd, O_CLOEXEC | 1));
    TRY(open("/dev/userfaultfd", O_RDWR));
}
""",
    ),
    EscapeAttempt(
        name="programs the kernel",
        tries="bpf, kernel modules and another kernel",
        language=C,
        turn=r"""
static void turn(void) {
    uint32_t map[32] = {2, 4, 4, 1};  /* an array of one */
    TRY(syscall(SYS_bpf, 0, map, sizeof map));
    uint64_t instructions[2] = {0xb7, 0x95};
    struct { uint32_t type, count; uint64_t code, licence; uint32_t rest[24]; } program =
        {1, 2, (uintptr_t)instructions, (uintptr_t)"GPL"};
    TRY(syscall(SYS_bpf, 5, &program, sizeof program));
    TRY(syscall(SYS_init_module, "", 0, ""));
    TRY(syscall(SYS_finit_module, 0, "", 0));
    TRY(syscall(SYS_delete_module, "none", O_NONBLOCK));
    TRY(syscall(SYS_kexec_load, 0, 0, 0, 0));
}
""",
    ),
    EscapeAttempt(
        name="measures the machine",
        tries="perf_event_open and the kernel's log",
        language=C,
        turn=r"""
static void turn(void) {
    char what[128] = {0}, said[4096];
    *(uint32_t *)what = 1; *(uint32_t *)(what + 4) = sizeof what;  /* software, and its counters */
    for (int count = 0; count < 10; count++) {
        *(uint64_t *)(what + 8) = count;
        TRY(syscall(SYS_perf_event_open, what, 0, -1, -1, 0));
        TRY(syscall(SYS_perf_event_open, what, -1, 0, -1, 0));
    }
    TRY(syscall(SYS_syslog, 3, said, sizeof said));
    TRY(open("/proc/kmsg", O_RDONLY | O_NONBLOCK));
}
""",
    ),
    EscapeAttempt(
        name="watches files",
        tries="as many inotify instances as a user may have, so that the host has none left, and fanotify",
        language=C,
        turn=r"""
#include <sys/inotify.h>
static void turn(void) {
    int held = 0;
    while (held < 100 && inotify_init1(0) >= 0) held++;
    fprintf(stderr, "inotify instances: %d\n", held);
    reached("a hundred instances of inotify", held >= 100 ? held : -1);
    TRY(syscall(SYS_fanotify_init, 0, 0));
}
""",
    ),
    EscapeAttempt(
        name="calls as an i386 program",
        tries="system calls by int 0x80, which have other numbers",
        language=C,
        turn=r"""
static int by_interrupt(void) {
#ifdef __x86_64__
    long done = 20;  /* getpid */
    __asm__ volatile("int $0x80" : "+a"(done) : : "memory", "r8", "r9", "r10", "r11");
    return done > 0 ? 42 : 7;
#else
    return 7;
#endif
}
static void turn(void) { reached("getpid by int 0x80", in_child(by_interrupt) == 42 ? 0 : -1); }
""",
    ),
    EscapeAttempt(
        name="calls as an x32 program",
        tries="system calls with the bit of x32, which have other numbers",
        language=C,
        turn=r"""
static int getpid_by_x32(void) {
#ifdef __x86_64__
    return syscall(0x40000000 | 39) > 0 ? 42 : 7;
#else
    return 7;
#endif
}
static void turn(void) { reached("getpid of x32", in_child(getpid_by_x32) == 42 ? 0 : -1); }
""",
    ),
    EscapeAttempt(
        name="changes its personality",
        tries="to run where all that can be read can be run, with a page at zero, or on another Linux",
        language=C,
        turn=r"""
#include <sys/personality.h>
static void turn(void) {
    TRY(personality(READ_IMPLIES_EXEC));
    TRY(personality(MMAP_PAGE_ZERO));
    TRY(personality(PER_LINUX32));
    TRY(personality(UNAME26));
}
""",
    ),
    EscapeAttempt(
        name="queues messages",
        tries="POSIX message queues, whose memory is the kernel's",
        language=C,
        turn=r"""
static void turn(void) {
    TRY(syscall(SYS_mq_open, "held", O_CREAT | O_RDWR, 0600, 0));
}
""",
    ),
    EscapeAttempt(
        name="rules the machine",
        tries="its clock, its name, its power, its swap, its quotas and its ports",
        language=C,
        turn=r"""
#include <sys/reboot.h>
#include <sys/swap.h>
#include <time.h>
static void turn(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    TRY(clock_settime(CLOCK_REALTIME, &now));
    TRY(sethostname("player", 6));
    TRY(setdomainname("player", 6));
    TRY(reboot(RB_DISABLE_CAD));
    TRY(swapoff("/none"));
    TRY(syscall(SYS_acct, "/tmp/none"));
    TRY(syscall(SYS_quotactl, 0x800001 << 8, "/", 0, 0));
    TRY(syscall(SYS_vhangup));
#ifdef __x86_64__
    TRY(syscall(SYS_iopl, 3));
    TRY(syscall(SYS_ioperm, 0x80, 1, 1));
#endif
    TRY(open("/dev/kvm", O_RDWR));
    TRY(open("/dev/fuse", O_RDWR));
    TRY(open("/dev/net/tun", O_RDWR));
    TRY(open("/dev/loop-control", O_RDWR));
}
""",
    ),
)
