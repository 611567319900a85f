import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { bundle, declare } from "../tools/build.ts";

const run = promisify(execFile);
const root = path.join(import.meta.dirname, "..");
const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");

/** Everything that has a file of its own because most servers never need it, or another thread runs it. */
const PROGRAM = `
  import assert from "node:assert/strict";
  import { request } from "node:https";
  import { OptionsError, startServer } from "binnacle";
  import { startControlPlane } from "binnacle/testing";

  await using server = await startServer({
    store: { type: "sqlite", file: "store.db" },
    admission: { functionFiles: ["functions.mjs"] },
    log: false,
    shutdownGraceMs: 0,
  });
  const call = (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: "Bearer " + server.token, "content-type": "application/json" };
      const outgoing = request(server.url + path, { method, headers, ca: server.ca, agent: false }, async (response) => {
        resolve({ status: response.statusCode, text: Buffer.concat(await response.toArray()).toString() });
      });
      outgoing.on("error", reject).end(body && JSON.stringify(body));
    });
  const maps = "/api/v1/namespaces/default/configmaps";
  const large = { metadata: { name: "large" }, data: { value: "x".repeat(200_000) } };
  // What functions of admission concern stays in the server's own thread.
  const secret = { metadata: { name: "large" }, stringData: { value: "x".repeat(200_000) } };
  assert.equal((await call("POST", "/api/v1/namespaces/default/secrets", secret)).status, 201);
  assert.match((await call("GET", "/metrics")).text, /binnacle_offloaded_requests_total 1\\n/);
  const made = await call("POST", maps, large);
  assert.equal(JSON.parse(made.text).metadata.labels.by, "functions");
  assert.match((await call("GET", "/openapi/v3/api/v1")).text, /"description":"/);
  await assert.rejects(startControlPlane({ config: { securePrt: 1 } }), OptionsError);
  await using cp = await startControlPlane();
  assert.equal((await cp.fetch("/api/v1/namespaces/default")).status, 200);
`;
const FUNCTIONS = `
  export const rules = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }];
  export function mutate({ object }) {
    object.metadata.labels = { by: "functions" };
  }
`;

/** What a new server has of the kinds whose objects the package brings along, with what differs from server to server left out. */
const LISTS = `
  import { request } from "node:https";
  import { startServer } from BINNACLE;
  const paths = [
    "/api/v1/namespaces",
    "/apis/apiregistration.k8s.io/v1/apiservices",
    "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
    "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    ...["clusterroles", "clusterrolebindings", "roles", "rolebindings"].map((name) => "/apis/rbac.authorization.k8s.io/v1/" + name),
  ];
  const server = await startServer({ controllers: "none", log: false, shutdownGraceMs: 0 });
  const read = (path) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: "Bearer " + server.token };
      request(server.url + path, { headers, ca: server.ca, agent: false }, async (response) => {
        resolve(Buffer.concat(await response.toArray()).toString());
      }).on("error", reject).end();
    });
  const uids = new Set();
  for (const path of paths) {
    for (const object of JSON.parse(await read(path)).items) {
      const { uid, creationTimestamp } = object.metadata;
      if (Math.abs(Date.now() - Date.parse(creationTimestamp)) > 600_000 || uids.has(uid)) throw new Error(JSON.stringify(object));
      uids.add(uid);
      delete object.metadata.resourceVersion;
      const text = JSON.stringify(object).replaceAll(uid, "UID").replaceAll(/"20[-0-9]+T[:0-9]+Z"/g, "TIME");
      process.stdout.write(text + "\\n");
    }
  }
  await server.close();
`;

