import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, request as httpRequest } from "node:http";
import { type AddressInfo, connect } from "node:net";
import path from "node:path";
import { PassThrough, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { Attach, Cp, Exec, KubeConfig, Log, PortForward, type V1Status } from "@kubernetes/client-node";
import { WebSocket } from "ws";
import type { Client } from "../support/client.ts";
import { type Kubectl, startKubectl } from "../support/kubectl.ts";
import type { KubeletNode } from "../support/kubelet-node.ts";
import { startProcess } from "../support/process.ts";
import { eventually } from "../support/time.ts";
import { requireTool } from "../support/tools.ts";

/** A server with a pod on a node. */
export interface ConnectedServer {
  readonly base: string;
  readonly node: KubeletNode;
  readonly client: Client;
  readonly kubectl: Kubectl;
  readonly kubeconfig: string;
  /** Where files may be written. */
  readonly folder: string;
}

const PODS = "/api/v1/namespaces/default/pods";
const MERGE = { "content-type": "application/merge-patch+json" };

/** The kubeconfig of an administrator by a token. */
export function kubeconfigOf(server: string, token: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "it", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "it", user: { token } }],
    contexts: [{ name: "it", context: { cluster: "it", user: "it" } }],
    "current-context": "it",
  });
}

/** Makes a node and the pod `web` on it, which runs. */
export async function placePod(client: Client, { port }: Pick<KubeletNode, "port">): Promise<void> {
  const addresses = [{ type: "InternalIP", address: "127.0.0.1" }];
  const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } };
  await client.call("POST", "/api/v1/nodes", { metadata: { name: "one" }, status });
  await client.call("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
  const containers = [{ name: "main", image: "registry.example/app:1" }];
  const spec = { automountServiceAccountToken: false, nodeName: "one", containers };
  const created = await client.call("POST", PODS, { metadata: { name: "web" }, spec });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const running = [{ name: "main", ready: true, restartCount: 0, image: "x", imageID: "x", state: { running: {} } }];
  const patch = { status: { phase: "Running", containerStatuses: running } };
  assert.equal((await client.call("PATCH", `${PODS}/web/status`, patch, MERGE)).status, 200);
}

