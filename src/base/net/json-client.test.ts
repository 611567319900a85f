import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, suite, test } from "node:test";
import { printKubeconfig } from "../../data/kubeconfig/kubeconfig.ts";
import { readKubeconfig } from "../../data/kubeconfig/kubeconfig-read.ts";
import { makeCa, makeIdentity } from "../pki/make-certificate.ts";
import { systemClock } from "../util/clock.ts";
import { JsonClient } from "./json-client.ts";

suite("JsonClient with a kubeconfig", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-kubeconfig-"));
  after(() => rm(folder, { recursive: true }));
  const write = async (name: string, text: string): Promise<string> => {
    const file = path.join(folder, name);
    await writeFile(file, text);
    return file;
  };

  test("posts JSON with a token, checking the server's certificate", async (t) => {
    const now = Date.now();
    const authority = makeCa("test", now);
    const subject = { commonName: "server", hosts: ["127.0.0.1"] };
    const identity = makeIdentity(authority, subject, "server", now);
    const seen: unknown[] = [];
    const server = createServer({ cert: identity.certificate, key: identity.key }, (request, response) => {
      seen.push([request.method, request.url, request.headers.authorization, request.headers["content-type"]]);
      request.pipe(response.writeHead(201));
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    t.after(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo;
    const url = `https://127.0.0.1:${port}/base/`;
    const text = printKubeconfig({ server: url, authority: authority.certificate, user: { token: "t" } });
    const client = new JsonClient(await readKubeconfig(await write("ok", text)), systemClock);
    const limits = { timeoutMs: 5000, maxBytes: 100 };
    const answer = await client.post('{"a":1}', { ...limits, path: "/x" });
    assert.deepEqual([answer.status, answer.body.toString()], [201, '{"a":1}']);
    assert.deepEqual(seen, [["POST", "/base/x", "Bearer t", "application/json"]]);
    await assert.rejects(client.post("x".repeat(101), limits), /larger than 100 bytes/);
    const stranger = printKubeconfig({
      server: url,
      authority: makeCa("other", now).certificate,
      user: undefined,
    });
    const distrusting = new JsonClient(await readKubeconfig(await write("other", stranger)), systemClock);
    await assert.rejects(distrusting.post("{}", limits), /certificate|signature/);
    client.close();
    distrusting.close();
  });

  test("errors about unusable files name the file but not its content", async () => {
    const cluster =
      "clusters: [{name: c, cluster: {server: 'https://x'}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n";
    const cases: [string, RegExp][] = [
      ["a: [", /is not valid YAML/],
      ["{}", /has no context/],
      ["contexts: [{name: a, context: {cluster: c}}]", /has no cluster "c"/],
      ["current-context: b\ncontexts: [{name: a, context: {cluster: c}}]", /has no context "b"/],
      [`${cluster}users: []`, /has no user "u"/],
      [
        `${cluster}users: [{name: u, user: {exec: {command: geheim}}}]`,
        /: exec credentials are not supported; use a kubeconfig with a token or a client certificate$/,
      ],
      [
        `${cluster}users: [{name: u, user: {auth-provider: {name: geheim}}}]`,
        /: auth-provider credentials are not supported; use a kubeconfig with a token or a client certificate$/,
      ],
      [cluster.replace("https://x", "ftp://geheim"), /no http or https URL|has no user/],
      ["#".repeat(1024 * 1024 + 1), /larger than/],
    ];
    for (const [text, expected] of cases) {
      const file = await write("bad", text);
      await assert.rejects(readKubeconfig(file), (error: Error) => {
        assert.match(error.message, expected);
        assert.ok(error.message.includes(file) && !error.message.includes("geheim"), error.message);
        return true;
      });
    }
    await assert.rejects(readKubeconfig(path.join(folder, "missing")), /missing/);
  });

  test("reads a token file again for every request", async () => {
    const token = await write("token", "one\n");
    const text = `clusters: [{name: c, cluster: {server: 'http://x'}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {tokenFile: token}}]`;
    const access = await readKubeconfig(await write("with-file", text));
    assert.equal(await access.authorization(), "Bearer one");
    await writeFile(token, "two");
    assert.equal(await access.authorization(), "Bearer two");
    const basic = await readKubeconfig(
      await write("basic", text.replace("tokenFile: token", "username: a, password: b")),
    );
    assert.equal(await basic.authorization(), "Basic YTpi");
  });
});
