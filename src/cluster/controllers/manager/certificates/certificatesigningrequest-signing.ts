import { type Authority, readAuthority } from "../../../../base/pki/authority.ts";
import type { RequestedCertificate } from "../../../../base/pki/certificate-request.ts";
import { signRequest } from "../../../../base/pki/sign-request.ts";
import { storedResource } from "../../../../resources/model/stored-resource.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { type Controller, idleController } from "../../shared/controller.ts";
import type { Credentials } from "../../shared/credentials.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { keyUsagesOf } from "./key-usages.ts";
import { clientProblem, servingProblem } from "./kubelet-certificates.ts";
import {
  hasCondition,
  KUBELET_CLIENT_SIGNER,
  requestController,
  requestedCertificate,
  type SigningRequest,
} from "./signing-request.ts";

const NAME = "certificatesigningrequest-signing-controller";
const MINUTE_MS = 60_000;
const BACKDATE_MS = 5 * MINUTE_MS;
const MIN_LIFETIME_MS = 10 * MINUTE_MS;
/** The end of shorter certificates is not backdated. */
const SHORT_MS = 8 * 60 * MINUTE_MS;

type FindProblem = (request: RequestedCertificate, usages: readonly string[]) => string | undefined;

/** The signers, and why each does not sign a request. */
const SIGNERS: ReadonlyMap<string, FindProblem> = new Map<string, FindProblem>([
  ["kubernetes.io/kubelet-serving", servingProblem],
  [KUBELET_CLIENT_SIGNER, clientProblem],
  ["kubernetes.io/kube-apiserver-client", (_, usages) => clientUsageProblem(usages)],
  ["kubernetes.io/legacy-unknown", () => undefined],
]);

/**
 * certificatesigningrequest-signing-controller: signs approved CertificateSigningRequests for the signers of Kubernetes.
 * Requests that a signer does not sign get the condition Failed.
 */
export function requestSigning(context: ManagerContext, { certificates }: Credentials): Controller {
  // Compat: kube-controller-manager skips the controller without `--cluster-signing-cert-file`.
  if (certificates === undefined) return idleController(NAME);
  const { resources, client } = context;
  const { clock, random } = resources;
  const requests = storedResource(resources.catalog, "certificates.k8s.io", "certificatesigningrequests");
  const { certificate, key } = certificates.authority;
  const authority = readAuthority(certificate, key);

  const update = async (request: SigningRequest, status: SigningRequest["status"]): Promise<void> => {
    await client.update(requests, { ...request, status: { ...request.status, ...status } }, { subresource: "status" });
  };

  const fail = (request: SigningRequest, message: string): Promise<void> => {
    const failed = { type: "Failed", status: "True", reason: "SignerValidationFailure", message };
    const conditions = [...(request.status?.conditions ?? []), { ...failed, lastUpdateTime: printTime(clock.now()) }];
    return update(request, { conditions });
  };

  return requestController(context, NAME, async (request) => {
    const { spec } = request;
    const { usages = [], signerName = "", expirationSeconds } = spec;
    const findProblem = SIGNERS.get(signerName);
    if (!findProblem || !isApproved(request) || hasFailed(request)) return;
    const requested = requestedCertificate(request);
    const problem = findProblem(requested, usages);
    if (problem !== undefined) return fail(request, problem);
    const lifetimeMs = lifetimeOf(expirationSeconds, certificates.maxLifetimeMs);
    const terms = { ...validity(authority, clock.now(), lifetimeMs), ...keyUsagesOf(usages) };
    const signed = signRequest(authority, requested, { ...terms, serialNumber: random.bytes(16) });
    await update(request, { certificate: Buffer.from(signed).toString("base64") });
  });
}

const isApproved = (request: SigningRequest): boolean =>
  hasCondition(request, "Approved") && !hasCondition(request, "Denied");

const hasFailed = ({ status }: SigningRequest): boolean =>
  status?.conditions?.some((one) => one.type === "Failed" && (one.status ?? "True") === "True") ?? false;

const OPTIONAL_CLIENT_USAGES = ["digital signature", "key encipherment"];

function clientUsageProblem(usages: readonly string[]): string | undefined {
  const other = usages.find((usage) => usage !== "client auth" && !OPTIONAL_CLIENT_USAGES.includes(usage));
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes("client auth") ? undefined : "missing required usage for client certificate: client auth";
}

/** The requested lifetime within the limits, or the longest one. */
function lifetimeOf(expirationSeconds: number | undefined, maxMs: number): number {
  if (expirationSeconds === undefined || expirationSeconds * 1000 > maxMs) return maxMs;
  return Math.max(MIN_LIFETIME_MS, expirationSeconds * 1000);
}

/** Upstream: PermissiveSigningPolicy. Throws if the CA has expired. */
function validity({ notAfter: end }: Authority, nowMs: number, lifetimeMs: number) {
  if (nowMs >= end) {
    throw new Error(`refusing to sign a certificate that expired in the past: NotAfter=${new Date(end).toISOString()}`);
  }
  const endMs = lifetimeMs < SHORT_MS ? nowMs + lifetimeMs : nowMs + lifetimeMs - BACKDATE_MS;
  return { notBefore: nowMs - BACKDATE_MS, notAfter: Math.min(endMs, end) };
}
