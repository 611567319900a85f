import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import http2 from "node:http2";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import tls from "node:tls";
import { eventually } from "../../../test/support/time.ts";
import { makeCa, makeIdentity } from "../../base/pki/make-certificate.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { type Config, defaultConfig } from "../../programs/server/config.ts";
import { type Server, startServer } from "../../programs/server/server.ts";

const DAY_MS = 86_400_000;
const environment = drivenEnvironment();
const { clock, lines } = environment;
let folder = "";
let server: Server | undefined;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "binnacle-renewal-"));
  clock.set(Date.now());
  lines.length = 0;
});
afterEach(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

const start = async (more: Partial<Config> = {}): Promise<string> => {
  const config = { ...defaultConfig, securePort: 0, certDir: path.join(folder, "data"), controllers: "none" };
  server = await startServer({ ...config, shutdownGraceMs: 0, ...more }, environment);
  return server.url;
};

/** The certificate that a new connection gets. */
const shownBy = async (url: string): Promise<X509Certificate> => {
  const port = Number(new URL(url).port);
  const socket = tls.connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const certificate = socket.getPeerX509Certificate();
  socket.destroy();
  assert.ok(certificate);
  return certificate;
};

const look = () => clock.advance(10_000);

test("renews the generated serving certificate and the administrator's before they expire", async () => {
  const url = await start();
  const read = (name: string) => readFile(path.join(folder, "data", name), "utf8");
  const [ca, admin, first] = [await read("ca.crt"), await read("admin.crt"), await shownBy(url)];
  const session = http2.connect(url, { rejectUnauthorized: false });
  await once(session, "connect");
  clock.set(Date.parse(first.validTo) - 31 * DAY_MS);
  await look();
  assert.equal((await shownBy(url)).fingerprint256, first.fingerprint256, "no renewal is due yet");

  clock.set(Date.parse(first.validTo) - 29 * DAY_MS);
  await look();
  const isNew = async () => (await shownBy(url)).fingerprint256 !== first.fingerprint256;
  await eventually(isNew, { what: "another certificate" });
  const second = await shownBy(url);
  assert.ok(second.verify(new X509Certificate(ca).publicKey));
  assert.ok(Date.parse(second.validTo) > Date.parse(first.validTo));
  assert.equal(await read("ca.crt"), ca);
  assert.notEqual(await read("admin.crt"), admin);
  const request = session.request({ ":path": "/livez" });
  const [headers] = await once(request, "response");
  assert.equal(headers[":status"], 200, "an open connection keeps working");
  session.destroy();
  assert.deepEqual(
    lines.map(({ text }) => text),
    ["serving certificate renewed for new connections"],
  );
});

test("reloads configured files when they change and ignores mismatched ones", async () => {
  const ca = makeCa("test", Date.now());
  const [one, two] = ["one", "two"].map((commonName) =>
    makeIdentity(ca, { commonName, hosts: ["127.0.0.1"] }, "server", Date.now()),
  );
  assert.ok(one && two);
  const files = { tlsCertFile: path.join(folder, "tls.crt"), tlsPrivateKeyFile: path.join(folder, "tls.key") };
  const write = async (certificate: string, key: string) => {
    await writeFile(files.tlsCertFile, certificate);
    await writeFile(files.tlsPrivateKeyFile, key);
  };
  await write(one.certificate, one.key);
  const url = await start(files);
  const isShown = async (pem: string) =>
    (await shownBy(url)).fingerprint256 === new X509Certificate(pem).fingerprint256;
  assert.ok(await isShown(one.certificate));
  for (const broken of [two.certificate, "", "nothing"]) {
    await write(broken, one.key);
    lines.length = 0;
    // The same error is logged once per minute.
    await clock.advance(60_000);
    await eventually(() =>
      lines.some(({ text }) => text === "renewing the serving certificate failed, keeping the current one"),
    );
    assert.ok(await isShown(one.certificate));
  }
  await write(two.certificate, two.key);
  await look();
  await eventually(() => isShown(two.certificate), { what: "the other certificate" });
});
