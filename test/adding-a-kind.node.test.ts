import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { defaultConfig } from "../src/programs/server/config.ts";
import { checkKind } from "./kinds/kind-suite.ts";
import { type Client, clientFor } from "./support/client.ts";
import { needs } from "./support/tools.ts";

const root = path.join(import.meta.dirname, "..");
const NAMESPACE = "harbor";
const MERGE = { "content-type": "application/merge-patch+json" };
const BUOYS = `/apis/node.k8s.io/v1/namespaces/${NAMESPACE}/buoys`;

/** The blocks of one language in the document, in order. */
async function blocks(language: string): Promise<string[]> {
  const text = await readFile(path.join(root, "docs", "internals", "adding-a-kind.md"), "utf8");
  return [...text.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, "g"))].map((match) => match[1] ?? "");
}

/** Copies the sources to a folder and follows the document there. */
async function followDocument(tree: string): Promise<void> {
  for (const part of ["src", "schemas", "package.json", "test/kinds", "test/support", "test/golden/scenarios"]) {
    await cp(path.join(root, part), path.join(tree, part), { recursive: true });
  }
  await symlink(path.join(root, "node_modules"), path.join(tree, "node_modules"));
  const [schema = "", fact = ""] = await blocks("json");
  const [row = ""] = await blocks("ts");
  await edit(path.join(tree, "schemas/node_v1.json"), (text) => {
    const file = JSON.parse(text);
    return JSON.stringify({ ...file, components: { ...file.components, ...JSON.parse(schema) } });
  });
  await edit(path.join(tree, "src/kinds/built-in/node/group.ts"), (text) =>
    text.replace(/^\]\);$/m, () => `${row}]);`),
  );
  await edit(path.join(tree, "src/kinds/built-in/kinds.fixture.json"), (text) =>
    JSON.stringify([...JSON.parse(text), JSON.parse(fact)]),
  );
}

/** Starts the server of a copy. */
async function serve(tree: string) {
  const load = (file: string) => import(pathToFileURL(path.join(tree, file)).href);
  const { startServer }: typeof import("../src/programs/server/server.ts") = await load(
    "src/programs/server/server.ts",
  );
  const { systemEnvironment }: typeof import("../src/base/log/system-environment.ts") = await load(
    "src/base/log/system-environment.ts",
  );
  const { builtInKinds }: typeof import("../src/kinds/built-in/all.ts") = await load("src/kinds/built-in/all.ts");
  const own = { certDir: path.join(tree, "data"), securePort: 0, controllers: "none", shutdownGraceMs: 100 };
  const server = await startServer({ ...defaultConfig, ...own }, systemEnvironment());
  return { server, client: clientFor(server.url, server.token), kinds: builtInKinds() };
}

async function edit(file: string, change: (text: string) => string): Promise<void> {
  const before = await readFile(file, "utf8");
  const after = change(before);
  assert.notEqual(after, before, `${file} changes`);
  await writeFile(file, after);
}

suite("a kind added as the document says", () => {
  let running: Awaited<ReturnType<typeof serve>>;
  let tree = "";
  before(async () => {
    tree = await mkdtemp(path.join(tmpdir(), "binnacle-toy-"));
    await followDocument(tree);
    running = await serve(tree);
  });
  after(async () => {
    await running?.server.close();
    await rm(tree, { recursive: true, force: true });
  });
  const withClient = (name: string, check: (client: Client) => Promise<void>) =>
    test(name, () => check(running.client));

  test("passes the kind suite: discovery, OpenAPI, table, watch, patch, apply and the rest", async () => {
    const { client, kinds } = running;
    const definition = kinds.find(({ kind }) => kind === "Buoy");
    assert.ok(definition);
    const place = { namespace: "buoy-suite", id: "one", number: 1 };
    await checkKind({ client, definition, version: "v1", place });
  });

  withClient("has its defaults, its columns and a generation", async (client) => {
    await client.call("POST", "/api/v1/namespaces", { metadata: { name: NAMESPACE } });
    const created = await client.call("POST", BUOYS, { metadata: { name: "one" }, spec: { depthMeters: 7 } });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    assert.deepEqual(created.body.spec, { color: "red", depthMeters: 7 });
    assert.equal(created.body.metadata.generation, 1);
    const patched = await client.call("PATCH", `${BUOYS}/one`, { spec: { color: "green" } }, MERGE);
    assert.equal(patched.body.metadata.generation, 2);
    const table = await client.call("GET", BUOYS, undefined, {
      accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    });
    assert.deepEqual(
      table.body.columnDefinitions.map(({ name }: { name: string }) => name),
      ["Name", "Color", "Age"],
    );
    assert.deepEqual(table.body.rows[0].cells.slice(0, 2), ["one", "green"]);
  });

  withClient("takes sets from several appliers, as its schema says", async (client) => {
    const apply = (manager: string, marks: string[]) =>
      client.call(
        "PATCH",
        `${BUOYS}/two?fieldManager=${manager}`,
        { apiVersion: "node.k8s.io/v1", kind: "Buoy", metadata: { name: "two" }, spec: { marks } },
        { "content-type": "application/apply-patch+yaml" },
      );
    assert.equal((await apply("a", ["north"])).status, 201);
    assert.deepEqual((await apply("b", ["south"])).body.spec.marks, ["north", "south"]);
  });

  withClient("refuses names against its rule, values of another type and fields it does not have", async (client) => {
    const named = await client.call("POST", BUOYS, { metadata: { name: "not.a.label" }, spec: {} });
    assert.equal(named.status, 422);
    assert.equal(named.body.details.causes[0].field, "metadata.name");
    const typed = await client.call("POST", BUOYS, { metadata: { name: "three" }, spec: { depthMeters: "deep" } });
    assert.equal(typed.status, 400);
    const unknown = { metadata: { name: "three" }, spec: { anchor: true } };
    assert.equal((await client.call("POST", `${BUOYS}?fieldValidation=Strict`, unknown)).status, 400);
  });

  test("passes the tests that the document names", needs("etcd"), async () => {
    const [command = ""] = await blocks("sh");
    const [program, ...words] = command.trim().split(" ");
    assert.equal(program, "node");
    const [suites, files] = [true, false].map((isSuite) =>
      words.filter((word) => word.endsWith(".ts") && word.includes("kind-suite") === isSuite),
    );
    await runTests(tree, files ?? []);
    // The other kinds are tried where this suite runs by itself.
    const text = await runTests(tree, ["--test-name-pattern=^buoys", ...(suites ?? [])]);
    assert.match(text, /^# pass 3$/m);
  });
});

/** Runs tests of a copy; gives what they print. */
async function runTests(tree: string, words: readonly string[]): Promise<string> {
  // Without it the runner would take itself for a part of this one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ["--test", "--test-reporter=tap", ...words];
  const child = spawn(process.execPath, args, { cwd: tree, env, stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const text = (await child.stdout.setEncoding("utf8").toArray()).join("");
  const [code] = await exited;
  assert.equal(code, 0, text);
  return text;
}
