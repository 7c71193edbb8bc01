"""A Slurm cluster of one node on the loopback interface, from Debian's packages slurm-wlm and munge, for tests."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROGRAMS: Final = ("sbatch", "squeue", "scontrol", "slurmctld", "slurmd", "munged")
_CONFIGURATION: Final = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={ctl_port}
SlurmdPort={d_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
KillWait=60
MinJobAge=3600
SchedulerParameters=sched_interval=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def can_run_slurm() -> bool:
    """Whether the programs are there and may be started: the daemons change users, so they need root."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin"
    return os.geteuid() == 0 and all(shutil.which(name, path=path) for name in _PROGRAMS)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Slurm:
    """The cluster, while the context lasts.

    Attributes:
        environment: what a client needs to find it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        self._daemons: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Slurm:
        folder = self.folder
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "slurm.conf").write_text(
            _CONFIGURATION.format(
                host=socket.gethostname().split(".")[0], folder=folder, ctl_port=_free_port(), d_port=_free_port()
            ),
            encoding="utf-8",
        )
        key = folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(1024))
        files = [f"--{name}={folder}/munge.{name.split('-')[0]}" for name in ("socket", "key-file", "log-file")]
        files += [f"--{name}={folder}/munge.{name.split('-')[0]}" for name in ("pid-file", "seed-file")]
        self._start("munged", "--foreground", "--force", *files)
        self._wait((folder / "munge.socket").exists)
        self._start("slurmctld", "-D", "-c")
        self._start("slurmd", "-D", "-c")
        self._wait(lambda: "idle" in self.run("sinfo", "--noheader", "--format=%T", check=False))
        return self

    def __exit__(self, *exc: object) -> None:
        self.run("scancel", "--user=root", check=False)
        with suppress(AssertionError):  # jobs that outlive their daemons would never end
            self.wait_until_empty(90)
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in self._daemons:
            try:
                daemon.wait(30)
            except subprocess.TimeoutExpired:
                daemon.kill()

    def run(self, *command: str, check: bool = True) -> str:
        """What a client prints."""
        env = {**os.environ, **self.environment}
        return subprocess.run(command, env=env, capture_output=True, text=True, check=check).stdout

    def state(self, job: str) -> str:
        """A job's state, such as RUNNING or COMPLETED; of an array, give one element as `ID_N`."""
        shown = self.run("scontrol", "--oneliner", "show", "job", job)
        return shown.split(" JobState=", 1)[1].split(" ", 1)[0]

    def is_active(self, job: str) -> bool:
        """Whether something of the job is still running, or being ended."""
        return bool(self.run("squeue", "--noheader", "--states=RUNNING,COMPLETING", "--jobs", job, check=False).strip())

    def wait_until_empty(self, seconds: float = 400) -> None:
        """Wait until no job is left."""
        self._wait(lambda: not self.run("squeue", "--noheader").strip(), seconds)

    def _start(self, program: str, *options: str) -> None:
        path = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        assert path is not None
        env = {**os.environ, **self.environment}
        with (self.folder / f"{program}.out").open("wb") as out:
            self._daemons.append(subprocess.Popen([path, *options], env=env, stdout=out, stderr=out))

    def _wait(self, done: object, seconds: float = 60) -> None:
        assert callable(done)
        deadline = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < deadline, self._logs()
            time.sleep(0.2)

    def _logs(self) -> str:
        return "\n".join(path.read_text("utf-8", "replace")[-2000:] for path in sorted(self.folder.glob("*.log")))
