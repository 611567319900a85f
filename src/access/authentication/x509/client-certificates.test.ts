import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import {
  extension,
  type MadeCertificate,
  makeCa,
  makeCertificate,
  OID,
  person,
  printableString,
} from "../../../base/pki/certificates.suite.ts";
import { element, objectIdentifier, sequence } from "../../../base/pki/der.ts";
import { AuthenticationError } from "../authenticator.ts";
import { type Certificate, readCertificate } from "./certificate.ts";
import { ClientCertificates } from "./client-certificates.ts";

const HOUR = 3_600_000;
const root = makeCa("root");

interface Trust {
  current: readonly Certificate[];
}

const trust = (...roots: MadeCertificate[]): Trust => ({
  current: roots.map(({ certificate }) => readCertificate(certificate)),
});

function authenticator(roots: Trust = trust(root), now: () => number = Date.now) {
  const certificates = new ClientCertificates(roots, { now });
  return async (...chain: MadeCertificate[]) =>
    certificates.authenticate({ headers: {}, certificateChain: chain.map(({ certificate }) => certificate) });
}

const refuses = (judged: Promise<unknown> | (() => Promise<unknown>), text: string): Promise<void> =>
  assert.rejects(judged, (error) => {
    assert.ok(error instanceof AuthenticationError);
    assert.match(error.message, /^verifying certificate SN=\d+, SKID=[0-9A-F:]*, AKID=[0-9A-F:]* failed: /);
    assert.ok(error.message.includes(text), error.message);
    return true;
  });

test("maps common name, organizations and uid to the user", async () => {
  const subject = [...person("alice", "dev", "ops, all"), [OID.uid, "u-1"]] as const;
  const made = makeCertificate({ subject, issuer: root });
  const fingerprint = createHash("sha256").update(made.der).digest("hex");
  assert.deepEqual(await authenticator()(made), {
    user: {
      name: "alice",
      uid: "u-1",
      groups: ["dev", "ops, all", "system:authenticated"],
      extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] },
    },
  });
});

test("uses the last common name, including NUL characters, and requires one", async () => {
  const user = async (subject: [string, string | Buffer][]) =>
    (await authenticator()(makeCertificate({ subject, issuer: root })))?.user.name;
  assert.equal(await user([...person("first"), ...person("last")]), "last");
  assert.equal(await user([[OID.organization, "system:masters"]]), undefined);
  assert.equal(await user(person("admin\0.example.com")), "admin\0.example.com");
  assert.equal(await user([[OID.commonName, printableString("printed")]]), "printed");
  assert.equal(await user([[OID.commonName, element(0x1e, Buffer.from("\0b\0m\0p", "latin1"))]]), "bmp");
});

test("rejects a uid that is not exactly one non-empty string", async () => {
  const judge = (...uids: (string | Buffer)[]) =>
    authenticator()(
      makeCertificate({ subject: [...person("a"), ...uids.map((uid) => [OID.uid, uid] as const)], issuer: root }),
    );
  await refuses(judge("x", "y"), "expected 1 UID, but found multiple: [x y]");
  await refuses(judge(""), "UID cannot be an empty string");
});

test("has no opinion without a certificate", async () => {
  assert.equal(await authenticator()(), undefined);
});

test("rejects an unknown CA, a self-signed certificate, a forged signature and a CA with the same name", async () => {
  const other = makeCa("root");
  const unknown = "x509: certificate signed by unknown authority";
  await refuses(authenticator()(makeCertificate({ issuer: makeCa("other") })), unknown);
  await refuses(authenticator()(makeCertificate()), unknown);
  await refuses(authenticator()(makeCertificate({ subject: person("root") })), unknown);
  await refuses(
    authenticator()(makeCertificate({ issuer: other })),
    'because of \\"x509: invalid signature\\"'.replaceAll("\\", ""),
  );
  await refuses(
    authenticator()(makeCertificate({ issuer: root, signWith: other.privateKey })),
    "x509: invalid signature",
  );
  await refuses(authenticator()(makeCertificate({ issuer: other }), other), unknown);
});

test("rejects a certificate that is for servers only", async () => {
  const refusal = "x509: certificate specifies an incompatible key usage";
  await refuses(authenticator()(makeCertificate({ issuer: root, usages: [OID.serverAuth] })), refusal);
  for (const usages of [[], [OID.any], [OID.serverAuth, OID.clientAuth]]) {
    assert.ok(await authenticator()(makeCertificate({ issuer: root, usages })));
  }
  const servers = makeCa("servers", { issuer: root, usages: [OID.serverAuth] });
  await refuses(authenticator()(makeCertificate({ issuer: servers }), servers), refusal);
});