/** By which protocols kubectl streams. */
export const WAYS = {
  WebSocket: {},
  "SPDY/3.1": { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false", KUBECTL_PORT_FORWARD_WEBSOCKETS: "false" },
} as const;

type Env = Readonly<Record<string, string>>;

/** What kubectl does by streams; each throws unless it works. */
export const KUBECTL_STEPS: Readonly<Record<string, (server: ConnectedServer, env: Env) => Promise<void>>> = {
  async "exec: output, errors and the exit code"({ kubectl }, env) {
    const script = "echo out; echo err >&2; exit 3";
    const { code, stdout, stderr } = await kubectl(["exec", "web", "-c", "main", "--", "sh", "-c", script], { env });
    assert.deepEqual([code, stdout, stderr], [3, "out\n", "err\ncommand terminated with exit code 3\n"]);
  },
  async "exec: input, and its end"({ kubectl }, env) {
    const input = "x".repeat(300_000);
    const { code, stdout } = await kubectl(["exec", "-i", "web", "-c", "main", "--", "cat"], { env, input });
    assert.equal(code, 0);
    assert.ok(stdout === input, `${stdout.length} of ${input.length} characters came back`);
  },
  async "exec: a program that is not there"({ kubectl }, env) {
    const { code } = await kubectl(["exec", "web", "-c", "main", "--", "sh", "-c", "no-such-program"], { env });
    assert.equal(code, 127);
  },
  async "exec -it: a terminal, and its size"({ kubeconfig }, env) {
    const [program, flags] = [requireTool("kubectl"), `--kubeconfig=${kubeconfig} --cache-dir=${kubeconfig}.cache`];
    const command = `stty rows 33 cols 77; exec ${program} ${flags} exec -it web -c main -- size`;
    const terminal = await startProcess(requireTool("script"), ["-qec", command, "/dev/null"], {
      env: { ...process.env, ...env },
    });
    await terminal.exited;
    assert.match(terminal.output(), /77x33/);
  },
  async attach({ kubectl }, env) {
    const { code, stdout } = await kubectl(["attach", "-i", "web", "-c", "main"], { env, input: "hello" });
    assert.deepEqual([code, stdout], [0, "hello"]);
  },
  async "cp: there and back"({ kubectl, folder }, env) {
    const [there, back] = [path.join(folder, "there"), path.join(folder, "back")];
    const bytes = randomBytes(1_000_000);
    await writeFile(there, bytes);
    const sent = await kubectl(["cp", there, "web:copied", "-c", "main"], { env });
    assert.equal(sent.code, 0, sent.stderr);
    const fetched = await kubectl(["cp", "web:copied", back, "-c", "main"], { env });
    assert.equal(fetched.code, 0, fetched.stderr);
    assert.ok((await readFile(back)).equals(bytes));
  },
  async "logs, and logs -f"({ kubectl, kubeconfig }, env) {
    const { stdout } = await kubectl(["logs", "web", "-c", "main", "--tail=2", "--timestamps"], { env });
    const stamp = "2026-01-02T03:04:05.000000006Z";
    assert.equal(stdout, `${stamp} two\n${stamp} three\n`);
    const following = await startKubectl(kubeconfig, ["logs", "-f", "web", "-c", "main"]);
    try {
      await eventually(() => following.output().includes("four"));
    } finally {
      await following.kill();
    }
  },
  async "port-forward: several connections, and one that is refused"({ kubeconfig }, env) {
    const app = createServer((request, response) => response.end(`hello ${request.url}`));
    await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
    const { port } = app.address() as AddressInfo;
    const forwarding = await startKubectl(kubeconfig, ["port-forward", "pod/web", `:${port}`, ":1"], env);
    try {
      await eventually(() => forwarding.output().match(/Forwarding from 127\.0\.0\.1:\d+ -> 1\b/) !== null);
      const local = Number(new RegExp(`127\\.0\\.0\\.1:(\\d+) -> ${port}`).exec(forwarding.output())?.[1]);
      const get = (name: string) => readUrl(`http://127.0.0.1:${local}/${name}`);
      assert.deepEqual(await Promise.all(["a", "b", "c"].map(get)), ["hello /a", "hello /b", "hello /c"]);
      const refused = Number(/127\.0\.0\.1:(\d+) -> 1\b/.exec(forwarding.output())?.[1]);
      connect({ port: refused, host: "127.0.0.1" })
        .on("error", () => {})
        .resume()
        .write("x");
      await eventually(() => forwarding.output().includes("error forwarding port 1 to pod"));
    } finally {
      await forwarding.kill();
      app.closeAllConnections();
      app.close();
    }
  },
  async "proxy: a log, and exec by WebSocket"({ kubeconfig }, env) {
    const proxy = await startKubectl(kubeconfig, ["proxy", "--port=0", "--disable-filter"], env);
    try {
      await eventually(() => proxy.output().includes("Starting to serve on"));
      const [, at] = /on (127\.0\.0\.1:\d+)/.exec(proxy.output()) ?? [];
      assert.equal(await readUrl(`http://${at}${PODS}/web/log?container=main&tailLines=1`), "three\n");
      const url = `ws://${at}${PODS}/web/exec?container=main&command=echo&command=hello&stdout=1`;
      const socket = new WebSocket(url, ["v5.channel.k8s.io"]);
      const heard = ["", "", "", ""];
      socket.on("message", (message: Buffer) => {
        heard[message[0] ?? 0] += message.toString("utf8", 1);
      });
      await once(socket, "close");
      assert.deepEqual(heard, ["", "hello\n", "", '{"metadata":{},"status":"Success"}']);
    } finally {
      await proxy.kill();
    }
  },
  async "debug: an ephemeral container, attached to"({ kubectl, client }, env) {
    const name = `debugger-${Object.keys(env).length}`;
    const args = ["debug", "web", "--image=x", `--container=${name}`, "--profile=general", "-i"];
    const debugging = kubectl(args, { env, input: "hello" });
    await eventually(async () => {
      const { body } = await client.call("GET", `${PODS}/web`);
      return body.spec.ephemeralContainers?.some((one: { name: string }) => one.name === name);
    });
    const running = [{ name, ready: true, restartCount: 0, image: "x", imageID: "x", state: { running: {} } }];
    await client.call("PATCH", `${PODS}/web/status`, { status: { ephemeralContainerStatuses: running } }, MERGE);
    const { code, stdout, stderr } = await debugging;
    assert.deepEqual([code, stdout], [0, "hello"], stderr);
  },
};

/** Streams of the Python client: exec with its exit code and with input, attach, port-forward, and a log. */
export async function pythonSteps({ kubeconfig }: ConnectedServer): Promise<void> {
  const app = createServer((request, response) => response.end(`hello ${request.url}`));
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  const { port } = app.address() as AddressInfo;
  const script = path.join(import.meta.dirname, "python", "streams.py");
  const python = await startProcess(requireTool("python-client"), [script, kubeconfig, String(port)]);
  const ended = await python.exited;
  app.closeAllConnections();
  app.close();
  assert.equal(ended, "python-client ended with code 0", python.output());
  assert.deepEqual(JSON.parse(python.output().trim().split("\n").at(-1) ?? ""), {
    exec: { out: "out\n", err: "err\n", code: 3 },
    input: true,
    attach: "to attach",
    whole: "whole\n",
    forward: { body: "hello /python", error: null },
    log: "three\n",
  });
}

function readUrl(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    httpRequest(url, (response) => text(response).then(resolve, reject))
      .on("error", reject)
      .end();
  });
}

