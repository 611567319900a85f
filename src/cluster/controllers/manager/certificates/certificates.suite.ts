import assert from "node:assert/strict";
import type { Authorizer } from "../../../../base/api/attributes.ts";
import type { JsonObject } from "../../../../base/api/object.ts";
import { type Alternatives, makeKeys, makeRequest, person, printPem } from "../../../../base/pki/certificates.suite.ts";
import { ManualClock } from "../../../../base/util/environment.suite.ts";
import { MemoryStore } from "../../../../storage/memory.ts";
import { TestCluster } from "../../shared/controllers.suite.ts";
import { KUBELET_CLIENT_SIGNER, type SigningRequest } from "./signing-request.ts";

const keys = makeKeys();

/** A certificate request. Default: that of a kubelet for its client certificate. */
export interface TestRequest {
  readonly subject?: readonly [string, string][];
  readonly names?: Alternatives;
  readonly signerName?: string;
  readonly usages?: string[];
  readonly expirationSeconds?: number;
  /** Who creates it. */
  readonly username?: string;
}

/** The PEM of a request, in base64. */
export function encodedRequest({ subject = NODE, names = [] }: TestRequest = {}): string {
  const pem = printPem("CERTIFICATE REQUEST", makeRequest(keys, subject, names));
  return Buffer.from(pem).toString("base64");
}

const NODE = person("system:node:a", "system:nodes");

/** The spec of a CertificateSigningRequest. */
export function requestSpec(request: TestRequest = {}): JsonObject {
  const { signerName = KUBELET_CLIENT_SIGNER, usages = ["client auth", "digital signature"] } = request;
  const { expirationSeconds } = request;
  return {
    request: encodedRequest(request),
    signerName,
    usages,
    ...(expirationSeconds !== undefined && { expirationSeconds }),
  };
}

/** A cluster with CertificateSigningRequests, on a clock that the test drives. */
export class CertificateCluster extends TestCluster {
  readonly clock: ManualClock;

  constructor(authorizer?: Authorizer) {
    const clock = new ManualClock();
    super(new MemoryStore(), { clock, ...(authorizer && { authorizer }) });
    this.clock = clock;
  }

  async ask(name: string, request: TestRequest = {}): Promise<void> {
    const client = this.clientFor({ name: request.username ?? "system:node:a", groups: ["system:nodes"] });
    const { definition, apiVersion } = this.resource("certificatesigningrequests");
    const object = { kind: definition.kind, apiVersion, metadata: { name }, spec: requestSpec(request) };
    await client.create(this.resource("certificatesigningrequests"), object);
  }

  async request(name: string): Promise<SigningRequest | undefined> {
    return (await this.find("certificatesigningrequests", name, "")) as SigningRequest | undefined;
  }

  /** Adds a condition through /approval, as an administrator would. */
  async decide(name: string, type: "Approved" | "Denied"): Promise<void> {
    const request = (await this.request(name)) ?? assert.fail(name);
    const conditions = [...(request.status?.conditions ?? []), { type, status: "True", reason: "Test" }];
    const decided = { ...request, status: { ...request.status, conditions } };
    await this.client.update(this.resource("certificatesigningrequests"), decided, { subresource: "approval" });
  }

  async end(): Promise<void> {
    await this.stop();
    assert.deepEqual(this.problems, []);
  }
}
