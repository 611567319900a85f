import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { needs } from "../../../test/support/tools.ts";
import { ensureCertificates } from "./certificates.ts";

test("OpenSSL accepts the certificate chain in strict mode", needs("openssl"), async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "binnacle-certificates-"));
  t.after(() => rm(directory, { recursive: true }));
  await ensureCertificates(directory, { bindAddress: "192.0.2.7", serviceRange: "10.96.0.0/16" });
  const authority = join(directory, "ca.crt");
  for (const [purpose, name] of [
    ["sslserver", "apiserver.crt"],
    ["sslclient", "admin.crt"],
  ] as const) {
    const args = ["verify", "-x509_strict", "-purpose", purpose, "-CAfile", authority, join(directory, name)];
    const { stdout } = await promisify(execFile)("openssl", args);
    assert.match(stdout, /: OK/);
  }
});