suite("the package, as npm would install it", () => {
  let folder = "";
  let installed = "";
  before(async () => {
    // Below the project, so that dependencies are found where it has them.
    await mkdir(path.join(root, ".cache"), { recursive: true });
    folder = await mkdtemp(path.join(root, ".cache", "package-"));
    installed = path.join(folder, "node_modules", "binnacle");
    const dist = path.join(installed, "dist");
    await bundle(dist);
    await declare(dist);
    const { files } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8")) as { files: string[] };
    for (const file of ["package.json", ...files.filter((name) => !/^!?dist\b/.test(name))]) {
      await cp(path.join(root, file), path.join(installed, file), { recursive: true });
    }
    await cp(path.join(root, "examples"), path.join(folder, "examples"), { recursive: true });
    await writeFile(path.join(folder, "package.json"), JSON.stringify({ type: "module" }));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test("the declarations of the public API do not lead to the whole server", async () => {
    const names = await readdir(path.join(installed, "dist"), { recursive: true });
    const declared = names.filter((name) => name.endsWith(".d.ts"));
    assert.ok(declared.length < 150, `${declared.length} files`);
    assert.ok(!declared.some((name) => name.includes(path.join("data", "cel"))), "CEL has no public types");
  });

  test("a start reads a few files instead of one per module", async () => {
    const dist = path.join(installed, "dist");
    const names = await readdir(dist);
    const begun = names.filter((name) => /^(?:command-line|serve|server|system-environment)-\w+\.js$/.test(name));
    assert.equal(begun.length, 4);
    const read = new Set<string>();
    const follow = async (name: string): Promise<void> => {
      if (read.has(name)) return;
      read.add(name);
      const text = await readFile(path.join(dist, name), "utf8");
      for (const [, next = ""] of text.matchAll(/^(?:import|\}) ?(?:from )?"\.\/([^"]+)";$/gm)) await follow(next);
    };
    for (const name of begun) await follow(name);
    assert.ok(read.size > begun.length && read.size < 70, [...read].join(" "));
    for (const entry of ["cli.js", "index.js", "testing.js"]) assert.ok(names.includes(entry), entry);
  });

  test("its command imports nothing before it knows the version of Node", async () => {
    const text = await readFile(path.join(installed, "dist", "cli.js"), "utf8");
    assert.doesNotMatch(text, /^\s*(?:import|export)[\s{"]/m);
    assert.ok(text.indexOf("nodeProblem(process.versions.node)") < text.indexOf("await import("), text);
  });

  test("has every part that is loaded late, and binnacle and binnacle/testing share theirs", async () => {
    await writeFile(path.join(folder, "program.mjs"), PROGRAM);
    await writeFile(path.join(folder, "functions.mjs"), FUNCTIONS);
    await run(process.execPath, ["program.mjs"], { cwd: folder });
  });

  test("is for require as well, which gives the same modules", async () => {
    const program = `
      const assert = require("node:assert/strict");
      const { OptionsError } = require("binnacle");
      const { startControlPlane } = require("binnacle/testing");
      assert.rejects(startControlPlane({ config: { securePrt: 1 } }), OptionsError)
        .then(() => import("binnacle/testing"))
        .then((imported) => assert.equal(imported.startControlPlane, startControlPlane));
    `;
    await writeFile(path.join(folder, "program.cjs"), program);
    await run(process.execPath, ["program.cjs"], { cwd: folder });
  });

  test("binnacle/testing has Node keep what it compiles, unless told not to", async () => {
    const program = `
      import { getCompileCacheDir } from "node:module";
      import "binnacle/testing";
      process.stdout.write(getCompileCacheDir() ?? "none");
    `;
    const cacheWith = async (variables: NodeJS.ProcessEnv) => {
      const { NODE_V8_COVERAGE: _coverage, NODE_COMPILE_CACHE: _cache, ...env } = process.env;
      const given = { ...env, ...variables, TMPDIR: folder, TEMP: folder };
      return (await run(process.execPath, ["--input-type=module", "-e", program], { cwd: folder, env: given })).stdout;
    };
    assert.ok((await cacheWith({})).startsWith(path.join(folder, "node-compile-cache")));
    const own = path.join(folder, "own-cache");
    assert.ok((await cacheWith({ NODE_COMPILE_CACHE: own })).startsWith(own));
    assert.equal(await cacheWith({ NODE_DISABLE_COMPILE_CACHE: "1" }), "none");
    assert.equal(await cacheWith({ NODE_V8_COVERAGE: path.join(folder, "coverage") }), "none");
  });

  test("a server begins with the objects that requests would have made", async () => {
    const listed = async (entry: string) => {
      await writeFile(path.join(folder, "lists.mjs"), LISTS.replace("BINNACLE", JSON.stringify(entry)));
      return (await run(process.execPath, ["lists.mjs"], { cwd: folder, maxBuffer: 2 ** 24 })).stdout
        .split("\n")
        .sort();
    };
    const known = JSON.parse(await readFile(path.join(installed, "dist", "first-objects.json"), "utf8"));
    const built = await listed("binnacle");
    assert.equal(built.length - 1, known.objects.length);
    assert.deepEqual(built, await listed(pathToFileURL(path.join(root, "src", "index.ts")).href));
  });

  test("carries the examples", async () => {
    const files = ["examples/shop/shop.test.ts", "examples/operator/operator.test.ts"];
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { stdout } = await run(process.execPath, ["--test", ...files], { cwd: folder, env });
    assert.match(stdout, /pass 31$/m);
  });

  test("has declarations with which the examples compile", async () => {
    const compilerOptions = {
      ...{ target: "es2024", lib: ["es2024", "esnext.disposable"], module: "nodenext", types: ["node"], strict: true },
      ...{ noEmit: true, allowImportingTsExtensions: true, exactOptionalPropertyTypes: true },
    };
    await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["examples"] }));
    await run(process.execPath, [tsc, "-p", folder]);
  });

  test("its command tells its flags", async () => {
    const { stdout } = await run(process.execPath, [path.join(installed, "dist", "cli.js"), "serve", "--help"]);
    assert.match(stdout, /--etcd-servers/);
  });
});