function configOf({ kubeconfig }: ConnectedServer): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return config;
}

class Collected extends Writable {
  text = "";
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** The stream classes of @kubernetes/client-node; each throws unless it works. */
export const LIBRARY_STEPS: Readonly<Record<string, (server: ConnectedServer) => Promise<void>>> = {
  async "Exec: output, errors and the status"(server) {
    const [out, errors] = [new Collected(), new Collected()];
    const { promise, resolve } = Promise.withResolvers<V1Status>();
    const command = ["sh", "-c", "echo out; echo err >&2; exit 3"];
    await new Exec(configOf(server)).exec("default", "web", "main", command, out, errors, null, false, resolve);
    const { reason, details } = await promise;
    assert.deepEqual(
      [out.text, errors.text, reason, details?.causes?.[0]?.message],
      ["out\n", "err\n", "NonZeroExitCode", "3"],
    );
  },
  async "Exec: a terminal's size"(server) {
    const out = Object.assign(new Collected(), { rows: 24, columns: 80 });
    const { promise, resolve } = Promise.withResolvers<V1Status>();
    const input = new PassThrough();
    await new Exec(configOf(server)).exec("default", "web", "main", ["size"], out, null, input, true, resolve);
    assert.equal((await promise).status, "Success");
    assert.equal(out.text, "80x24\n");
  },
  async Attach(server) {
    const out = new Collected();
    const input = new PassThrough();
    const socket = await new Attach(configOf(server)).attach("default", "web", "main", out, null, input, false);
    input.write("hello");
    await eventually(() => out.text === "hello");
    socket.close();
  },
  async Log(server) {
    const out = new Collected();
    await new Log(configOf(server)).log("default", "web", "main", out, { tailLines: 1, timestamps: true });
    await eventually(() => out.text === "2026-01-02T03:04:05.000000006Z three\n");
  },
  async PortForward(server) {
    const app = createServer((_request, response) => response.end("hello"));
    await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
    const { port } = app.address() as AddressInfo;
    const [input, output, errors] = [new PassThrough(), new Collected(), new Collected()];
    const socket = await new PortForward(configOf(server), true).portForward(
      "default",
      "web",
      [port],
      output,
      errors,
      input,
    );
    input.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    await eventually(() => output.text.endsWith("hello"));
    assert.equal(errors.text, "");
    if ("close" in socket) socket.close();
    app.closeAllConnections();
    app.close();
  },
  async Cp(server) {
    const from = path.join(server.node.folder, "library.txt");
    await writeFile(from, "hello");
    await new Cp(configOf(server)).cpFromPod("default", "web", "main", "library.txt", server.folder, ".");
    const copied = path.join(server.folder, "library.txt");
    await eventually(async () => (await readFile(copied, "utf8").catch(() => "")) === "hello");
  },
};
