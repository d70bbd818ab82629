"""Test that the filter of system calls permits what bots need: threads, databases, workers and compilers."""

from pathlib import Path

from tests.sandbox.filter_runs import needs_filter, require_program, run_filtered, run_python

pytestmark = needs_filter


def test_threads_and_processes_of_python() -> None:
    text = """
import concurrent.futures, json, multiprocessing, os, signal, subprocess, sys, threading
from multiprocessing import shared_memory

def square(number):
    return number * number

found = []
threads = [threading.Thread(target=found.append, args=(number,)) for number in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
context = multiprocessing.get_context("fork")
with context.Pool(2) as pool:
    squares = pool.map(square, range(4))
with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
    squares += pool.map(square, range(4, 6))
queue = context.Queue()
context.Process(target=queue.put, args=("hello",)).start()
memory = shared_memory.SharedMemory(create=True, size=100)
memory.buf[0] = 7
own = subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, start_new_session=True, text=True)
group = subprocess.run(["echo", "2"], capture_output=True, process_group=0, text=True)
stopped = subprocess.Popen(["sleep", "1000"])
stopped.send_signal(signal.SIGSTOP)
os.waitpid(stopped.pid, os.WUNTRACED)
stopped.terminate()
stopped.kill()
print(json.dumps([sorted(found), squares, queue.get(), memory.buf[0], own.stdout, group.stdout, stopped.wait()]))
memory.close()
memory.unlink()
"""
    assert run_python(text) == [list(range(8)), [0, 1, 4, 9, 16, 25], "hello", 7, "1\n", "2\n", -9]


def test_sqlite_with_a_journal_and_with_a_log_and_two_who_write() -> None:
    text = """
import json, sqlite3, threading
counts = []
for mode in ("delete", "wal"):
    path = f"/tmp/{mode}.db"
    first = sqlite3.connect(path)
    mode_now = first.execute(f"pragma journal_mode={mode}").fetchone()[0]
    first.execute("create table moves (text)")
    first.commit()
    second = sqlite3.connect(path)
    for number in range(50):
        for each in (first, second):
            each.execute("insert into moves values (?)", (number,))
            each.commit()
    counts.append([mode_now, first.execute("select count(*) from moves").fetchone()[0]])
    counts.append(second.execute("pragma integrity_check").fetchone()[0])
print(json.dumps(counts))
"""
    assert run_python(text) == [["delete", 100], "ok", ["wal", 100], "ok"]


def test_asyncio_with_programs_timers_and_sockets() -> None:
    text = """
import asyncio, json, os, signal

async def main():
    loop = asyncio.get_running_loop()
    alarmed = asyncio.Event()
    loop.add_signal_handler(signal.SIGALRM, alarmed.set)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    program = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
    said, _ = await program.communicate(b"hello")
    server = await asyncio.start_unix_server(lambda reader, writer: writer.close(), "/tmp/socket")
    reader, writer = await asyncio.open_unix_connection("/tmp/socket")
    end = await reader.read()
    writer.close()
    await asyncio.wait_for(alarmed.wait(), 30)
    print(json.dumps([said.decode(), end.decode()]))

asyncio.run(main())
"""
    assert run_python(text) == ["hello", ""]


@require_program("node")
def test_workers_and_programs_of_node() -> None:
    text = """
const { Worker } = require("worker_threads")
const { execFileSync, spawn } = require("child_process")
const fs = require("fs")
const code = "require('worker_threads').parentPort.postMessage(require('worker_threads').workerData ** 2)"
const work = (number) => new Promise((done) => new Worker(code, { eval: true, workerData: number }).on("message", done))
const alone = () => new Promise((done) => spawn("true", { detached: true }).on("exit", done))
const read = () => fs.promises.readFile("/proc/self/comm", "utf8")
Promise.all([work(3), work(4), alone(), read()]).then(([three, four, code, name]) => {
    const heard = execFileSync("echo", ["hello"]).toString()
    let watched = "watched"
    try { fs.watch("/tmp") } catch (error) { watched = error.code }
    console.log(JSON.stringify([three, four, code, name, heard, watched]))
})
"""
    done = run_filtered(["node", "-e", text])

    assert (done.returncode, done.stdout) == (0, '[9,16,0,"node\\n","hello\\n","EPERM"]\n'), done


