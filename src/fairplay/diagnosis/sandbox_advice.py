"""Advise how to get the sandbox that a machine lacks: packages, switches of the system, options of containers."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

APPARMOR_SWITCH = "proc/sys/kernel/apparmor_restrict_unprivileged_userns"
USER_NAMESPACES = "proc/sys/user/max_user_namespaces"
PROFILE = "/etc/apparmor.d/fairplay-sandbox"
PROGRAMS = ("bwrap", "unshare")  # which make namespaces
PACKAGE_COMMANDS = {
    "apt-get": "apt-get install bubblewrap libseccomp2",
    "dnf": "dnf install bubblewrap libseccomp",
    "pacman": "pacman -S bubblewrap libseccomp",
    "apk": "apk add bubblewrap libseccomp util-linux",
    "zypper": "zypper install bubblewrap libseccomp2",
}
PODMAN = "podman run --security-opt unmask=ALL ..."
DOCKER = (
    "docker run --security-opt systempaths=unconfined --security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined ..."
)


def sandbox_advice(why_not_strict: str, root: Path = Path("/")) -> Iterator[str]:
    """What to do to get a strict sandbox on the machine whose files are below `root`; nothing if it has one."""
    if not why_not_strict:
        return
    if "not installed" in why_not_strict or "too old" in why_not_strict:
        command = next((line for tool, line in PACKAGE_COMMANDS.items() if shutil.which(tool)), "install bubblewrap")
        yield f"Install what is missing: {as_root(command)}"
    if read_text(root / APPARMOR_SWITCH) == "1":
        yield "AppArmor refuses namespaces to ordinary users here. A profile allows them to the sandbox alone:"
        yield f"    fairplay doctor --apparmor-profile | sudo tee {PROFILE}  &&  sudo apparmor_parser -r {PROFILE}"
    if read_text(root / USER_NAMESPACES) == "0":
        yield f"User namespaces are switched off: {as_root('sysctl user.max_user_namespaces=15000')}"
    if (root / "run/.containerenv").exists():
        yield f"This is a container of podman. Start it with: {PODMAN}"
    elif (root / ".dockerenv").exists():
        yield f"This is a container of docker. Start it with: {DOCKER}"
    if "threads:" in why_not_strict:
        yield "The kernel does not limit how many processes root starts: be another user (of a container: --user 1000)."
    if "microsoft" in read_text(root / "proc/version").lower() and not (root / "run/WSL").exists():
        yield "This is WSL 1, which has no namespaces: convert it to version 2 (wsl --set-version NAME 2)."


def apparmor_profile() -> str:
    """A profile that allows namespaces to the programs that make them, and changes nothing else."""
    paths = {name: shutil.which(name) or f"/usr/bin/{name}" for name in PROGRAMS}
    profiles = [
        f"profile fairplay-{name} {path} flags=(unconfined) {{\n  userns,\n}}\n" for name, path in paths.items()
    ]
    return "\n".join(["# Lets the sandbox of fairplay make user namespaces.", "abi <abi/4.0>,", "", *profiles])


def as_root(command: str) -> str:
    """A command as a user has to write it."""
    return command if os.geteuid() == 0 else f"sudo {command}"


def read_text(path: Path) -> str:
    """The content of a file of the kernel; empty if there is none."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""
