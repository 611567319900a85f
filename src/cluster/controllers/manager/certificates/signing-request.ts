import type { JsonObject, KubeObject } from "../../../../base/api/object.ts";
import { type RequestedCertificate, readCertificateRequest } from "../../../../base/pki/certificate-request.ts";
import type { Controller } from "../../shared/controller.ts";
import { loop, synced } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";

/** A condition of a CertificateSigningRequest. */
export interface RequestCondition extends JsonObject {
  type: string;
  status?: string;
  reason?: string;
  message?: string;
  lastUpdateTime?: string;
}

/** A CertificateSigningRequest. */
export interface SigningRequest extends KubeObject {
  spec: {
    /** PEM, in base64. */
    request?: string;
    signerName?: string;
    usages?: string[];
    expirationSeconds?: number;
    username?: string;
    uid?: string;
    groups?: string[];
    extra?: Record<string, string[]>;
  };
  status?: { conditions?: RequestCondition[]; certificate?: string };
}

/** The signer of the client certificates of kubelets. */
export const KUBELET_CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";

/** Whether a request has a condition of this type, whatever its status is. */
export function hasCondition({ status }: SigningRequest, type: string): boolean {
  return status?.conditions?.some((one) => one.type === type) ?? false;
}

/** Whether a request has its certificate. */
export function isIssued({ status }: SigningRequest): boolean {
  return (status?.certificate ?? "") !== "";
}

/** Reads `spec.request`. Throws CertificateRequestError. */
export function requestedCertificate({ spec }: SigningRequest): RequestedCertificate {
  return readCertificateRequest(Buffer.from(spec.request ?? "", "base64").toString("latin1"));
}

/** Upstream: NewCertificateController. */
const WORKERS = 5;
const RETRIES = { minBackoffMs: 200, maxBackoffMs: 1_000_000, retriesPerSecond: 10, retryBurst: 100 };

/** A controller that handles CertificateSigningRequests without a certificate. */
export function requestController(
  { resources, informers, report }: ManagerContext,
  name: string,
  handle: (request: SigningRequest) => Promise<void>,
): Controller {
  const { informer } = informers.of<SigningRequest>("certificates.k8s.io", "certificatesigningrequests");
  return loop({
    name,
    workers: WORKERS,
    clock: resources.clock,
    report,
    retries: RETRIES,
    sources: [synced(informer)],
    async sync(key) {
      const request = informer.get(key);
      if (request && !isIssued(request)) await handle(request);
    },
  });
}