@require_program("java", "javac")
def test_streams_locks_and_programs_of_java(tmp_path: Path) -> None:
    (tmp_path / "Work.java").write_text("""
import java.nio.channels.*;
import java.nio.file.*;
import java.util.concurrent.*;
import java.util.stream.*;

public class Work {
    public static void main(String[] arguments) throws Exception {
        long sum = LongStream.range(0, 1_000_000).parallel().map(each -> each % 7).sum();
        ExecutorService pool = Executors.newFixedThreadPool(4);
        int answer = pool.submit(() -> 42).get();
        pool.shutdown();
        FileChannel file = new java.io.RandomAccessFile("/tmp/locked", "rw").getChannel();
        boolean locked = file.lock().isValid();
        Process program = new ProcessBuilder("echo", "hello").start();
        String said = new String(program.getInputStream().readAllBytes()).strip();
        String watched = "watched";
        try {
            FileSystems.getDefault().newWatchService();
        } catch (java.io.IOException error) {
            watched = error.getMessage();
        }
        String results = sum + " " + answer + " " + locked + " " + said + " " + program.waitFor();
        System.out.println(results + " " + watched);
    }
}
""")
    done = run_filtered(["java", "-Xmx256m", "Work.java"], tmp_path)

    assert (done.returncode, done.stdout) == (0, "2999997 42 true hello 0 Operation not permitted\n"), done


@require_program("gcc")
def test_threads_processes_and_shared_memory_of_c(tmp_path: Path) -> None:
    (tmp_path / "work.c").write_text("""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void *count(void *counter) { __atomic_fetch_add((int *)counter, 1, __ATOMIC_SEQ_CST); return 0; }

int main(void) {
    int shared = shm_open("/work", O_CREAT | O_RDWR, 0600);
    if (shared < 0 || ftruncate(shared, 4096)) return 1;
    int *counter = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    pthread_t threads[8];
    for (int each = 0; each < 8; each++) if (pthread_create(&threads[each], 0, count, counter)) return 2;
    for (int each = 0; each < 8; each++) pthread_join(threads[each], 0);
    if (fork() == 0) { count(counter); _exit(0); }
    if (vfork() == 0) _exit(0);
    while (wait(0) > 0) ;
    pid_t spawned;
    char *words[] = {"true", 0}, *none[] = {0};
    if (posix_spawnp(&spawned, "true", 0, 0, words, none)) return 3;
    while (wait(0) > 0) ;
    sem_t *semaphore = sem_open("/work", O_CREAT, 0600, 1);
    if (semaphore == SEM_FAILED || sem_wait(semaphore)) return 4;
    FILE *pipe = popen("echo hello", "r");
    char word[6] = "";
    if (!fgets(word, sizeof word, pipe) || pclose(pipe) || system("exit 0")) return 5;
    struct flock lock = {.l_type = F_WRLCK};
    if (fcntl(shared, F_SETLKW, &lock)) return 6;
    printf("%d %s\\n", *counter, word);
    return 0;
}
""")
    made = run_filtered(
        ["gcc", "-O1", "-pthread", "-o", "work", "work.c", "-lrt"], tmp_path
    )  # a compiler works in there too
    assert made.returncode == 0, made

    done = run_filtered(["./work"], tmp_path)

    assert (done.returncode, done.stdout) == (0, "9 hello\n"), done


@require_program("go")
def test_goroutines_programs_and_profiles_of_go(tmp_path: Path) -> None:
    (tmp_path / "work.go").write_text("""
package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"
)

func main() {
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		panic(err)
	}
	var group sync.WaitGroup
	sums := make([]int, 100)
	for each := range sums {
		group.Add(1)
		go func(each int) {
			defer group.Done()
			for end := time.Now().Add(2 * time.Millisecond); time.Now().Before(end); {
				sums[each] = each
			}
		}(each)
	}
	group.Wait()
	pprof.StopCPUProfile()
	sum := 0
	for _, each := range sums {
		sum += each
	}
	program := exec.Command("echo", "hello")
	program.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	said, err := program.Output()
	dying := exec.Command("true")
	dying.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	fmt.Println(sum, string(bytes.TrimSpace(said)), err, profile.Len() > 0, dying.Run())
}
""")
    environment = ["env", f"GOCACHE={tmp_path}", f"HOME={tmp_path}", "GO111MODULE=off"]
    made = run_filtered([*environment, "go", "build", "-o", "work", "work.go"], tmp_path)
    assert made.returncode == 0, made

    done = run_filtered(["./work"], tmp_path)

    denied = "fork/exec /usr/bin/true: operation not permitted"
    assert (done.returncode, done.stdout) == (0, f"4950 hello <nil> true {denied}\n"), done
