import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { makeCa, makeIdentity } from "../../base/pki/make-certificate.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { type Config, defaultConfig } from "./config.ts";
import { prepareIdentity } from "./identity.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "binnacle-identity-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function prepare(more: Partial<Config> = {}) {
  const { log, lines } = drivenEnvironment();
  const certDir = path.join(folder, "data");
  const identity = await prepareIdentity({ ...defaultConfig, certDir, ...more }, log);
  await identity.saveKubeconfig("https://127.0.0.1:1");
  return { identity, lines, tokenFile: path.join(certDir, "admin-token"), certDir };
}

test("writes private files with mode 0600, and leaves no temporary files", async () => {
  const { certDir, identity } = await prepare();
  const modes: Record<string, string> = {};
  for (const name of await readdir(certDir)) {
    modes[name] = ((await stat(path.join(certDir, name))).mode & 0o777).toString(8);
  }
  const secret = "600";
  assert.deepEqual(modes, {
    ".gitignore": secret,
    "admin-token": secret,
    "admin.crt": secret,
    "admin.key": secret,
    "apiserver.crt": secret,
    "apiserver.key": secret,
    "ca.crt": secret,
    "ca.key": secret,
    kubeconfig: secret,
  });
  assert.equal((await stat(certDir)).mode & 0o777, 0o700);
  assert.equal((await prepare()).identity.admin.token, identity.admin.token, "the token is kept");
});

test("replaces an empty admin-token", async () => {
  for (const empty of ["", "\n", " \t\r\n", "\u00a0"]) {
    const { tokenFile } = await prepare();
    await writeFile(tokenFile, empty);
    const { identity, lines } = await prepare();
    assert.match(identity.admin.token, /^[-\w]{32}$/);
    assert.equal(await readFile(tokenFile, "utf8"), `${identity.admin.token}\n`);
    assert.deepEqual(
      lines.map(({ level, text }) => [level, text]),
      [["warn", "administrator token file was empty, wrote a new token"]],
    );
  }
});

test("rejects an admin-token that no client could send", async () => {
  const { tokenFile } = await prepare();
  for (const wrong of ["two words", "caf\u00e9", "two\nlines\n"]) {
    await writeFile(tokenFile, wrong);
    await assert.rejects(prepare(), /admin-token: expected one token of printable ASCII characters$/);
  }
});

test("regenerates certificates and keys that a full disk left empty", async () => {
  for (const name of ["ca.crt", "ca.key", "apiserver.crt", "apiserver.key", "admin.key"]) {
    const { certDir } = await prepare();
    await writeFile(path.join(certDir, name), "");
    await prepare();
    assert.notEqual(await readFile(path.join(certDir, name), "utf8"), "", name);
  }
});

const USER = /client-certificate-data: (\S+)\n\s+client-key-data: (\S+)/;

test("the administrator's kubeconfig has a client certificate of system:masters, signed by our CA", async () => {
  const { certDir, identity } = await prepare();
  const text = await readFile(path.join(certDir, "kubeconfig"), "utf8");
  const [, packed = "", key = ""] = USER.exec(text) ?? [];
  const certificate = new X509Certificate(Buffer.from(packed, "base64"));
  assert.match(Buffer.from(key, "base64").toString(), /^-----BEGIN EC PRIVATE KEY-----/, "which Java's clients read");
  assert.equal(certificate.subject, "O=system:masters\nCN=kubernetes-admin");
  assert.ok(certificate.verify(new X509Certificate(identity.ownAuthority ?? "").publicKey));
  assert.doesNotMatch(text, /token/);
});

test("with --client-ca-file, the kubeconfig contains the token", async () => {
  const { certDir, identity } = await prepare({ clientCaFile: "ca.pem" });
  const text = await readFile(path.join(certDir, "kubeconfig"), "utf8");
  assert.ok(text.includes(`token: ${identity.admin.token}`));
  assert.doesNotMatch(text, USER);
  assert.equal(identity.ownAuthority, undefined);
});

test("publishes --root-ca-file for --tls-cert-file, and rejects it for generated certificates", async () => {
  const others = makeCa("others", Date.now());
  const pair = makeIdentity(others, { commonName: "replica", hosts: ["127.0.0.1"] }, "server", Date.now());
  const [rootCaFile, tlsCertFile, tlsPrivateKeyFile] = ["ca.crt", "tls.crt", "tls.key"].map((name) =>
    path.join(folder, name),
  ) as [string, string, string];
  await writeFile(rootCaFile, others.certificate);
  await writeFile(tlsCertFile, pair.certificate);
  await writeFile(tlsPrivateKeyFile, pair.key);
  const { certDir, identity } = await prepare({ rootCaFile, tlsCertFile, tlsPrivateKeyFile });
  assert.equal(identity.authority, others.certificate);
  const text = await readFile(path.join(certDir, "kubeconfig"), "utf8");
  assert.ok(text.includes(Buffer.from(others.certificate).toString("base64")));
  await assert.rejects(prepare({ rootCaFile }), /--root-ca-file requires --tls-cert-file/);
});

test("serves with a foreign certificate in --cert-dir, and reloads it when it changes", async () => {
  const certDir = path.join(folder, "data");
  await mkdir(certDir);
  const others = makeCa("others", Date.now());
  const place = async (name: string) => {
    const pair = makeIdentity(others, { commonName: name, hosts: [name] }, "server", Date.now());
    await writeFile(path.join(certDir, "apiserver.crt"), pair.certificate);
    await writeFile(path.join(certDir, "apiserver.key"), pair.key);
    return pair;
  };
  const first = await place("first");
  const { identity } = await prepare();
  assert.deepEqual(identity.tls, first);
  assert.equal(identity.authority, first.certificate);
  assert.equal(await readFile(path.join(certDir, "apiserver.crt"), "utf8"), first.certificate);
  assert.match(await readFile(path.join(certDir, "kubeconfig"), "utf8"), USER);
  const second = await place("second");
  const { certificate, key } = await identity.refreshServing(Date.now());
  assert.deepEqual({ certificate, key }, second);
});

test("renews the certificate of the kubeconfig before it expires", async () => {
  const { certDir, identity } = await prepare();
  const read = () => readFile(path.join(certDir, "kubeconfig"), "utf8");
  const before = await read();
  await identity.refreshServing(Date.now());
  assert.equal(await read(), before);
  await identity.refreshServing(Date.now() + 350 * 86_400_000);
  assert.notEqual(await read(), before);
});

test("signs with --cluster-signing-cert-file, else with its own CA unless --client-ca-file is set", async () => {
  const authority = makeCa("signer", Date.now());
  const [clusterSigningCertFile, clusterSigningKeyFile] = ["sign.crt", "sign.key"].map((name) =>
    path.join(folder, name),
  ) as [string, string];
  await writeFile(clusterSigningCertFile, authority.certificate);
  await writeFile(clusterSigningKeyFile, authority.key);
  const own = (await prepare()).identity;
  assert.equal(own.signingAuthority?.certificate, own.ownAuthority);
  const clientCaFile = "ca.pem";
  assert.equal((await prepare({ clientCaFile })).identity.signingAuthority, undefined);
  const configured = await prepare({ clientCaFile, clusterSigningCertFile, clusterSigningKeyFile });
  assert.deepEqual(configured.identity.signingAuthority, authority);
  await assert.rejects(prepare({ clusterSigningKeyFile }), /require each other/);
  await writeFile(clusterSigningKeyFile, makeCa("other", Date.now()).key);
  await assert.rejects(
    prepare({ clusterSigningCertFile, clusterSigningKeyFile }),
    /sign.key is not the private key of/,
  );
});
