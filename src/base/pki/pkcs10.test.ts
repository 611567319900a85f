import assert from "node:assert/strict";
import { test } from "node:test";
import { makeCertificate, makeKeys, makeRequest } from "./certificates.suite.ts";
import { objectIdentifier } from "./der.ts";
import { readElement, readIdentifier } from "./der-read.ts";
import { parseSigningRequest, readPublicKey, signatureProblem } from "./pkcs10.ts";
import { countCertificates, readCertificate } from "./x509-read.ts";

const keys = makeKeys();

test("reads the key of a request and verifies its signature", () => {
  const bytes = makeRequest(keys);
  const request = parseSigningRequest(bytes);
  assert.ok(request.publicKey?.equals(keys.publicKey));
  assert.equal(signatureProblem(request), undefined);
  const forged = Buffer.from(bytes);
  forged.writeUInt8(forged.readUInt8(forged.length - 1) ^ 1, forged.length - 1);
  assert.equal(signatureProblem(parseSigningRequest(forged)), "x509: ECDSA verification failure");
});

test("rejects malformed requests with the messages of kube-apiserver", () => {
  const bytes = makeRequest(keys);
  const rows: [Buffer, RegExp][] = [
    [Buffer.alloc(0), /sequence truncated/],
    [bytes.subarray(0, 40), /data truncated/],
    [Buffer.concat([bytes, Buffer.from([0])]), /trailing data/],
    [Buffer.from([2, 1, 0]), /tags don't match/],
    [makeRequest(makeKeys("secp256k1")), /unsupported elliptic curve/],
  ];
  for (const [wrong, text] of rows) assert.throws(() => parseSigningRequest(wrong), text);
  assert.equal(readPublicKey(Buffer.from("x")), undefined);
  assert.ok(readPublicKey(keys.publicKey.export({ type: "spki", format: "der" }))?.equals(keys.publicKey));
});

test("reads only complete certificates", () => {
  const bytes = makeCertificate({ keys, isAuthority: true, from: 1000, to: 5000 }).der;
  const { isAuthority, notBefore, notAfter, publicKey } = readCertificate(bytes) ?? assert.fail();
  assert.deepEqual([isAuthority, notBefore, notAfter, publicKey.equals(keys.publicKey)], [true, 1000, 5000, true]);
  assert.equal(readCertificate(makeCertificate({ keys }).der)?.isAuthority, false);
  assert.equal(readCertificate(Buffer.concat([bytes, Buffer.from([0])])), undefined);
  assert.equal(countCertificates(Buffer.concat([bytes, bytes])), 2);
  assert.equal(countCertificates(Buffer.from("x")), undefined);
});

test("reads object identifiers", () => {
  for (const dotted of ["2.5.29.19", "1.2.840.10045.4.3.2", "0.9.2342"]) {
    assert.equal(readIdentifier(readElement(objectIdentifier(dotted))), dotted);
  }
});
