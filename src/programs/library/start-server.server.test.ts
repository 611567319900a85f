import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { clientFor } from "../../../test/support/client.ts";
import { OptionsError } from "./options.ts";
import { startServer } from "./start-server.ts";

let folder = "";
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "binnacle-library-"));
});
after(() => rm(folder, { recursive: true, force: true }));

const quiet = { log: false, shutdownGraceMs: 0 } as const;

/** Which files the process has open below a folder, as far as the system tells. */
async function openFiles(place: string): Promise<string[]> {
  const { readlink } = await import("node:fs/promises");
  const handles = await readdir("/proc/self/fd").catch(() => []);
  const targets = await Promise.all(handles.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => "")));
  return targets.filter((target) => target.startsWith(place));
}

suite("startServer of the library", () => {
  test("listens on a free port and writes no files by default", async () => {
    const before = await readdir(process.cwd());
    await using server = await startServer({ log: false });
    const answer = await clientFor(server.url, server.token).call("GET", "/api/v1/namespaces/default");
    assert.equal(answer.status, 200);
    assert.match(server.ca, /^-----BEGIN CERTIFICATE-----/);
    assert.ok(server.kubeconfig.includes(`server: ${server.url}`));
    assert.equal(server.kubeconfigFile, undefined);
    assert.deepEqual(await readdir(process.cwd()), before);
    await server.close();
    await assert.rejects(clientFor(server.url, server.token).call("GET", "/version"), /ECONNREFUSED|socket hang up/);
  });

  test("completes partial groups of options with defaults", async () => {
    await using server = await startServer({ ...quiet, serviceAccounts: { issuers: ["https://me.example"] } });
    const client = clientFor(server.url, server.token);
    const { body } = await client.call("GET", "/.well-known/openid-configuration");
    assert.equal(body.issuer, "https://me.example");
    await client.call("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "robot" } });
    const token = await client.call("POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", {
      ...{ kind: "TokenRequest", apiVersion: "authentication.k8s.io/v1", spec: {} },
    });
    assert.equal(token.status, 201);
  });

  test("writes to the given log", async () => {
    const lines: string[] = [];
    const say = (text: string) => void lines.push(text);
    const blocker = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => blocker.once("listening", resolve));
    const { port } = blocker.address() as { port: number };
    blocker.close();
    await using server = await startServer({
      ...{ ...quiet, log: { error: say, warn: say, info: say } },
      insecurePort: port,
    });
    assert.ok(server.insecureUrl);
    assert.deepEqual(lines, ["insecure port: every local process is cluster-admin"]);
  });

  const wrong: readonly [options: unknown, problem: RegExp][] = [
    [{ securePrt: 1 }, /^invalid option securePrt: no such option, did you mean securePort\?$/],
    [{ securePort: 70_000 }, /^invalid option securePort: expected a port from 0 to 65535, got 70000$/],
    [{ store: "memory" }, /^invalid option store: expected \{ type: "memory" \} or .* got "memory"$/],
    [{ store: { type: "sqlite" } }, /got \{"type":"sqlite"\}$/],
    [
      { log: true },
      /^invalid option log: expected false, or an object with the functions error, warn, info, got true$/,
    ],
    [{ serviceClusterIpRange: "10.0.0.0" }, /serviceClusterIpRange: expected a CIDR such as/],
    [{ customObjects: "none" }, /customObjects: expected "open" or "defined", got "none"$/],
    [{ serviceAccounts: { isuers: [] } }, /serviceAccounts.isuers: no such option, did you mean issuers\?/],
    [{ featureGates: { A: "on" } }, /featureGates: expected an object of feature gates/],
    [
      { constructor: 1, eventTtlMs: -1 },
      /^invalid options:\n {2}constructor: .*\n {2}eventTtlMs: expected milliseconds/,
    ],
    [[], /expected an object of options/],
  ];
  for (const [options, problem] of wrong) {
    test(`rejects ${JSON.stringify(options)}`, async () => {
      await assert.rejects(startServer(options as never), (error: unknown) => {
        assert.ok(error instanceof OptionsError);
        assert.match(error.message, problem);
        return true;
      });
    });
  }

  test("rejects values that are checked later", async () => {
    await assert.rejects(startServer({ ...quiet, controllers: "nobody" }), /"nobody" is not in the list/);
    await assert.rejects(startServer({ ...quiet, featureGates: { NoSuchGate: true } }), /NoSuchGate/);
  });

  test("a failed start leaves nothing open", async () => {
    const file = path.join(folder, "failed.db");
    const store = { type: "sqlite", file } as const;
    const busy = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => busy.once("listening", resolve));
    const { port } = busy.address() as { port: number };
    const failures = [{ securePort: port }, { insecurePort: port }, { controllers: "nobody" }, { tlsCertFile: file }];
    for (const failure of failures) {
      await assert.rejects(startServer({ ...quiet, store, ...failure }));
      assert.deepEqual(await openFiles(folder), [], JSON.stringify(failure));
    }
    busy.close();
    await using server = await startServer({ ...quiet, store });
    assert.equal((await clientFor(server.url, server.token).call("GET", "/readyz")).status, 200);
  });
});

suite("servers that share a folder", () => {
  test("each has its own kubeconfig, and the first has the default name", async () => {
    const certDir = path.join(folder, "two");
    await using first = await startServer({ ...quiet, certDir });
    await using second = await startServer({ ...quiet, certDir });
    assert.equal(first.kubeconfigFile, path.join(certDir, "kubeconfig"));
    assert.notEqual(second.kubeconfigFile, first.kubeconfigFile);
    for (const { kubeconfigFile = "", url, kubeconfig } of [first, second]) {
      const text = await readFile(kubeconfigFile, "utf8");
      assert.ok(text.includes(`server: ${url}\n`));
      assert.equal(text, kubeconfig);
    }
    await first.close();
    await using third = await startServer({ ...quiet, certDir });
    assert.equal(third.kubeconfigFile, first.kubeconfigFile, "the first server is gone");
  });

  test("ten that start at once have the same CA and token", async () => {
    const certDir = path.join(folder, "ten");
    const starts = Array.from({ length: 10 }, () => startServer({ ...quiet, controllers: "none", certDir }));
    const servers = await Promise.all(starts);
    try {
      assert.equal(new Set(servers.map(({ token }) => token)).size, 1);
      assert.equal(new Set(servers.map(({ ca }) => ca)).size, 1);
      assert.equal(new Set(servers.map(({ kubeconfigFile }) => kubeconfigFile)).size, 10);
    } finally {
      await Promise.all(servers.map((server) => server.close()));
    }
    assert.ok(!(await readdir(certDir)).includes(".lock"));
  });
});