test("checks the validity of the certificate and its CA at each request", async () => {
  const now = Date.now();
  let at = now;
  const made = makeCertificate({ issuer: root, from: now, to: now + HOUR });
  const judge = authenticator(trust(root), () => at);
  const certificates = new ClientCertificates(trust(root), { now: () => at });
  const credentials = { headers: {}, certificateChain: [made.certificate] };
  assert.ok(await certificates.authenticate(credentials));
  at = now + HOUR + 1000;
  await refuses(
    async () => certificates.authenticate(credentials),
    "x509: certificate has expired or is not yet valid: current time",
  );
  at = now - 2000;
  await refuses(async () => certificates.authenticate(credentials), " is before ");
  at = now + 1000;
  assert.ok(await certificates.authenticate(credentials), "the same connection, when its time has come");
  const old = makeCa("old", { from: now - 2 * HOUR, to: now - HOUR });
  await refuses(authenticator(trust(old))(makeCertificate({ issuer: old })), "expired or is not yet valid");
  await refuses(judge(makeCertificate({ issuer: root, from: now - 2 * HOUR, to: now - HOUR })), " is after ");
});

test("uses changed CAs from the next request of a connection on", async () => {
  const roots = trust(root);
  const certificates = new ClientCertificates(roots, Date);
  const credentials = { headers: {}, certificateChain: [makeCertificate({ issuer: root }).certificate] };
  assert.ok(await certificates.authenticate(credentials));
  roots.current = trust(makeCa("next")).current;
  await refuses(async () => certificates.authenticate(credentials), "unknown authority");
  roots.current = trust(root).current;
  assert.ok(await certificates.authenticate(credentials));
});

test("verifies a rejected chain once, until the validity of one of its certificates begins or ends", async () => {
  const now = Date.now();
  let at = now;
  let looked = 0;
  const signature = (certificate: Certificate): Certificate => ({
    ...certificate,
    // A CA with the same name could have signed the certificate, so its key is read.
    get publicKey() {
      looked++;
      return certificate.publicKey;
    },
  });
  const impostor = readCertificate(makeCa("root", { from: now - HOUR, to: now + 3 * HOUR }).certificate);
  const certificates = new ClientCertificates({ current: [signature(impostor)] }, { now: () => at });
  const made = makeCertificate({ issuer: root, from: now - HOUR, to: now + 2 * HOUR });
  const credentials = { headers: {}, certificateChain: [made.certificate] };
  const refused = (text: string) => refuses(async () => certificates.authenticate(credentials), text);
  await refused("unknown authority");
  const once = looked;
  assert.ok(once > 0);
  at = now + HOUR;
  for (let count = 0; count < 3; count++) await refused("unknown authority");
  assert.equal(looked, once);
  at = now + 2 * HOUR + 1000;
  await refused(`current time ${new Date(Math.floor(at)).toISOString().replace(".000Z", "Z")}`);
  at += 1000;
  await refused(`current time ${new Date(Math.floor(at)).toISOString().replace(".000Z", "Z")}`);
  at = now;
  await refused("unknown authority");
  assert.ok(looked > once);
});

test("requires issuers to be CAs within their path length", async () => {
  const one = makeCa("one", { issuer: root });
  const two = makeCa("two", { issuer: one });
  assert.ok(await authenticator()(makeCertificate({ issuer: two }), two, one), "two between");
  assert.ok(await authenticator()(makeCertificate({ issuer: two }), one, two), "in any order");
  await refuses(authenticator()(makeCertificate({ issuer: two }), two), "unknown authority");
  const user = makeCertificate({ issuer: root });
  await refuses(authenticator()(makeCertificate({ issuer: user }), user), "parent certificate cannot sign this kind");
  const noSign = makeCa("no-sign", { issuer: root, keyUsage: 0x80 });
  await refuses(
    authenticator()(makeCertificate({ issuer: noSign }), noSign),
    "parent certificate cannot sign this kind",
  );
  const short = makeCa("short", { maxPathLength: 0 });
  const below = makeCa("below", { issuer: short });
  assert.ok(await authenticator(trust(short))(makeCertificate({ issuer: short })));
  await refuses(
    authenticator(trust(short))(makeCertificate({ issuer: below }), below),
    "too many intermediates for path length",
  );
});

test("limits the number of signature checks", async () => {
  const keys = makeCertificate();
  const others = Array.from({ length: 120 }, () => makeCa("same", { keys, signWith: root.privateKey }));
  const refusal = "signature check attempts limit reached while verifying certificate chain";
  await refuses(authenticator()(makeCertificate({ issuer: makeCa("same") }), ...others), refusal);
});

test("rejects unknown critical extensions and duplicate ones", async () => {
  const strange = extension("1.2.3.4", sequence(), true);
  await refuses(
    authenticator()(makeCertificate({ issuer: root, extensions: [strange] })),
    "x509: unhandled critical extension",
  );
  assert.ok(await authenticator()(makeCertificate({ issuer: root, extensions: [extension("1.2.3.4", sequence())] })));
  const twice = extension("2.5.29.37", sequence(objectIdentifier(OID.clientAuth)));
  const made = makeCertificate({ issuer: root, usages: [OID.serverAuth], extensions: [twice] });
  await assert.rejects(authenticator()(made), /duplicate extensions/);
});
