import { X509Certificate } from "node:crypto";
import { type DerElement, readElement, readElements, readIdentifier } from "../../../src/base/pki/der-read.ts";
import { extensionsOf } from "../../../src/base/pki/x509-read.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind
type Anything = any;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const AUTHORITY_KEY_ID = "2.5.29.35";

/** An object without what differs between two clusters: times, uids, signatures and the CA. */
export function comparable(object: Anything, authority: string): Anything {
  const { metadata, data, status, spec, ...rest } = object;
  const { resourceVersion: _version, creationTimestamp: _created, managedFields = [], ...kept } = metadata;
  const managers = managedFields.map(({ time: _time, ...one }: Anything) => one);
  const encodedCa = Buffer.from(authority).toString("base64");
  const whole = {
    ...rest,
    metadata: { ...kept, managers },
    ...(spec && { spec: spec.trustBundle ? { ...spec, trustBundle: spec.trustBundle === authority } : spec }),
    ...(data && { data: { ...data, ...(data.token && { token: tokenFacts(data.token) }) } }),
    ...(status && {
      status: {
        ...withoutRevision(status),
        ...(status.certificate && { certificate: certificateFacts(status.certificate) }),
      },
    }),
  };
  const text = JSON.stringify(whole).replaceAll(encodedCa, "CA").replace(UUID, "UID").replace(TIME, "TIME");
  // Two managers own a time if they set it in the same second.
  const stable = text.replaceAll('"f:lastTransitionTime":{},', "");
  return JSON.parse(stable.replace(/(kube-apiserver-serving:)[0-9a-f]{24}/g, "$1HASH"));
}

/** The checkpoint of a StorageVersionMigration is a revision of the store. */
function withoutRevision({ resourceVersion, ...rest }: Anything): Anything {
  return { ...rest, ...(resourceVersion && { resourceVersion: "REVISION" }) };
}

/** The algorithm and the claims of a token, as printed. */
function tokenFacts(encoded: string): Anything {
  const parts = Buffer.from(encoded, "base64").toString().split(".");
  const [header = "{}", claims = "{}"] = parts.map((part) => Buffer.from(part, "base64url").toString());
  return { algorithm: JSON.parse(header).alg, members: Object.keys(JSON.parse(header)), claims };
}

/** All of a certificate that does not depend on keys and times, in its encoding. */
function certificateFacts(encoded: string): Anything {
  const pem = Buffer.from(encoded, "base64").toString();
  const certificate = new X509Certificate(pem);
  const whole = readElement(certificate.raw);
  const [body, algorithm] = readElements(whole.content) as [DerElement, DerElement];
  const fields = readElements(body.content);
  const extensions = [...extensionsOf(whole)].map(([type, value]) => {
    return [type, type === AUTHORITY_KEY_ID ? value.length : value.toString("hex")];
  });
  return {
    shape: pem.replace(/[A-Za-z0-9+/=]{64}\n/g, "").replace(/\n[A-Za-z0-9+/=]{1,63}\n/, "\n"),
    version: fields[0]?.raw.toString("hex"),
    algorithm: algorithm.raw.toString("hex"),
    issuer: fields[3]?.raw.toString("hex"),
    subject: fields[5]?.raw.toString("hex"),
    lines: [certificate.subject, certificate.subjectAltName],
    key: readIdentifier(
      readElements(readElements(fields[6]?.content ?? body.content)[0]?.content ?? body.content)[0] ?? body,
    ),
    seconds: (Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)) / 1000,
    extensions,
  };
}
