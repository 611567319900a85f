import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { type Identity, makeCa, makeIdentity } from "../../src/base/pki/make-certificate.ts";
import { startEtcd } from "../support/etcd.ts";
import { freePorts } from "../support/ports.ts";
import { type RunningProcess, startProcess } from "../support/process.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";

const cli = path.join(import.meta.dirname, "..", "..", "src", "cli.ts");
const run = promisify(execFile);

/** What `binnacle envtest` printed, in a cache of its own. */
async function assetsIn(cache: string, ...flags: string[]): Promise<string> {
  const env = { ...process.env, XDG_CACHE_HOME: cache, HOME: cache };
  const { stdout } = await run(process.execPath, [cli, "envtest", ...flags], { env });
  return stdout.trimEnd();
}

/** Whether the launcher of etcd answers, as envtest asks it. */
function isHealthy(etcd: string): Promise<boolean> {
  return fetch(`${etcd}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** What envtest starts, with the files and flags that it passes. */
class Environment {
  readonly #folder: string;
  readonly #client: Identity;
  readonly #authority: Identity;
  readonly #programs: RunningProcess[] = [];
  #base = "";

  constructor(folder: string) {
    this.#folder = folder;
    const now = Date.now();
    this.#authority = makeCa("envtest", now);
    this.#client = makeIdentity(
      this.#authority,
      { commonName: "admin", organizations: ["system:masters"] },
      "client",
      now,
    );
  }

  /** Starts both programs of a folder, or kube-apiserver alone beside an etcd that is there. */
  async start(assets: string, options: { etcd?: string; flags?: string[]; env?: NodeJS.ProcessEnv } = {}) {
    const [port = 0, etcdPort = 0] = await freePorts(2);
    const etcd = options.etcd ?? `http://127.0.0.1:${etcdPort}`;
    if (options.etcd === undefined) {
      const flags = [`--listen-client-urls=${etcd}`, `--advertise-client-urls=${etcd}`, `--data-dir=${this.#folder}`];
      this.#programs.push(await startProcess(path.join(assets, "etcd"), flags));
      await eventually(() => isHealthy(etcd), { what: "etcd is healthy" });
    }
    this.#base = `https://127.0.0.1:${port}`;
    const flags = await this.#flags(port, etcd);
    const env = { ...process.env, ...options.env };
    const server = await startProcess(path.join(assets, "kube-apiserver"), [...flags, ...(options.flags ?? [])], {
      env,
    });
    this.#programs.push(server);
    const isReady = async () => (await this.call("GET", "/healthz").catch(() => undefined))?.status === 200;
    await eventually(isReady, { what: () => `the server is healthy:\n${server.output()}` });
    return server;
  }

  async #flags(port: number, etcd: string): Promise<string[]> {
    const file = (name: string) => path.join(this.#folder, name);
    const serving = makeIdentity(this.#authority, { commonName: "s", hosts: ["127.0.0.1"] }, "server", Date.now());
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    await writeFile(file("apiserver.crt"), serving.certificate);
    await writeFile(file("apiserver.key"), serving.key);
    await writeFile(file("client-cert-auth-ca.crt"), this.#authority.certificate);
    await writeFile(file("sa-signer.crt"), publicKey.export({ type: "spki", format: "pem" }));
    await writeFile(file("sa-signer.key"), privateKey.export({ type: "pkcs8", format: "pem" }));
    return [
      "--allow-privileged=true",
      "--authorization-mode=RBAC",
      "--bind-address=127.0.0.1",
      `--cert-dir=${this.#folder}`,
      `--client-ca-file=${file("client-cert-auth-ca.crt")}`,
      "--disable-admission-plugins=ServiceAccount",
      `--etcd-servers=${etcd}`,
      `--secure-port=${port}`,
      `--service-account-issuer=https://127.0.0.1:${port}/`,
      `--service-account-key-file=${file("sa-signer.crt")}`,
      `--service-account-signing-key-file=${file("sa-signer.key")}`,
      "--service-cluster-ip-range=10.0.0.0/24",
    ];
  }

  /** A request of the administrator, known by a client certificate, to a server known by the files in its folder. */
  call(method: string, target: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
    const { certificate: cert, key } = this.#client;
    const options = { method, cert, key, ca: this.#authority.certificate, agent: false };
    const headers = { "content-type": "application/json" };
    return new Promise((resolve, reject) => {
      const asking = request(`${this.#base}${target}`, { ...options, headers }, (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.on("end", () => {
          const text = Buffer.concat(parts).toString();
          resolve({ status: answer.statusCode ?? 0, body: text.startsWith("{") ? JSON.parse(text) : { text } });
        });
      });
      asking.on("error", reject).end(body === undefined ? "" : JSON.stringify(body));
    });
  }

  async stop(): Promise<string[]> {
    const ends: string[] = [];
    for (const program of this.#programs.splice(0).toReversed()) {
      await program.kill({ graceMs: 20_000 });
      ends.push(await program.exited);
    }
    return ends;
  }
}

/** Ends the process that suites share, which would wait for others. */
async function endHost(assets: string): Promise<void> {
  const { stdout } = await run("ps", ["-eo", "pid,args"]);
  for (const line of stdout.split("\n").filter((text) => text.includes(path.join(assets, "socket")))) {
    process.kill(Number.parseInt(line, 10));
  }
}

const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

suite("binnacle envtest", () => {
  let folder = "";
  let assets = "";
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-envtest-"));
    assets = await assetsIn(folder);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test("prints a folder of programs, the same one each time", async () => {
    assert.equal(await assetsIn(folder), assets);
    const names = readdirSync(assets).filter((name) => name !== "kubectl");
    assert.deepEqual(names, ["etcd", "etcd.help", "kube-apiserver", "kube-apiserver.help"]);
    for (const name of ["etcd", "kube-apiserver"]) {
      const { stdout } = await run(path.join(assets, name), ["--help"]);
      assert.match(stdout, /^\s*--\w/m);
      assert.doesNotMatch(stdout, /^\s*--insecure-port\b/m);
    }
  });

  test("a flag that kube-apiserver does not know is refused as by it", async () => {
    const failed = await run(path.join(assets, "kube-apiserver"), ["--nonsense"]).catch((error) => error);
    assert.equal(failed.code, 1);
    assert.equal(failed.stderr, "Error: unknown flag: --nonsense\n");
  });

  test("a control plane in memory is what kube-apiserver alone would be", async () => {
    const environment = new Environment(folder);
    try {
      const server = await environment.start(assets, { flags: ["--v=4", "--profiling=false"] });
      const expected = "kube-apiserver: warning: ignored flags without effect in Binnacle: --v, --profiling";
      await eventually(() => server.output().includes(expected), { what: server.output });
      await eventually(async () => (await environment.call("GET", "/api/v1/namespaces/default")).status === 200, {
        what: "the default namespace is there",
      });
      const widgets = "/apis/example.com/v1/namespaces/default/widgets";
      const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" } };
      assert.equal((await environment.call("POST", widgets, widget)).status, 404);
      assert.equal((await environment.call("POST", "/api/v1/namespaces", namespace("a"))).status, 201);
      // No controller manager: nobody takes the finalizer off.
      const { body } = await environment.call("DELETE", "/api/v1/namespaces/a");
      assert.deepEqual((body.status as { phase: string }).phase, "Terminating");
      assert.equal((await environment.call("GET", "/api/v1/namespaces/a")).status, 200);
      assert.equal((await environment.call("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/edit")).status, 200);
    } finally {
      assert.deepEqual(await environment.stop(), ["kube-apiserver ended with code 0", "etcd ended with code 0"]);
    }
  });

  test("BINNACLE_CONTROLLERS asks for loops of a controller manager", async () => {
    const environment = new Environment(folder);
    try {
      await environment.start(assets, { env: { BINNACLE_CONTROLLERS: "namespace-controller" } });
      assert.equal((await environment.call("POST", "/api/v1/namespaces", namespace("b"))).status, 201);
      await environment.call("DELETE", "/api/v1/namespaces/b");
      const isGone = async () => (await environment.call("GET", "/api/v1/namespaces/b")).status === 404;
      await eventually(isGone, { what: "the namespace is gone" });
    } finally {
      await environment.stop();
    }
  });

  const createDeployment = async (environment: Environment, env: Record<string, string>) => {
    await environment.start(assets, { env });
    const labels = { app: "web" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "web:1" }] } };
    const spec = { replicas: 2, selector: { matchLabels: labels }, template };
    const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec };
    const { status } = await environment.call("POST", "/apis/apps/v1/namespaces/default/deployments", deployment);
    assert.equal(status, 201);
  };

  test("BINNACLE_CONTROLLERS=* creates the Pods of a Deployment", async () => {
    const environment = new Environment(folder);
    try {
      await createDeployment(environment, { BINNACLE_CONTROLLERS: "*" });
      const hasPods = async () => {
        const { body } = await environment.call("GET", "/api/v1/namespaces/default/pods");
        return (body.items as unknown[]).length === 2;
      };
      await eventually(hasPods, { what: "the Deployment has two Pods" });
    } finally {
      await environment.stop();
    }
  });

  test("BINNACLE_NODES runs the Pods of a Deployment and of a Job", async () => {
    const environment = new Environment(folder);
    try {
      await createDeployment(environment, { BINNACLE_NODES: "2" });
      const isAvailable = async () => {
        const { body } = await environment.call("GET", "/apis/apps/v1/namespaces/default/deployments/web");
        return (body.status as { availableReplicas?: number }).availableReplicas === 2;
      };
      await eventually(isAvailable, { what: "the Deployment is available" });
      const jobs = "/apis/batch/v1/namespaces/default/jobs";
      const template = { spec: { restartPolicy: "Never", containers: [{ name: "once", image: "once" }] } };
      const { status } = await environment.call("POST", jobs, {
        ...{ apiVersion: "batch/v1", kind: "Job" },
        metadata: { name: "once" },
        spec: { template },
      });
      assert.equal(status, 201);
      const isComplete = async () => {
        const { body } = await environment.call("GET", `${jobs}/once`);
        return (body.status as { succeeded?: number }).succeeded === 1;
      };
      await eventually(isComplete, { what: "the Job is complete" });
    } finally {
      await environment.stop();
    }
  });

  test("suites that share a process have control planes of their own", async () => {
    const shared = await assetsIn(folder, "--shared");
    const [one, two] = [new Environment(await mkdtemp(folder)), new Environment(await mkdtemp(folder))];
    try {
      const first = await one.start(shared);
      await two.start(shared);
      assert.equal((await one.call("POST", "/api/v1/namespaces", namespace("a"))).status, 201);
      assert.equal((await two.call("GET", "/api/v1/namespaces/a")).status, 404);
      await first.kill({ graceMs: 20_000 });
      assert.equal(await first.exited, "kube-apiserver ended with code 0");
      await assert.rejects(one.call("GET", "/healthz"));
      assert.equal((await two.call("GET", "/healthz")).status, 200);
    } finally {
      await one.stop();
      await two.stop();
      await endHost(shared);
    }
  });

  test("a program whose suite was killed ends by itself", { skip: process.platform !== "linux" }, async () => {
    const [port = 0] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    // With job control a shell makes a group of each program, as envtest does.
    const command = ["-c", 'set -m; "$@" & wait', "suite", path.join(assets, "etcd"), `--listen-client-urls=${url}`];
    const killed = await startProcess("bash", command);
    await eventually(() => isHealthy(url), { what: "etcd is healthy" });
    await killed.kill({ signal: "SIGKILL" });
    await eventually(async () => !(await isHealthy(url)), { what: "etcd has ended" });
  });

  test("with an etcd, objects are kept there", needs("etcd"), async () => {
    const etcd = await startEtcd();
    try {
      const environment = new Environment(folder);
      const [endpoint = ""] = etcd.endpoints;
      await environment.start(assets, { etcd: endpoint });
      assert.equal((await environment.call("POST", "/api/v1/namespaces", namespace("kept"))).status, 201);
      await environment.stop();
      const next = new Environment(folder);
      await next.start(assets, { etcd: endpoint });
      assert.equal((await next.call("GET", "/api/v1/namespaces/kept")).status, 200);
      await next.stop();
    } finally {
      await etcd.stop();
    }
  });
});
