import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { makeCertificate } from "../../../../base/pki/certificates.suite.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { until } from "../../shared/controllers.suite.ts";
import { CertificateCluster } from "./certificates.suite.ts";
import { isOld, requestCleaner } from "./certificatesigningrequest-cleaner.ts";
import type { SigningRequest } from "./signing-request.ts";

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 0, 2);

/** A request that was created long ago, with conditions that are so many hours old. */
function request(conditions: Record<string, number>, expiresInMs?: number): SigningRequest {
  const to = NOW + (expiresInMs ?? 0);
  const certificate = Buffer.from(makeCertificate({ to }).pem).toString("base64");
  return {
    kind: "CertificateSigningRequest",
    apiVersion: "certificates.k8s.io/v1",
    metadata: { name: "x", creationTimestamp: printTime(NOW - 100 * HOUR_MS) },
    spec: {},
    status: {
      conditions: Object.entries(conditions).map(([type, hours]) => {
        return { type, status: "True", lastUpdateTime: printTime(NOW - hours * HOUR_MS) };
      }),
      ...(expiresInMs !== undefined && { certificate }),
    },
  };
}

const ROWS: readonly [string, SigningRequest, boolean][] = [
  ["denied an hour ago", request({ Denied: 1 }), false],
  ["denied earlier", request({ Denied: 1.01 }), true],
  ["failed an hour ago", request({ Approved: 2, Failed: 1 }), false],
  ["failed earlier", request({ Approved: 2, Failed: 1.01 }), true],
  ["issued an hour ago", request({ Approved: 1 }, HOUR_MS), false],
  ["issued earlier", request({ Approved: 1.01 }, HOUR_MS), true],
  ["expired", request({ Approved: 0.5 }, -1000), true],
  ["approved 24 hours ago", request({ Approved: 24 }), false],
  ["approved earlier", request({ Approved: 24.01 }), true],
  ["pending for long", request({}), true],
];

suite("certificatesigningrequest-cleaner-controller", () => {
  for (const [what, one, expected] of ROWS) {
    test(`${expected ? "deletes" : "keeps"} a request that is ${what}`, () => assert.equal(isOld(one, NOW), expected));
  }

  let cluster: CertificateCluster;
  beforeEach(() => {
    cluster = new CertificateCluster();
  });
  afterEach(() => cluster.end());

  test("looks at all requests every hour", async () => {
    cluster.start(requestCleaner(cluster));
    await cluster.ask("pending");
    await cluster.ask("denied");
    await cluster.decide("denied", "Denied");
    await cluster.clock.advance(HOUR_MS);
    assert.ok(await cluster.request("denied"));
    await cluster.clock.advance(HOUR_MS);
    await until(async () => (await cluster.request("denied")) === undefined);
    assert.ok(await cluster.request("pending"));
    for (let hour = 0; hour < 23; hour += 1) await cluster.clock.advance(HOUR_MS);
    await until(async () => (await cluster.request("pending")) === undefined);
  });
});
