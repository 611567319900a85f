import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { Texts } from "../../types/meta.ts";
import type { Condition } from "../shared-rules/conditions.ts";

/** PodCertificateRequestSpec of certificates.k8s.io: a kubelet's request for a certificate of a pod. */
export interface PodCertificateSpec extends JsonObject {
  signerName?: string;
  podName?: string;
  podUID?: string;
  serviceAccountName?: string;
  serviceAccountUID?: string;
  nodeName?: string;
  nodeUID?: string;
  maxExpirationSeconds?: number;
  /** Bytes, in base64. */
  stubPKCS10Request?: string | null;
  /** Bytes, in base64. Not in v1. */
  pkixPublicKey?: string | null;
  /** Bytes, in base64. Not in v1. */
  proofOfPossession?: string | null;
  unverifiedUserAnnotations?: Texts;
}

/** PodCertificateRequestStatus of certificates.k8s.io: the signer's response. */
export interface PodCertificateStatus extends JsonObject {
  conditions?: Condition[];
  certificateChain?: string;
  notBefore?: string;
  notAfter?: string;
  beginRefreshAt?: string;
}

/** The spec of a PodCertificateRequest. */
export const specOf = (request: KubeObject): PodCertificateSpec =>
  (request.spec as PodCertificateSpec | undefined) ?? {};

/** The status of a PodCertificateRequest. */
export const statusOf = (request: KubeObject): PodCertificateStatus =>
  (request.status as PodCertificateStatus | undefined) ?? {};
