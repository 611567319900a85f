import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, suite, test } from "node:test";
import { promisify } from "node:util";
import type { CommandResult } from "./support/kubectl.ts";
import { kubectlFor } from "./support/kubectl.ts";
import { eventually } from "./support/time.ts";
import { needs } from "./support/tools.ts";

const cli = path.join(import.meta.dirname, "..", "src", "cli.ts");
const timeout = 600_000;

const CONFIG = `apiVersion: v1
kind: Config
clusters: [{name: theirs, cluster: {server: "https://theirs.example.com"}}]
contexts: [{name: theirs, context: {cluster: theirs, user: me}}]
users: [{name: me, user: {token: t}}]
current-context: theirs
`;

const MANIFESTS = `apiVersion: shop.example.com/v1
kind: Fruit
metadata: {name: apple}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: colors, namespace: shop}, data: {apple: red}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fruits.shop.example.com}
spec:
  group: shop.example.com
  names: {kind: Fruit, plural: fruits}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`;

suite("a local control plane", { timeout, ...needs("kubectl") }, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-up-"));
  const kubeconfig = path.join(folder, "home", ".kube", "config");
  await mkdir(path.dirname(kubeconfig), { recursive: true });
  await writeFile(kubeconfig, CONFIG);
  const { KUBECONFIG: _, BINNACLE_DATA_DIR: __, XDG_STATE_HOME: ___, ...rest } = process.env;
  const env = { ...rest, HOME: path.join(folder, "home") };
  const binnacle = (...args: string[]) =>
    new Promise<CommandResult>((resolve) => {
      execFile(process.execPath, [cli, ...args], { cwd: folder, env }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
      });
    });
  const succeed = async (...args: string[]) => {
    const { code, stdout, stderr } = await binnacle(...args);
    assert.equal(code, 0, `${args.join(" ")}:\n${stdout}${stderr}`);
    return stdout;
  };
  const kubectl = kubectlFor(kubeconfig);
  after(async () => {
    await binnacle("down");
    await rm(folder, { recursive: true, force: true });
  });

  test("starts in the background, and prints its address and limits", async () => {
    const out = await succeed("up", "--detach", "--secure-port=0");
    assert.match(out, /is serving https:\/\/127\.0\.0\.1:\d+$/m);
    assert.match(out, /^Controllers: {2}all that the server has$/m);
    assert.match(out, /^Cluster: {6}scheduler, 1 simulated node$/m);
    assert.match(out, /^Limits: {7}nodes are simulated: /m);
    // Commands are printed as they were typed.
    assert.ok(out.includes(`Stop:         node ${cli} down\nLog:          node ${cli} logs --follow\n`), out);
    const data = path.join(folder, "binnacle-data");
    assert.equal((await stat(data)).mode & 0o777, 0o700);
    assert.equal(await readFile(path.join(data, ".gitignore"), "utf8"), "*\n");
    const { stdout } = await kubectl(["get", "namespaces", "-o", "name"]);
    assert.match(stdout, /^namespace\/default$/m);
  });

  test("runs what kubectl creates", async () => {
    await kubectl(["create", "deployment", "web", "--image=nginx", "--replicas=3"]);
    await kubectl(["rollout", "status", "deployment", "web"]);
    await kubectl(["expose", "deployment", "web", "--port=80", "--type=LoadBalancer"]);
    await kubectl(["wait", "--for=jsonpath={.status.loadBalancer.ingress[0].ip}", "service/web"]);
    await kubectl(["create", "job", "once", "--image=busybox"]);
    await kubectl(["wait", "--for=condition=Complete", "job/once", "--timeout=300s"]);
    const { stdout } = await kubectl(["get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}"]);
    assert.equal(stdout, "node-1 node-1 node-1 node-1");
    await kubectl(["delete", "deployment/web", "service/web", "job/once", "--wait"]);
  });

  test("starts once", async () => {
    assert.match(await succeed("up"), /^Binnacle is already running at https:/);
  });

  test("prints its status", async () => {
    assert.match(await succeed("status"), /^Serving https:/);
    const facts = JSON.parse(await succeed("status", "--output=json"));
    assert.equal(facts.running, true);
    assert.deepEqual(facts.merged, { file: kubeconfig, context: "binnacle", previous: "theirs" });
    assert.ok(facts.bytes > 0 && facts.runs.includes("namespace-controller"));
  });

  test("is listed by status --all in other folders", async () => {
    const other = await mkdtemp(path.join(tmpdir(), "binnacle-other-"));
    try {
      const listed = (...args: string[]) =>
        promisify(execFile)(process.execPath, [cli, "status", "--all", ...args], { cwd: other, env });
      const { stdout } = await listed("--output=json");
      const [facts, ...rest] = JSON.parse(stdout);
      assert.deepEqual([facts.dataDir, facts.running, rest], [path.join(folder, "binnacle-data"), true, []]);
      const table = (await listed()).stdout;
      assert.match(
        table,
        /^URL +PROCESS +SINCE +DATA FOLDER\nhttps:\/\/127\.0\.0\.1:\d+ +\d+ +\S+ +\S+binnacle-data\n/,
      );
    } finally {
      await rm(other, { recursive: true });
    }
  });

  test("applies manifests, definitions and namespaces first", async () => {
    await writeFile(path.join(folder, "app.yaml"), MANIFESTS);
    const first = "namespace/shop created\ncustomresourcedefinition/fruits.shop.example.com created\n";
    assert.equal(await succeed("apply", "-f", "app.yaml"), `${first}fruit/apple created\nconfigmap/colors created\n`);
    assert.match(await succeed("apply", "-f", "app.yaml"), /^configmap\/colors applied$/m);
    await writeFile(path.join(folder, "bad.yaml"), "{apiVersion: v1, kind: ConfigMap, metadata: {name: A}}");
    const { code, stderr } = await binnacle("apply", "-f", "bad.yaml");
    assert.equal(code, 1);
    assert.match(stderr, /bad\.yaml: ConfigMap "A" is invalid: [\s\S]*1 of 1 objects were rejected/);
  });

  test("has its own log and kubeconfig", async () => {
    assert.match(await succeed("logs"), /is serving https:/);
    const own = (await succeed("kubeconfig", "--path")).trim();
    assert.equal(await succeed("kubeconfig"), await readFile(own, "utf8"));
  });

  test("stops, restores the previous context, and starts again at the same address with its objects", async () => {
    const { url } = JSON.parse(await succeed("status", "-o", "json"));
    assert.match(await succeed("down"), /^Stopped \(process \d+\)\.$/m);
    assert.match(await readFile(kubeconfig, "utf8"), /^current-context: theirs$/m);
    for (const flags of [[], ["--all"]]) assert.equal((await binnacle("status", ...flags)).code, 3);
    assert.match(await succeed("down"), /^No server is running/);
    const out = await succeed("up", "-d");
    assert.ok(out.includes(url), `${url} in ${out}`);
    const { stdout } = await kubectl(["get", "configmap", "colors", "-n", "shop", "-o", "name"]);
    assert.equal(stdout, "configmap/colors\n");
  });

  test("starts on another port if its own is in use, and stops although it stays a zombie", async () => {
    await succeed("down");
    const { port } = JSON.parse(await readFile(path.join(folder, "binnacle-data", "instance.json"), "utf8"));
    const stranger = createServer((socket) => socket.end("hello")).listen(port, "127.0.0.1");
    await once(stranger, "listening");
    // sleep does not reap its child processes.
    const negligent = spawn("sh", ["-c", '"$0" "$1" up >log 2>&1 & exec sleep 600', process.execPath, cli], {
      cwd: folder,
      env,
    });
    try {
      const log = () => readFile(path.join(folder, "log"), "utf8").catch(() => "");
      await eventually(async () => (await log()).includes("Stop:"));
      const { running, url } = JSON.parse(await succeed("status", "-o", "json"));
      assert.ok(running && !url.endsWith(`:${port}`), url);
      assert.equal((await kubectl(["get", "namespace", "shop"])).code, 0);
      assert.match(await succeed("down"), /^Stopped \(process/);
    } finally {
      negligent.kill();
      stranger.close();
    }
    await succeed("up", "-d");
  });

  test("ends quietly if its output is closed", async () => {
    const script = '"$0" "$1" plugins | true; "$0" "$1" plugins | head -1';
    const { stdout, stderr } = await promisify(execFile)("sh", ["-c", script, process.execPath, cli], {
      cwd: folder,
      env,
    });
    assert.match(stdout, /^Enabled in this order/);
    assert.equal(stderr, "");
  });

  test("reset deletes all objects, and --all the folder and the context", async () => {
    assert.match(await succeed("reset"), /^Stopped \(process \d+\)\.\nDeleted all objects/);
    await succeed("up", "-d");
    assert.equal((await kubectl(["get", "namespace", "shop"])).code, 1);
    await succeed("reset", "--all");
    assert.ok(!(await readFile(kubeconfig, "utf8")).includes("binnacle"));
    await assert.rejects(stat(path.join(folder, "binnacle-data")), { code: "ENOENT" });
  });

  test("runs a program, and exits with its code", async () => {
    const program = 'process.stdout.write(process.env.KUBECONFIG + "\\n"); process.exit(7)';
    const { code, stdout, stderr } = await binnacle("run", "--", process.execPath, "-e", program);
    assert.equal(code, 7, stderr);
    assert.match(stdout, /binnacle-run-\w+\/kubeconfig\n$/);
    await assert.rejects(stat(path.dirname(stdout.trim())), { code: "ENOENT" });
    const missing = await binnacle("run", "--", "no-such-program");
    assert.match(missing.stderr, /^binnacle: no-such-program: program not found\n/m);
  });

  test("forwards signals to the program, and exits with its code", async () => {
    const program = 'process.on("SIGTERM", () => process.exit(5)); process.stdin.resume(); console.log("there")';
    const run = spawn(process.execPath, [cli, "run", "--", process.execPath, "-e", program], { cwd: folder, env });
    const exited = once(run, "exit");
    await once(run.stdout, "data");
    run.kill("SIGTERM");
    assert.deepEqual(await exited, [5, null]);
  });

  test("is completed by bash", async () => {
    await writeFile(path.join(folder, "completion.bash"), await succeed("completion", "bash"));
    const complete = (...words: string[]) =>
      `COMP_WORDS=(binnacle ${words.join(" ")}); COMP_CWORD=${words.length}; _binnacle; echo "\${COMPREPLY[@]}"`;
    const script = [
      "source completion.bash",
      complete("sta"),
      complete("serve", "--etcd-s"),
      complete("completion", "z"),
    ];
    const bash = spawn("bash", ["-c", script.join("\n")], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    for await (const chunk of bash.stdout.setEncoding("utf8")) text += chunk;
    assert.equal(text, "status\n--etcd-servers\nzsh\n");
  });

  test("stops in the foreground after a signal, and prints that", async () => {
    const args = [cli, "up", "--memory", "--no-merge", "--secure-port=0"];
    const up = spawn(process.execPath, args, { cwd: folder, env: { ...env, PATH: folder } });
    const exited = once(up, "exit");
    let text = "";
    up.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      const wasThere = text.includes("Stop:");
      text += chunk;
      if (!wasThere && text.includes("Stop:")) up.kill("SIGINT");
    });
    assert.deepEqual(await exited, [0, null]);
    assert.match(text, /Objects: +in memory[\s\S]*\nStopping; [^\n]*\nStopped\.\n$/);
    assert.match(
      text,
      /kubectl --kubeconfig binnacle-data\/kubeconfig create deployment web --image=nginx --replicas=3\n/,
    );
    assert.match(text, /kubectl is not installed: https:/);
    assert.ok(!(await readFile(kubeconfig, "utf8")).includes("binnacle"));
  });
});
