"""python-client streams.py KUBECONFIG PORT: streams of the Python client, with the pod `web`; PORT answers HTTP. Prints JSON."""

import json
import sys

from kubernetes import client, config
from kubernetes.stream import portforward, stream

kubeconfig, port = sys.argv[1], int(sys.argv[2])
config.load_kube_config(kubeconfig)
core = client.CoreV1Api()
pod = ("web", "default")


def run(command, **options):
    """A command's output, errors and exit code."""
    given = {"stdin": False, "stdout": True, "stderr": True, "tty": False, "_preload_content": False, **options}
    text = given.pop("text", None)
    running = stream(core.connect_get_namespaced_pod_exec, *pod, container="main", command=command, **given)
    if text is not None:
        running.write_stdin(text)
        heard = ""
        while len(heard) < len(text):
            heard += running.read_stdout(timeout=30)
        running.close()
        return {"out": heard}
    running.run_forever(timeout=30)
    return {"out": running.read_stdout(), "err": running.read_stderr(), "code": running.returncode}


def forward():
    """What an HTTP server behind a port of the pod says."""
    forwarding = portforward(core.connect_get_namespaced_pod_portforward, *pod, ports=str(port))
    socket = forwarding.socket(port)
    socket.setblocking(True)
    socket.sendall(b"GET /python HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    heard = b""
    while not heard.endswith(b"hello /python"):
        chunk = socket.recv(4096)
        if not chunk:
            break
        heard += chunk
    socket.close()
    return {"body": heard.decode().split("\r\n\r\n")[-1], "error": forwarding.error(port)}


attached = stream(
    core.connect_get_namespaced_pod_attach,
    *pod,
    container="main",
    stdin=True,
    stdout=True,
    stderr=False,
    tty=False,
    _preload_content=False,
)
attached.write_stdin("to attach")
whole = stream(core.connect_get_namespaced_pod_exec, *pod, container="main", command=["echo", "whole"], stdout=True)
print(
    json.dumps(
        {
            "exec": run(["sh", "-c", "echo out; echo err >&2; exit 3"]),
            "input": run(["mirror"], stdin=True, text="x" * 100_000)["out"] == "x" * 100_000,
            "attach": attached.read_stdout(timeout=30),
            "whole": whole,
            "forward": forward(),
            "log": core.read_namespaced_pod_log(*pod, container="main", tail_lines=1),
        }
    )
)
