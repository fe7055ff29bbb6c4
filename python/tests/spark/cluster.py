"""A standalone cluster of Spark on loopback: a master and workers, each in a session of its own, so that a worker can be
killed together with its executors."""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    def __init__(self, folder, workers=2):
        import pyspark

        self.folder, self.processes, self.drivers, self.count = pathlib.Path(folder), [], [], 0
        self.home = os.path.dirname(pyspark.__file__)
        self.environment = {**os.environ, "SPARK_HOME": self.home, "PYSPARK_PYTHON": sys.executable,
                            "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONDONTWRITEBYTECODE": "1"}
        port = _free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self._start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port),
                    "--webui-port", "0")
        self._wait(port)
        for _ in range(workers):
            self.add_worker()

    def _start(self, name, *command):
        with open(self.folder / f"{name}.log", "wb") as log:
            process = subprocess.Popen(
                [f"{self.home}/bin/spark-class", *command], stdout=log, stderr=log, start_new_session=True,
                env=self.environment, cwd=self.folder,
            )
        self.processes.append(process)
        return process

    def _wait(self, port):
        for _ in range(600):
            try:
                return socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                time.sleep(0.1)
        raise TimeoutError("the master of Spark does not answer")

    def add_worker(self):
        self.count += 1
        return self._start(
            f"worker-{self.count}", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", "1",
            "--memory", "1500m", "--webui-port", "0", "--work-dir", str(self.folder / f"work-{self.count}"), self.url,
        )

    def kill_worker(self):
        """With kill -9, together with its executor and the workers of Python in it."""
        worker = self.processes.pop(1)
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def submit(self, script, *arguments, options=(), environment=None):
        """Starts a driver."""
        path = self.folder / "driver.py"
        path.write_text(script)
        command = [f"{self.home}/bin/spark-submit", "--master", self.url, "--conf", "spark.executor.memory=1g",
                   "--conf", "spark.ui.enabled=false", *options, str(path), *map(str, arguments)]
        driver = subprocess.Popen(
            command, env={**self.environment, **(environment or {})}, cwd=self.folder, start_new_session=True,
            stdout=subprocess.PIPE, stderr=open(self.folder / "driver.log", "ab"), text=True,
        )
        self.drivers.append(driver)
        return driver

    def close(self):
        for process in self.drivers + self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
