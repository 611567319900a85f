import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, type SecureClientSessionOptions } from "node:http2";
import { request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { systemEnvironment } from "../../src/base/log/system-environment.ts";
import { type Identity, makeCa, makeIdentity } from "../../src/base/pki/make-certificate.ts";
import { defaultConfig } from "../../src/programs/server/config.ts";
import { type Server, startServer } from "../../src/programs/server/server.ts";

const MASTERS = "system:masters";
const REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const REMOTE = { "x-remote-user": "admin", "x-remote-group": MASTERS };
const BODY = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });

type Headers = Readonly<Record<string, string>>;

/** Who the server takes a client for: its user name, and whether it may read Secrets. */
interface Taken {
  readonly status: number;
  readonly name: string | undefined;
  readonly readsSecrets: boolean;
}

suite("certificates that claim system:masters", { timeout: 120_000 }, () => {
  const now = Date.now();
  const clients = makeCa("clients", now);
  const proxies = makeCa("proxies", now);
  const strangers = makeCa("clients", now);
  let folder: string;
  let server: Server;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-certificates-"));
    const write = async (name: string, text: string) => {
      const file = path.join(folder, name);
      await writeFile(file, text);
      return file;
    };
    const frontProxy = {
      clientCaFile: await write("proxies.crt", proxies.certificate),
      allowedNames: ["front"],
      usernameHeaders: ["X-Remote-User"],
      uidHeaders: ["X-Remote-Uid"],
      groupHeaders: ["X-Remote-Group"],
      extraHeaderPrefixes: ["X-Remote-Extra-"],
    };
    const clientCaFile = await write("clients.crt", clients.certificate);
    const authentication = { ...defaultConfig.authentication, frontProxy };
    const own = { securePort: 0, controllers: "none", shutdownGraceMs: 100, clientCaFile, authentication } as const;
    server = await startServer({ ...defaultConfig, ...own }, systemEnvironment());
  });
  after(async () => {
    await server?.close();
    await rm(folder, { recursive: true });
  });

  const make = (issuer: Identity, commonName: string, ...organizations: string[]): Identity =>
    makeIdentity(issuer, { commonName, organizations }, "client", now);
  const call = (method: string, url: string, identity: Identity | undefined, headers: Headers, body?: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const tls = identity && { cert: identity.certificate, key: identity.key };
      const sent = { ...headers, ...(body !== undefined && { "content-type": "application/json" }) };
      const options = { method, headers: sent, rejectUnauthorized: false, agent: false as const, ...tls };
      const outgoing = request(`${server.url}${url}`, options, async (response) => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(await response.toArray()).toString() });
      });
      outgoing.on("error", reject).end(body);
    });
  const ask = async (identity: Identity | undefined, headers: Headers = {}): Promise<Taken> => {
    const { status, text } = await call("POST", REVIEWS, identity, headers, BODY);
    const name = status === 201 ? JSON.parse(text).status.userInfo.username : undefined;
    const secrets = await call("GET", "/api/v1/secrets", identity, headers);
    return { status, name, readsSecrets: secrets.status === 200 };
  };
  const refused = { status: 401, name: undefined, readsSecrets: false };

  test("count if the client CA signed them, and only then", async () => {
    assert.deepEqual(await ask(make(clients, "root", MASTERS)), { status: 201, name: "root", readsSecrets: true });
    assert.deepEqual(await ask(make(strangers, "root", MASTERS)), refused, "a CA of the same name");
    assert.deepEqual(await ask(make(makeCa("other", now), "root", MASTERS)), refused);
    const server = makeIdentity(clients, { commonName: "root", organizations: [MASTERS] }, "server", now);
    assert.deepEqual(await ask(server), refused, "a certificate of a server");
  });

  test("do not count if the front proxy's CA signed them", async () => {
    assert.deepEqual(await ask(make(proxies, "front", MASTERS)), refused);
    assert.deepEqual(await ask(make(proxies, "root", MASTERS)), refused);
    assert.deepEqual(await ask(make(proxies, "other", MASTERS), REMOTE), refused, "a name that is not allowed");
  });

  test("and X-Remote-* headers count from the front proxy only", async () => {
    assert.deepEqual(await ask(make(proxies, "front"), REMOTE), { status: 201, name: "admin", readsSecrets: true });
    const bob = { status: 201, name: "bob", readsSecrets: false };
    assert.deepEqual(await ask(make(clients, "bob"), REMOTE), bob);
    assert.deepEqual(
      await ask(make(clients, "front"), REMOTE),
      { ...bob, name: "front" },
      "its name alone is not enough",
    );
    assert.deepEqual(await ask(make(strangers, "front"), REMOTE), refused);
    const { readsSecrets, name } = await ask(undefined, REMOTE);
    assert.deepEqual([readsSecrets, name === "admin"], [false, false], "no certificate");
  });

  test("and headers that name the group in another way do not", async () => {
    const bob = make(clients, "bob");
    const attempts: readonly Headers[] = [
      { "impersonate-user": "root", "impersonate-group": MASTERS },
      { "impersonate-user": "bob", "impersonate-group": MASTERS },
      { "impersonate-group": MASTERS },
      { "impersonate-user": "root", ...REMOTE },
      { x_remote_user: "root", x_remote_group: MASTERS },
      { connection: "x-remote-user, authorization", ...REMOTE },
    ];
    for (const headers of attempts) {
      assert.equal((await ask(bob, headers)).readsSecrets, false, JSON.stringify(headers));
    }
    const front = make(proxies, "front");
    const escalated = { "x-remote-user": "bob", "x-remote-extra-group": MASTERS, "x-remote-groups": MASTERS };
    assert.deepEqual(await ask(front, escalated), { status: 201, name: "bob", readsSecrets: false });
  });

  test("count for their own requests only if a connection carries several", async () => {
    const front = make(proxies, "front");
    const tls: SecureClientSessionOptions = { cert: front.certificate, key: front.key, rejectUnauthorized: false };
    const session = connect(server.url, tls);
    const get = (headers: Headers) =>
      new Promise<number>((resolve, reject) => {
        const stream = session.request({ ":path": "/api/v1/secrets", ...headers });
        stream.on("response", (found) => resolve(Number(found[":status"]))).on("error", reject);
        stream.resume().end();
      });
    const bob = { "x-remote-user": "bob" };
    const wanted = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? REMOTE : bob));
    const statuses = await Promise.all(wanted.map(get));
    session.close();
    assert.deepEqual(
      statuses,
      wanted.map((headers) => (headers === REMOTE ? 200 : 403)),
    );
  });
});
